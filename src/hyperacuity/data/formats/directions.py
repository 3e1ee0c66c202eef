"""Sides of boundaries that are in front: maps of angles, of soft boundaries with angles, and of vectors.

=========  ==================================================================================================================
direction  what the numbers are
=========  ==================================================================================================================
normal     degrees of the way from the near side to the far one: 0 right, 90 down (the convention in memory)
tangent    radians along the boundary, 0 right, π/2 down, with the near side on the left of the way: DOC, DOOBNet, OFNet, P2ORM
vector     two channels, x to the right and y down, of the way from near to far; the length is the strength of the boundary
=========  ==================================================================================================================

A file of one channel has angles (NaN where there is no boundary); one of two, H×W×2 or 2×H×W, has the boundary first and then
the angles, or the vector. MAT files may hold what DOOBNet writes (``edge_ori`` with ``edge`` and ``ori``) and the truths of
BSDS ownership (``gtStruct.gt_theta``) and of PIOD (``bndinfo_pascal``), whose angles are those of tangents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.files import check_pixels, warn
from hyperacuity.data.formats.arrays import read_npy, read_npz
from hyperacuity.data.formats.images import read_grey
from hyperacuity.data.formats.mat5 import Value
from hyperacuity.data.formats.matlab import read_variable
from hyperacuity.data.formats.pfm import read_pfm
from hyperacuity.data.formats.sniff import IMAGE_KINDS, kind_of
from hyperacuity.errors import InputError, UsageError, option

Direction = Literal["normal", "tangent", "vector"]
Floats = NDArray[np.float64]

MOST_RADIANS = 4 * math.pi
"""Angles that go beyond two turns in radians are probably degrees."""

ROUNDING = 1e-5
"""By how much a vector of length 1 may be longer in single precision."""

_STRUCTS = ("edge_ori", "gtStruct", "bndinfo_pascal")
_FIELDS = {"edge", "ori", "gt_theta", "OrientMap", "edges", "indices"}


def read_directions(path: Path | str, *, direction: Direction = "normal") -> list[tuple[Floats | None, Floats]]:
    """Boundaries and their angles in degrees, from near to far; one pair for each annotator that the file holds.

    Where the file has one channel, there are angles alone (None for the boundaries).
    """
    path = Path(path)
    if direction not in get_args(Direction):
        raise UsageError(f"{option('direction', direction)}: expected one of {', '.join(get_args(Direction))}")
    values = _values(path)
    if isinstance(values, list):
        return [_converted(one, "tangent", path) for one in values]
    return [_converted(values, direction, path)]


def degrees(angle: Floats, direction: Direction, path: Path) -> Floats:
    """Angles as degrees of the way from near to far, with a word about those that look like the other unit."""
    known = angle[np.isfinite(angle)]
    most = float(np.abs(known).max(initial=0))
    if direction == "tangent":
        if most > MOST_RADIANS:
            raise InputError(
                f"{path}: angles run up to {most:g}, expected radians; in degrees? Use `direction='normal'`"
            )
        return np.asarray(np.degrees(angle) + 90, np.float64)
    if 1 < most <= MOST_RADIANS and (known != np.rint(known)).any():
        warn(f"{path}: no angle exceeds {most:.3g} degrees; in radians along the boundary? Use `direction='tangent'`")
    return np.asarray(angle, np.float64)


def _converted(values: NDArray[Any], direction: Direction, path: Path) -> tuple[Floats | None, Floats]:
    numbers = np.asarray(values, np.float64)
    if numbers.ndim == 3 and 2 in (numbers.shape[0], numbers.shape[2]):
        first, second = np.moveaxis(numbers, -1, 0) if numbers.shape[2] == 2 else numbers
        if direction != "vector":
            return first, degrees(second, direction, path)
        length = np.hypot(first, second)
        angle = np.where(length > 0, np.degrees(np.arctan2(second, first)), np.nan)
        return np.nan_to_num(np.where((length > 1) & (length < 1 + ROUNDING), 1.0, length)), angle
    if numbers.ndim != 2 or direction == "vector":
        wanted = "two channels" if direction == "vector" else "angles H×W, or two channels"
        raise InputError(f"{path}: has shape {'×'.join(map(str, numbers.shape))}, expected {wanted}, H×W×2 or 2×H×W")
    return None, degrees(numbers, direction, path)


def _values(path: Path) -> NDArray[Any] | list[NDArray[Any]]:
    """The numbers of a file; a list of maps of two channels where it is a struct of known form."""
    kind = kind_of(path)
    values: Value
    if kind in IMAGE_KINDS:
        values = read_grey(path)
        if values.dtype.kind != "f":
            raise InputError(
                f"{path}: is a picture of {values.dtype.name} grey levels, expected angles as numbers (NPY, MAT, TIFF)"
            )
    elif kind in ("NPY", "PFM"):
        values = read_npy(path) if kind == "NPY" else read_pfm(path)
    elif kind == "NPZ":
        values = read_npz(path)
    elif kind.startswith("MAT"):
        name, values = read_variable(path, _STRUCTS, fields=_FIELDS, any_plane=True)
        if name in _STRUCTS:
            return _of_struct(name, values, path)
    else:
        raise InputError(f"{path}: is a {kind} file, expected a map of angles")
    if not isinstance(values, np.ndarray):
        raise InputError(f"{path}: holds a cell or a struct of unknown form, expected {', '.join(_STRUCTS)} or numbers")
    squeezed = values.reshape([n for n in values.shape if n != 1] or [1]) if values.ndim > 3 else values
    check_pixels(squeezed.shape[:2], str(path))
    return squeezed


def _of_struct(name: str, value: Value, path: Path) -> list[NDArray[Any]]:
    struct = value[0] if isinstance(value, Sequence) and len(value) == 1 else value
    try:
        if not isinstance(struct, Mapping):
            raise KeyError
        if name == "edge_ori":
            return [np.stack([_numbers(struct["edge"]), _numbers(struct["ori"])], axis=-1)]
        if name == "gtStruct":
            return [_numbers(one) for one in _listed(struct["gt_theta"])]
        angle = _numbers(struct["OrientMap"])
        edges = np.zeros(angle.size)
        for of in _listed(struct["edges"]):
            for indices in _listed(of["indices"]) if isinstance(of, Mapping) else []:
                edges[_numbers(indices).astype(np.int64).ravel() - 1] = 1  # MATLAB counts from 1, down the columns
        return [np.stack([edges.reshape(angle.shape, order="F"), angle], axis=-1)]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"{path}: {name} has not the form of DOOBNet's, BSDS ownership's or PIOD's files") from error


def _numbers(value: Value) -> NDArray[Any]:
    if not isinstance(value, np.ndarray):
        raise TypeError
    return value


def _listed(value: Value) -> Sequence[Value]:
    return value if isinstance(value, Sequence) else [value]
