"""Every chart, in one place for notebooks: functions of scores that return Altair charts, for paper and screen alike.

>>> from hyperacuity.report.charts import common as charts
>>> chart = charts.precision_recall(scores)                          # doctest: +SKIP
>>> charts.save(chart, Path("curves.pdf"), signature=signature)      # doctest: +SKIP
"""

from hyperacuity.report.charts.audit import (
    agreement_chart,
    image_agreement_chart,
    label_chart,
    optimal_chart,
    output_chart,
    risk_chart,
    strength_chart,
)
from hyperacuity.report.charts.audit import curves_chart as label_curves_chart
from hyperacuity.report.charts.boundary import f_over_threshold, precision_recall, scatter_of_images
from hyperacuity.report.charts.compare import (
    critical_difference_chart,
    dominance_chart,
    front_chart,
    parallel_chart,
    rank_group_chart,
    roc_chart,
)
from hyperacuity.report.charts.edges import (
    best_maps_chart,
    curves_chart,
    mean_curves_chart,
    robustness_chart,
    score_sheet_chart,
    sheet_chart,
    shift_chart,
    truth_chart,
)
from hyperacuity.report.charts.ordering import accuracy_chart, figure_ground_chart, prc_chart
from hyperacuity.report.theme import save

__all__ = [
    "accuracy_chart",
    "agreement_chart",
    "best_maps_chart",
    "critical_difference_chart",
    "curves_chart",
    "dominance_chart",
    "f_over_threshold",
    "figure_ground_chart",
    "front_chart",
    "image_agreement_chart",
    "label_chart",
    "label_curves_chart",
    "mean_curves_chart",
    "optimal_chart",
    "output_chart",
    "parallel_chart",
    "prc_chart",
    "precision_recall",
    "rank_group_chart",
    "risk_chart",
    "robustness_chart",
    "roc_chart",
    "save",
    "scatter_of_images",
    "score_sheet_chart",
    "sheet_chart",
    "shift_chart",
    "strength_chart",
    "truth_chart",
]
