"""Charts, one specification for the page and for paper: functions of scores that return Altair charts.

All of them can be had from here, and each is loaded when it is first asked for:

>>> from hyperacuity.report import charts
>>> chart = charts.precision_recall(scores)                          # doctest: +SKIP
>>> charts.save(chart, Path("curves.pdf"), signature=signature)      # doctest: +SKIP
"""

from importlib import import_module
from typing import Any

_CHARTS = {
    "audit": "agreement_chart image_agreement_chart label_chart label_curves_chart optimal_chart output_chart "
    "strength_chart",
    "boundary": "f_over_threshold precision_recall scatter_of_images",
    "compare": "critical_difference_chart dominance_chart front_chart parallel_chart rank_group_chart",
    "edges": "best_maps_chart mean_curves_chart score_sheet_chart",
    "semantic": "class_curves_chart class_scores_chart",
    "ordering": "accuracy_chart figure_ground_chart orientation_chart prc_chart",
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _CHARTS.items() for name in names.split()}
_MODULES["save"] = "hyperacuity.report.theme"

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"there is no chart {name}; there are {', '.join(_MODULES)}")
    return getattr(import_module(_MODULES[name]), name)
