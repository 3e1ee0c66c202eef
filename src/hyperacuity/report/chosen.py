"""Chosen images side by side for a paper: a row for each image, with its photograph, its truth and what each system made of it.

What is drawn is what the viewer shows first, at the threshold at which its slider starts, so every task has its sheet.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from hyperacuity.columns import Column
from hyperacuity.errors import UsageError
from hyperacuity.outputs import output_file, output_folder
from hyperacuity.report import theme
from hyperacuity.report.pictures.colours import Picture, plain, rgb
from hyperacuity.report.pictures.layers import states_at, strength_counts
from hyperacuity.report.sheets.sheet import Sheet, file_names
from hyperacuity.report.sheets.viewer import PHOTO

WIDTH = 480
"""Pixels across one picture of the sheet."""

GAP, LINE = 12, 30
KINDS = ("png", "pdf")
FADED = 0.3
"""Share of the photograph that is seen below an overlay, as in the viewer."""


def write_picture_sheets(sheets: Sequence[Sheet], names: Sequence[str], folder: Path) -> list[Path]:
    """Write a sheet of these images for every task that has them, as PNG and PDF; returns the files' paths.

    Files are named after the task: ``boundary-sheet.pdf``. ``UsageError`` for an image that no task has.
    """
    known = {image for sheet in sheets if sheet.viewer is not None for image in sheet.grid.images}
    missing = [name for name in names if name not in known]
    if missing:
        some = ", ".join(sorted(known)[:3])
        raise UsageError(f"no image is called {missing[0]}: the runs have {len(known)} images, such as {some}")
    output_folder(folder)
    paths = []
    for sheet, task in zip(sheets, file_names(sheets), strict=True):
        rows = {name: _row(sheet, name) for name in names if sheet.viewer is not None and name in sheet.grid.images}
        if not rows:
            continue
        drawn = Image.fromarray(_table(rows))
        for kind in KINDS:
            paths.append(folder / f"{task}-sheet.{kind}")
            with output_file(paths[-1]) as part:
                drawn.save(part, resolution=300)
    return paths


Row = list[tuple[str, str, Picture | None]]
"""Pictures from left to right, each with the heading of its column and what stands below it; None where it cannot be drawn."""


def _row(sheet: Sheet, image: str) -> Row:
    viewer: Any = sheet.viewer
    made = viewer.pictures(image, sheet.grid.cells_of(image))
    size, shared = tuple(made["size"]), made["shared"]
    photo = _decoded(shared.get(PHOTO.key), size)
    row: Row = [("", image, photo)] if photo is not None else []
    changed = {system: change for (system, of), change in sheet.grid.changed.items() if of == image}
    if "truth" in shared:
        stale = changed and all("missing" in own for own in made["systems"])  # a new truth is of no score
        row.append(("truth", "", None if stale else _decoded(shared["truth"], size)))
    faded = None if photo is None else (255 - FADED * (255 - photo.astype(np.float32))).astype(np.uint8)
    first, score = viewer.layers[0].key, sheet.image_score
    for system, own in zip(viewer.systems, made["systems"], strict=True):
        if system in changed:
            row.append((system, changed[system], None))
            continue
        layer = own.get(first) or shared.get(first)
        drawn = _decoded(layer, size, own.get("start", 0), faded)
        row.append((system, _caption(own, score, sheet.image_scores.get(image, {}).get(system)), drawn))
    return row


def _caption(own: Mapping[str, Any], score: Column | None, value: float | None) -> str:
    """Caption of a system's picture: its score at the threshold that is drawn, or the image's; or what is missing."""
    by_step = {name: of for name, of in own.get("numbers", {}).items() if isinstance(of, list)}
    if own.get("steps") and by_step:
        name = "F" if "F" in by_step else next(iter(by_step))
        return f"{name} {by_step[name][own['start']]:.3f} at {own['steps'][own['start']]}"
    return own.get("missing", "") if value is None or score is None else f"{score.title} {score.as_text(value)}"


def _decoded(
    layer: Mapping[str, Any] | None, size: tuple[int, int], step: int = 0, ground: Picture | None = None
) -> Picture | None:
    """A layer of the viewer as a picture of this width and height; None for one that is not there."""
    if layer is None:
        return None
    width, height = size
    if layer["kind"] == "picture":
        data = base64.b64decode(layer["uri"].partition(",")[2])
        with Image.open(io.BytesIO(data)) as picture:
            return np.asarray(picture.convert("RGB").resize(size))
    drawn = plain((height, width), theme.GROUND) if ground is None else ground.copy()
    if layer["kind"] == "strength":
        counts = strength_counts(layer, (height, width))
        share = (counts - 1) / max(layer["most"] - 1, 1) if layer["most"] > 1 else np.ones(counts.shape)
        light, dark = np.array([178, 210, 238]), np.array([8, 48, 107])
        drawn[counts > 0] = (light + share[..., None] * (dark - light))[counts > 0].astype(np.uint8)
        return drawn
    states = states_at(layer, (height, width), step)
    for state, colour in ((1, theme.HIT), (2, theme.FALSE), (3, theme.MISS)):
        drawn[states == state] = rgb(colour)
    return drawn


def _table(rows: Mapping[str, Row]) -> Picture:
    """The rows below each other, headings on top, what is to be said below each picture."""
    columns = max(len(row) for row in rows.values())
    heights = [max((_height(picture) for _, _, picture in row), default=WIDTH) for row in rows.values()]
    sheet = Image.new("RGB", (columns * (WIDTH + GAP) - GAP, LINE + sum(heights) + LINE * len(rows)), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(20)
    longest = next(row for row in rows.values() if len(row) == columns)
    for column, (heading, _, _) in enumerate(longest):
        pen.text((column * (WIDTH + GAP), 2), _shortened(heading, pen, font), fill=theme.INK, font=font)
    top = LINE
    for row, height in zip(rows.values(), heights, strict=True):
        for column, (_, caption, picture) in enumerate(row):
            left = column * (WIDTH + GAP)
            if picture is not None:
                sheet.paste(
                    Image.fromarray(picture).resize((WIDTH, _height(picture)), Image.Resampling.LANCZOS), (left, top)
                )
            pen.text((left, top + height + 2), _shortened(caption, pen, font), fill=theme.INK, font=font)
        top += height + LINE
    return np.asarray(sheet)


def _height(picture: Picture | None) -> int:
    return WIDTH // 2 if picture is None else round(WIDTH * picture.shape[0] / picture.shape[1])


def _shortened(text: str, pen: ImageDraw.ImageDraw, font: Any) -> str:
    """The text, or as much of its beginning as one column has room for."""
    while text and pen.textlength(text, font) > WIDTH:
        text = text.removesuffix("…")[:-1] + "…"
    return text
