"""Detectors by name. A name holds its options, and parses back: ``canny``, ``canny(sigma=2.0)``, ``hk(along=10.0, step=2.0)``."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from hyperacuity.detect.depth.orderers import ae, depth_cues, depth_order, gradient_regions, ownership
from hyperacuity.detect.depth.ucm_tj import ucm_tj
from hyperacuity.detect.detection import REGIONS_PER_PIXEL, Detection, memory_for
from hyperacuity.detect.global_pb.detector import gpb, gpb_hierarchy, gpb_ucm
from hyperacuity.detect.gradient import canny, masks, sf1, sobel
from hyperacuity.detect.net.network import load, net
from hyperacuity.detect.net.sight import depth_net, net_regions
from hyperacuity.detect.oriented import agk, hk, sf5
from hyperacuity.detect.pb_detector import pb
from hyperacuity.errors import UsageError
from hyperacuity.maps import LabelMap, OrderMap
from hyperacuity.ordering.orderings import pieces
from hyperacuity.regions import Hierarchy, hierarchy
from hyperacuity.syntax import parsed

_DETECTORS: Mapping[str, Callable[..., Detection]] = {
    function.__name__.replace("_", "-"): function
    for function in (masks, sobel, canny, sf1, sf5, agk, hk, pb, gpb, gpb_ucm, net)
}
_ORDERERS: Mapping[str, Callable[..., OrderMap]] = {
    "ownership": ownership,
    "depth-order": depth_order,
    "depth-cues": depth_cues,
    "ae": ae,
    "ucm-tj": ucm_tj,
    "depth-net": depth_net,
}
_REGIONS: Mapping[str, Callable[..., LabelMap]] = {
    "ownership": gradient_regions,
    "depth-cues": gradient_regions,
    "depth-net": net_regions,
}
"""An orderer's regions, from the image and the orderer's options, where they are not the pieces of equal order in its map."""
_HIERARCHIES: Mapping[str, Callable[..., Hierarchy]] = {"gpb": gpb_hierarchy, "gpb-ucm": gpb_hierarchy}
"""A detector's hierarchy, from the image and the detector's options, where it is not made of its strength and direction."""
PROBABILITIES = frozenset({"pb", "gpb", "gpb-ucm", "net"})
"""Detectors whose strength is a probability: the same value means the same in every image."""

_NETWORKS = frozenset({"net", "depth-net"})

_CALL = re.compile(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True)
class NamedSystem:
    """A system by name with its options; ``str()`` gives the canonical name, which omits default options."""

    base: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def check_installed(self) -> None:
        """Raise ``UsageError`` if the system needs a package that is not installed, and ``InputError`` for a bad network."""
        if self.base in _NETWORKS:
            load(self.options.get("model", ""))

    def __str__(self) -> str:
        settings = ", ".join(f"{key}={value!r}".replace('"', "'") for key, value in self.options.items())
        return f"{self.base}({settings})" if settings else self.base


class Detector(NamedSystem):
    """A detector with its options; call it with an image.

    >>> str(detector("canny( sigma = 2 )"))
    'canny(sigma=2.0)'
    >>> str(detector("canny(sigma=1)"))
    'canny'
    """

    def __call__(self, image: ArrayLike) -> Detection:
        """Run on a grey (H×W) or colour (H×W×3) image."""
        return _DETECTORS[self.base](image, **self.options)

    def hierarchy(self, image: ArrayLike) -> Hierarchy:
        """The hierarchy of regions of what it sees: of the probability of a boundary, or of the strength over its largest value.

        >>> import numpy as np
        >>> image = np.zeros((32, 32)); image[8:24, 8:24] = 1
        >>> len(np.unique(detector("canny(sigma=2)").hierarchy(image).at(0.5)))
        2
        """
        if self.base in _HIERARCHIES:
            return _HIERARCHIES[self.base](image, **self.options)
        seen = self(image)
        strength = seen.strength if self.base in PROBABILITIES else seen.soft
        with memory_for("making regions", strength.shape, REGIONS_PER_PIXEL * strength.size):
            return hierarchy(strength, direction=seen.direction)


class Orderer(NamedSystem):
    """An orderer by depth with its options; call it with an image.

    >>> str(orderer("depth-order( lam = 0.25 )"))
    'depth-order(lam=0.25)'
    """

    @property
    def takes_regions(self) -> bool:
        """True if it can be given regions to order."""
        return "labels" in inspect.signature(_ORDERERS[self.base]).parameters

    @property
    def takes_tree(self) -> bool:
        """True if it can be given a hierarchy of regions."""
        return "tree" in inspect.signature(_ORDERERS[self.base]).parameters

    def __call__(self, image: ArrayLike, labels: ArrayLike | None = None, *, tree: Hierarchy | None = None) -> OrderMap:
        """Run on a grey (H×W) or colour (H×W×3) image; with ``labels`` or a ``tree``, on these regions of it."""
        if labels is not None and not self.takes_regions:
            raise UsageError(f"{self} makes regions itself; it cannot be given any")
        if tree is not None and not self.takes_tree:
            raise UsageError(f"{self} cannot be given a hierarchy")
        given = {name: value for name, value in (("labels", labels), ("tree", tree)) if value is not None}
        return _ORDERERS[self.base](image, **given, **self.options)

    def regions(self, image: ArrayLike, order: OrderMap | None = None) -> LabelMap:
        """The regions it finds for itself; by default the connected pieces of equal order in its map of the image, ``order``.

        >>> import numpy as np
        >>> image = np.zeros((40, 40)); image[10:30, 10:30] = 1
        >>> int(orderer("depth-order(lam=1000)").regions(image).max())
        1
        """
        if self.base in _REGIONS:
            return _REGIONS[self.base](image, **self.options)
        return pieces(self(image) if order is None else order).labels


def detectors() -> list[str]:
    """The names of all detectors, from the plainest to the most elaborate.

    >>> detectors()
    ['masks', 'sobel', 'canny', 'sf1', 'sf5', 'agk', 'hk', 'pb', 'gpb', 'gpb-ucm', 'net']
    """
    return list(_DETECTORS)


def detector(name: str) -> Detector:
    """The detector of that name, options included.

    >>> import numpy as np
    >>> detector("sobel")(np.eye(5)).thin.shape
    (5, 5)
    >>> detector("prewitt")
    Traceback (most recent call last):
    hyperacuity.errors.UsageError: there is no detector prewitt; there are masks, sobel, canny, sf1, sf5, agk, hk, pb, gpb, gpb-ucm, net
    """  # noqa: E501  # one line, as it is printed
    return Detector(*_parsed(name, _DETECTORS))


def orderers() -> list[str]:
    """The names of all that order an image by depth.

    >>> orderers()
    ['ownership', 'depth-order', 'depth-cues', 'ae', 'ucm-tj', 'depth-net']
    """
    return list(_ORDERERS)


def orderer(name: str) -> Orderer:
    """The orderer of that name, options included: ``ownership``, ``depth-order(lam=0.5)``."""
    return Orderer(*_parsed(name, _ORDERERS))


def is_orderer(name: str) -> bool:
    """True for the name of an orderer, with or without options."""
    call = _CALL.fullmatch(name)
    return call is not None and call[1] in _ORDERERS


def _parsed(name: str, functions: Mapping[str, Callable[..., Any]]) -> tuple[str, dict[str, Any]]:
    """A name's function, and those of its options that are not at their default."""
    base, written = parse_call(name, "canny(sigma=2.0)")
    if base not in functions:
        raise UsageError(f"there is no detector {name.strip()}; there are {', '.join(functions)}")
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


def parse_call(name: str, example: str) -> tuple[str, dict[str, Any]]:
    """A name and its options, which are literals and read without evaluating anything; ``example`` goes into the message.

    >>> parse_call("hk(along=10, step=2)", "hk(along=10)")
    ('hk', {'along': 10, 'step': 2})
    """
    written = _CALL.fullmatch(name)
    if written is None:
        return name.strip(), {}
    try:
        call = getattr(parsed(f"f({written[2] or ''})", "eval"), "body", None)
        if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
            raise ValueError
        return written[1], {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, SyntaxError) as error:
        raise UsageError(f"{name.strip()}: options are written as in {example}, words in quotes") from error
