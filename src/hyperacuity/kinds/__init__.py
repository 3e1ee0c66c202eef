"""Kinds of data: the one registry, by name.

A task names its kind, or has one of its own as a value. A kind of another package joins by an entry point, so that tasks of
further packages can name it.

>>> kind("contours").describe()
'A prediction is a soft map, a truth is an edge map.'
>>> kind("chess")
Traceback (most recent call last):
hyperacuity.errors.UsageError: there is no kind of data 'chess'; there are contours, labels, ...
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from hyperacuity.errors import UsageError
from hyperacuity.kinds.base import Given, Kind
from hyperacuity.kinds.cells import Cell, Found, Inputs
from hyperacuity.tally import Task

__all__ = ["Cell", "Found", "Given", "Inputs", "Kind", "kind", "kind_of", "names"]

BUILT_IN = {
    "contours": "contours.ContourKind",
    "labels": "contours.LabelKind",
    "regions": "regions.RegionKind",
    "masks": "masks.MaskKind",
    "orders": "orders.OrderKind",
    "point pairs": "depth.PairKind",
    "depth edges": "depth.DepthEdgeKind",
    "occlusion": "occlusion.OcclusionKind",
    "disparity": "disparity.DisparityKind",
    "views": "disparity.ViewKind",
    "class maps": "class_maps.SemanticKind",
}
"""The class of each kind; loaded when it is asked for."""

ENTRY_POINTS = "hyperacuity.kinds"
"""The group in which installed packages offer theirs: ``horizons = "horizons:HorizonKind"``."""


def kind(name: str) -> Kind:
    """The kind of this name, with its default options. ``UsageError`` when there is none."""
    if name in BUILT_IN:
        module, _, member = BUILT_IN[name].partition(".")
        found: Kind = getattr(import_module(f"{__name__}.{module}"), member)()
        return found
    offered = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in offered:
        raise UsageError(f"there is no kind of data {name!r}; there are {', '.join(names())}")
    loaded = offered[name].load()
    return loaded() if isinstance(loaded, type) else loaded  # type: ignore[no-any-return]  # what the package offers


def names() -> list[str]:
    """The names of all kinds."""
    return list(dict.fromkeys((*BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINTS)))))


def kind_of(task: Task[Any, Any, Any]) -> Kind:
    """The kind of a task's data, with its default options."""
    return kind(task.kind) if isinstance(task.kind, str) else task.kind
