"""One scene: the pictures and everything that is true of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.formats.berkeley import boundaries_of
from hyperacuity.data.scenes import truth, view
from hyperacuity.data.scenes.annotators import Annotation, annotate
from hyperacuity.data.scenes.dice import Dice
from hyperacuity.data.scenes.world import GRID, make_world
from hyperacuity.errors import UsageError
from hyperacuity.maps import DisparityMap, EdgeMap, LabelMap, OrderMap, SoftMap

VERSION = 1
"""Grows whenever the same seed gives other bytes than before."""

_SMALLEST, _LARGEST = 64, 2048


@dataclass(frozen=True, eq=False)
class Scene:
    """A generated picture and its truth. Arrays are H×W unless said otherwise; the truth is that of the left view.

    Attributes
    ----------
    seed
        The number it was made from.
    image, right
        The stereo pair, uint8 H×W×3.
    objects
        Which sheet each pixel's centre shows, 0 at the back: the number is the depth rank.
    labels
        Visible regions: the 4-connected pieces of ``objects``, numbered in reading order.
    parts
        Finer regions: the pieces left when the motifs printed on sheets count too.
    boundaries
        Boundaries of ``labels``, by BSDS's rule (:func:`~hyperacuity.data.formats.berkeley.boundaries_of`).
    ownership
        int8, +1 on the figure's side of a boundary, −1 on the ground's (:func:`~hyperacuity.data.scenes.truth.ownership`).
    owners
        int32 n×3: nearer region, farther region, length of their boundary.
    order
        Depth order, larger = nearer; it is the rank of the sheet.
    disparity, disparity_right
        Disparity of either view in its own pixels, multiples of 1/5 pixel; larger = nearer.
    nonocc
        Pixels of the left view whose surface point is seen in the right view too.
    disc
        Pixels of ``nonocc`` near a jump in disparity.
    annotators
        Simulated people, from the most to the least patient.
    """

    seed: int
    image: NDArray[np.uint8]
    right: NDArray[np.uint8]
    objects: LabelMap
    labels: LabelMap
    parts: LabelMap
    boundaries: EdgeMap
    ownership: NDArray[np.int8]
    owners: NDArray[np.int32]
    order: OrderMap
    disparity: DisparityMap
    disparity_right: DisparityMap
    nonocc: NDArray[np.bool_]
    disc: NDArray[np.bool_]
    annotators: tuple[Annotation, ...]

    @property
    def soft(self) -> SoftMap:
        """A soft map of the image's gradient, neither thin nor empty: an example of a prediction."""
        spread = np.exp(-np.hypot(*np.gradient(self.image.mean(axis=2))) / 9)
        return np.asarray(1 - spread, np.float32)

    @property
    def masks(self) -> dict[str, NDArray[np.bool_]]:
        """The regions of Middlebury's tables by name. Every pixel's disparity is known, so ``all`` is the whole picture."""
        return {"nonocc": self.nonocc, "all": np.ones_like(self.nonocc), "disc": self.disc}


def make_scene(
    seed: int,
    *,
    size: tuple[int, int] = (480, 320),
    leaves: int = 32,
    smallest: float = 0.05,
    largest: float = 0.34,
    max_disparity: float | None = None,
    blur: float = 0.6,
    noise: float = 1.5,
    texture: float = 1.0,
    shadow: float = 0.85,
    annotators: int = 5,
    jitter: float = 1.0,
) -> Scene:
    """Make a scene from a seed. The same arguments give the same bytes on any machine.

    Parameters
    ----------
    size
        Width and height in pixels, 64 to 2048 each.
    leaves, smallest, largest
        Number of cut-outs, and the range of their radii as shares of the shorter side.
    max_disparity
        Disparity of the nearest sheet in pixels; by default 1/24 of the width, or what the number of leaves needs.
    blur, noise
        Standard deviation of the lens's blur in pixels, and of the sensor's noise in grey levels of 0 … 255.
    texture, shadow
        Strength of the paper's relief (1 is natural) and of shadows (0 none, 1 black but for the light of the sky).
    annotators, jitter
        Number of simulated annotators, and the standard deviation in pixels of their hands.

    Examples
    --------
    >>> scene = make_scene(1, size=(96, 64))
    >>> scene.image.shape, len(scene.annotators)
    ((64, 96, 3), 5)
    """
    width, height = size
    if seed < 0:
        raise UsageError(f"seed {seed}: expected a whole number from 0")
    if leaves < 1 or annotators < 1 or not 0 < smallest <= largest or blur < 0 or noise < 0 or jitter < 0:
        raise UsageError(
            f"a scene needs a leaf and an annotator, radii above 0, and no negative blur, noise or jitter; found "
            f"leaves={leaves}, annotators={annotators}, smallest={smallest:g}, largest={largest:g}, blur={blur:g}, "
            f"noise={noise:g}, jitter={jitter:g}"
        )
    for name, length in (("width", width), ("height", height)):
        if not _SMALLEST <= length <= _LARGEST:
            raise UsageError(f"size {width}x{height}: the {name} must lie between {_SMALLEST} and {_LARGEST} pixels")
    disparities = _disparity_range(width, leaves, max_disparity)
    world = make_world(Dice(seed, 0), size=size, leaves=leaves, radii=(smallest, largest), disparities=disparities)
    left, right = view.sample_views(world)
    shadows = view.cast_shadows(world)

    def photograph(eye: int, codes: view.Codes) -> NDArray[np.uint8]:
        light = view.photograph(world, codes, shadows, right=eye == 2, shadow=shadow, texture=texture)
        return view.expose(light, Dice(seed, eye), blur=blur, noise=noise)

    image, image_right = photograph(1, left), photograph(2, right)
    centre = slice(GRID // 2, None, GRID)
    objects = (left[centre, centre] // view.PARTS).astype(np.int32)
    objects_right = (right[centre, centre] // view.PARTS).astype(np.int32)
    labels = truth.regions(objects)
    parts = truth.regions(left[centre, centre].astype(np.int32))
    order = objects.astype(np.float32)
    disparity = (world.shifts / GRID).astype(np.float32)[objects]
    nonocc = _seen_from_the_right(objects, right, world.shifts)
    return Scene(
        seed=seed,
        image=image,
        right=image_right,
        objects=objects,
        labels=labels,
        parts=parts,
        boundaries=boundaries_of(labels),
        ownership=truth.ownership(order),
        owners=truth.owners(labels, order),
        order=order,
        disparity=disparity,
        disparity_right=(world.shifts / GRID).astype(np.float32)[objects_right],
        nonocc=nonocc,
        disc=truth.discontinuities(disparity, nonocc),
        annotators=annotate(Dice(seed, 3), parts, objects, image, count=annotators, jitter=jitter, unit=world.unit),
    )


def _disparity_range(width: int, leaves: int, largest: float | None) -> tuple[float, float]:
    """Disparities of the first and the last sheet; every sheet needs a step of at least one sample."""
    first = width / 160
    needed = first + (leaves + 5) / GRID
    if largest is None:
        return first, max(width / 24, needed)
    if largest < needed:
        raise UsageError(f"{leaves} leaves need a largest disparity of {needed:g} px or more, not {largest:g} px")
    return first, largest


def _seen_from_the_right(objects: LabelMap, right: view.Codes, shifts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """True where the point at a left pixel's centre, which falls on a sample of the right view, is inside it and not hidden."""
    height, width = objects.shape
    row = np.arange(height)[:, None] * GRID + GRID // 2
    column = np.arange(width)[None, :] * GRID + GRID // 2 - shifts[objects]
    inside = column >= 0
    seen: NDArray[np.bool_] = inside & (right[row, np.maximum(column, 0)] // view.PARTS == objects)
    return seen
