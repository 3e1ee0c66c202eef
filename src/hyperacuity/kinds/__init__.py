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

from hyperacuity.kinds.base import BUILT_IN, Cell, Found, Given, Inputs, Kind, kind, kind_of, names

__all__ = ["BUILT_IN", "Cell", "Found", "Given", "Inputs", "Kind", "kind", "kind_of", "names"]
