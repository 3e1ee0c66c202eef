"""What a paper says, what is found here, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

Verdict = Literal["holds", "fails", "not comparable", "not run"]
Study = TypeVar("Study")


class PaperFindings(Protocol):
    """What every paper's study tells of its run, beside what it found: what failed, by name, and what was left out."""

    @property
    def failures(self) -> Sequence[tuple[str, str]]:
        """What failed, and why. Rows of such a study are not kept."""

    @property
    def notes(self) -> Sequence[str]:
        """What was left out, a sentence each."""


class NotRunError(Exception):
    """What a claim is about was not run here; the text says what is missing, for example ``needs BSDS500``."""


@dataclass(frozen=True)
class Finding:
    """Our side of a claim. Every verdict but *holds* has its reason in ``because``."""

    ours: str
    verdict: Verdict
    because: str = ""

    def __post_init__(self) -> None:
        """Refuse a verdict without its reason."""
        if self.verdict != "holds" and not self.because:
            raise ValueError(f"{self.ours}: {self.verdict}, but why?")


@dataclass(frozen=True)
class Claim(Generic[Study]):
    """What a paper says in one place.

    ``where`` is the place (``Eq. 4``, ``Table 1``, ``Fig. 7``, ``Section 5.2``, ``Algorithm 1``), ``says`` what stands there, in
    our words, ``theirs`` the paper's number (empty where it gives none) and ``command`` what does it here. ``check`` finds our
    side in a study's findings, or raises :class:`NotRunError`.
    """

    where: str
    says: str
    theirs: str
    command: str
    check: Callable[[Study], Finding]


@dataclass(frozen=True)
class LedgerRow:
    """A row of the ledger."""

    where: str
    says: str
    theirs: str
    ours: str
    verdict: Verdict
    because: str
    command: str


def entries(claims: Sequence[Claim[Study]], study: Study) -> list[LedgerRow]:
    """The rows of a paper, in the order of its claims.

    >>> claim = Claim("Table 1", "F of pB", "0.65", "hyperacuity study hou2013", lambda f: near(f, 0.65, within=0.02))
    >>> entries([claim], 0.66)[0].verdict
    'holds'
    """
    return [_entry(claim, study) for claim in claims]


def _entry(claim: Claim[Study], study: Study) -> LedgerRow:
    try:
        found = claim.check(study)
    except NotRunError as error:
        found = Finding("", "not run", str(error))
    return LedgerRow(claim.where, claim.says, claim.theirs, found.ours, found.verdict, found.because, claim.command)


def near(ours: float, theirs: float, *, within: float, digits: int = 3, unit: str = "") -> Finding:
    """Holds if the two numbers differ by no more than ``within``; otherwise the reason tells by how much.

    >>> near(0.7, 0.65, within=0.02)
    Finding(ours='0.700', verdict='fails', because='0.050 more than the paper, beyond 0.02')
    """
    text = f"{ours:.{digits}f}{unit}"
    if abs(ours - theirs) <= within:
        return Finding(text, "holds")
    more = "more" if ours > theirs else "less"
    return Finding(
        text, "fails", f"{abs(ours - theirs):.{digits}f}{unit} {more} than the paper, beyond {within:g}{unit}"
    )


def expect(condition: bool, ours: str, otherwise: str) -> Finding:
    """Holds on ``condition``; otherwise fails for the reason given.

    >>> expect(3 < 2, "3 of 2", "there are more than two")
    Finding(ours='3 of 2', verdict='fails', because='there are more than two')
    """
    return Finding(ours, "holds") if condition else Finding(ours, "fails", otherwise)


def incomparable(ours: str, because: str) -> Finding:
    """Our number of something that the paper has otherwise: on other images, systems or people, or without a number.

    >>> incomparable("0.71", "on other images")
    Finding(ours='0.71', verdict='not comparable', because='on other images')
    """
    return Finding(ours, "not comparable", because)


def worked(ours: float, by_hand: float, *, within: float = 1e-9, digits: int = 6) -> Finding:
    """A formula on a small example whose value was worked out by hand from the paper: holds if ours is the same.

    >>> worked(2 / 3, 0.666666666667)
    Finding(ours='0.666667', verdict='holds', because='')
    """
    same = abs(ours - by_hand) <= within
    return expect(same, f"{ours:.{digits}f}", f"worked out from the paper it is {by_hand:.{digits}f}")
