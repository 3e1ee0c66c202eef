"""Protocols of the boundary benchmark, and their signatures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary.matching import TOLERANCE
from hyperacuity.errors import UsageError
from hyperacuity.kernels.suppression import suppress_structured
from hyperacuity.maps import LabelMap, SoftMap
from hyperacuity.tally import BaseProtocol, count_or_list, described, named_protocol, number

Precision = Literal["any", "mean"]
Prediction = SoftMap | Sequence[LabelMap]
"""A soft map, or a stack of segmentations."""

THICK = 2.5
"""Maps with more marked pixels per thinned one than this look as though they should have been suppressed first.

Maps whose non-maxima were suppressed have up to 1.5 or so, contours drawn by hierarchies 1.2, raw outputs of networks 5 to 10.
"""


@dataclass(frozen=True)
class Suppression:
    """Non-maximum suppression of a soft map before it is thresholded, the kind that papers on learned detectors use.

    See :func:`hyperacuity.kernels.suppression.suppress_structured`. Written ``structured-s1-r1``, with ``-8bit`` where the result
    is rounded as by saving it as an 8-bit picture.
    """

    smooth: int = 1
    radius: int = 1
    round8: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of ``str``; what is left out has its default.

        >>> str(Suppression.parse("structured")), str(Suppression.parse("structured-s0-r2-8bit"))
        ('structured-s1-r1', 'structured-s0-r2-8bit')
        """
        parts = re.fullmatch(r"structured(?:-s(\d))?(?:-r(\d))?(-8bit)?", text)
        if parts is None:
            raise UsageError(f"suppression {text}: expected none, structured, or like structured-s0-r2, …-s1-r1-8bit")
        smooth, radius, rounded = parts.groups()
        return cls(int(smooth or 1), int(radius or 1), rounded is not None)

    def __str__(self) -> str:
        return f"structured-s{self.smooth}-r{self.radius}{'-8bit' if self.round8 else ''}"


@dataclass(frozen=True)
class Protocol(BaseProtocol):
    """A boundary benchmark. The defaults are Berkeley's (BSDS500).

    Examples
    --------
    >>> Protocol().signature
    boundary|tol:0.0075diag|nms:none|thin:guo-hall|thr:99|precision:any|v:1
    >>> protocol("nyud").signature
    boundary|tol:0.011diag|nms:none|thin:guo-hall|thr:99|precision:any|v:1
    """

    task: ClassVar[str] = "boundary"
    tolerance: float = TOLERANCE
    """Largest distance of partners, as a fraction of the image diagonal."""
    thin: bool = True
    """Thin every thresholded map; truths are used as they are."""
    thresholds: int | tuple[float, ...] | Literal["levels"] = 99
    """Number of thresholds between 0 and 1, or a rising list of them.

    A number n stands for n evenly spaced ones, 1/(n+1) … n/(n+1). ``"levels"`` is for predictions that are stacks of
    segmentations, to which neither thresholds nor suppression apply.
    """
    nms: Suppression | str | None = None
    """Suppress non-maxima first: ``structured``, ``structured-s0-r2``, ``structured-s1-r1-8bit`` (smoothing, radius,
    rounding), ``none``, or ``auto`` (where maps are thick).

    A :class:`Suppression`, its name, or None; ``"auto"`` suppresses the maps of those systems that need it (:data:`THICK`).
    """
    precision: Precision = "any"
    """A detected pixel is right if ``any`` annotator drew it (Berkeley), or by the ``mean`` over annotators.

    ``"any"``: it is right when any annotator's matching pairs it. ``"mean"``: precision is the mean over annotators of the share
    that each one's matching pairs, without the bonus for many annotators (Hou et al. 2013).
    """
    nms_of: tuple[tuple[str, str], ...] = ()
    """Suppression of single systems by name, where it differs: pairs of a system and ``none`` or a suppression's name.

    A mapping does as well.
    """

    def __post_init__(self) -> None:
        """Validate the options."""
        if isinstance(self.nms, str) and self.nms != "auto":
            object.__setattr__(self, "nms", _suppression(self.nms))
        given = dict(self.nms_of)
        by_system = {name: str(_suppression(kind) or "none") for name, kind in given.items()}
        object.__setattr__(self, "nms_of", tuple(sorted(by_system.items())))
        if not 0 <= self.tolerance < 1:
            raise UsageError(f"tolerance {self.tolerance:g}: expected a fraction of the image diagonal, such as 0.0075")
        if isinstance(self.thresholds, int):
            if not 1 <= self.thresholds <= 10_000:
                raise UsageError(f"{self.thresholds} thresholds: expected 1 to 10000")
        elif isinstance(self.thresholds, str):
            if self.thresholds != "levels":
                raise UsageError(f"thresholds {self.thresholds!r}: expected a number, a list of numbers or 'levels'")
            if self.nms is not None or self.nms_of:
                raise UsageError("suppression is for soft maps, not for stacks of segmentations")
        elif not self.thresholds or any(b <= a for a, b in zip(self.thresholds, self.thresholds[1:], strict=False)):
            raise UsageError("thresholds must be a rising list of at least one number")
        if self.precision not in ("any", "mean"):
            raise UsageError(f"precision {self.precision!r}: expected 'any' or 'mean'")

    @property
    def by_system(self) -> bool:
        """True if the suppression of single systems is named, or chosen by the look of their maps."""
        return self.nms == "auto" or bool(self.nms_of)

    def with_system(self, system: str, protocol: BaseProtocol) -> Self | None:
        """The protocol that suppresses one more system as ``protocol`` does; None if the two differ in anything else.

        >>> Protocol().with_system("hed", Protocol(nms="structured")).signature
        boundary|tol:0.0075diag|nms:none,hed=structured-s1-r1|thin:guo-hall|thr:99|precision:any|v:1
        >>> Protocol().with_system("hed", Protocol(nms="structured", thin=False)) is None
        True
        """
        if not isinstance(protocol, Protocol):
            return None
        if replace(protocol, nms=self.nms, nms_of=self.nms_of).signature != self.signature:
            return None
        named = {**dict(self.nms_of), system: str(protocol.nms or "none")}
        return replace(self, nms_of=named)  # type: ignore[arg-type]  # a mapping does as well

    @property
    def levels(self) -> NDArray[np.float64]:
        """The thresholds, rising; none for stacks of segmentations, which have levels."""
        if isinstance(self.thresholds, str):
            return np.empty(0)
        if isinstance(self.thresholds, int):
            n = self.thresholds
            return np.linspace(1 / (n + 1), 1 - 1 / (n + 1), n)
        return np.array(self.thresholds, np.float64)

    def suppressed(self, soft: SoftMap) -> SoftMap:
        """The map after the protocol's suppression of non-maxima; the map itself without one."""
        if isinstance(self.nms, str) or self.nms_of:
            raise UsageError("suppression differs between systems: take the protocol of one, protocol.for_system(name)")
        return soft if self.nms is None else suppress_structured(soft, **vars(self.nms))

    def for_system(self, system: str) -> Self:
        """The protocol with the suppression that one system's maps have."""
        if not self.nms_of:
            return self
        kind = dict(self.nms_of).get(system, str(self.nms or "none"))
        return replace(self, nms=_suppression(kind), nms_of=())

    def completed(self, systems: Sequence[str], maps_of: Callable[[str], Iterable[SoftMap]]) -> Self:
        """With ``nms="auto"``, the protocol that suppresses the maps of the systems whose first ones are thick.

        Systems that ``nms_of`` names keep what it says.
        """
        from hyperacuity.boundary.tallies import thickness

        for name, _ in self.nms_of:
            if name not in systems:
                raise UsageError(f"suppression of {name}: there is no such system; there are {', '.join(systems)}")
        if self.nms != "auto":
            return self
        as_they_are = replace(self, nms=None, nms_of=())
        thick = [system for system in systems if thickness(maps_of(system), as_they_are) > THICK]
        return replace(as_they_are, nms_of={**dict.fromkeys(thick, "structured"), **dict(self.nms_of)})  # type: ignore[arg-type]

    def parts(self) -> dict[str, object]:
        """Parts of the signature."""
        return {
            "tol": f"{number(self.tolerance)}diag",
            "nms": ",".join([str(self.nms or "none"), *(f"{quote(name)}={kind}" for name, kind in self.nms_of)]),
            "thin": "guo-hall" if self.thin else "none",
            "thr": count_or_list(self.thresholds),
            "precision": self.precision,
        }


def _suppression(given: Suppression | str | None) -> Suppression | None:
    """A suppression, or what its name stands for."""
    if isinstance(given, str):
        return None if given == "none" else Suppression.parse(given)
    return given


_RCF = Suppression(smooth=0, radius=2)
"""Suppression by the authors of RCF for BSDS500 and Multicue: not smoothed, compared within 2 pixels."""

PROTOCOLS: dict[str, Protocol] = {
    "bsds": described(Protocol(), "BSDS300 and BSDS500 as Berkeley evaluates them"),
    "nyud": described(Protocol(tolerance=0.011), "NYU depth v2: larger images, looser labels, tolerance 0.011"),
    "crisp": described(Protocol(thin=False), "how crisp a detector is by itself: no suppression, no thinning"),
    "biped": described(
        Protocol(nms=Suppression()), "BIPED and most learned detectors: suppression first, then as bsds"
    ),
    "pascal-context": described(
        Protocol(), "boundaries of multi-task networks on PASCAL-Context: thinned, not suppressed"
    ),
    "nyud-multitask": described(Protocol(tolerance=0.011), "the same on NYU depth v2, tolerance 0.011"),
    "multicue-edge": described(
        Protocol(nms=_RCF), "Multicue's low-level edges: suppressed within 2 pixels, then as bsds"
    ),
    "multicue-boundary": described(Protocol(nms=_RCF), "Multicue's object boundaries, in the same way"),
}
"""Protocols by name; each is described in its ``__doc__``; ``docs/protocols.md`` has the sources of its numbers."""


def protocol(name: str = "bsds", **changes: Any) -> Protocol:
    """A named protocol, with changes: ``protocol("bsds", tolerance=0.01)``."""
    return named_protocol(PROTOCOLS, name, changes)
