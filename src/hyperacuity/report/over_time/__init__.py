"""Scores over time: the checkpoints of a network, or the versions of a system, as curves, and what changed image by image.

=======================================  ================================================================================
:mod:`~.report.over_time.series`         which names are one system that changes, and in which order
:mod:`~.report.over_time.folders`        run folders that are looked at again and again
:mod:`~.report.over_time.scoring`        the score of a point, and whether two points differ
:mod:`~.report.over_time.timelines`      all of it for a protocol: :class:`WatchedRuns`
:mod:`~.report.over_time.facts`          what the page says
:mod:`~.report.over_time.pages`          the page: :func:`write_over_time`
=======================================  ================================================================================
"""

from hyperacuity.report.over_time.pages import write_over_time
from hyperacuity.report.over_time.timelines import WatchedRuns

__all__ = ["WatchedRuns", "write_over_time"]
