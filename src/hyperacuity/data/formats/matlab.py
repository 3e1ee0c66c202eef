"""MATLAB files, version 5 and 7.3: the fields of the Berkeley benchmark, or a variable by name.

============  ==================================  =====================================================
variable      what                                read as
============  ==================================  =====================================================
groundTruth   cell of structs, one per annotator  ``Segmentation`` (labels), ``Boundaries`` (0/1)
segs          cell of label maps                  segmentations, coarse or fine, one per level
ucm2          ultrametric contour map, 2H+1×2W+1  soft map at image size: every second pixel from the third
============  ==================================  =====================================================
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.files import first_line, printable, read_bytes
from hyperacuity.data.formats import mat5
from hyperacuity.data.formats.berkeley import boundaries_of
from hyperacuity.data.formats.mat5 import Value
from hyperacuity.data.formats.sniff import kind_of
from hyperacuity.errors import InputError
from hyperacuity.maps import EdgeMap, LabelMap, edge_map, label_map
from hyperacuity.outputs import write_bytes

M = TypeVar("M", EdgeMap, LabelMap)

_HDF5_MARK = b"\x89HDF\r\n\x1a\n"
_TYPES = {"b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"}


def read_variable(
    path: Path, wanted: Sequence[str], *, fields: Collection[str] | None = None, any_plane: bool = False
) -> tuple[str, Value]:
    """The first of the wanted variables that the file has, with its name.

    With ``any_plane`` the file's only two-dimensional array of numbers will do as well. Otherwise the message lists what
    the file holds.
    """
    data = read_bytes(path)
    with _damage_told(path):
        result, decode = _open(path, data)
        names = [name for name in wanted if name in result]
        if not names and any_plane:
            planes = [name for name, variable in result.items() if variable.is_plane]
            names = planes if len(planes) == 1 else []
        if names:
            return names[0], decode(result[names[0]], fields)
    listed = printable(", ".join(map(str, result.values()))) or "no variable"
    raise InputError(f"{path}: holds {listed}; expected {' or '.join(wanted) or 'one matrix of numbers'}")


def count_elements(path: Path, wanted: Sequence[str]) -> int:
    """Number of elements of the first of the wanted variables in the file, from its header alone; 1 if it has none."""
    data = read_bytes(path)
    with _damage_told(path):
        result, _ = _open(path, data)
        return next((prod(result[name].shape) for name in wanted if name in result), 1)


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, KeyError, OverflowError, struct.error, zlib.error, RuntimeError, OSError) as error:
        raise InputError(f"{path}: is a damaged MAT file ({first_line(error)})") from error


def read_array(path: Path, variable: str | None, expected: Sequence[str] = ()) -> tuple[str, NDArray[Any]]:
    """A matrix of numbers by name, or by one of the expected names, or the only one there is; with its name."""
    wanted = [variable] if variable is not None else list(expected)
    name, value = read_variable(path, wanted, any_plane=variable is None)
    if not isinstance(value, np.ndarray):
        raise InputError(f"{path}: {printable(name)} is a cell, a struct or text, expected a matrix of numbers")
    return name, value


def ucm_at_image_size(ucm2: NDArray[Any], name: str) -> NDArray[Any]:
    """The boundary map of a double-size ultrametric contour map: every second pixel, from the third."""
    if ucm2.ndim != 2 or ucm2.shape[0] % 2 == 0 or ucm2.shape[1] % 2 == 0 or min(ucm2.shape) < 3:
        raise InputError(f"{name}: ucm2 has shape {ucm2.shape}, expected double size, 2H+1 × 2W+1")
    return ucm2[2::2, 2::2]


def read_truth_boundaries(path: Path) -> list[EdgeMap] | None:
    """Every annotator's ``Boundaries`` in ``groundTruth``, or the file's only matrix; None where there are segmentations only."""
    _, value = read_variable(path, ["groundTruth"], fields={"Boundaries"}, any_plane=True)
    if isinstance(value, np.ndarray):
        return [edge_map(value, name=str(path))]
    annotators = _as_annotators(value, path)
    if all("Segmentation" in one for one in annotators) and any(one.get("Boundaries") is None for one in annotators):
        return None
    return _maps(_field(annotators, "Boundaries", path), path, edge_map)


def read_truth_segmentations(path: Path) -> list[LabelMap]:
    """Every annotator's ``Segmentation`` in ``groundTruth``, or every level of ``segs``, or the file's only matrix."""
    name, value = read_variable(path, ["groundTruth", "segs"], fields={"Segmentation"}, any_plane=True)
    planes = _field(_as_annotators(value, path), "Segmentation", path) if name == "groundTruth" else _listed(value)
    if not planes:
        raise InputError(f"{path}: {printable(name)} is empty, expected at least one segmentation")
    return _maps(planes, path, label_map)


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


def write_truths(
    path: Path | str, segmentations: Sequence[LabelMap], boundaries: Sequence[EdgeMap] | None = None
) -> None:
    """Write annotators in BSDS form: ``groundTruth{i}.Segmentation`` (uint16) and ``.Boundaries`` (logical).

    Without ``boundaries`` those of the segmentations are written.
    """
    if boundaries is None:
        boundaries = [boundaries_of(labels) for labels in segmentations]
    truths: list[Value] = [
        {"Segmentation": unsigned(labels, path), "Boundaries": np.asarray(edges, dtype=np.bool_)}
        for labels, edges in zip(segmentations, boundaries, strict=True)
    ]
    _write(path, {"groundTruth": truths})


def write_segs(path: Path | str, segmentations: Sequence[LabelMap]) -> None:
    """Write the levels of a segmentation in BSDS form: the cell ``segs`` of uint16 label maps."""
    _write(path, {"segs": [unsigned(labels, path) for labels in segmentations]})


def write_mat(path: Path | str, **arrays: NDArray[Any]) -> None:
    """Write named matrices of numbers, for example ``write_mat(path, ucm2=contours)``."""
    _write(path, arrays)


def encode(values: Mapping[str, Value]) -> bytes:
    """A compressed MAT file, version 5, of named matrices, cells (sequences) and structs (mappings).

    Its bytes depend on the values alone: the header that scipy writes, with the date, is replaced.
    """
    from scipy.io import savemat  # slow to import, and most runs write no MAT file

    file = io.BytesIO()
    savemat(file, {name: _for_scipy(value) for name, value in values.items()}, do_compression=True)
    return b"MATLAB 5.0 MAT-file, written by Hyperacuity".ljust(116) + file.getvalue()[116:]


def _for_scipy(value: Value) -> Any:
    if isinstance(value, np.ndarray):
        if value.ndim < 2 or value.dtype.str[1:] not in _TYPES:
            raise ValueError(f"a MAT file cannot hold {value.dtype} values of shape {value.shape}")
        return value
    if isinstance(value, Mapping):
        return {name: _for_scipy(item) for name, item in value.items()}
    if not isinstance(value, Sequence):
        raise ValueError(f"a MAT file cannot hold {type(value).__name__}")
    cell = np.empty((1, len(value)), dtype=object)
    for i, item in enumerate(value):
        cell[0, i] = _for_scipy(item)
    return cell


def _write(path: Path | str, values: Mapping[str, Value]) -> None:
    try:
        write_bytes(Path(path), encode(values))
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def unsigned(labels: LabelMap, path: Path | str, what: str = "BSDS files hold") -> NDArray[np.uint16]:
    """Labels as 16-bit numbers, refused where they do not fit."""
    if labels.min() < 0 or labels.max() > 65535:
        raise InputError(f"{path}: {what} labels from 0 to 65535, found {labels.min()} to {labels.max()}")
    return labels.astype(np.uint16)


def _as_annotators(value: Value, path: Path) -> list[Mapping[str, Value]]:
    """The structs in a ``groundTruth``: a cell of 1×1 structs, or a plain struct array."""
    structs: list[Mapping[str, Value]] = []
    for item in _listed(value):
        structs += [inner for inner in _listed(item) if isinstance(inner, Mapping)]
    if not structs:
        raise InputError(f"{path}: groundTruth holds no annotator, expected a cell of structs")
    return structs


def _listed(value: Value) -> list[Value]:
    """The values of a cell or struct array; a single value is a list of one."""
    return [value] if value is None or isinstance(value, np.ndarray | Mapping) else list(value)


def _field(annotators: list[Mapping[str, Value]], field: str, path: Path) -> list[Value]:
    """One field of every annotator; all must have it."""
    values = [annotator.get(field) for annotator in annotators]
    if any(value is None for value in values):
        names = printable(", ".join(sorted({name for annotator in annotators for name in annotator})))
        raise InputError(f"{path}: groundTruth holds the fields {names}; expected {field}")
    return values


def _maps(planes: Sequence[Value], path: Path, make: Callable[..., M]) -> list[M]:
    for plane in planes:
        if not isinstance(plane, np.ndarray):
            raise InputError(f"{path}: holds a cell, a struct or text where a matrix of numbers was expected")
    return [make(plane, name=f"{path}, number {i}") for i, plane in enumerate(planes, start=1)]


def _open(path: Path, data: bytes) -> tuple[dict[str, Any], Callable[[Any, Collection[str] | None], Value]]:
    """The file's variables by name, and the function that decodes one."""
    if data.startswith(_HDF5_MARK) or data[512:520] == _HDF5_MARK:
        from hyperacuity.data.formats import hdf5_process  # few files need it

        def decode(variable: mat5.Variable, fields: Collection[str] | None) -> Value:
            return hdf5_process.decode(path, variable.name, fields)

        return {variable.name: variable for variable in hdf5_process.variables(path)}, decode
    return {variable.name: variable for variable in mat5.variables(data)}, mat5.decode
