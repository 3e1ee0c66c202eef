"""Pictures of disparity maps and of their errors, with the regions in which errors count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage

from hyperacuity.disparity.errors import bad, density, estimated_map
from hyperacuity.maps import EdgeMap, disparity_map, same_size
from hyperacuity.report import theme
from hyperacuity.report.pictures.colours import DEPTHS, UNKNOWN, Picture, plain, ramp, rgb
from hyperacuity.report.pictures.layers import scale_layer

ERRORS = ("#ffffff", "#efd3e2", "#cc79a7", "#7d3561", "#2a0a1f")
"""Error in what both views show: none is white, the cap and more are dark."""

HIDDEN = ("#dfe9f3", "#a9c4de", "#6f9bc4", "#34689b", "#0b2e52")
"""Colours of errors in what only one view shows."""

CAPTION = 22


def depth_picture(disparity: ArrayLike, *, low: float | None = None, high: float | None = None) -> Picture:
    """A disparity map in colours: warm is near, cool is far, grey is unknown; by default the range is the map's own.

    >>> depth_picture([[1, 2, np.nan]]).shape
    (1, 3, 3)
    """
    shown = estimated_map(disparity)
    known = ~np.isnan(shown)
    picture = plain(shown.shape, UNKNOWN)
    if known.any():
        least = float(np.nanmin(shown)) if low is None else low
        span = (float(np.nanmax(shown)) if high is None else high) - least
        picture[known] = ramp((shown[known] - least) / (span if span > 0 else 1.0), DEPTHS)
    return picture


def depth_layer(disparity: ArrayLike, *, unit: str = "", room: int | None = None) -> dict[str, Any]:
    """Depth as a layer of the viewer whose values can be read back, of at most ``room`` characters."""
    shown = estimated_map(disparity)
    unknown = np.isnan(shown)
    ends = (float(np.nanmin(shown)), float(np.nanmax(shown))) if not unknown.all() else (0.0, 0.0)
    share = (shown - ends[0]) / ((ends[1] - ends[0]) or 1.0)
    return scale_layer(share, DEPTHS, ends=ends, unit=unit, others=[(unknown, UNKNOWN, "unknown")], room=room)


CAP = 4.0
"""Pixels of error from which on all are dark."""


def error_layer(truth: ArrayLike, estimate: ArrayLike, *, room: int | None = None) -> dict[str, Any]:
    """The errors of a map as a layer whose values can be read back, in the colours of :func:`error_picture`."""
    true, estimated = disparity_map(truth, name="truth"), estimated_map(estimate)
    same_size(estimated, true, names=("estimate", "truth"))
    others = [(np.isnan(estimated), theme.FALSE, "no estimate"), (np.isnan(true), UNKNOWN, "unknown")]
    return scale_layer(np.abs(estimated - true) / CAP, ERRORS, ends=(0, CAP), unit="px", others=others, room=room)


def error_picture(truth: ArrayLike, estimate: ArrayLike, regions: Mapping[str, EdgeMap], *, cap: float = 4) -> Picture:
    """Errors of a map: white is right, dark is ``cap`` pixels or more.

    Purple in the region ``nonocc``, blue where only one view sees the surface, vermilion where there is no estimate, grey
    where the truth is unknown; the region ``disc`` has an outline.
    """
    true, estimated = disparity_map(truth, name="truth"), estimated_map(estimate)
    same_size(estimated, true, names=("estimate", "truth"))
    known = ~np.isnan(true)
    both = regions.get("nonocc", known)
    size = np.minimum(np.abs(np.nan_to_num(estimated - true)) / cap, 1)
    picture = plain(true.shape, UNKNOWN)
    for where, colours in ((known & both, ERRORS), (known & ~both, HIDDEN)):
        picture[where] = ramp(size[where], colours)
    picture[known & np.isnan(estimated)] = rgb(theme.FALSE)
    if "disc" in regions:
        disc = regions["disc"]
        picture[disc & ~ndimage.binary_erosion(disc, border_value=1)] = rgb(theme.FAINT)
    return picture


def difference_picture(real: ArrayLike, drawn: ArrayLike, where: EdgeMap, *, cap: float = 64.0) -> Picture:
    """Difference of a drawn view from the real one: white is none, dark is ``cap`` grey levels of 255 or more, grey not drawn.

    >>> difference_picture([[0, 0, 0]], [[0, 255, 9]], np.array([[True, True, False]]))[0].tolist()
    [[255, 255, 255], [42, 10, 31], [184, 186, 192]]
    """
    first, second = np.asarray(real), np.asarray(drawn, np.float64)
    full = 255.0 if first.dtype != np.uint16 else 65535.0
    gap = np.abs(first.reshape(*where.shape, -1) - second.reshape(*where.shape, -1)).mean(axis=2) * 255 / full
    picture = plain(where.shape, UNKNOWN)
    picture[where] = ramp(np.minimum(gap[where] / cap, 1), ERRORS)
    return picture


def error_sheet(
    truth: ArrayLike, estimate: ArrayLike, regions: Mapping[str, EdgeMap], *, cap: float = 4.0, title: str = ""
) -> Picture:
    """Truth, estimate and errors side by side, with the share of bad pixels in each region and a key of the colours."""
    true, estimated = disparity_map(truth, name="truth"), estimated_map(estimate)
    low, high = float(np.nanmin(true)), float(np.nanmax(true))
    dense = f"{title or 'estimate'}: density {100 * density(true, estimated):.1f} %"
    shares = (f"{name} {100 * bad(true, estimated, 1, mask=mask):.1f}" for name, mask in regions.items() if mask.any())
    panels = [
        ("truth: warm is near, cool is far", depth_picture(true, low=low, high=high)),
        (dense, depth_picture(estimated, low=low, high=high)),
        ("bad(1) %: " + ", ".join(shares), error_picture(true, estimated, regions, cap=cap)),
    ]
    side = max(1, -(-300 // true.shape[1]))  # small pictures are enlarged, so that captions fit
    height, width = side * true.shape[0], side * true.shape[1]
    gap = 8
    sheet = Image.new("RGB", (3 * width + 4 * gap, height + 2 * CAPTION + gap), theme.GROUND)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(12)
    for column, (caption, picture) in enumerate(panels):
        left = gap + column * (width + gap)
        draw.text((left, 4), caption, fill=theme.INK, font=font)
        sheet.paste(Image.fromarray(picture.repeat(side, axis=0).repeat(side, axis=1)), (left, CAPTION))
    _key(draw, font, gap, height + CAPTION + 6, max(40, width // 8), cap)
    return np.asarray(sheet)


def _key(draw: ImageDraw.ImageDraw, font: Any, left: int, top: int, length: int, cap: float) -> None:
    """Both scales of error from 0 to the cap, the two plain colours, and the outline."""
    for colours, label in ((ERRORS, f"0 to {cap:g} px off"), (HIDDEN, "occluded")):
        scale = ramp(np.linspace(0, 1, length, dtype=np.float32), colours).tolist()
        draw.rectangle((left - 1, top - 1, left + length, top + 10), outline=theme.FAINT)
        for x, colour in enumerate(scale):
            draw.line((left + x, top, left + x, top + 9), fill=tuple(colour))
        left += length + 4
        draw.text((left, top - 2), label, fill=theme.INK, font=font)
        left += int(draw.textlength(label, font=font)) + 10
    for fill, label in ((theme.FALSE, "missing"), (UNKNOWN, "no truth")):
        draw.rectangle((left, top, left + 10, top + 9), fill=fill)
        draw.text((left + 14, top - 2), label, fill=theme.INK, font=font)
        left += 24 + int(draw.textlength(label, font=font))
    draw.line((left, top + 5, left + 12, top + 5), fill=theme.FAINT)
    draw.text((left + 16, top - 2), "disc", fill=theme.INK, font=font)
