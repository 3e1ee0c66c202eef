"""The protocol of depth orders: everything agreed before they are compared."""

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
    """A benchmark of depth orders. The defaults are the papers'.

    Examples
    --------
    >>> Protocol().signature
    ordering|ldc:3px,15deg,win7,distance|ties:inconsistent,consistent|gt:bsds|gdc:class,matched|fg:wrong,ceil,crack,4n,mean,3px|eps:1e-09|sum:pooled|v:1
    """

    task: ClassVar[str] = "ordering"
    radius: float = RADIUS
    """Largest distance of matched contour pixels, in pixels."""
    radius_share: float | None = None
    """Largest distance as a share of the image diagonal, in place of the radius in pixels."""
    angle: float = ANGLE
    """Largest angle between directions, in degrees."""
    window: int = WINDOW
    """Side of the window in which contour normals are averaged, in pixels."""
    cost: MatchCost = "distance"
    """Cost that matching minimises: ``distance`` (the paper), or ``distance+angle``.

    See :func:`~hyperacuity.ordering.match_contours`.
    """
    tie: SystemTie = "inconsistent"
    """Contours between regions of one predicted depth: ``inconsistent`` wherever the truth has a direction, or ``ignore``."""
    truth_tie: TruthTie = "consistent"
    """True contours without direction are ``consistent`` if they are matched, or left out (``exclude``)."""
    annotators: Annotators = "bsds"
    """Several annotators' contours: ``bsds``, ``sum`` or ``best``.

    See :func:`~hyperacuity.ordering.combine`. Pairs of regions and figure/ground questions are summed over annotators, but with
    ``"best"`` those of GDC are of the best one.
    """
    equal_pairs: EqualPairs = "class"
    """True pairs of equal depth are a separate ``class``, or do not count (``exclude``)."""
    missed_pairs: MissedPairs = "matched"
    """Missed pairs of regions: all without a pair that was ``matched``, or as the formula says (``literal``).

    See :func:`~hyperacuity.ordering.compare_regions`.
    """
    same_depth: float = SAME_DEPTH
    """Depths that differ by at most this are equal."""
    question_tie: Tie = "wrong"
    """A predicted tie in R-ACC and B-ACC: ``wrong``, ``half`` a right answer, or ``skip``."""
    cut: Cut = "ceil"
    """The foremost share q of n regions is q·n, rounded up (``ceil``), down (``floor``), or to the nearest (``round``)."""
    length: Length = "crack"
    """Length of a common border: cracks (``crack``), ``front-pixels`` that touch the other region, or ``both-pixels``."""
    adjacency: Literal[4, 8] = 4
    """Regions are neighbours by the 4 or by the 8 neighbours of their pixels.

    With 8, those that touch at corners only are, with a length of 0 cracks.
    """
    middle: Middle = "mean"
    """Median of an even number of pixels: the ``mean`` of the middle two, or the ``low`` one."""
    reach: int = REACH
    """Largest distance from a border at which labelled contours vote, in pixels.

    On the segmentation that was labelled, contours lie on the border, and only those that do vote.
    """
    aggregate: Aggregate = "pooled"
    """Scores of a data set: of the ``pooled`` counts of all images, or the ``mean`` over images."""

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
                raise UsageError(f"{name} {value:g}: expected a non-negative number")
        if self.reach < 0:
            raise UsageError(f"a reach of {self.reach} pixels: expected a non-negative whole number")

    def radius_px(self, shape: tuple[int, ...]) -> float:
        """The matching radius in pixels for images of this shape."""
        return self.radius if self.radius_share is None else self.radius_share * diagonal(shape)

    def parts(self) -> dict[str, object]:
        """Parts of the signature."""
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
