"""One image: contours, pairs of regions and figure/ground questions, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from hyperacuity.errors import InputError
from hyperacuity.maps import VOID, LabelMap, label_map, same_size
from hyperacuity.ordering.directed_contours import contours
from hyperacuity.ordering.figure_ground import compare_neighbours, with_whole_order
from hyperacuity.ordering.local import LocalMatch, combine, match_contours, split_inconsistent
from hyperacuity.ordering.orderings import Ordering, Partition, Sides, ordering, partition
from hyperacuity.ordering.pairwise import compare_regions
from hyperacuity.ordering.prc import Outcomes
from hyperacuity.ordering.protocols import Protocol
from hyperacuity.tally import ROUNDING, Arrays, Counts, Sums, Tally, total

LOCAL_FIELDS = ("consistent", "inconsistent", "false", "missed", "recalled_consistent", "recalled_inconsistent")


@dataclass(frozen=True, eq=False)
class OrderingTally(Tally):
    """Counts of one image (or, added up, of many).

    Parameters
    ----------
    contours
        Contour pixels: consistent, inconsistent, false, missed; then consistent and inconsistent ones of the truth.
    pairs
        Pairs of regions: consistent, inconsistent (sums of fractions), false, missed; then dropped regions.
    questions
        Figure/ground questions: numerators, then denominators, of R-ACC, B-ACC, B-ACC-50 and B-ACC-25.
    measured
        Images of which contours, pairs and questions could be counted at all.
    inconsistent
        The inconsistent contour pixels of the truth by their reason: rough direction, wrong side, no direction
        (:class:`~hyperacuity.ordering.Inconsistency`). NaN in a tally of an earlier version, which did not count them.
    """

    contours: Sums
    pairs: Sums
    questions: Sums
    measured: Counts
    inconsistent: Sums = field(default_factory=lambda: np.full(3, np.nan))

    def validate(self) -> None:
        """Require that right answers are no more than questions, and that reasons add up."""
        super().validate()
        for shape, name in (((6,), "contours"), ((5,), "pairs"), ((2, 4), "questions")):
            self.require_shape(shape, name)
            self.require_finite(name)
        self.require_shape((3,), "measured", "inconsistent")
        self.require(
            self.questions[0] <= self.questions[1] * (1 + ROUNDING), "questions", "at most the number of questions"
        )
        if not np.isnan(self.inconsistent).any():
            self.require_at_most(self.contours[5], "inconsistent")
            self.require(
                np.isclose(self.inconsistent.sum(), self.contours[5]), "inconsistent", f"a sum of {self.contours[5]}"
            )

    def truth_counts(self) -> Arrays:
        """The contour pixels of the truth."""
        return {"contours": self.contours[3:].sum(keepdims=True)}


def tally(
    prediction: Ordering | ArrayLike,
    truths: Sequence[Ordering | ArrayLike],
    protocol: Protocol = Protocol(),
    *,
    regions: Sequence[ArrayLike] = (),
    on_regions: bool = False,
) -> OrderingTally:
    """Count one image: a system's ordering against every annotator's.

    Parameters
    ----------
    prediction, truths
        Order maps, larger = nearer, or what :func:`~hyperacuity.ordering.ordering` makes of them. Labelled contours order
        neighbours only; pairs of all regions are then those that the whole order closest to them
        (:func:`~hyperacuity.ordering.whole_order`) does not tie, or none where the regions that they bound are unknown.
    regions
        Segmentations on which figure/ground questions are asked, as the tally's protocol records; by default those of
        each annotator.
    on_regions
        Whether contours and pairs are those of the prediction brought onto ``regions`` by medians, rather than as it is.

    Examples
    --------
    >>> result = tally([[2, 2, 1, 1]] * 3, [[[2, 2, 1, 1]] * 3])
    >>> result.contours[:4], result.pairs[:4], result.questions[:, :2]
    (array([3., 0., 0., 0.]), array([1., 0., 0., 0.]), array([[1., 3.],
           [1., 3.]]))
    """
    if not len(truths):
        raise InputError("there is no truth to compare with: expected at least one annotator's order")
    given_order, *orders = map(
        with_whole_order, [_ordering(prediction, "prediction"), *(_ordering(t, "truth") for t in truths)]
    )
    asked = [label_map(labels, name="regions") for labels in regions]
    for given in (*orders, *asked):
        same_size(_pixels(given_order), given if isinstance(given, np.ndarray) else _pixels(given))
    systems = [given_order]
    if on_regions:
        if not isinstance(given_order, Partition) or not asked:
            raise InputError("only an order map can be brought onto regions, and the regions must be given")
        systems = [partition(given_order.order, labels, middle=protocol.middle) for labels in asked]
    if asked:
        protocol = _on_regions(protocol, "given,transfer" if on_regions else "given")
    pairs = [counts for system in systems if (counts := _pairs(system, orders, protocol)) is not None]
    questions = _questions(given_order, orders, asked, protocol)
    along = [_contours(system, orders, protocol) for system in systems]
    return OrderingTally(
        contours=sum((counts for counts, _ in along), start=np.zeros(6)),
        pairs=sum(pairs, start=np.zeros(5)),
        questions=sum(questions, start=np.zeros((2, 4))),
        measured=np.array([1, bool(pairs), bool(questions)], np.int64),
        inconsistent=sum((reasons for _, reasons in along), start=np.zeros(3)),
        protocol=protocol,
    )


def tally_questions(
    prediction: Ordering | ArrayLike,
    truths: Sequence[Ordering | ArrayLike],
    protocol: Protocol = Protocol(),
    *,
    regions: Sequence[ArrayLike] = (),
) -> OrderingTally:
    """Count figure/ground questions only, unlike :func:`tally`: contours and pairs take most of the time.

    >>> result = tally_questions([[2, 2, 1, 1]] * 3, [[[2, 2, 1, 1]] * 3])
    >>> result.questions[:, :2], result.measured
    (array([[1., 3.],
           [1., 3.]]), array([0, 0, 1]))
    """
    asked = [label_map(labels, name="regions") for labels in regions]
    orders = [with_whole_order(_ordering(truth, "truth")) for truth in truths]
    questions = _questions(_ordering(prediction, "prediction"), orders, asked, protocol)
    return OrderingTally(
        contours=np.zeros(6),
        pairs=np.zeros(5),
        questions=sum(questions, start=np.zeros((2, 4))),
        measured=np.array([0, 0, bool(questions)], np.int64),
        inconsistent=np.zeros(3),
        protocol=_on_regions(protocol, "given") if asked else protocol,
    )


def tally_humans(truths: Sequence[Ordering | ArrayLike], protocol: Protocol = Protocol()) -> OrderingTally:
    """Human performance on one image: each annotator is compared, as the system, with the others; summed over all.

    With fewer than two annotators nothing is counted.
    """
    if len(truths) < 2:
        none = np.zeros(6), np.zeros(5), np.zeros((2, 4)), np.zeros(3, np.int64), np.zeros(3)
        return OrderingTally(*none, protocol=protocol)
    people = [with_whole_order(_ordering(truth, "truth")) for truth in truths]
    whole = total(
        [tally(person, [*people[:turn], *people[turn + 1 :]], protocol) for turn, person in enumerate(people)]
    )
    return replace(whole, measured=np.minimum(whole.measured, 1))


def match_image(prediction: Ordering, truths: Sequence[Ordering], protocol: Protocol) -> list[LocalMatch]:
    """The contours of a system matched with those of each annotator."""
    detected = contours(
        prediction, window=protocol.window, same_depth=protocol.same_depth, undirected=protocol.tie == "inconsistent"
    )
    return [
        match_contours(
            detected,
            contours(truth, window=protocol.window, same_depth=protocol.same_depth),
            radius=protocol.radius_px(detected.pixels.shape),
            angle=protocol.angle,
            cost=protocol.cost,
            truth_tie=protocol.truth_tie,
        )
        for truth in truths
    ]


def _contours(prediction: Ordering, truths: Sequence[Ordering], protocol: Protocol) -> tuple[Sums, Sums]:
    """Counts of contour pixels, and the inconsistent ones by their reason."""
    matches = match_image(prediction, truths, protocol)
    unknown = [None if truth.labels is None else truth.labels == VOID for truth in truths]
    outcomes = combine(matches, protocol.annotators, unknown=unknown)
    reasons = split_inconsistent(matches, protocol.annotators, unknown=unknown).astype(np.float64)
    return np.array([float(getattr(outcomes, name)) for name in LOCAL_FIELDS]), reasons


def _pairs(prediction: Ordering, truths: Sequence[Ordering], protocol: Protocol) -> Sums | None:
    """Counts of pairs of regions; None if there are only labelled contours of unknown regions.

    Regions of one layer of a whole order need not be level, so these pairs do not count.
    """
    system = _dense(prediction)
    partitions = [(dense, isinstance(truth, Sides)) for truth in truths if (dense := _dense(truth)) is not None]
    if system is None or not partitions:
        return None
    each = []
    for truth, whole in partitions:
        pairs = compare_regions(
            system,
            truth,
            same_depth=protocol.same_depth,
            equal_pairs="exclude" if whole else protocol.equal_pairs,
            missed_pairs=protocol.missed_pairs,
        )
        counts = [pairs.consistent, pairs.inconsistent, pairs.false, pairs.missed, pairs.dropped]
        each.append(np.array([float(count) for count in counts]))
    if protocol.annotators == "best":
        each = [max(each, key=lambda counts: float(np.nan_to_num(Outcomes(*counts[:4]).f(1), nan=-1.0)))]
    return np.asarray(np.sum(each, axis=0), np.float64)


def _dense(given: Ordering) -> Partition | None:
    """All regions in one order, if there is one."""
    return given if isinstance(given, Partition) else given.whole


def _questions(
    prediction: Ordering, truths: Sequence[Ordering], regions: Sequence[LabelMap], protocol: Protocol
) -> list[Sums]:
    """Answers of each annotator's order on each segmentation."""
    return [
        compare_neighbours(
            prediction,
            truth,
            labels,
            middle=protocol.middle,
            cut=protocol.cut,
            length=protocol.length,
            adjacency=protocol.adjacency,
            reach=protocol.reach,
        ).sums(protocol.question_tie)
        for truth in truths
        for labels in regions or (() if truth.labels is None else (truth.labels,))
    ]


def _on_regions(protocol: Protocol, asked: str) -> Protocol:
    """Record in the protocol on which regions questions are asked; for files, the reader has done so."""
    reading = dict(protocol.reading)
    return protocol if "regions" in reading else protocol.read_as(**reading, regions=asked)


def _ordering(given: Ordering | ArrayLike, name: str) -> Ordering:
    return given if isinstance(given, Partition | Sides) else ordering(given, name=name)


def _pixels(given: Ordering) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return given.order if isinstance(given, Partition) else given.sides
