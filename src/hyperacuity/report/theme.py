"""One look for every chart: colours that mean the same everywhere, type, grid and sizes, and how a chart is saved.

A module that draws builds its chart from :func:`chart` and hands it to :func:`save` with the signature of the scores it shows.
Colours are Okabe and Ito's, which colour-blind readers can tell apart; all the same, nothing depends on colour
alone: systems have a marker and a dash of their own as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from PIL import Image

from hyperacuity.errors import UsageError, not_installed
from hyperacuity.outputs import output_file
from hyperacuity.tally import Signature

HIT = "#009E73"
FALSE = "#D55E00"
MISS = "#0072B2"
INCONSISTENT = "#F0E442"
INK = "#222222"
FAINT = "#767676"
GRID = "#e6e6e6"
ISO = "#d4d4d4"
"""Lines of equal F: a little stronger than the grid."""
GROUND = "#ffffff"

ONE_COLUMN, TWO_COLUMNS = 333, 680
"""Widths in pixels of a chart for one and for two columns of a paper (88 and 180 mm at 96 pixels per inch)."""

PPI = 192
"""Pixels per inch of pictures of charts."""

FONT = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"

STAR = "M0,-1.25L.3,-.4L1.19,-.39L.48,.15L.74,1.01L0,.5L-.74,1.01L-.48,.15L-1.19,-.39L-.3,-.4Z"
SALTIRE = "M-.95,-.5L-.5,-.95L0,-.45L.5,-.95L.95,-.5L.45,0L.95,.5L.5,.95L0,.45L-.5,.95L-.95,.5L-.45,0Z"
"""Shapes that Vega has no name for, as SVG paths around 0, from -1 to 1 or a little more, to look as large as the others."""

MARKERS = {
    "circle": "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "square": "M-3.5,-3.5h7v7h-7Z",
    "triangle-up": "M0,-4.2L4.4,3.4H-4.4Z",
    "cross": "M-4,-1.4h2.6v-2.6h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6Z",
    "triangle-down": "M0,4.2L4.4,-3.4H-4.4Z",
    STAR: re.sub(r"-?\d*\.?\d+", lambda number: f"{3.9 * float(number[0]):.2f}", STAR),
    SALTIRE: re.sub(r"-?\d*\.?\d+", lambda number: f"{4.2 * float(number[0]):.2f}", SALTIRE),
    "triangle-right": "M4.2,0L-3.4,4.4V-4.4Z",
}
"""Markers of systems in their order, as Vega takes them, each with the SVG path that pages draw."""

_SYSTEM_COLOURS = ("#E69F00", "#56B4E9", "#CC79A7", "#3F5B6B", "#7A28E0", "#8A4B08", "#C2189F", "#9C7DFF")
"""Okabe and Ito's that carry no meaning, and five that stay apart from these, from each other and from those with a meaning.

They do so for colour-blind readers too, and on white as on dark pages.
"""

_SYSTEM_DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2])


@dataclass(frozen=True)
class Style:
    """Colour, marker and dash of one system."""

    colour: str
    marker: str
    dash: list[int]


HUMAN = Style("#000000", "diamond", [1, 0])
"""Human performance, always."""


_numbers: ContextVar[Mapping[str, int]] = ContextVar("hyperacuity-systems", default=MappingProxyType({}))


@contextmanager
def one_page(names: Iterable[str]) -> Iterator[None]:
    """Within this, every chart draws a system in the same style, which depends on the order of these names alone."""
    token = _numbers.set({name: number for number, name in enumerate(dict.fromkeys(names))})
    try:
        yield
    finally:
        _numbers.reset(token)


def systems(names: Sequence[str]) -> dict[str, Style]:
    """A style per system: the colours that carry no meaning, a marker and a dash each.

    It goes by the position in the list, or, where the system is on a page (:func:`one_page`), by that among all of the page.

    >>> styles = systems(["canny", "hk"])
    >>> styles["canny"].marker, styles["hk"].marker
    ('circle', 'square')
    """
    markers = list(MARKERS)

    def look(n: int) -> Style:
        marker = markers[(n + n // len(markers)) % len(markers)]  # the ninth has the first one's colour, not its marker
        return Style(_SYSTEM_COLOURS[n % len(_SYSTEM_COLOURS)], marker, _SYSTEM_DASHES[n // 8 % len(_SYSTEM_DASHES)])

    return {name: look(_numbers.get().get(name, position)) for position, name in enumerate(names)}


def chart(rows: Iterable[Mapping[str, Any]], **options: Any) -> Any:
    """A chart of these rows, which are kept in it, in this look."""
    import altair as alt
    from altair.utils.schemapi import debug_mode

    register()
    with debug_mode(False):  # to validate a row costs more than to draw it: 10 KB, a fifth of a millisecond
        values: Any = tuple(dict(row) for row in rows)  # of a list, Altair would copy every row with every layer
        data = alt.InlineData(values=values)
    return alt.Chart(data, **options)


def rounded(value: float | None) -> float | None:
    """A score with the decimals that a chart or a page needs; None for what does not exist."""
    return None if value is None or math.isnan(value) else round(value, 4)


def channels(
    styles: Mapping[str, Style], field: str = "system", *, names: Mapping[str, str] | None = None, **options: Any
) -> tuple[Any, Any, Any]:
    """Colour, dash and marker of systems as encodings of a chart whose rows name the system in ``field``.

    ``names`` are what rows call the systems, if something else. By default there are no legends.
    """
    import altair as alt

    domain = [name if names is None else names[name] for name in styles]

    def channel(kind: Any, part: str) -> Any:
        scale = alt.Scale(domain=domain, range=[getattr(style, part) for style in styles.values()])
        return kind(f"{field}:N", scale=scale, **{"legend": None, **options})

    return channel(alt.Color, "colour"), channel(alt.StrokeDash, "dash"), channel(alt.Shape, "marker")


def key(systems: int, **options: Any) -> Any:
    """A legend of systems below a chart; None for one system, which needs none."""
    import altair as alt

    return alt.Legend(**{"title": None, "orient": "bottom", "columns": 3, **options}) if systems > 1 else None


def iso_f(x: Any, y: Any, levels: Iterable[float], *, labels: int = 0, **line: Any) -> list[Any]:
    """Thin grey lines on which F is the same, of a plane with precision over recall; ``labels`` is the size of their values."""
    rows = [
        {"F": f"{f:.1f}", "recall": recall, "precision": f * recall / (2 * recall - f)}
        for f in map(float, levels)
        for recall in np.geomspace(f / (2 - f), 1, 40).tolist()
    ]
    base = chart(rows).encode(x=x, y=y)
    lines = base.mark_line(**{"color": ISO, "strokeWidth": 1, **line}).encode(detail="F:N")
    values = base.transform_filter("datum.recall == 1").encode(text="F:N")
    return [lines, values.mark_text(align="left", dx=labels // 2, fontSize=labels, color=FAINT)] if labels else [lines]


def spread(wanted: Sequence[float], gap: float, *, low: float, high: float) -> list[float]:
    """Positions of direct labels: near where they belong, at least ``gap`` apart, and within [low, high] if there is room.

    >>> spread([0.5, 0.0, 0.5], 0.2, low=0, high=1)
    [0.4, 0.0, 0.6]
    >>> spread([1.0, 1.0], 0.2, low=0, high=1)
    [0.8, 1.0]
    """

    def bottom(block: Sequence[int]) -> float:
        length = gap * (len(block) - 1)
        centred = sum(wanted[n] for n in block) / len(block) - length / 2
        return max(min(centred, high - length), low)

    # Labels that would overlap form a block, which is centred on the mean of where they belong.
    blocks: list[list[int]] = []
    for n in sorted(range(len(wanted)), key=lambda n: wanted[n]):
        blocks.append([n])
        while len(blocks) > 1 and bottom(blocks[-2]) + gap * len(blocks[-2]) > bottom(blocks[-1]):
            above = blocks.pop()
            blocks[-1] += above
    result = list(wanted)
    for block in blocks:
        for step, n in enumerate(block):
            result[n] = round(bottom(block) + step * gap, 12)
    return result


def require() -> None:
    """Refuse with a sentence that helps when the packages for charts are not installed."""
    try:
        import altair  # noqa: F401
        import jinja2  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise not_installed(f"charts need the package {error.name}", "report") from error


def register() -> None:
    """Let every chart made from now on have this look."""
    import altair as alt

    config: Any = _config
    alt.theme.register("hyperacuity", enable=True)(config)  # once more is harmless


def save(chart: Any, path: Path, *, signature: Signature | str = "") -> Path:
    """Write a chart as PDF, SVG, PNG or JSON specification, by the suffix; the signature stands in small type below it."""
    import altair as alt

    if signature:
        small: Any = {"fontSize": 7, "fontWeight": "normal", "color": FAINT}
        below = alt.TitleParams(signature_lines(str(signature)), orient="bottom", anchor="start", offset=8, **small)
        # A title of its own would be lost; and inside another chart, a key leaves its corner.
        titled = chart.to_dict(validate=False).get("title") is not None
        chart = alt.vconcat(chart, title=below) if titled else chart.properties(title=below)
    if path.suffix not in (".pdf", ".svg", ".png", ".json"):
        raise UsageError(f"{path}: a chart is written as .pdf, .svg, .png or .json")
    with output_file(path) as part:
        chart.save(str(part), **({"ppi": PPI} if path.suffix == ".png" else {}))
        if path.suffix == ".png":
            with Image.open(part) as picture:
                opaque = picture.convert("RGB")
            opaque.save(part, optimize=True, dpi=(PPI, PPI))  # half of what the renderer writes
    return path


def signature_lines(signature: str, *, most: int = 96) -> list[str]:
    """A signature in lines that fit under a chart of one column, broken between its parts.

    >>> signature_lines("ordering|ldc:3px|v:1", most=16)
    ['ordering|ldc:3px', '|v:1']
    """
    lines = [""]
    for part in re.findall(r"\|?[^|]*", signature):
        if lines[-1] and len(lines[-1]) + len(part) > most:
            lines.append("")
        lines[-1] += part
    return lines


def _config() -> dict[str, Any]:
    text = {"font": FONT, "color": INK, "fontSize": 10, "fontWeight": "normal"}
    labels = {"labelFont": FONT, "labelFontSize": 9, "labelColor": INK}
    words = {**labels, "titleFont": FONT, "titleFontWeight": "normal", "titleColor": INK}
    lines = {"domainColor": FAINT, "tickColor": FAINT, "tickSize": 3, "gridColor": GRID, "gridWidth": 0.5}
    subtitle = {"subtitleFont": FONT, "subtitleFontSize": 9, "subtitleColor": FAINT}
    return {
        "config": {
            "background": GROUND,
            "font": FONT,
            "view": {"stroke": None},
            "title": {**text, "anchor": "start", "frame": "group", "offset": 4, **subtitle},
            # Labels at the ends stay below their ticks, where they do not run into their neighbours.
            "axis": {**words, "titleFontSize": 10, **lines, "labelFlush": False, "labelSeparation": 3},
            "header": {**labels, "labelFontSize": 10, "title": None},
            "legend": {**words, "titleFontSize": 9},
            "line": {"strokeWidth": 1.5},
            "point": {"filled": True, "size": 30},
            "text": {"font": FONT, "fontSize": 9, "color": INK},
        }
    }
