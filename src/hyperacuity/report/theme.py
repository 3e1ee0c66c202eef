"""One look for every chart: colours that mean the same everywhere, type, grid and sizes, and how a chart is saved.

A module that draws calls :func:`register` once, builds its chart, and hands it to :func:`save` with the signature of the scores
it shows. Colours are Okabe and Ito's, which colour-blind readers can tell apart; all the same, nothing depends on colour
alone: systems have a marker and a dash of their own as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from hyperacuity.errors import UsageError
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

_SYSTEM_COLOURS = ("#E69F00", "#56B4E9", "#CC79A7", "#999999")
_SYSTEM_MARKERS = (
    "circle",
    "square",
    "triangle-up",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
    "wedge",
)
_SYSTEM_DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2])


@dataclass(frozen=True)
class Style:
    """How one system is drawn."""

    colour: str
    marker: str
    dash: list[int]


HUMAN = Style("#000000", "diamond", [1, 0])
"""Human performance, always."""


def systems(names: Sequence[str]) -> dict[str, Style]:
    """A style per system, by its position in the list: the colours that carry no meaning, a marker and a dash each.

    >>> styles = systems(["canny", "hk"])
    >>> styles["canny"].marker, styles["hk"].marker
    ('circle', 'square')
    """
    return {
        name: Style(
            _SYSTEM_COLOURS[n % len(_SYSTEM_COLOURS)],
            _SYSTEM_MARKERS[n % len(_SYSTEM_MARKERS)],
            _SYSTEM_DASHES[(n // len(_SYSTEM_COLOURS)) % len(_SYSTEM_DASHES)],
        )
        for n, name in enumerate(names)
    }


def chart(rows: Iterable[Mapping[str, Any]], **options: Any) -> Any:
    """A chart of these rows, which are kept in it."""
    import altair as alt
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):  # to validate a row costs more than to draw it: 10 KB, a fifth of a millisecond
        data = alt.InlineData(values=[dict(row) for row in rows])
    return alt.Chart(data, **options)


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
        raise UsageError(f"charts need the package {error.name}: pip install 'hyperacuity[report]'") from error


def register() -> None:
    """Let every chart made from now on have this look."""
    import altair as alt

    config: Any = _config
    alt.theme.register("hyperacuity", enable=True)(
        config
    )  # one registry for the process; to register again is harmless


def save(chart: Any, path: Path, *, signature: Signature | str = "") -> Path:
    """Write a chart as PDF, SVG, PNG or JSON specification, by the suffix; the signature stands in small type below it."""
    import altair as alt

    if signature:
        below = alt.TitleParams(
            signature_lines(str(signature)),
            orient="bottom",
            anchor="start",
            fontSize=7,
            fontWeight="normal",
            color=FAINT,
            offset=8,
        )
        # A title of its own would be lost; and inside another chart, a key leaves its corner.
        titled = chart.to_dict(validate=False).get("title") is not None
        chart = alt.vconcat(chart, title=below) if titled else chart.properties(title=below)
    if path.suffix not in (".pdf", ".svg", ".png", ".json"):
        raise UsageError(f"{path}: a chart is written as .pdf, .svg, .png or .json")
    try:
        chart.save(str(path), **({"ppi": PPI} if path.suffix == ".png" else {}))
        if path.suffix == ".png":
            with Image.open(path) as picture:
                opaque = picture.convert("RGB")
            opaque.save(path, optimize=True, dpi=(PPI, PPI))  # half of what the renderer writes
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error
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
    words = {
        "labelFont": FONT,
        "labelFontSize": 9,
        "labelColor": INK,
        "titleFont": FONT,
        "titleFontWeight": "normal",
        "titleColor": INK,
    }
    lines = {"domainColor": FAINT, "tickColor": FAINT, "tickSize": 3, "gridColor": GRID, "gridWidth": 0.5}
    subtitle = {"subtitleFont": FONT, "subtitleFontSize": 9, "subtitleColor": FAINT}
    return {
        "config": {
            "background": GROUND,
            "font": FONT,
            "view": {"stroke": None},
            "title": {**text, "anchor": "start", "frame": "group", "offset": 4, **subtitle},
            "axis": {**words, "titleFontSize": 10, **lines},
            "header": {"labelFont": FONT, "labelFontSize": 10, "labelColor": INK, "title": None},
            "legend": {**words, "titleFontSize": 9},
            "line": {"strokeWidth": 1.5},
            "point": {"filled": True, "size": 30},
            "text": {"font": FONT, "fontSize": 9, "color": INK},
        }
    }
