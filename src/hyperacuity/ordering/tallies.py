"""One image: contours, pairs of regions and figure/ground questions, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperacuity.errors import InputError
from hyperacuity.maps import VOID, LabelMap, same_size
from hyperacuity.ordering.contour_maps import contours
from hyperacuity.ordering.figure_ground import compare_neighbours
from hyperacuity.ordering.local import LocalMatch, combine, match_contours
from hyperacuity.ordering.orderings import Ordering, Partition, partition
from hyperacuity.ordering.pairwise import compare_regions
from hyperacuity.ordering.prc import Outcomes
from hyperacuity.ordering.protocols import Protocol
from hyperacuity.tally import Counts, Sums, Tally

LOCAL_FIELDS = (
    "consistent",
    "inconsistent",
    "false",
    "missed",
    "recalled_consistent",
    "recalled_inconsistent",
)


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
    """

    contours: Sums
    pairs: Sums
    questions: Sums
    measured: Counts


def tally(
    prediction: Ordering,
    truths: Sequence[Ordering],
    protocol: Protocol | None = None,
    *,
    regions: Sequence[LabelMap] = (),
    on_regions: bool = False,
) -> OrderingTally:
    """Count one image: a system's ordering against every annotator's.

    Parameters
    ----------
    prediction, truths
        See :func:`~hyperacuity.ordering.ordering`. Labelled contours cannot tell about pairs of regions that are no neighbours;
        of those nothing is counted.
    regions
        Segmentations on which figure/ground questions are asked; without them each annotator's own.
    on_regions
        Whether contours and pairs are those of the prediction brought onto ``regions`` by medians, rather than as it is.

    Examples
    --------
    >>> from hyperacuity.ordering import ordering
    >>> found = tally(ordering([[2, 2, 1, 1]] * 3), [ordering([[2, 2, 1, 1]] * 3)])
    >>> found.contours[:4], found.pairs[:4], found.questions[:, :2]
    (array([3., 0., 0., 0.]), array([1., 0., 0., 0.]), array([[1., 3.],
           [1., 3.]]))
    """
    protocol = protocol or Protocol()
    if not truths:
        raise InputError("there is no truth to compare with: expected at least one annotator's order")
    for given in (*truths, *regions):
        same_size(_pixels(prediction), given if isinstance(given, np.ndarray) else _pixels(given))
    systems = [prediction]
    if on_regions:
        if not isinstance(prediction, Partition) or not regions:
            raise InputError("only an order map can be brought onto regions, and the regions must be given")
        systems = [partition(prediction.order, labels, middle=protocol.middle) for labels in regions]
    parts = [_contours(system, truths, protocol) + _pairs(system, truths, protocol) for system in systems]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    whole = whole + _questions(prediction, truths, regions, protocol)
    return OrderingTally(whole.contours, whole.pairs, whole.questions, np.minimum(whole.measured, 1))


def tally_humans(truths: Sequence[Ordering], protocol: Protocol | None = None) -> OrderingTally:
    """Human performance on one image: each annotator in turn is the system, the others are the truth; summed over all.

    With fewer than two annotators nothing is counted.
    """
    total = nothing()
    if len(truths) < 2:
        return total
    for turn, person in enumerate(truths):
        total = total + tally(person, [*truths[:turn], *truths[turn + 1 :]], protocol)
    return OrderingTally(total.contours, total.pairs, total.questions, np.minimum(total.measured, 1))


def nothing() -> OrderingTally:
    """The tally of no image."""
    return OrderingTally(np.zeros(6), np.zeros(5), np.zeros((2, 4)), np.zeros(3, np.int64))


def match_image(prediction: Ordering, truths: Sequence[Ordering], protocol: Protocol) -> list[LocalMatch]:
    """The contours of a system matched with those of each annotator."""
    detected = contours(
        prediction,
        window=protocol.window,
        same_depth=protocol.same_depth,
        undirected=protocol.tie == "inconsistent",
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


def _contours(prediction: Ordering, truths: Sequence[Ordering], protocol: Protocol) -> OrderingTally:
    matches = match_image(prediction, truths, protocol)
    unknown = [None if truth.labels is None else truth.labels == VOID for truth in truths]
    found = combine(matches, protocol.annotators, unknown=unknown)
    counts = np.array([float(getattr(found, name)) for name in LOCAL_FIELDS])
    return _just(contours=counts, measured=(1, 0, 0))


def _pairs(prediction: Ordering, truths: Sequence[Ordering], protocol: Protocol) -> OrderingTally:
    partitions = [truth for truth in truths if isinstance(truth, Partition)]
    if not isinstance(prediction, Partition) or not partitions:
        return nothing()
    each = []
    for truth in partitions:
        found = compare_regions(
            prediction,
            truth,
            same_depth=protocol.same_depth,
            equal_pairs=protocol.equal_pairs,
            missed_pairs=protocol.missed_pairs,
        )
        each.append(
            np.array(
                [float(found.consistent), float(found.inconsistent), found.false, found.missed, found.dropped],
                np.float64,
            )
        )
    if protocol.annotators == "best":
        each = [max(each, key=lambda counts: float(np.nan_to_num(Outcomes(*counts[:4]).f(1), nan=-1.0)))]
    return _just(pairs=np.sum(each, axis=0), measured=(0, 1, 0))


def _questions(
    prediction: Ordering, truths: Sequence[Ordering], regions: Sequence[LabelMap], protocol: Protocol
) -> OrderingTally:
    total = nothing()
    for truth in truths:
        own = () if truth.labels is None else (truth.labels,)
        for labels in regions or own:
            asked = compare_neighbours(
                prediction,
                truth,
                labels,
                middle=protocol.middle,
                cut=protocol.cut,
                length=protocol.length,
                adjacency=protocol.adjacency,
                reach=protocol.reach,
            )
            total = total + _just(questions=asked.sums(protocol.question_tie), measured=(0, 0, 1))
    return total


def _just(
    *,
    contours: Sums | None = None,
    pairs: Sums | None = None,
    questions: Sums | None = None,
    measured: tuple[int, int, int] = (0, 0, 0),
) -> OrderingTally:
    empty = nothing()
    return OrderingTally(
        empty.contours if contours is None else contours,
        empty.pairs if pairs is None else pairs,
        empty.questions if questions is None else questions,
        np.array(measured, np.int64),
    )


def _pixels(given: Ordering) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return given.order if isinstance(given, Partition) else given.sides
