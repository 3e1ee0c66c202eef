r"""T-junctions and convexity as Palou & Salembier (2013) have them: cues with a confidence, not learned ones.

Where three regions meet in a T, its bar is the outline of the region in front, which has an angle of about 180°; of the other two
the junction says nothing. A candidate's confidence is a product of three, each from 0 to 1:

* **colour**: :math:`1 - e^{-Δ/γ}`, with the least distance Δ between the mean Lab colours of two of the regions near the corner;
* **angle**: 1 where the largest of the three angles is 180°, falling off linearly to 0 at 120°, a Y, and at 240°;
* **curvature**: 1 where the borders are straight, falling off linearly with their mean turn, to 0 at 60°.

The paper that describes the system (reference [17] of Palou & Salembier 2014) has the same parts; their exact forms and
constants here are this package's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.detect.depth.cues import crack_pairs
from hyperacuity.detect.depth.relations import Relations
from hyperacuity.detect.detection import planes
from hyperacuity.detect.pb_detector import to_lab
from hyperacuity.kernels.junctions import bulges, disc_means, find_junctions
from hyperacuity.maps import label_map, same_size
from hyperacuity.ordering.figure_ground import Neighbours
from hyperacuity.ordering.orderings import consecutive

Values = NDArray[np.float64]

REACH = 16
"""Cracks for which the borders that leave a corner are followed."""

SHORTEST = 6
"""A corner from which a shorter border leaves is no candidate: its direction is anybody's guess."""

RADIUS = 8
"""Colours are compared within so many pixels of a corner."""

GAMMA = 10.0
"""γ: a colour difference that is easily seen, in units of Lab."""

STRAIGHT, Y_ANGLE, TURN = np.pi, 2 * np.pi / 3, np.pi / 3

BULGE_RADIUS = 12
"""Radius of the discs in which convexity is seen, in pixels."""


@dataclass(frozen=True, eq=False)
class JunctionCandidates:
    """Corners (y, x) where three regions meet, the regions clockwise, and the three parts of their confidence."""

    corners: NDArray[np.int64]
    regions: NDArray[np.int32]
    angles: Values
    colour: Values
    angle: Values
    curvature: Values

    @property
    def confidence(self) -> Values:
        """The product of the three parts."""
        return self.colour * self.angle * self.curvature

    @property
    def front(self) -> NDArray[np.int64]:
        """Per corner which of its three regions has the largest angle; it is the one in front."""
        return np.asarray(self.angles.argmax(axis=1), np.int64)

    def relations(self, *, least: float = 0.0) -> Relations:
        """The region in front of each of the two others, with the junction's confidence, where that is above ``least``.

        About the two others the junction says nothing.
        """
        confidence = self.confidence
        sure = np.flatnonzero(confidence > least)
        front = self.front[sure]
        others = (front[:, None] + np.array([1, 2])) % 3
        regions = self.regions[sure].astype(np.int64)
        behind = np.take_along_axis(regions, others, axis=1)
        in_front = np.take_along_axis(regions, front[:, None], axis=1)
        return Relations(np.repeat(in_front, 2), behind.ravel(), np.repeat(confidence[sure], 2))


def colour_planes(image: ArrayLike) -> NDArray[np.float32]:
    """L, a and b of an image in units of Lab; a and b of a grey image are constant."""
    scale = np.array([100, 168, 168], np.float32)
    return to_lab(planes(image)) * scale[:, None, None]


def junction_candidates(image: ArrayLike, labels: ArrayLike) -> JunctionCandidates:
    """The T-junction candidates of a segmentation, with the confidence in each; those that cannot be a T have 0.

    Corners where four regions meet, or that a void pixel touches, are none, nor are those with a border shorter than
    :data:`SHORTEST` cracks. One or two regions have no junction.

    >>> labels = np.ones((40, 40), int); labels[:20, :20] = 0; labels[20:] = 2     # the lower half hides where 0 and 1 go on
    >>> result = junction_candidates(labels / 2, labels)
    >>> result.corners, result.regions[0, result.front[0]], result.angle.round(2)
    (array([[20, 20]]), np.int32(2), array([1.]))
    """
    look = colour_planes(image)
    regions = consecutive(label_map(labels, name="segmentation"))
    same_size(look[0], regions, names=("image", "segmentation"))
    corners, meeting, branches = find_junctions(regions, REACH)
    long = (branches[:, :, 0] >= SHORTEST).all(axis=1)
    corners, meeting, branches = corners[long], meeting[long], branches[long]
    means = disc_means(regions, look, corners, meeting, RADIUS)
    apart = np.linalg.norm(means - np.roll(means, 1, axis=1), axis=2).min(axis=1, initial=np.inf)
    towards = np.arctan2(branches[:, :, 2], branches[:, :, 1])
    angles = (np.roll(towards, -1, axis=1) - towards) % (2 * np.pi)
    off = np.abs(angles.max(axis=1, initial=0) - STRAIGHT)
    middle, end = branches[:, :, 3:5], branches[:, :, 5:7]
    first, second = (np.arctan2(part[:, :, 1], part[:, :, 0]) for part in (middle, end - middle))
    turn = np.abs((second - first + np.pi) % (2 * np.pi) - np.pi).mean(
        axis=1
    )  # from a branch's first half to its second
    return JunctionCandidates(
        corners,
        meeting,
        angles,
        colour=1 - np.exp(-apart / GAMMA),
        angle=np.maximum(0, 1 - off / (STRAIGHT - Y_ANGLE)),
        curvature=np.maximum(0, 1 - turn / TURN),
    )


def convexity_relations(image: ArrayLike, borders: Neighbours, *, least: float = 0.0) -> Relations:
    r"""Relations by convexity: a region that bulges into its neighbour is in front, where the confidence is above ``least``.

    The confidence is :math:`|c| (1 - e^{-Δ/γ})`, with the mean c along the border of (b − a) / (a + b), a and b being what the
    two regions have of a disc about it, and the distance Δ between the regions' mean colours. Discs that meet a third region
    or the image's frame count 0. A straight border says nothing.

    >>> from hyperacuity.ordering import neighbours
    >>> y, x = np.mgrid[-20:21, -30:31]
    >>> disc = np.hypot(y, x) < 12
    >>> result = convexity_relations(np.where(disc, 0.2, 0.8), neighbours(disc))
    >>> result.front, result.behind
    (array([1]), array([0]))
    """
    look = colour_planes(image)
    same_size(look[0], borders.labels, names=("image", "segmentation"))
    if borders.count == 0:
        return Relations(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    right, below = crack_pairs(borders)
    bulge = bulges(borders.labels, borders.first.astype(np.int32), right, below, BULGE_RADIUS) / np.maximum(
        borders.cracks, 1
    )
    inside = borders.labels >= 0
    flat = borders.labels[inside]
    area = np.maximum(np.bincount(flat), 1)
    means = np.stack([np.bincount(flat, plane[inside]) / area for plane in look], axis=1)
    apart = np.linalg.norm(means[borders.first] - means[borders.second], axis=1)
    confidence = np.minimum(np.abs(bulge), 1) * (1 - np.exp(-apart / GAMMA))
    sure = confidence > least
    ahead = bulge > 0
    front, behind = np.where(ahead, (borders.first, borders.second), (borders.second, borders.first))[:, sure]
    return Relations(front, behind, confidence[sure])
