"""Disparity: how far a stereo system's depth is off, in which parts of the picture, and how well it predicts a view.

=================================  ==========================================================================
:mod:`~.disparity.errors`          bad(δ), mean, RMS, quantiles, KITTI's D1, density, bias: one function each
:mod:`~.disparity.masks`           the regions nonocc, all, disc and untextured, where no masks are shipped
:mod:`~.disparity.benchmark`       the benchmark: tally one image, collect a data set
:mod:`~.disparity.views`           forward and inverse prediction of another view, with or without truth
:mod:`~.disparity.view_benchmark`  that as a benchmark: tally one image, collect a data set
:mod:`~.disparity.consistency`     how far independently computed maps disagree
=================================  ==========================================================================

>>> import numpy as np
>>> from hyperacuity.disparity import Protocol, collect, regions, tally
>>> truth = np.full((4, 12), 1.0); truth[:, 5:8] = 3
>>> protocol = Protocol(deltas=(1,))
>>> errors = tally(np.ones((4, 12)), truth, protocol, masks=regions(truth))
>>> collect({"image": errors}).value("bad(1)", "all")
25.0
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.disparity.benchmark import (
        DisparityScore,
        DisparityTally,
        Protocol,
        collect,
        measured,
        sense,
        tally,
        unit,
    )
    from hyperacuity.disparity.consistency import View, consistency_curve, distances, stereo_views
    from hyperacuity.disparity.errors import bad, bias, d1, density, epe, quantile, rms
    from hyperacuity.disparity.masks import disc, nonocc, regions, untextured
    from hyperacuity.disparity.view_benchmark import (
        ViewProtocol,
        ViewScore,
        ViewTally,
        collect_views,
        measured_views,
        tally_views,
    )
    from hyperacuity.disparity.views import ViewError, forward, interval_error, inverse, prediction_error, view_error
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "DisparityScore",
    "DisparityTally",
    "Protocol",
    "View",
    "ViewError",
    "ViewProtocol",
    "ViewScore",
    "ViewTally",
    "bad",
    "bias",
    "collect",
    "collect_views",
    "consistency_curve",
    "d1",
    "density",
    "disc",
    "distances",
    "epe",
    "forward",
    "interval_error",
    "inverse",
    "measured",
    "measured_views",
    "nonocc",
    "prediction_error",
    "quantile",
    "regions",
    "rms",
    "sense",
    "stereo_views",
    "tally",
    "tally_views",
    "unit",
    "untextured",
    "view_error",
]
