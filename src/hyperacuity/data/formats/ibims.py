"""The files of iBims-1: MAT files whose struct ``data`` has the picture, the depth, and the true depth edges (``edges``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from hyperacuity.data.formats.matlab import read_variable
from hyperacuity.data.formats.sniff import kind_of
from hyperacuity.errors import InputError
from hyperacuity.maps import EdgeMap, edge_map


def read_ibims_edges(path: Path | str) -> EdgeMap | None:
    """The true depth edges in a file of iBims-1; None for any other file."""
    path = Path(path)
    if not kind_of(path).startswith("MAT"):
        return None
    name, value = read_variable(path, ["data", "groundTruth"], fields={"edges"}, any_plane=True)
    if name != "data" or isinstance(value, np.ndarray):
        return None
    struct = value[0] if isinstance(value, Sequence) and len(value) == 1 else value
    edges = struct.get("edges") if isinstance(struct, Mapping) else None
    if not isinstance(edges, np.ndarray):
        raise InputError(f"{path}: data has no field edges, expected a file of iBims-1 or a map of edges")
    return edge_map(edges, name=str(path))
