"""Stereo systems, so that there is always something to compare: the techniques that others are measured against.

====================  ==============================================================================================
name                  how two pixels are compared, and how a disparity is chosen
====================  ==============================================================================================
``sad``               absolute differences over a square window; the least sum wins
``ssd``               squared differences over a square window; the least sum wins
``census``            bits of a 7×7 census that differ, over a square window; the least sum wins
``adaptive-weights``  truncated differences, averaged over near pixels of like colour
``cost-filter``       differences of colour and gradient, averaged by a guided filter
``dp``                a census, and penalties for jumps: the best disparities of each row
``sgm``               a census, and penalties for jumps along lines from eight directions
``bp``                colour and gradient, and penalties for jumps between all neighbours: belief propagation
``sgm-opencv``        OpenCV's semi-global matching, a control (extra ``detect``)
====================  ==============================================================================================

Each takes the left and right picture of a rectified pair and the number of disparities to try, and returns the left view's
disparity, NaN where the system declines to answer. With ``check``, pixels are dropped where matching from the right gives another
answer; with ``margin``, where the second-best answer is nearly as good: so dense systems become semi-dense. ``fill`` fills what
the check drops, as published systems do.
"""

from hyperacuity.detect.stereo.smoothness import bp, dp, sgm, sgm_opencv
from hyperacuity.detect.stereo.surfaces import adaptive_weights, cost_filter
from hyperacuity.detect.stereo.systems import BUILT_IN, LOCAL, Matcher, grid, matcher, matcher_named
from hyperacuity.detect.stereo.windows import census, sad, ssd

__all__ = [
    "BUILT_IN",
    "LOCAL",
    "Matcher",
    "adaptive_weights",
    "bp",
    "census",
    "cost_filter",
    "dp",
    "grid",
    "matcher",
    "matcher_named",
    "sad",
    "sgm",
    "sgm_opencv",
    "ssd",
]
