"""Occlusion boundaries: a soft boundary map and, at each pixel, the side that is in front; counts of one image.

Boundaries are matched as in the boundary benchmark. A matched pair is **right** when the two directions, each the way from the
near side to the far one, are at most ``angle`` degrees apart; at 90° this asks whether the same side is in front.

Several matchings may have the most pairs and the least total distance, and differ in how many of their pairs are right. The one
that :func:`hyperacuity.boundary.match` returns is used: it breaks ties by a fixed rule that ignores directions.

References
----------
Wang & Yuille (2016), DOC: deep occlusion estimation from a single image.
Wang, Liang & Li (2018), DOOBNet: deep object occlusion boundary detection from an image.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity import boundary
from hyperacuity.boundary import Suppression, match, tolerance_in_pixels
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.pairs import reach
from hyperacuity.kernels.sweep_pairs import PairJudge, sweep_judged, sweep_states
from hyperacuity.kernels.thinning import thin
from hyperacuity.maps import SoftMap, same_size, soft_map
from hyperacuity.ordering.directed_contours import Contours, angle_between, contours
from hyperacuity.ordering.local import SIDE, LocalMatch, match_contours
from hyperacuity.ordering.orderings import Ordering, Partition, Sides
from hyperacuity.tally import Arrays, BaseProtocol, Counts, Tally, described, number, protocol_of

STRUCTURED = Suppression()
"""Default suppression of non-maxima."""

Recall = Literal["right", "found"]
Truth = Contours | Ordering | ArrayLike


@dataclass(frozen=True, eq=False)
class OcclusionMap:
    """A soft boundary map and, per pixel, the angle in degrees of the way from near to far: 0 right, 90 down; NaN for unknown."""

    soft: SoftMap
    angle: NDArray[np.float64]


def occlusion_map(soft: ArrayLike, angle: ArrayLike, *, name: str = "occlusion map") -> OcclusionMap:
    """Check a prediction. Angles are in degrees, from the near side to the far one; any number of turns is allowed.

    >>> result = occlusion_map([[0, 0.5]], [[0, -90]])
    >>> result.angle
    array([[  0., 270.]])
    """
    strength, degrees = soft_map(soft, name=name), angle_map(angle, name=f"angles of {name}")
    same_size(strength, degrees, names=(name, "its angles"))
    return OcclusionMap(strength, degrees)


def angle_map(values: ArrayLike, *, name: str = "angle map") -> NDArray[np.float64]:
    """Angles in degrees, from 0 up to 360; NaN and infinity are unknown.

    >>> angle_map([[-90, float("inf")]])
    array([[270.,  nan]])
    """
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or array.ndim != 2 or array.size == 0:
        raise InputError(f"{name}: is {array.dtype} of shape {array.shape}, expected numbers in two dimensions")
    degrees = np.where(np.isfinite(array), array, np.nan).astype(np.float64) % 360
    return np.asarray(degrees, np.float64)


def owned_contours(truth: Truth, *, name: str = "truth") -> Contours:
    """The boundaries of a truth that have an owner, each pixel with its direction.

    ``truth`` is a map of angles, NaN where there is no boundary; contours with angles; or an ordering, whose contours
    (:func:`~hyperacuity.ordering.contours`) with a step in depth count. Boundaries without an owner are not occlusion boundaries
    and are left out.

    >>> owned_contours([[float("nan"), 90.0]]).pixels
    array([[False,  True]])
    """
    if isinstance(truth, Partition | Sides):
        truth = contours(truth, undirected=False)
    if isinstance(truth, Contours):
        return Contours(truth.pixels & ~np.isnan(truth.angle), truth.angle)
    angle = angle_map(truth, name=name)
    directed = ~np.isnan(angle)
    if directed.all():
        raise InputError(f"{name}: every pixel has an angle, expected NaN wherever there is no boundary")
    return Contours(directed, angle)


@dataclass(frozen=True)
class OcclusionProtocol(BaseProtocol):
    """A benchmark of occlusion boundaries. The defaults are those of DOC and its followers.

    Examples
    --------
    >>> OcclusionProtocol().signature
    occlusion|tol:0.0075diag|angle:90deg|recall:right|nms:structured-s1-r1|thin:guo-hall|thr:99|v:1
    """

    task: ClassVar[str] = "occlusion"
    tolerance: float = boundary.TOLERANCE
    """Largest distance of partners, as a fraction of the image diagonal."""
    angle: float = SIDE
    """Largest angle between the directions of a right pair, in degrees."""
    thin: bool = True
    """Thin every thresholded map; truths are used as they are."""
    thresholds: int | tuple[float, ...] = 99
    """Number of thresholds between 0 and 1, or a rising list of them."""
    nms: Suppression | str | None = STRUCTURED
    """Suppress non-maxima first: ``structured``, ``structured-s0-r2`` (smoothing, radius), or ``none``."""
    recall: Recall = "right"
    """OPR's recall counts ``right`` pairs, or all that were ``found``.

    The programs of DOC, DOOBNet and P2ORM count all, so published numbers are of that kind. Precision counts right pairs in
    either case.
    """

    def __post_init__(self) -> None:
        """Validate the options."""
        if isinstance(self.nms, str):
            object.__setattr__(self, "nms", None if self.nms == "none" else Suppression.parse(self.nms))
        if not 0 <= self.angle <= 180:
            raise UsageError(f"angle {self.angle:g}: expected degrees from 0 to 180")
        if self.recall not in ("right", "found"):
            raise UsageError(f"recall {self.recall!r}: expected 'right' or 'found'")
        if not isinstance(self.thresholds, int | tuple):
            raise UsageError(f"thresholds {self.thresholds!r}: expected a number or a tuple of numbers")
        self.boundary.parts()  # making it validates the rest

    @cached_property
    def boundary(self) -> boundary.Protocol:
        """The boundary benchmark that this one adds directions to."""
        return boundary.Protocol(self.tolerance, self.thin, self.thresholds, self.nms)

    def parts(self) -> dict[str, object]:
        """Parts of the signature."""
        of = self.boundary.parts()
        parts = {"tol": of["tol"], "angle": f"{number(self.angle)}deg", "recall": self.recall}
        return parts | {key: of[key] for key in ("nms", "thin", "thr")}


OCCLUSION = OcclusionProtocol()
"""The defaults."""

OCCLUSION_PROTOCOLS = {
    "occlusion": described(OCCLUSION, "OPR as it is defined"),
    "doobnet": described(
        OcclusionProtocol(thin=False, recall="found"),
        "as the programs of DOOBNet and P2ORM count, and published numbers",
    ),
}
"""Protocols by name; each is described in its ``__doc__``."""


@dataclass(frozen=True, eq=False)
class OcclusionTally(Tally):
    """Counts of one image (or, added up, of many), one entry per threshold.

    Parameters
    ----------
    truth_right, truth_matched, truth
        Over all annotators: owned boundary pixels whose pair is right, that have a pair, and all of them.
    detected_right, detected_matched, detected
        Detected pixels that are in a right pair of some annotator, in any pair, and all of them.
    """

    truth_right: Counts
    truth_matched: Counts
    truth: Counts
    detected_right: Counts
    detected_matched: Counts
    detected: Counts

    def validate(self) -> None:
        """Require no more right pairs than pairs, no more pairs than either side has pixels, and one entry in human tallies."""
        super().validate()
        entries = protocol_of([self], OcclusionProtocol).boundary.levels.size if np.size(self.truth) != 1 else 1
        self.require_shape((entries,), *self.names())
        self.require(self.truth == self.truth[0], "truth", "the same at all thresholds")
        for side in ("truth", "detected"):
            self.require_at_most(side, f"{side}_matched")
            self.require_at_most(f"{side}_matched", f"{side}_right")
        self.require_at_most("truth_matched", "detected_matched")
        self.require_at_most("truth_right", "detected_right")

    def truth_counts(self) -> Arrays:
        """The true pixels, which are the same at all thresholds."""
        return {"truth": self.truth[:1]}


def tally_occlusion(
    prediction: OcclusionMap, truths: Sequence[Truth], protocol: OcclusionProtocol = OCCLUSION
) -> OcclusionTally:
    """Count one image: an occlusion map against every annotator's owned boundaries (:func:`owned_contours`).

    A detected pixel without a direction is never right. Truths without an owned boundary count as annotators who drew nothing.

    Examples
    --------
    >>> truth = np.full((8, 8), np.nan)
    >>> truth[4] = 90                                   # the upper side is in front
    >>> soft = np.where(np.isnan(truth), 0, 0.5)
    >>> angle = np.where(np.arange(8) < 6, 60.0, 270.0) * np.ones((8, 1))
    >>> counts = tally_occlusion(occlusion_map(soft, angle), [truth], OcclusionProtocol(thresholds=(0.25,), nms=None))
    >>> counts.truth_right, counts.truth_matched, counts.detected
    (array([6]), array([8]), array([8]))
    """
    soft, drawn, judge = _prepared(prediction, truths, protocol)
    within = reach(tolerance_in_pixels(soft.shape, protocol.tolerance))
    maps = [one.pixels for one in drawn]
    counts = sweep_judged(soft, maps, protocol.boundary.levels, within, judge, thin=protocol.thin)
    return OcclusionTally(
        truth_right=counts.right.sum(axis=0),
        truth_matched=counts.matched.sum(axis=0),
        truth=np.full(counts.detected.size, sum(one.count for one in drawn), np.int64),
        detected_right=counts.right_by_any,
        detected_matched=counts.matched_by_any,
        detected=counts.detected,
        protocol=protocol,
    )


def tally_occlusion_humans(truths: Sequence[Truth], protocol: OcclusionProtocol = OCCLUSION) -> OcclusionTally:
    """Counts of an image, each annotator in turn against all the others, added up; one entry. Two annotators are needed."""
    people = [owned_contours(truth) for truth in truths]
    n = len(people)
    if n < 2:
        raise InputError(f"human performance needs at least two annotators, got {n}")
    matched, right = np.zeros((2, n, *people[0].pixels.shape), np.bool_)
    sums = np.zeros(2, np.int64)
    for one, other in itertools.combinations(range(n), 2):
        matches = match(people[one].pixels, people[other].pixels, protocol.tolerance)
        apart = angle_between(people[one].angle.flat[matches.detected], people[other].angle.flat[matches.truth])
        agreeing = apart <= protocol.angle
        for person, pixels in ((one, matches.detected), (other, matches.truth)):
            matched[person].flat[pixels] = True
            right[person].flat[pixels[agreeing]] = True
        sums += 2 * np.array([np.count_nonzero(agreeing), matches.count])
    drawn = sum(one.count for one in people)
    counts = (*sums, drawn * (n - 1), right.sum(), matched.sum(), drawn)
    return OcclusionTally(*(np.array([count], np.int64) for count in counts), protocol=protocol)


def occlusion_overlays(
    prediction: OcclusionMap, truths: Sequence[Truth], protocol: OcclusionProtocol = OCCLUSION
) -> NDArray[np.uint8]:
    """One picture per threshold: 0 nothing, 1 detected with the right side in front, 2 detected otherwise, 3 missed."""
    soft, drawn, judge = _prepared(prediction, truths, protocol)
    within = reach(tolerance_in_pixels(soft.shape, protocol.tolerance))
    maps = [one.pixels for one in drawn]
    return sweep_states(soft, maps, protocol.boundary.levels, within, thin=protocol.thin, judge=judge).state


def match_occlusion(
    prediction: OcclusionMap, truth: Truth, threshold: float, protocol: OcclusionProtocol = OCCLUSION
) -> LocalMatch:
    """The boundaries of a prediction at one threshold, matched with one annotator's; right pairs are consistent."""
    soft = protocol.boundary.suppressed(prediction.soft)
    marked = np.asarray(soft >= np.float32(threshold))
    pixels = thin(marked) if protocol.thin else marked
    near = tolerance_in_pixels(soft.shape, protocol.tolerance)
    detected = Contours(pixels, prediction.angle)
    return match_contours(detected, owned_contours(truth), radius=near, angle=protocol.angle)


def _prepared(
    prediction: OcclusionMap, truths: Sequence[Truth], protocol: OcclusionProtocol
) -> tuple[SoftMap, list[Contours], PairJudge]:
    """The suppressed map, the owned boundaries, and who says whether a pair is right."""
    if not isinstance(prediction, OcclusionMap):
        raise InputError("the prediction has no directions: expected occlusion_map(soft, angle)")
    if not truths:
        raise InputError("there is no truth to compare with: expected at least one annotator's owned boundaries")
    drawn = [owned_contours(truth, name=f"truth of annotator {n}") for n, truth in enumerate(truths, 1)]
    for one in drawn:
        same_size(prediction.soft, one.pixels)
    angle, true = prediction.angle.ravel(), [one.angle.ravel() for one in drawn]

    def judge(annotator: int, detected: NDArray[np.int64], partner: NDArray[np.int64]) -> NDArray[np.bool_]:
        apart = angle_between(angle[detected], true[annotator][partner])
        return np.asarray(apart <= protocol.angle)

    return protocol.boundary.suppressed(prediction.soft), drawn, judge
