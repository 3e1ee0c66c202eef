"""Measures by name: canonical names with parameters that print and parse back, and many measures computed at once.

>>> print(measure("baddeley"), measure("hausdorff(percent=5)"), measure("fom(kappa=1/9)"))
baddeley(k=2) hausdorff(percent=5) fom
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from numpy.typing import ArrayLike

from hyperacuity.edges.distance import baddeley, dk, f2d6, gamma, hausdorff, omega, psi, sk, theta, yasnoff
from hyperacuity.edges.merit import d4, dp, f_pinho, fom, fom_e, mfom, sfom
from hyperacuity.edges.pair import Edges, Pair
from hyperacuity.edges.statistical import chi2, f_alpha, phi, pm
from hyperacuity.errors import UsageError

Penalises = Literal["both", "false", "missed"]
Kind = Literal["statistical", "normalised", "distance"]


@dataclass(frozen=True)
class Family:
    """A measure before its options are chosen: its function, the paper's symbol, and what it looks at."""

    function: Callable[..., float]
    symbol: str
    kind: Kind
    penalises: Penalises = "both"


FAMILIES: dict[str, Family] = {
    "pm": Family(pm, "Pm*", "statistical"),
    "phi": Family(phi, "Φ*", "statistical"),
    "chi2": Family(chi2, "χ²*", "statistical"),
    "f_alpha": Family(f_alpha, "Fα*", "statistical"),
    "fom": Family(fom, "FoM", "normalised"),
    "fom_e": Family(fom_e, "FoMe", "normalised", "false"),
    "f_pinho": Family(f_pinho, "F", "normalised"),
    "d4": Family(d4, "d4", "normalised"),
    "sfom": Family(sfom, "SFoM", "normalised"),
    "mfom": Family(mfom, "MFoM", "normalised"),
    "dp": Family(dp, "Dp", "normalised"),
    "yasnoff": Family(yasnoff, "Υ", "distance", "false"),
    "hausdorff": Family(hausdorff, "H", "distance"),
    "dk": Family(dk, "Dᵏ", "distance", "false"),
    "f2d6": Family(f2d6, "f2d6", "distance"),
    "theta": Family(theta, "Θ", "distance", "false"),
    "omega": Family(omega, "Ω", "distance", "missed"),
    "baddeley": Family(baddeley, "Δᵏ", "distance"),
    "sk": Family(sk, "Sᵏ", "distance"),
    "gamma": Family(gamma, "Γ", "distance", "false"),
    "psi": Family(psi, "Ψ", "distance"),
}
"""Every measure, in the order of the paper's three tables."""


@dataclass(frozen=True)
class Measure:
    """A measure with its options chosen. It prints as its canonical name and is called like the plain function.

    >>> measure("sk(k=1)")([[1, 0, 0, 0]], [[1, 0, 0, 1]])
    1.5
    """

    family: str
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        """The canonical name. It shows the exponent k, which is part of the symbol, and what differs from the default."""
        defaults = _defaults(self.family)
        given = {name: value for name, value in self.options if name == "k" or value != defaults[name]}
        printed = {name: given.get(name, defaults[name]) for name in defaults if name == "k" or name in given}
        return self.family + (f"({','.join(f'{name}={_text(printed[name])}' for name in printed)})" if printed else "")

    def __call__(self, truth: Edges, detected: Edges) -> float:
        return FAMILIES[self.family].function(truth, detected, **dict(self.options))

    @property
    def symbol(self) -> str:
        """The paper's symbol with its parameter, in letters that every font has: Δ², H5%, S¹."""
        options = _defaults(self.family) | dict(self.options)
        symbol = FAMILIES[self.family].symbol
        if "k" in options and symbol.endswith("ᵏ"):
            return symbol[:-1] + _text(options["k"]).translate(_SUPERSCRIPT)
        if options.get("percent"):
            return f"{symbol}{_text(options['percent'])}%"
        return symbol

    @property
    def kind(self) -> Kind:
        """From counts (``statistical``), from distances within [0, 1] (``normalised``), or without bound (``distance``)."""
        return FAMILIES[self.family].kind

    @property
    def penalises(self) -> Penalises:
        """``false`` detections only, ``missed`` pixels only, or ``both``."""
        return FAMILIES[self.family].penalises


@cache
def measure(name: str) -> Measure:
    """The measure of that name. Options stand in brackets; a number may be a fraction.

    Examples
    --------
    >>> str(measure("psi"))
    'psi'
    >>> measure("sigma")
    Traceback (most recent call last):
    hyperacuity.errors.UsageError: there is no measure sigma; did you mean gamma?
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*", name)
    family = match[1] if match else name
    if match is None or family not in FAMILIES:
        near = difflib.get_close_matches(family, FAMILIES, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(FAMILIES)}"
        raise UsageError(f"there is no measure {name.strip()}; {hint}")
    options = dict(_option(family, part) for part in (match[2] or "").split(",") if part.strip())
    chosen = Measure(family, tuple(sorted(options.items())))
    if options:
        chosen([[1, 0]], [[0, 1]])  # a value out of range is refused here, before any image is read
    return chosen


def measures(names: str | Iterable[str]) -> list[Measure]:
    """Several measures, from a list or from one text with commas between them; a measure named twice counts once.

    >>> [str(m) for m in measures("psi, baddeley(k=1,cap=5), psi")]
    ['psi', 'baddeley(k=1,cap=5)']
    """
    if isinstance(names, str):
        names = re.split(r",(?![^()]*\))", names)
    chosen = {str(m): m for m in (measure(name) for name in names)}
    if not chosen:
        raise UsageError("no measure is named")
    return list(chosen.values())


PAPER = (
    *("pm", "phi", "chi2", "f_alpha"),
    *("fom", "fom_e", "f_pinho", "d4", "sfom", "mfom", "dp"),
    *("yasnoff", "hausdorff", "hausdorff(percent=5)", "dk(k=2)", "f2d6", "theta(k=2)", "omega(k=2)"),
    *("baddeley(k=2)", "sk(k=1)", "sk(k=2)", "gamma", "psi"),
)
"""Canonical names of all measures as the paper uses them: every family, both H₅% and H, both S¹ and S²."""


def evaluate(truth: ArrayLike, detected: ArrayLike, names: str | Iterable[str] = PAPER) -> dict[str, float]:
    """Several measures of one detection; counts and distance maps are computed once and shared.

    Examples
    --------
    >>> evaluate([[1, 0, 0, 0]], [[1, 0, 0, 1]], ["pm", "hausdorff", "psi"])
    {'pm': 0.5, 'hausdorff': 3.0, 'psi': 3.0}
    """
    pair = Pair(truth, detected)
    return {str(m): m(pair, pair) for m in measures(names)}


@cache
def _defaults(family: str) -> dict[str, Any]:
    parameters = inspect.signature(FAMILIES[family].function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def _option(family: str, text: str) -> tuple[str, Any]:
    """One ``name=value`` of a measure's brackets, the value in the type that the function wants."""
    name, _, value = (part.strip() for part in text.partition("="))
    defaults = _defaults(family)
    if name not in defaults:
        options = f"it has {', '.join(defaults)}" if defaults else "it has none"
        raise UsageError(f"{family} has no option {text.strip()}; {options}")
    hint = get_type_hints(FAMILIES[family].function)[name]
    choices = get_args(hint) if get_origin(hint) is Literal else (True, False) if hint is bool else None
    if choices:
        for choice in choices:
            if _text(choice) == value.lower():
                return name, choice
        raise UsageError(f"{family}({name}={value}): {name} must be {' or '.join(map(_text, choices))}")
    try:
        number = float(Fraction(value) if "/" in value else value)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{family}({name}={value}): {name} must be a number") from None
    return name, int(number) if number.is_integer() else number


def _text(value: Any) -> str:
    """A value as it stands in a name: the shortest text that reads back as the same value."""
    return f"{value}".lower() if isinstance(value, bool) else f"{value}"


_SUPERSCRIPT = str.maketrans("0123456789.", "⁰¹²³⁴⁵⁶⁷⁸⁹·")
