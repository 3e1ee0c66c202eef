"""Protocols of semantic boundaries: tolerance, thinning, which truth, and what is left out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary import TOLERANCE
from hyperacuity.boundary import Protocol as BoundaryProtocol
from hyperacuity.errors import UsageError
from hyperacuity.tally import BaseProtocol, described, named_protocol, number

VOC = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog"),
    *("horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor"),
)
"""The classes of PASCAL VOC and SBD, in their order: labels 1 to 20, folders ``class_001`` to ``class_020``."""

CITYSCAPES = (
    *(
        "road",
        "sidewalk",
        "building",
        "wall",
        "fence",
        "pole",
        "traffic light",
        "traffic sign",
        "vegetation",
        "terrain",
    ),
    *("sky", "person", "rider", "car", "truck", "bus", "train", "motorcycle", "bicycle"),
)
"""The 19 classes that Cityscapes evaluates, in the order of their train ids."""

Truth = Literal["thin", "raw"]
Internal = Literal["count", "drop"]
Absent = Literal["count", "skip"]
Repeated = Literal["lower", "higher"]

MOST_BORDER, MOST_RADIUS = 1000, 50


@dataclass(frozen=True)
class Protocol(BaseProtocol):
    """A benchmark of semantic boundaries. The named ones are in :data:`PROTOCOLS`.

    Examples
    --------
    >>> protocol("sbd").signature
    semantic|tol:0.02diag|thin:guo-hall|thr:99|boundaries:thin,r1,classes|internal:drop|absent:skip|border:0|size:full|repeated:higher|classes:voc|v:1
    """

    task: ClassVar[str] = "semantic"
    tolerance: float = TOLERANCE
    """Largest distance of partners, as a fraction of the image diagonal."""
    thin: bool = True
    """Thin every thresholded map."""
    thresholds: int | tuple[float, ...] = 99
    """Number of thresholds between 0 and 1, or a rising list of them.

    A number n stands for n evenly spaced ones, 1/(n+1) … n/(n+1).
    """
    truth: Truth = "thin"
    """Boundaries ``thin``, as drawn or derived from the label map and thinned, or ``raw``, in full width.

    Boundaries that come without a label map are taken as they are.
    """
    radius: float = 1.0
    """Distance from another region, in pixels, up to which a pixel is boundary, if boundaries are derived from label maps."""
    instances: bool = True
    """Touching objects of a class have a boundary between them, where the truth knows objects."""
    internal: Internal = "count"
    """Detections deep inside objects: ``count`` as false, or ``drop``.

    Deep inside are pixels of the class's segmentation that are farther than the tolerance from any of its boundaries. They are
    dropped after thinning, before matching (SBD's "kill internal").
    """
    absent: Absent = "count"
    """Images without the class: ``count`` detections as false, or ``skip``."""
    border: int = 0
    """Pixels at the frame that are cut off predictions and truths."""
    half: bool = False
    """Score at half size: of truths, and of predictions that are not at half size already, every second pixel is taken."""
    repeated: Repeated = "lower"
    """Precision that AP takes when a recall occurs at several thresholds: at the ``lower`` or at the ``higher`` one."""
    classes: tuple[str, ...] = ()
    """Names of the classes, in order; without them classes are numbered, and as many as there are maps."""

    def __post_init__(self) -> None:
        """Validate the options."""
        if self.matching.thresholds == "levels":  # which also validates the tolerance and the thresholds
            raise UsageError(f"thresholds {self.thresholds!r}: expected a number or a list of numbers")
        for name, kind in (("truth", Truth), ("internal", Internal), ("absent", Absent), ("repeated", Repeated)):
            if getattr(self, name) not in get_args(kind):
                raise UsageError(f"{name} {getattr(self, name)!r}: expected {' or '.join(map(repr, get_args(kind)))}")
        if not 1 <= self.radius <= MOST_RADIUS:
            raise UsageError(f"radius {self.radius:g}: expected 1 to {MOST_RADIUS} pixels")
        if not 0 <= self.border <= MOST_BORDER:
            raise UsageError(f"border {self.border}: expected 0 to {MOST_BORDER} pixels")
        if twice := [name for n, name in enumerate(self.classes) if name in self.classes[:n]]:
            raise UsageError(f"the class {twice[0]!r} is named twice")

    @property
    def matching(self) -> BoundaryProtocol:
        """Boundary protocol by which each class is matched."""
        return BoundaryProtocol(tolerance=self.tolerance, thin=self.thin, thresholds=self.thresholds)

    @property
    def levels(self) -> NDArray[np.float64]:
        """The thresholds, rising."""
        return self.matching.levels

    def names(self, count: int) -> tuple[str, ...]:
        """Names of the classes: as the protocol says, else ``class_001``, ``class_002`` …"""
        return self.classes or numbered(count)

    def parts(self) -> dict[str, object]:
        """Parts of the signature."""
        matching = self.matching.parts()
        objects = "objects" if self.instances else "classes"
        return {
            **{name: matching[name] for name in ("tol", "thin", "thr")},
            "boundaries": f"{self.truth},r{number(self.radius)},{objects}",
            "internal": self.internal,
            "absent": self.absent,
            "border": self.border,
            "size": "half" if self.half else "full",
            "repeated": self.repeated,
            "classes": _named(self.classes),
        }


def numbered(count: int) -> tuple[str, ...]:
    """Names for classes without one.

    >>> numbered(2)
    ('class_001', 'class_002')
    """
    return tuple(f"class_{n:03d}" for n in range(1, count + 1))


def _named(classes: tuple[str, ...]) -> str:
    """Classes in a signature: a well-known name, or their number with a digest of their names."""
    names = {(): "numbered", VOC: "voc", CITYSCAPES: "cityscapes"}
    if classes in names:
        return names[classes]
    if classes == numbered(len(classes)):
        return str(len(classes))
    digest = hashlib.blake2b("\n".join(classes).encode(), digest_size=4).hexdigest()
    return f"{len(classes)}-{digest}"


_SBD = Protocol(tolerance=0.02, classes=VOC)
_CITYSCAPES = Protocol(tolerance=0.0035, half=True, classes=CITYSCAPES)

PROTOCOLS: dict[str, Protocol] = {
    "plain": described(Protocol(), "any data: thin maps against thin boundaries, everything counts"),
    "sbd": described(
        replace(_SBD, instances=False, internal="drop", absent="skip", repeated="higher"),
        "SBD as its authors evaluate it: detections inside objects are dropped, images without the class skipped",
    ),
    "sbd-thin": described(
        replace(_SBD, border=5), "SBD as SEAL evaluates it: everything counts, 5 px at the frame are cut off"
    ),
    "sbd-raw": described(
        replace(_SBD, border=5, thin=False, truth="raw", radius=2.0),
        "the same without thinning: maps as they are against boundaries 2 px to either side",
    ),
    "cityscapes-thin": described(_CITYSCAPES, "Cityscapes as SEAL evaluates it: half size, tolerance 0.0035, thinned"),
    "cityscapes-raw": described(
        replace(_CITYSCAPES, thin=False, truth="raw", radius=2.0),
        "the same without thinning: boundaries 2 px to either side at full size, then halved",
    ),
}
"""Protocols by name; each is described in its ``__doc__``; ``docs/protocols.md`` has the sources of its numbers."""


def protocol(name: str = "plain", **changes: Any) -> Protocol:
    """A named protocol, with changes: ``protocol("sbd-thin", tolerance=0.0075)``."""
    return named_protocol(PROTOCOLS, name, changes)
