"""One function per kind of map, whatever the file's format.

The format is recognised by the content. Values are brought to the conventions of :mod:`hyperacuity.maps`; what cannot be
right raises :class:`~hyperacuity.errors.InputError`, what is legal but probably wrong gives a :class:`DataWarning`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.files import check_pixels, warn
from hyperacuity.data.formats.arrays import npy_shape, read_npy, read_npz
from hyperacuity.data.formats.berkeley import boundaries_of, read_fg, read_seg
from hyperacuity.data.formats.images import KITTI_SCALE, read_grey, read_pixels
from hyperacuity.data.formats.matlab import (
    count_elements,
    read_array,
    read_truth_boundaries,
    read_truth_segmentations,
    read_variable,
    ucm_at_image_size,
)
from hyperacuity.data.formats.pfm import read_pfm
from hyperacuity.data.formats.sniff import IMAGE_KINDS, kind_of
from hyperacuity.errors import InputError
from hyperacuity.maps import (
    DisparityMap,
    EdgeMap,
    LabelMap,
    OrderMap,
    SoftMap,
    disparity_map,
    edge_map,
    label_map,
    order_map,
    same_size,
    soft_map,
)

M = TypeVar("M", EdgeMap, LabelMap)
Larger = Literal["nearer", "farther"]
Zero = Literal["known", "unknown"]

MOST_ZEROS = 0.05
"""If more than this share of an array of disparities is 0, and nothing is NaN or infinite, it has to be said what 0 means."""

MOST_EDGES = 0.5
"""If more than this share of a truth's pixels are edges, a warning asks whether it is inverted."""


def read_soft(
    path: Path | str,
    *,
    variable: str | None = None,
    inverted: bool = False,
    value_range: tuple[float, float] | None = None,
    force: bool = False,
) -> SoftMap:
    """Edge strength in [0, 1]. 8- and 16-bit values are divided by 255 and 65535; ``ucm2`` is read at image size.

    ``variable`` names the array in a MAT or NPZ file that holds several. With ``inverted`` zero is the strongest. Values of
    another ``value_range`` are brought to [0, 1]. ``force`` takes a map of the values 0 and 1 of 255 as it is.
    """
    values = _plane(path, variable, ("ucm2",))
    strength = as_strength(values, str(path), inverted=inverted, value_range=value_range, force=force)
    if not strength.any():
        warn(f"{path}: is zero everywhere, so nothing is detected")
    return strength


def read_values(path: Path | str) -> NDArray[Any]:
    """The one plane of numbers in a file, with the file's values."""
    return _plane(path)


def as_strength(
    values: NDArray[Any],
    path: str,
    *,
    inverted: bool = False,
    value_range: tuple[float, float] | None = None,
    force: bool = False,
) -> SoftMap:
    """Values of a file as edge strength, in the way of :func:`read_soft`; ``path`` is what messages call them."""
    if value_range is not None:
        values = _scaled(values, value_range, path)
    elif values.dtype in (np.uint8, np.uint16):
        highest = np.iinfo(values.dtype).max
        if values.max(initial=0) == 1 and not force:
            raise InputError(
                f"{path}: holds only 0 and 1 of {highest}, a binary map? Use `value_range=(0, 1)`, or `force=True`"
            )
        values = values / np.float32(highest)
    elif values.dtype.kind in "fiu" and values.size and (values.min() < 0 or values.max() > 1):
        low, high = float(values.min()), float(values.max())
        limit = next((most for most in (255, 65535) if low >= 0 and high <= most), None)
        cure = (
            f"use `value_range=(0, {limit})`"
            if limit
            else "apply a sigmoid if these are logits, else use `value_range=(LOW, HIGH)`"
        )
        raise InputError(f"{path}: values run from {low:g} to {high:g}, expected [0, 1]: {cure}")
    strength = soft_map(values, name=path)
    strength = np.float32(1) - strength if inverted else strength
    if 2 * np.count_nonzero(strength > 0.9) > strength.size:
        warn(f"{path}: more than half of the pixels are stronger than 0.9; inverted? Use `invert_prediction=True`")
    return strength


def _scaled(values: NDArray[Any], value_range: tuple[float, float], path: Path | str) -> NDArray[np.float64]:
    """Values of a range as [0, 1]; those outside are refused."""
    low, high = value_range
    if values.size and not (low <= values.min() and values.max() <= high):
        raise InputError(
            f"{path}: values run from {values.min():g} to {values.max():g}, expected {low:g} to {high:g}: "
            "give `value_range=(LOW, HIGH)` the least and the greatest value of all maps"
        )
    return np.asarray((values.astype(np.float64) - low) / (high - low))


def read_ucm(path: Path | str, *, variable: str | None = None) -> SoftMap:
    """An ultrametric contour map at double size, (2H+1) × (2W+1): pixels at odd positions, contours between them."""
    path = Path(path)
    if kind_of(path).startswith("MAT"):
        _, values = read_array(path, variable, ("ucm2",))
    else:
        values = _plane(path, variable)
    ucm_at_image_size(values, str(path))
    return soft_map(values, name=str(path))


def holds_ucm(path: Path | str) -> bool:
    """True for a file with an ultrametric contour map, that is a MAT file with a variable ``ucm2``."""
    path = Path(path)
    if not kind_of(path).startswith("MAT"):
        return False
    name, _ = read_variable(path, ("ucm2", "segs", "groundTruth"), fields=(), any_plane=True)
    return name == "ucm2"


def read_edges(
    path: Path | str, *, variable: str | None = None, inverted: bool = False, force: bool = False
) -> EdgeMap:
    """Edge or not. Anything above zero is an edge; with ``inverted`` (as in RUG's truths) zero is the edge.

    JPEG, which smears thin lines into their surroundings, is refused without ``force``.
    """
    if kind_of(Path(path)) == "JPEG" and not force:
        raise InputError(f"{path}: is a JPEG, whose compression widens edges: save it as PNG, or use `force=True`")
    values = _plane(path, variable)
    edges = edge_map(values, name=str(path))
    if values.dtype != np.bool_ and (edges & (values != values.max())).any():
        warn(f"{path}: holds grey levels, not just two values; everything above 0 counts as {'no ' * inverted}edge")
    return _check_share(~edges if inverted else edges, str(path))


def read_labels(path: Path | str, *, variable: str | None = None, colours: bool = True) -> LabelMap:
    """Region labels as the file has them; of a palette image, the indices.

    Regions painted in colours get one label per colour, in the order of the colours; with ``colours=False`` they are refused,
    since the same label may have another number in another file. So are MAT files with several annotators.
    """
    path = Path(path)
    kind = kind_of(path)
    if kind == "SEG":
        return read_seg(path)
    if kind in IMAGE_KINDS:
        pixels = read_pixels(path, palette=False)
        if pixels.ndim == 3 and not colours and not _is_grey(pixels):
            raise InputError(f"{path}: is painted in colours, expected labels: save grey levels, or a palette image")
        if pixels.ndim == 3:
            red, green, blue = np.moveaxis(pixels, -1, 0).astype(np.int64)
            mixed: NDArray[np.int64] = (red << 32) | (green << 16) | blue
            grey = _is_grey(pixels)
            pixels = red if grey else np.unique(mixed, return_inverse=True)[1].reshape(mixed.shape)
        return label_map(pixels, name=str(path))
    if kind.startswith("MAT") and variable is None:
        stack = _segmentations(path)
        if len(stack) != 1:
            raise InputError(f"{path}: holds {len(stack)} segmentations, expected one")
        return stack[0]
    return label_map(_plane(path, variable), name=str(path))


def read_order(
    path: Path | str, *, variable: str | None = None, larger: Larger = "nearer", unknown: float | None = None
) -> OrderMap:
    """Depth order, larger = nearer, NaN = unknown; figure/ground labels (``.fg``) are +1 and −1.

    Depth maps count the other way: with ``larger="farther"`` their values are negated. ``unknown`` is the value that
    means unknown besides NaN and infinity, for example 0 in most depth images.
    """
    path = Path(path)
    if kind_of(path) == "FG":
        return read_fg(path)
    values = _as_float32(_plane(path, variable))
    values[~np.isfinite(values) | (values == unknown)] = np.nan
    return order_map(-values if larger == "farther" else values, name=str(path))


def read_disparity(
    path: Path | str, *, scale: float | None = None, variable: str | None = None, zero: Zero | None = None
) -> DisparityMap:
    """Disparity in pixels, NaN where unknown.

    In a picture it is grey / ``scale``, and grey 0 is unknown. The default scale of 16-bit pictures is KITTI's 256; 8-bit
    pictures need one (without it, grey levels are taken for pixels, with a warning). PFM, NPY and MAT files hold pixels;
    there the unknown is NaN or infinity, and a scale divides too. ``zero`` says whether 0 is a disparity in these; it has to
    for an array that is full of zeros and marks nothing else as unknown (in PFM, infinity is agreed upon).
    """
    path = Path(path)
    kind = kind_of(path)
    if scale is not None and not 0 < scale < float("inf"):
        raise InputError(f"{path}: disparity scale {scale:g}, expected a positive number")
    values = _plane(path, variable)
    if kind in IMAGE_KINDS and values.dtype.kind in "biu":
        zero = "unknown"
        if scale is None:
            scale = KITTI_SCALE if values.dtype == np.uint16 else 1
            if values.dtype != np.uint16:
                warn(f"{path}: is an 8-bit disparity picture without a scale, so grey levels are pixels; use `scale=N`")
    elif (
        zero is None and kind != "PFM" and np.isfinite(values).all() and (values == 0).sum() > MOST_ZEROS * values.size
    ):
        share = f"{np.mean(values == 0):.0%} of the pixels"
        raise InputError(f"{path}: {share} are exactly 0, holes? Use `zero='unknown'`, or known if they are estimates")
    if zero == "unknown":
        values = np.where(values == 0, np.nan, values)
    return disparity_map(_as_float32(values) / np.float32(scale or 1), name=str(path))


def read_mask(path: Path | str) -> EdgeMap:
    """A region mask: only the full value counts (255 of 8 bit), as in Middlebury's, where 128 is outside. Refused if empty."""
    values = _plane(path)
    full = 1 if values.dtype == np.bool_ or values.dtype.kind == "f" else np.iinfo(values.dtype).max
    mask = np.ascontiguousarray(values == full)
    if not mask.any():
        raise InputError(f"{path}: no pixel has the full value {full}, so the mask is empty")
    return mask


def read_boundary_truths(paths: Iterable[Path | str], *, inverted: bool = False, force: bool = False) -> list[EdgeMap]:
    """The boundaries every annotator drew, from any number of files: one edge map each, or all of a BSDS ``groundTruth``.

    Where a file has segmentations only (``.seg``), the boundaries are those of its regions.
    """
    return _read_all(paths, lambda path: _boundaries(path, inverted, force))


def read_segmentations(paths: Iterable[Path | str]) -> list[LabelMap]:
    """Segmentations from any number of files: one each, or all of a BSDS ``groundTruth`` or ``segs``, or a stack (N×H×W)."""
    return _read_all(paths, _segmentations)


def count_truths(paths: Iterable[Path | str], variables: Sequence[str], *, stacks: bool = False) -> int:
    """Number of maps in files of truths, from their headers alone.

    One each, as many as the first of the ``variables`` of a MAT file has elements, or with ``stacks`` as an array N×H×W has
    planes. ``InputError`` for a MAT file or an array that cannot be read.
    """
    count = 0
    for path in map(Path, paths):
        shape = npy_shape(path) if stacks and path.suffix.lower() == ".npy" else ()
        held = count_elements(path, variables) if path.suffix.lower() == ".mat" else 1
        count += shape[0] if len(shape) == 3 else held
    return count


def _boundaries(path: Path, inverted: bool, force: bool) -> list[EdgeMap]:
    kind = kind_of(path)
    if kind == "SEG":
        return [boundaries_of(read_seg(path))]
    if not kind.startswith("MAT"):
        return [read_edges(path, inverted=inverted, force=force)]
    stored = read_truth_boundaries(path)
    if stored is None:
        return [boundaries_of(labels) for labels in read_truth_segmentations(path)]
    return [_check_share(edges, f"{path}, annotator {i}") for i, edges in enumerate(stored, start=1)]


def _segmentations(path: Path) -> list[LabelMap]:
    kind = kind_of(path)
    if kind.startswith("MAT"):
        return read_truth_segmentations(path)
    if kind in ("NPY", "NPZ"):
        values = read_npy(path) if kind == "NPY" else read_npz(path)
        if values.ndim == 3:
            if len(values) == 0:
                raise InputError(f"{path}: holds an empty stack, expected at least one segmentation")
            return [label_map(plane, name=str(path)) for plane in values]
    return [read_labels(path)]


def _read_all(paths: Iterable[Path | str], read: Callable[[Path], list[M]]) -> list[M]:
    """The maps of all files, checked to be of one size."""
    maps: list[M] = []
    for path in paths:
        for result in read(Path(path)):
            if maps:
                same_size(result, maps[0], names=(str(path), "the annotator before"))
            maps.append(result)
    if not maps:
        raise InputError("no truth was given, expected at least one annotator")
    return maps


def _plane(path: Path | str, variable: str | None = None, expected: tuple[str, ...] = ()) -> NDArray[Any]:
    """The one plane of numbers in a file, with the file's values."""
    path = Path(path)
    kind = kind_of(path)
    values: NDArray[Any]
    if kind in IMAGE_KINDS:
        values = read_grey(path)
    elif kind in ("NPY", "PFM"):
        values = read_npy(path) if kind == "NPY" else read_pfm(path)
    elif kind == "NPZ":
        values = read_npz(path, variable)
    elif kind.startswith("MAT"):
        name, values = read_array(path, variable, expected)
        if name == "ucm2":
            values = ucm_at_image_size(values, str(path))
    else:
        raise InputError(f"{path}: is a {kind} file, which holds no such map")
    if values.ndim > 2:  # networks write 1×1×H×W
        values = values.reshape([n for n in values.shape if n != 1] or [1])
    if values.ndim == 2:
        check_pixels(values.shape, str(path))
    if values.dtype.kind == "f":
        with np.errstate(invalid="ignore"):  # a signalling NaN would raise warnings wherever it is used
            if (unknown := np.isnan(values)).any():
                values = np.where(unknown, values.dtype.type(np.nan), values)
    return values


def _as_float32(values: NDArray[Any]) -> NDArray[np.float32]:
    """A copy in float32; what is too large for it becomes infinite, which means unknown."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(values, dtype=np.float32)


def _check_share(edges: EdgeMap, name: str) -> EdgeMap:
    """Warn if there are suspiciously many edges or none; returns them."""
    share = np.count_nonzero(edges) / edges.size
    if share > MOST_EDGES:
        warn(f"{name}: {share:.0%} of the pixels are edges; inverted? Use `invert_truth=True`")
    elif share == 0:
        warn(f"{name}: has no edge pixel")
    return edges


def _is_grey(pixels: NDArray[Any]) -> bool:
    """True if the channels of a picture are all the same."""
    return bool((pixels == pixels[..., :1]).all())
