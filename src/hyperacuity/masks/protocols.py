"""Protocols of masks, and their signatures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from hyperacuity.errors import UsageError
from hyperacuity.maps import diagonal
from hyperacuity.tally import BaseProtocol, described, named_protocol, number

By = Literal["binary", "label", "instance"]
PairedBy = Literal["id", "iou"]
Extra = Literal["count", "ignore"]
Evaluated = Literal["all", "inner"]

LABELS = 256
"""Labels of label maps are 0 to 255, as 8-bit pictures hold them. Ids of instances may be any number."""


@dataclass(frozen=True)
class Protocol(BaseProtocol):
    """A benchmark of masks. The defaults take everything that is not 0 as one mask, with the tolerance of DAVIS.

    Examples
    --------
    >>> Protocol().signature
    masks|tol:0.008diag|band:0.02diag|by:binary|pair:id|extra:count|background:0|ignore:none|frames:all|v:1
    >>> protocol("davis2017").signature
    masks|tol:0.008diag|band:0.02diag|by:instance|pair:id|extra:count|background:0|ignore:255|frames:inner|v:1
    """

    task: ClassVar[str] = "masks"
    tolerance: float = 0.008
    """Largest distance of contours, as a fraction of the image diagonal, rounded up to whole pixels."""
    band: float = 0.02
    """Width of the band that Boundary IoU compares, as a fraction of the image diagonal.

    It is rounded to whole pixels, one at least (Cheng et al. 2021).
    """
    by: By = "binary"
    """An object is all but the background (``binary``), a ``label``, or an ``instance``.

    Scores of labels are means over images, then over labels; those of instances are means over objects.
    """
    pair: PairedBy = "id"
    """Instances belong together by ``id``, or by ``iou``: one to one, with the greatest sum of region IoU."""
    extra: Extra = "count"
    """Predicted objects without a true one: ``count`` with score 0, or ``ignore``."""
    background: int | None = 0
    """The label that is no object, or ``none`` where every label is one."""
    ignore: int | None = None
    """Leave out pixels where the truth has this label, or ``none``: 255 in DAVIS 2017, PASCAL VOC and Cityscapes."""
    frames: Evaluated = "all"
    """Frames of a sequence: ``all``, or the ``inner`` ones, without the first and the last (DAVIS, semi-supervised)."""

    def __post_init__(self) -> None:
        """Validate the options."""
        for name in ("tolerance", "band"):
            if not 0 <= (value := getattr(self, name)) < 1:
                raise UsageError(f"{name} {value:g}: expected a fraction of the image diagonal, such as 0.008")
        for name, kind in (("by", By), ("pair", PairedBy), ("extra", Extra), ("frames", Evaluated)):
            if getattr(self, name) not in get_args(kind):
                raise UsageError(f"{name} {getattr(self, name)!r}: expected {' or '.join(map(repr, get_args(kind)))}")
        for name in ("background", "ignore"):
            if (label := getattr(self, name)) is not None and (not isinstance(label, int) or label < 0):
                raise UsageError(f"{name} {label!r}: expected a label (a non-negative whole number), or None")
        if self.by == "binary" and self.background is None:
            raise UsageError("binary masks need a background: without one, every pixel is in the mask")
        if self.by == "label" and self.pair == "iou":
            raise UsageError("labels mean the same on both sides; only instances can be paired by IoU (by='instance')")

    def parts(self) -> dict[str, object]:
        """Parts of the signature."""
        return {
            "tol": f"{number(self.tolerance)}diag",
            "band": f"{number(self.band)}diag",
            "by": self.by,
            "pair": self.pair,
            "extra": self.extra,
            "background": "none" if self.background is None else self.background,
            "ignore": "none" if self.ignore is None else self.ignore,
            "frames": self.frames,
        }

    def radius(self, shape: tuple[int, ...]) -> int:
        """The tolerance in pixels: ⌈tolerance · diagonal⌉.

        >>> Protocol().radius((480, 854))
        8
        """
        return -int(-self.tolerance * diagonal(shape) // 1)

    def band_width(self, shape: tuple[int, ...]) -> int:
        """The width of the band in pixels: the nearest whole number to band · diagonal (of two, the even one), at least 1.

        >>> Protocol().band_width((480, 640)), Protocol().band_width((30, 40))
        (16, 1)
        """
        return max(1, round(self.band * diagonal(shape)))


PROTOCOLS: dict[str, Protocol] = {
    "binary": described(Protocol(), "one mask per image: salient objects, matting, Boundary IoU of single masks"),
    "labels": described(
        Protocol(by="label", background=None, ignore=255),
        "label maps of semantic segmentation, every label a mask, 255 ignored",
    ),
    "davis2016": described(
        Protocol(frames="inner"), "DAVIS 2016: one object per sequence, without its first and last frame"
    ),
    "davis2017": described(
        Protocol(by="instance", ignore=255, frames="inner"),
        "DAVIS 2017, semi-supervised: objects by id, without the first and last frame, 255 ignored",
    ),
}
"""Protocols by name; each is described in its ``__doc__``; ``docs/protocols.md`` has the sources of its numbers."""


def protocol(name: str = "binary", **changes: Any) -> Protocol:
    """A named protocol, with changes: ``protocol("davis2017", frames="all")``."""
    return named_protocol(PROTOCOLS, name, changes)
