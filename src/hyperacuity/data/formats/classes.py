"""Files that hold something for every class: stacks of maps, bits in a picture, and the structs of SBD.

============  ====================================================  ==========================================================
file          what                                                  read as
============  ====================================================  ==========================================================
NPY, NPZ      one array, H×W×C (or C×H×W)                           its values, classes first
PNG, TIFF     bits: class k is bit k − 1 of R·2¹⁶ + G·2⁸ + B        one map of 0 and 1 per class (pyEdgeEval's multi-label edges)
``GTcls``     ``Boundaries``, a cell of sparse maps; labels         boundaries by class, ``Segmentation`` with labels from 1
``GTinst``    the same for each object, and ``Categories``          boundaries and number of each object, and its class
============  ====================================================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.formats.arrays import read_npy, read_npz
from hyperacuity.data.formats.images import read_pixels
from hyperacuity.data.formats.mat5 import Value
from hyperacuity.data.formats.matlab import read_variable
from hyperacuity.data.formats.sniff import IMAGE_KINDS, kind_of
from hyperacuity.errors import InputError
from hyperacuity.maps import EdgeMap, LabelMap, edge_map, label_map

BITS = 24
"""Classes that the bits of a colour picture hold."""


class SbdTruth(NamedTuple):
    """An SBD file: boundaries of each class or object, the label or object of each pixel, and the class of each object.

    ``categories`` is empty in ``cls`` files, whose labels are classes. Classes and objects are numbered from 1.
    """

    boundaries: list[EdgeMap]
    segmentation: LabelMap
    categories: tuple[int, ...]


def holds_classes(path: Path) -> bool:
    """True if a file has something for every class: a stack of maps, or a colour picture of bits."""
    kind = kind_of(path)
    if kind in IMAGE_KINDS:
        return read_pixels(path, palette=False).ndim == 3
    return kind in ("NPY", "NPZ") and _array(path, kind).ndim == 3


def read_class_stack(path: Path, count: int | None = None) -> NDArray[Any]:
    """A plane for every class, classes first, with the file's values; bits are True and False.

    ``count`` is the number of classes if given, and tells the axis of classes; by default it is the shortest.
    """
    kind = kind_of(path)
    if kind in IMAGE_KINDS:
        return _bits(path, count)
    if kind not in ("NPY", "NPZ"):
        raise InputError(f"{path}: is a {kind} file, expected maps of all classes in an NPY, an NPZ or bits in a PNG")
    values = _array(path, kind)
    if values.ndim != 3:
        shape = "×".join(map(str, values.shape))
        raise InputError(f"{path}: has shape {shape}, expected a map for each class, H×W×C")
    return np.moveaxis(values, _axis(values.shape, count, path), 0)


def _array(path: Path, kind: str) -> NDArray[Any]:
    values = read_npy(path) if kind == "NPY" else read_npz(path)
    return values[0] if values.ndim == 4 and len(values) == 1 else values  # networks write 1×C×H×W


def _axis(shape: tuple[int, ...], count: int | None, path: Path) -> int:
    if count is None:
        return 2 if shape[2] <= shape[0] else 0
    result = [axis for axis in (2, 0) if shape[axis] == count]
    if not result:
        raise InputError(
            f"{path}: has shape {'×'.join(map(str, shape))}, expected maps of {count} classes, H×W×{count}"
        )
    return result[0]


def _bits(path: Path, count: int | None) -> NDArray[np.bool_]:
    pixels = read_pixels(path, palette=False)
    if pixels.ndim == 2:
        raise InputError(
            f"{path}: is a grey picture, expected one for each class (class_001/…), or bits in a colour PNG"
        )
    if pixels.dtype != np.uint8:
        raise InputError(f"{path}: holds {pixels.dtype} pixels, expected 8 bits per channel, a bit for each class")
    if count is not None and count > BITS:
        raise InputError(f"{path}: a colour picture holds bits of {BITS} classes, expected {count}")
    red, green, blue = (pixels[..., channel].astype(np.uint32) for channel in range(3))
    word = red << 16 | green << 8 | blue
    if count is not None and (word >> count).any():
        raise InputError(f"{path}: has bits beyond the {count} classes; is it a photograph or a map in colours?")
    return np.stack([(word >> c) & 1 != 0 for c in range(count or BITS)])


def holds_sbd(path: Path) -> bool:
    """True for one of SBD's truths."""
    if not kind_of(path).startswith("MAT"):
        return False
    try:
        read_variable(path, ("GTcls", "GTinst"), fields=())
    except InputError:
        return False
    return True


def read_sbd(path: Path) -> SbdTruth:
    """A truth of SBD, ``cls`` or ``inst``."""
    name, value = read_variable(path, ("GTcls", "GTinst"), fields={"Boundaries", "Segmentation", "Categories"})
    structs = [value] if isinstance(value, Mapping) else list(value) if isinstance(value, list) else []
    if len(structs) != 1 or not isinstance(structs[0], Mapping):
        raise InputError(f"{path}: {name} is no struct, expected Boundaries and Segmentation")
    parts = structs[0]
    segmentation = label_map(_matrix(parts.get("Segmentation"), f"{path}, Segmentation"), name=str(path))
    stored = parts.get("Boundaries")
    planes = list(stored) if isinstance(stored, list) else []
    maps = [edge_map(_matrix(plane, f"{path}, boundaries {n}"), name=str(path)) for n, plane in enumerate(planes, 1)]
    if wrong := [n for n, one in enumerate(maps, 1) if one.shape != segmentation.shape]:
        raise InputError(f"{path}: boundaries {wrong[0]} and Segmentation have different sizes, expected one")
    categories: tuple[int, ...] = ()
    if name == "GTinst":
        categories = tuple(_matrix(parts.get("Categories"), f"{path}, Categories").ravel().astype(int).tolist())
        if len(categories) != len(maps) or segmentation.max() > len(maps):
            raise InputError(f"{path}: has {len(maps)} boundaries but {len(categories)} categories, expected as many")
    if segmentation.min() < 0 or min(categories, default=1) < 1:
        raise InputError(f"{path}: has negative labels or a category 0, expected classes and objects from 1")
    return SbdTruth(maps, segmentation, categories)


def _matrix(value: Value, name: str) -> NDArray[Any]:
    if not isinstance(value, np.ndarray):
        raise InputError(f"{name}: is missing, expected a matrix of numbers")
    return value
