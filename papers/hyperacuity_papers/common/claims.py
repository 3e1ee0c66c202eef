"""Claims of a paper, read from its claims.toml, our results, and verdicts.

A row of ``claims.toml`` has

- ``where`` in the paper, for example ``Eq. 4``, ``Table 1``, ``Fig. 7``, ``Section 5.2``;
- ``says``: the claim in our words;
- ``theirs``: the paper's number, if it gives one;
- ``command``: what does it here, by its name in the table ``commands`` or in full; by default ``study``;
- ``figure``: the file that shows it, where a figure that was not drawn means that the claim was not looked at;
- ``check``: a function of the paper's folder, such as ``checks.quoted``, that takes the study and all other keys of the row.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

Verdict = Literal["holds", "fails", "not comparable", "not run"]
Study = TypeVar("Study")


NEEDS = "needs BSDS500 and bsds-fg"
"""Reason for leaving out photographs with figure/ground labels."""


class PaperFindings(Protocol):
    """Parts of the results that every study has: failures by name, and notes on what was left out."""

    @property
    def failures(self) -> Sequence[tuple[str, str]]:
        """Names of items that failed, and why. Rows of such a study are not cached."""

    @property
    def notes(self) -> Sequence[str]:
        """Parts that were left out, a sentence each."""


class NotRunError(Exception):
    """A claim that was not looked at here; the text says what is missing, for example ``needs BSDS500``."""


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
    """A statement of a paper in one place.

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


@dataclass(frozen=True)
class PaperClaims:
    """A paper's title, and what it says, in the paper's order."""

    title: str
    claims: tuple[Claim[Any], ...]


KEYS = ("where", "says", "theirs", "command", "figure", "check")
"""Keys of a row that say what is claimed; the others are arguments of the check."""


def read_claims(paper: str) -> PaperClaims:
    """Read the claims of a paper from its folder.

    >>> read_claims("maire2016").claims[2].theirs
    '2/3'
    """
    text = (Path(__file__).parents[1] / paper / "claims.toml").read_text(encoding="utf-8")
    told = tomllib.loads(text)
    return PaperClaims(told["title"], tuple(_claim(paper, told["commands"], row) for row in told["claim"]))


def _claim(paper: str, commands: Mapping[str, str], row: Mapping[str, Any]) -> Claim[Any]:
    module, _, name = row["check"].rpartition(".")
    check = getattr(import_module(f"hyperacuity_papers.{paper}.{module}"), name)
    arguments = {key: value for key, value in row.items() if key not in KEYS}
    inspect.signature(check).bind(None, **arguments)  # a mistake in a row is found when it is read
    check = partial(check, **arguments)
    if "figure" in row:
        check = partial(_in_figure, row["figure"], check)
    command = row.get("command", "study")
    return Claim(row["where"], row["says"], row.get("theirs", ""), commands.get(command, command), check)


def _in_figure(figure: str, check: Callable[[Any], Finding], study: Any) -> Finding:
    """Check what a figure shows, if it was drawn."""
    if figure not in study.figures:
        raise NotRunError("figures were not drawn" if not study.figures else NEEDS)
    finding = check(study)
    return Finding(f"{figure}: {finding.ours}", finding.verdict, finding.because)


def entries(claims: Sequence[Claim[Study]], study: Study) -> list[LedgerRow]:
    """The rows of a paper, in the order of its claims.

    >>> claim = Claim("Table 1", "F of pB", "0.65", "hyperacuity study hou2013", lambda f: near(f, 0.65, within=0.02))
    >>> entries([claim], 0.66)[0].verdict
    'holds'
    """
    return [_entry(claim, study) for claim in claims]


def _entry(claim: Claim[Study], study: Study) -> LedgerRow:
    try:
        finding = claim.check(study)
    except NotRunError as error:
        finding = Finding("", "not run", str(error))
    return LedgerRow(
        claim.where, claim.says, claim.theirs, finding.ours, finding.verdict, finding.because, claim.command
    )


def drawn(study: Any, name: str, ours: str) -> str:
    """Prefix a result with the name of the figure's file, if it lies in the study's folder."""
    return f"{name}: {ours}" if (study.folder / name).is_file() else ours


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


def worked(ours: float, by_hand: float | str, *, within: float = 1e-9, digits: int = 6) -> Finding:
    """Compare a formula on a small example with its value, which was worked out by hand from the paper.

    >>> worked(2 / 3, "2/3")
    Finding(ours='0.666667', verdict='holds', because='')
    """
    value = number(by_hand)
    return expect(
        abs(ours - value) <= within, f"{ours:.{digits}f}", f"worked out from the paper it is {value:.{digits}f}"
    )


_OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def number(text: float | str) -> float:
    """Read a number, or compute one that is written as it was worked out.

    >>> number(0.5), number("2/3"), number("sqrt(12/25 + (1 - 3/5)**2)/2")
    (0.5, 0.6666666666666666, 0.4)
    """

    def value(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as constant):
                return constant
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                return _OPERATIONS[type(op)](value(left), value(right))
            case ast.Call(func=ast.Name(id="sqrt"), args=[one]):
                return math.sqrt(value(one))
        raise ValueError(f"{text}: expected numbers, + - * / ** and sqrt")

    return value(ast.parse(text, mode="eval").body) if isinstance(text, str) else text
