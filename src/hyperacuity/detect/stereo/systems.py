"""Stereo systems by name. A name holds its options, and parses back: ``sad``, ``sad(window=5, check=1)``."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from hyperacuity.detect.registry import parse_call
from hyperacuity.detect.stereo.smoothness import bp, dp, load_opencv, sgm, sgm_opencv
from hyperacuity.detect.stereo.surfaces import adaptive_weights, cost_filter
from hyperacuity.detect.stereo.windows import census, sad, ssd
from hyperacuity.errors import UsageError
from hyperacuity.maps import DisparityMap

_MATCHERS: Mapping[str, Callable[..., DisparityMap]] = {
    "sad": sad,
    "ssd": ssd,
    "census": census,
    "adaptive-weights": adaptive_weights,
    "cost-filter": cost_filter,
    "dp": dp,
    "sgm": sgm,
    "bp": bp,
    "sgm-opencv": sgm_opencv,
}

BUILT_IN = tuple(name for name in _MATCHERS if name != "sgm-opencv")
"""The systems that need nothing but this package, from the plainest on."""

LOCAL = ("sad", "ssd", "census", "adaptive-weights", "cost-filter")
"""The systems that decide at each pixel by its surroundings alone (Scharstein & Szeliski 2002)."""


@dataclass(frozen=True)
class Matcher:
    """A stereo system with its options, called with a pair and the number of disparities; ``str()`` is its name."""

    base: str
    options: tuple[tuple[str, Any], ...] = ()

    def check_installed(self) -> None:
        """Raise ``UsageError`` if the system needs a package that is not installed."""
        if self.base not in BUILT_IN:
            load_opencv()

    def __call__(self, left: ArrayLike, right: ArrayLike, disparities: int) -> DisparityMap:
        """The disparity of the left view."""
        return _MATCHERS[self.base](left, right, disparities, **dict(self.options))

    def __str__(self) -> str:
        options = ", ".join(f"{key}={value:g}" for key, value in self.options)
        return f"{self.base}({options})" if options else self.base


def matcher(base: str, /, **options: Any) -> Matcher:
    """A stereo system by name.

    >>> str(matcher("sad", window=5))
    'sad(window=5)'
    """
    if base not in _MATCHERS:
        raise UsageError(f"there is no stereo system {base}; there are {', '.join(_MATCHERS)}")
    known = [
        key for key, part in inspect.signature(_MATCHERS[base]).parameters.items() if part.kind is part.KEYWORD_ONLY
    ]
    for key, value in options.items():
        if key not in known:
            raise UsageError(f"{base} has no option {key}; it has {', '.join(known)}")
        if not isinstance(value, int | float):
            raise UsageError(f"{base}: {key} is {value!r}, expected a number")
    return Matcher(base, tuple(options.items()))


def matcher_named(name: str) -> Matcher:
    """The system that a name with options in parentheses stands for.

    >>> str(matcher_named("sad( window = 5, check=1)")), str(matcher_named("sgm"))
    ('sad(window=5, check=1)', 'sgm')
    """
    base, options = parse_call(name, "sad(window=5, check=1)")
    return matcher(base, **options)


def grid(base: str, **choices: tuple[Any, ...]) -> list[Matcher]:
    """A system under every combination of options: the systems of an intra-technique comparison.

    >>> [str(system) for system in grid("census", window=(5, 9), check=(1,))]
    ['census(window=5, check=1)', 'census(window=9, check=1)']
    """
    return [matcher(base, **dict(zip(choices, values, strict=True))) for values in itertools.product(*choices.values())]
