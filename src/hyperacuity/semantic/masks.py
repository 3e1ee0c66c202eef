"""Boundaries of label maps: which pixels lie where one region ends and another begins, for each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError
from hyperacuity.kernels.thinning import thin as thinned
from hyperacuity.maps import EdgeMap, LabelMap, label_map, same_size

NONE = -1
"""The index of a pixel of no class."""


def masks2edges(
    labels: ArrayLike,
    classes: Sequence[int],
    *,
    instances: ArrayLike | None = None,
    ignore: Sequence[int] = (),
    radius: float = 2.0,
    thin: bool = False,
) -> NDArray[np.bool_]:
    r"""The boundaries of each class, classes × height × width, from a label map and, if given, a map of instances.

    Pixel p is boundary of class c when some pixel q with :math:`\lVert p - q \rVert \le r` belongs to another region, and one of
    the two is of class c. Regions are the classes, or with ``instances`` the objects of each class; pixels of no class form
    one region. Pairs in which either pixel is ignored make no boundary; nor does the frame of the image. A map of one region has
    none.

    Parameters
    ----------
    labels
        The label of each pixel.
    classes
        The labels that are classes, in the order of the result. All other labels are background.
    instances
        The number of the object that each pixel belongs to; numbers may be used again in other classes.
    ignore
        Labels of unknown pixels, such as 255 or −1; there is no boundary next to them.
    radius
        :math:`r` in pixels, 1 or more. SEAL has 2 (raw) and 1 (thin); the result is about 2r pixels wide.
    thin
        Thin the boundaries of each class, as MATLAB's ``bwmorph(…, 'thin', Inf)``.

    References
    ----------
    Yu et al. (2018), Simultaneous Edge Alignment and Learning; ``seg2edge.m`` of its program (``regular`` edges).

    Examples
    --------
    >>> labels = np.array([[0, 0, 1, 1, 2, 2]])
    >>> masks2edges(labels, [1, 2], radius=1)[:, 0].astype(int)
    array([[0, 1, 1, 1, 1, 0],
           [0, 0, 0, 1, 1, 0]])
    """
    given = label_map(labels, name="labels")
    index = np.full(given.shape, NONE, np.int32)
    for n, label in enumerate(classes):
        index[given == label] = n
    objects = None if instances is None else label_map(instances, name="instances")
    if objects is not None:
        same_size(objects, given, names=("the map of instances", "the label map"))
    if radius < 1:
        raise InputError(f"a radius of {radius:g} reaches no other pixel, expected 1 or more")
    left_out = np.isin(given, list(ignore)) if len(ignore) else None
    edges = np.zeros((len(classes), *given.shape), np.bool_)
    for c, boundary in class_edges(index, objects, left_out, radius).items():
        edges[c] = thinned(boundary) if thin else boundary
    return edges


def class_edges(
    index: LabelMap, objects: LabelMap | None, ignored: EdgeMap | None, radius: float
) -> dict[int, EdgeMap]:
    """The boundaries of the classes that a map of class indices has (−1: none), by index; see :func:`masks2edges`."""
    present = [c for c in np.unique(index).tolist() if c != NONE]
    row = np.full(max(present, default=0) + 2, len(present), np.int64)  # the last row is of no class
    row[present] = range(len(present))
    edges = np.zeros((len(present) + 1, index.size), np.bool_)
    flat = row[index.ravel()]
    for p, q in _meeting(_regions(index, objects), ignored, radius):
        for c in (flat[p], flat[q]):
            edges[c, p] = True
            edges[c, q] = True
    return {c: edges[n].reshape(index.shape) for n, c in enumerate(present)}


def _regions(index: LabelMap, objects: LabelMap | None) -> NDArray[np.int64]:
    """A number for each region: the class, or the object within it."""
    if objects is None:
        return index.astype(np.int64)
    return np.where(index == NONE, NONE, index.astype(np.int64) * (int(objects.max()) + 2) + objects + 1)


def _meeting(
    regions: NDArray[np.int64], ignored: EdgeMap | None, radius: float
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Flat indices of all pairs of pixels of different regions up to ``radius`` apart, offset by offset."""
    height, width = regions.shape
    reach = int(radius)
    for down in range(min(reach, height - 1) + 1):
        for across in range(-min(reach, width - 1), min(reach, width - 1) + 1):
            if (down, across) <= (0, 0) or down**2 + across**2 > radius**2:
                continue
            here = (slice(0, height - down), slice(max(0, -across), width - max(0, across)))
            there = (slice(down, height), slice(max(0, across), width + min(0, across)))
            differ = regions[here] != regions[there]
            if ignored is not None:
                differ &= ~(ignored[here] | ignored[there])
            y, x = np.nonzero(differ)
            p = y * width + x + max(0, -across)
            yield p, p + down * width + across
