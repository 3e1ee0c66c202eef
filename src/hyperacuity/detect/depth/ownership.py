"""Probability of ownership: which pixels may belong to several objects at once, and therefore lie in front.

A component of similar lightness claims pixels outside it, as parts of the object it is the visible rest of: the more, the nearer
they are and the more the level lines of the distance to it bend (Calderero & Caselles 2013). The paper's exact density is not
published; the one here is a stand-in of the same form (``docs/tasks/depth.md``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.detect.cached import ImageCache
from hyperacuity.detect.detection import planes
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels import ownership as kernels
from hyperacuity.kernels.pieces import label_pieces
from hyperacuity.maps import LabelMap, OrderMap, diagonal, order_map, same_size
from hyperacuity.ordering.figure_ground import Ints, Neighbours
from hyperacuity.ordering.orderings import Partition, consecutive
from hyperacuity.regions import Hierarchy, piecewise_constant, prune, pruning_path

Curvature = Literal["convex", "absolute", "concave", "none"]
"""The bend of level lines that counts: around convex parts (κ > 0), any (the paper's |κ|), within concave parts, or none."""

_CODES: dict[str, int] = {
    "none": kernels.NO_CURVATURE,
    "absolute": kernels.ABSOLUTE,
    "convex": kernels.CONVEX,
    "concave": kernels.CONCAVE,
}

_CACHED = 12_000_000
"""Images of at most so many numbers are cached, a few at a time."""

COUNTS = (800, 400, 200, 100, 50)
"""Numbers of regions at the scales of :func:`region_ownership`."""


def cached_ownership(image: ArrayLike, curvature: Curvature = "convex") -> OrderMap:
    """:func:`probability_of_ownership` by default settings, or what it was a moment ago: several systems ask for it in turn."""
    pixels: NDArray[np.generic] = np.ascontiguousarray(image)
    if pixels.size > _CACHED:
        return probability_of_ownership(pixels, curvature=curvature)
    return _last(pixels, curvature, make=lambda: probability_of_ownership(pixels, curvature=curvature)).copy()


def cache_ownership(image: ArrayLike, order: OrderMap, curvature: Curvature = "convex") -> None:
    """Store the order of an image for :func:`cached_ownership`."""
    if (pixels := np.asarray(image)).size <= _CACHED:
        _last.store(pixels, curvature, value=order)


_last: ImageCache[OrderMap] = ImageCache(4)


def probability_of_ownership(
    image: ArrayLike,
    *,
    curvature: Curvature = "convex",
    fade: float = 12.0,
    bend: float = 4.0,
    intervals: Sequence[int] = (4, 8, 16, 32),
    shifts: int = 2,
    least_area: int = 16,
    reach: float = 3.0,
    smooth: bool = False,
    rounds: int = 0,
) -> OrderMap:
    r"""Number of objects that each pixel may belong to, 1 or more; larger = nearer.

    .. math:: Z(x) = 1 + \frac1S \sum_s \sum_{C_s ∌ x} e^{-d(x, C_s)/τ} \left(1 - e^{-c\,κ(x, C_s)}\right)

    over the S quantisations s of lightness and their components C; d is the distance to C and κ the curvature of its level
    line through x. A straight edge from frame to frame gives both sides the same.

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    curvature
        Which sign of κ counts. ``"absolute"`` is the paper's, and right for plain shapes on plain grounds; ``"concave"`` is
        better where all leaves are convex, ``"convex"`` on photographs, where figures have more small parts than grounds.
    fade, bend
        τ in pixels, and c.
    intervals, shifts
        Into how many intervals lightness is cut, and how many times each with boundaries shifted in between.
    least_area
        Components of fewer pixels claim nothing.
    reach
        How far claims are followed, in units of ``fade``.
    smooth
        Smooth distances (standard deviation 1) before their curvature is taken.
    rounds
        Rounds of smoothing within the image's edges afterwards (:func:`integrate`); 0 for none.

    References
    ----------
    Calderero & Caselles (2013), Recovering relative depth from low-level features without explicit T-junction detection and
    interpretation.

    Examples
    --------
    A dark disc on a bright ground: inside, the ground's claims bend more than the disc's do outside.

    >>> y, x = np.mgrid[-24:25, -24:25]
    >>> disc = np.hypot(y, x) < 12
    >>> z = probability_of_ownership(np.where(disc, 0.2, 0.8), curvature="absolute", smooth=True)
    >>> rim = np.abs(np.hypot(y, x) - 12) < 4
    >>> bool(z[rim & disc].mean() > z[rim & ~disc].mean())
    True
    """
    (order,) = ownership_by_readings(
        image,
        [(curvature, smooth)],
        fade=fade,
        bend=bend,
        intervals=intervals,
        shifts=shifts,
        least_area=least_area,
        reach=reach,
    )
    return integrate(order, image, rounds=rounds) if rounds else order


def ownership_by_readings(
    image: ArrayLike,
    readings: Sequence[tuple[Curvature, bool]],
    *,
    fade: float = 12.0,
    bend: float = 4.0,
    intervals: Sequence[int] = (4, 8, 16, 32),
    shifts: int = 2,
    least_area: int = 16,
    reach: float = 3.0,
) -> list[OrderMap]:
    """:func:`probability_of_ownership` by several readings, each a ``curvature`` and whether to ``smooth``.

    Components and distances are computed once for all. Without a reading there is no map.
    """
    _validate([curvature for curvature, _ in readings], fade=fade, bend=bend, reach=reach)
    if shifts < 1 or not intervals or min(intervals) < 1:
        raise UsageError("lightness must be cut into at least one interval, with at least one shift")
    light = np.minimum(lightness(image), np.float32(1 - 1e-6))  # white belongs to the uppermost interval
    components = (
        label_pieces(np.floor(light * np.float32(count) + np.float32(shift / shifts)).astype(np.int32))
        for count in intervals
        for shift in range(shifts)
    )
    return _claimed(components, least_area, int(np.ceil(reach * fade)), fade, bend, readings)


def region_ownership(
    tree: Hierarchy,
    *,
    counts: Sequence[int] = COUNTS,
    curvature: Curvature = "convex",
    fade: float = 12.0,
    bend: float = 4.0,
    least_area: int = 16,
    reach: float = 3.0,
) -> OrderMap:
    """Probability of ownership whose components are regions of a hierarchy instead of areas of like lightness; larger = nearer.

    The tree is cut where it has as many regions as ``counts`` say, whatever its heights are; each cut is one scale. Further
    options are those of :func:`probability_of_ownership`. A tree of one region gives 1 throughout.

    >>> from hyperacuity.regions import merge_boundaries
    >>> y, x = np.mgrid[-24:25, -24:25]
    >>> disc = (np.hypot(y, x) < 12).astype(int)
    >>> z = region_ownership(merge_boundaries(disc, np.ones(disc.shape), np.ones(disc.shape)), curvature="absolute")
    >>> rim = np.abs(np.hypot(y, x) - 12) < 4
    >>> bool(z[rim & (disc == 1)].mean() > z[rim & (disc == 0)].mean())
    True
    """
    _validate([curvature], fade=fade, bend=bend, reach=reach)
    if not counts or min(counts) < 1:
        raise UsageError("counts: expected numbers of regions, 1 or more")
    merges = sorted({max(tree.leaves - count, 0) for count in counts})
    components = (consecutive(tree.at(tree.heights[done - 1])) if done else tree.labels for done in merges)
    return _claimed(components, least_area, int(np.ceil(reach * fade)), fade, bend, [(curvature, False)])[0]


def _claimed(
    partitions: Iterable[LabelMap],
    least_area: int,
    reach: int,
    fade: float,
    bend: float,
    readings: Sequence[tuple[Curvature, bool]],
) -> list[OrderMap]:
    """1 plus what the components of each partition claim of each pixel, on average over the partitions; a map per reading."""
    claims, cuts = None, 0
    codes = np.array([(_CODES[curvature], smooth) for curvature, smooth in readings], np.int64).reshape(-1, 2)
    for components in partitions:
        claims = np.zeros((len(codes), *components.shape), np.float32) if claims is None else claims
        boxes = kernels.bounding_boxes(components)
        sources = boxes[:, 4] >= least_area
        kernels.add_claims(components, boxes, sources, reach, fade, bend, codes, claims)
        cuts += 1
    if claims is None:
        raise UsageError("there is no partition to claim pixels")
    return list(1 + claims / np.float32(cuts))


def _validate(curvatures: Iterable[str], **positive: float) -> None:
    for curvature in curvatures:
        if curvature not in _CODES:
            raise UsageError(f"curvature is {curvature!r}, expected one of {', '.join(_CODES)}")
    for name, value in positive.items():
        if not 0 < value < np.inf:
            raise UsageError(f"{name} is {value}, expected a positive number")


def integrate(
    order: ArrayLike, image: ArrayLike, *, space: float = 0.03, tone: float = 0.1, rounds: int = 3
) -> OrderMap:
    """Spread an order over even areas of the image, not across its edges: a filter of bilateral kind.

    ``space`` is its width as a share of the image's diagonal, ``tone`` the change of lightness that stops it.

    >>> smooth = integrate([[0.0, 4.0, 1.0, 1.0]], [[0.0, 0.0, 1.0, 1.0]], space=1.0)
    >>> bool(smooth[0, 0] > 1 and abs(smooth[0, 3] - 1) < 0.01)
    True
    """
    values, light = order_map(order), lightness(image)
    same_size(values, light, names=("order map", "image"))
    if np.isnan(values).any():
        raise InputError("an order to be spread must be known everywhere")
    width = space * diagonal(light.shape)
    smooth: OrderMap = kernels.smooth_within_edges(values, light[np.newaxis], width, tone, rounds)
    return smooth


def depth_partition(order: ArrayLike, tree: Hierarchy, lam: float) -> Partition:
    """Regions and their depths: the hierarchy pruned for the order (Palou & Salembier 2014, eq. 15), each region with its mean.

    ``lam`` is λ, in units of squared order per pixel edge of boundary; larger gives fewer regions.

    >>> from hyperacuity.regions import merge_boundaries
    >>> tree = merge_boundaries([[0, 1, 2, 3]], [[0.1, 0.9, 0.1, 0]], [[0, 0, 0, 0]])
    >>> result = depth_partition([[0, 1, 4, 5]], tree, 1.0)
    >>> result.labels, result.depth
    (array([[0, 0, 1, 1]], dtype=int32), array([0.5, 4.5]))
    """
    values = order_map(order)
    return _averaged(values, prune(tree, piecewise_constant(tree, values), lam))


def relative_partition(order: ArrayLike, tree: Hierarchy, lam: float) -> Partition:
    """As :func:`depth_partition`, with λ in units of the variance of the order, and below the λ that would leave one region.

    A large ``lam`` gives the coarsest partition that still has a boundary. One region is left only where the tree has no more, or
    all have the same mean.

    >>> from hyperacuity.regions import merge_boundaries
    >>> tree = merge_boundaries([[0, 1, 2, 3]], [[0.1, 0.9, 0.1, 0]], [[0, 0, 0, 0]])
    >>> relative_partition([[0, 1, 4, 5]], tree, 1000.0).depth
    array([0.5, 4.5])
    """
    if not 0 <= lam < np.inf:
        raise UsageError(f"λ is {lam}, expected a number from 0")
    values = order_map(order)
    path = pruning_path(tree, piecewise_constant(tree, values))
    blank = path.breakpoints[-1] if len(path.breakpoints) else np.inf
    return _averaged(values, path.at(min(lam * float(values.var(dtype=np.float64)), blank * (1 - 1e-9))))


def _averaged(values: OrderMap, regions: LabelMap) -> Partition:
    labels = consecutive(regions)
    depth = np.bincount(labels.ravel(), values.ravel().astype(np.float64)) / np.bincount(labels.ravel())
    return Partition(labels, depth, depth[labels].astype(np.float32))


def order_along_contours(order: ArrayLike, borders: Neighbours, *, band: int = 4) -> Ints:
    """Order of each pair of neighbours, read close to their border: +1 the first is in front, −1 the second, 0 a tie.

    On either side of each crack the mean over up to ``band`` pixels straight away from it is taken, within the region.

    >>> from hyperacuity.ordering import neighbours
    >>> order_along_contours([[9, 1, 2, 0, 0]], neighbours([[1, 1, 2, 2, 2]]), band=1)
    array([-1])
    """
    values = order_map(order)
    same_size(values, borders.labels, names=("order map", "segmentation"))
    height, width = values.shape
    (hy, hx), (ty, tx) = (np.divmod(indices, width) for indices in (borders.here, borders.there))
    sides = []
    for y, x, away_y, away_x in ((hy, hx, hy - ty, hx - tx), (ty, tx, ty - hy, tx - hx)):
        total, count = np.zeros(len(y)), np.zeros(len(y))
        inside = np.ones(len(y), np.bool_)
        for step in range(band):
            v, u = y + step * away_y, x + step * away_x
            inside &= (v >= 0) & (v < height) & (u >= 0) & (u < width)
            v, u = np.clip(v, 0, height - 1), np.clip(u, 0, width - 1)
            inside &= borders.labels[v, u] == borders.labels[y, x]
            total += np.where(inside, values[v, u], 0)
            count += inside
        sides.append(total / count)
    first = borders.labels.ravel()[borders.here] == borders.first[borders.pair]
    difference = np.where(first, sides[0] - sides[1], sides[1] - sides[0])
    return np.sign(borders.add_up(difference)).astype(np.int64)


def lightness(image: ArrayLike) -> NDArray[np.float32]:
    """CIE lightness L* of an sRGB or grey image, divided by 100: 0 black, 1 white, even steps to the eye.

    >>> lightness(np.array([[0, 119, 255]], np.uint8)).round(2)
    array([[0. , 0.5, 1. ]], dtype=float32)
    """
    values = planes(image).astype(np.float64)  # in single precision, powers depend on the processor
    if values.min() < 0 or values.max() > 1:
        raise InputError(f"image: holds values from {values.min():g} to {values.max():g}, expected them in [0, 1]")
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    linear = linear[0] if len(linear) == 1 else 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    root = np.where(linear > 216 / 24389, np.cbrt(linear), (24389 / 27 * linear + 16) / 116)
    return np.asarray(np.clip((116 * root - 16) / 100, 0, 1), np.float32)
