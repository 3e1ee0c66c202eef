"""Detectors by name. A name holds its options, and parses back: ``canny``, ``canny(sigma=2.0)``, ``hk(along=10.0, step=2.0)``."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from hyperacuity.detect.depth.by_cues import depth_cues
from hyperacuity.detect.depth.by_ownership import depth_order, ownership
from hyperacuity.detect.detection import Detection
from hyperacuity.detect.gradient import canny, masks, sf1, sobel
from hyperacuity.detect.oriented import agk, hk, sf5
from hyperacuity.detect.pb_detector import pb
from hyperacuity.errors import UsageError
from hyperacuity.maps import OrderMap

_DETECTORS: Mapping[str, Callable[..., Detection]] = {
    function.__name__: function for function in (masks, sobel, canny, sf1, sf5, agk, hk, pb)
}
_ORDERERS: Mapping[str, Callable[..., OrderMap]] = {
    "ownership": ownership,
    "depth-order": depth_order,
    "depth-cues": depth_cues,
}
_CALL = re.compile(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True)
class Detector:
    """A detector with its options; call it with an image. ``str()`` gives the canonical name, which omits default options.

    >>> str(detector("canny( sigma = 2 )"))
    'canny(sigma=2.0)'
    >>> str(detector("canny(sigma=1)"))
    'canny'
    """

    base: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __call__(self, image: ArrayLike) -> Detection:
        """Run on a grey (H×W) or colour (H×W×3) image."""
        return _DETECTORS[self.base](image, **self.options)

    def __str__(self) -> str:
        return _written(self.base, self.options)


@dataclass(frozen=True)
class Orderer:
    """What orders an image by depth, with its options; call it with an image. ``str()`` gives the canonical name.

    >>> str(orderer("depth-order( lam = 0.25 )"))
    'depth-order(lam=0.25)'
    """

    base: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def takes_regions(self) -> bool:
        """Whether it orders regions that it can be given."""
        return "labels" in inspect.signature(_ORDERERS[self.base]).parameters

    def __call__(self, image: ArrayLike, labels: ArrayLike | None = None) -> OrderMap:
        """Run on a grey (H×W) or colour (H×W×3) image; with ``labels`` on these regions of it."""
        if labels is None:
            return _ORDERERS[self.base](image, **self.options)
        if not self.takes_regions:
            raise UsageError(f"{self} finds its own regions; it cannot be given any")
        return _ORDERERS[self.base](image, labels, **self.options)

    def __str__(self) -> str:
        return _written(self.base, self.options)


def detectors() -> list[str]:
    """The names of all detectors, from the plainest to the most elaborate.

    >>> detectors()
    ['masks', 'sobel', 'canny', 'sf1', 'sf5', 'agk', 'hk', 'pb']
    """
    return list(_DETECTORS)


def detector(name: str) -> Detector:
    """The detector of that name, options included.

    >>> import numpy as np
    >>> detector("sobel")(np.eye(5)).thin.shape
    (5, 5)
    >>> detector("prewitt")
    Traceback (most recent call last):
    hyperacuity.errors.UsageError: there is no detector prewitt; there are masks, sobel, canny, sf1, sf5, agk, hk, pb
    """
    return Detector(*_parsed(name, _DETECTORS))


def orderers() -> list[str]:
    """The names of all that order an image by depth.

    >>> orderers()
    ['ownership', 'depth-order', 'depth-cues']
    """
    return list(_ORDERERS)


def orderer(name: str) -> Orderer:
    """The orderer of that name, options included: ``ownership``, ``depth-order(lam=0.5)``."""
    return Orderer(*_parsed(name, _ORDERERS))


def is_orderer(name: str) -> bool:
    """Whether a name, with or without options, is that of an orderer."""
    call = _CALL.fullmatch(name)
    return call is not None and call[1] in _ORDERERS


def _written(base: str, options: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{key}={value!r}".replace('"', "'") for key, value in options.items())
    return f"{base}({settings})" if settings else base


def _parsed(name: str, functions: Mapping[str, Callable[..., Any]]) -> tuple[str, dict[str, Any]]:
    """A name's function, and those of its options that are not at their default."""
    call = _CALL.fullmatch(name)
    if call is None or call[1] not in functions:
        raise UsageError(f"there is no detector {name.strip()}; there are {', '.join(functions)}")
    base, written = call[1], _options(call[2] or "", name)
    known = {
        key: parameter.default
        for key, parameter in inspect.signature(functions[base]).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    for key, value in written.items():
        if key not in known:
            raise UsageError(f"{name.strip()}: {base} has no option {key}; it has {', '.join(known)}")
        if isinstance(known[key], float) != (isinstance(value, int | float) and not isinstance(value, bool)):
            raise UsageError(f"{name.strip()}: {key} is {value!r}, expected a value such as {known[key]!r}")
    typed = {key: type(default)(written.get(key, default)) for key, default in known.items()}
    return base, {key: value for key, value in typed.items() if value != known[key]}


def split_names(names: str) -> list[str]:
    """The names in a list with commas, those within parentheses left alone.

    >>> split_names("canny, hk(along=10, step=2)")
    ['canny', 'hk(along=10, step=2)']
    """
    return [part.strip() for part in re.split(r",(?![^(]*\))", names) if part.strip()]


def _options(written: str, name: str) -> dict[str, Any]:
    """Keyword arguments of literals, read without evaluating anything."""
    try:
        call = ast.parse(f"f({written})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
            raise ValueError
        return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, SyntaxError) as error:
        raise UsageError(f"{name.strip()}: options are written as in canny(sigma=2.0), words in quotes") from error
