"""What is agreed before orders are compared, and how it is written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args, get_origin, get_type_hints

from hyperacuity.errors import UsageError
from hyperacuity.maps import diagonal
from hyperacuity.ordering.directed_contours import SAME_DEPTH, WINDOW
from hyperacuity.ordering.figure_ground import REACH, Cut, Length, Tie
from hyperacuity.ordering.local import ANGLE, RADIUS, Annotators, MatchCost, TruthTie
from hyperacuity.ordering.orderings import Middle
from hyperacuity.ordering.pairwise import EqualPairs, MissedPairs
from hyperacuity.tally import BaseProtocol, number

SystemTie = Literal["inconsistent", "ignore"]
Aggregate = Literal["pooled", "mean"]


@dataclass(frozen=True)
class Protocol(BaseProtocol):
    """How orders are compared. The defaults are the papers'.

    Parameters
    ----------
    radius, radius_share
        How far apart contour pixels may be matched: in pixels, or instead as a share of the image diagonal.
    angle
        How far apart their directions may be, in degrees.
    window
        Side of the window in which contour normals are averaged.
    cost
        What matching minimises (:func:`~hyperacuity.ordering.match_contours`).
    tie
        Contours between regions to which the system gives one depth: ``"inconsistent"`` wherever the truth has a direction,
        or ``"ignore"`` them, as if they were not there.
    truth_tie
        True contours without direction (:func:`~hyperacuity.ordering.match_contours`).
    annotators
        How several annotators' contours are put together (:func:`~hyperacuity.ordering.combine`). Pairs of regions and
        figure/ground questions are summed over annotators, but with ``"best"`` those of GDC are of the best one.
    equal_pairs, missed_pairs, same_depth
        See :func:`~hyperacuity.ordering.compare_regions`.
    question_tie
        What a predicted tie is worth in the figure/ground benchmark: ``"wrong"``, ``"half"`` a right answer, or ``"skip"`` it.
    cut, length, adjacency, middle, reach
        See :func:`~hyperacuity.ordering.compare_neighbours`.
    aggregate
        Scores of a data set: ``"pooled"`` counts of all images, or the ``"mean"`` over images.

    Examples
    --------
    >>> Protocol().signature
    ordering|ldc:3px,15deg,win7,distance|ties:inconsistent,consistent|gt:bsds|gdc:class,matched|fg:wrong,ceil,crack,4n,mean,3px|eps:1e-09|sum:pooled|v:1
    """

    task: ClassVar[str] = "ordering"
    radius: float = RADIUS
    radius_share: float | None = None
    angle: float = ANGLE
    window: int = WINDOW
    cost: MatchCost = "distance"
    tie: SystemTie = "inconsistent"
    truth_tie: TruthTie = "consistent"
    annotators: Annotators = "bsds"
    equal_pairs: EqualPairs = "class"
    missed_pairs: MissedPairs = "matched"
    same_depth: float = SAME_DEPTH
    question_tie: Tie = "wrong"
    cut: Cut = "ceil"
    length: Length = "crack"
    adjacency: Literal[4, 8] = 4
    middle: Middle = "mean"
    reach: int = REACH
    aggregate: Aggregate = "pooled"

    def __post_init__(self) -> None:
        """Validate the options."""
        for name, kind in get_type_hints(Protocol).items():
            if get_origin(kind) is Literal and getattr(self, name) not in get_args(kind):
                allowed = ", ".join(map(str, get_args(kind)))
                raise UsageError(f"{name} {getattr(self, name)!r}: expected one of {allowed}")
        if self.window < 1 or self.window % 2 == 0:
            raise UsageError(f"a window of {self.window} pixels: expected an odd number")
        for name, value in (("radius", self.radius_px((1, 1))), ("angle", self.angle), ("same_depth", self.same_depth)):
            if not 0 <= value < float("inf"):
                raise UsageError(f"{name} {value:g}: expected a number from 0")
        if self.reach < 0:
            raise UsageError(f"a reach of {self.reach} pixels: expected a whole number from 0")

    def radius_px(self, shape: tuple[int, ...]) -> float:
        """The matching radius in pixels for images of this shape."""
        return self.radius if self.radius_share is None else self.radius_share * diagonal(shape)

    def parts(self) -> dict[str, object]:
        """What the signature says."""
        radius = f"{number(self.radius)}px" if self.radius_share is None else f"{number(self.radius_share)}diag"
        questions = (self.question_tie, self.cut, self.length, f"{self.adjacency}n", self.middle, f"{self.reach}px")
        return {
            "ldc": f"{radius},{number(self.angle)}deg,win{self.window},{self.cost}",
            "ties": f"{self.tie},{self.truth_tie}",
            "gt": self.annotators,
            "gdc": f"{self.equal_pairs},{self.missed_pairs}",
            "fg": ",".join(questions),
            "eps": number(self.same_depth),
            "sum": self.aggregate,
        }
