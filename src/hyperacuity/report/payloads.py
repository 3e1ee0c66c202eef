"""Pictures of the viewer for each image: made once, and kept as scripts in the report's folder, or as text for one file."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperacuity.data import read_image
from hyperacuity.errors import HyperacuityError, InputError
from hyperacuity.outputs import write_output
from hyperacuity.report.parts import Payload, as_json
from hyperacuity.report.pictures.layers import thumbnail
from hyperacuity.report.sheets.sheet import Each, Sheet
from hyperacuity.report.sheets.viewer import PHOTO, picture_of
from hyperacuity.run import Cell


def make_payloads(sheets: Sequence[Sheet], folder: Path | None, map_each: Each) -> dict[str, Payload]:
    """Make the viewer's pictures, by key ``s0-0``: sheet and image, both by number; written to ``folder`` as they are made.

    All sheets share the room that a report has, by their numbers of images. Of several sheets, a photograph is kept once.
    """
    shown = [sheet for sheet in sheets if sheet.viewer is not None]
    images = sum(sheet.viewer.images for sheet in shown if sheet.viewer is not None)
    keeper = Keeper(folder, images, several=len(sheets) > 1)
    made: dict[str, Payload] = {}
    for number, sheet in enumerate(sheets):
        if sheet.viewer is None:
            continue
        keys = {f"s{number}-{index}": image for index, image in enumerate(sheet.grid.images)}
        payload_of = functools.partial(keeper.payload, sheet)
        payloads = map_each(f"pictures of {sheet.title.lower()}", payload_of, keys.items())
        made |= dict(zip(keys, payloads, strict=True))
    return made | {key: (text, "") for key, text in keeper.photographs.items()}


@dataclass(frozen=True)
class Keeper:
    """Destination of pictures: a folder, or with None the page; ``images`` share the room of the report."""

    folder: Path | None
    images: int
    several: bool
    photographs: dict[str, str] = field(default_factory=dict)

    def payload(self, sheet: Sheet, item: tuple[str, str]) -> Payload:
        """One image of a sheet, given by its key and its name."""
        key, image = item
        cells = sheet.grid.cells_of(image)
        small, cells = _thumbnail(cells)
        try:
            pictures: dict[str, Any] = sheet.viewer.pictures(image, cells, images=self.images)  # type: ignore[union-attr]
        except HyperacuityError as error:
            pictures = {"missing": str(error)}
        photo = pictures.get("shared", {}).get(PHOTO.key)
        if photo is not None and self.several:  # kept once, under a name that says what is in it
            text = as_json(photo)
            name = f"photo-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
            if name not in self.photographs:
                self.photographs[name] = self._store(name, text)
            pictures["shared"][PHOTO.key] = {"see": name}
        return self._store(key, as_json(pictures)), self._address(key, small)

    def _store(self, key: str, text: str) -> str:
        """The text for the page, empty where it went to a file."""
        if self.folder is None:
            return text
        write_output(self.folder / f"{key}.js", f"hyperacuity.put({as_json(key)},{text});\n".encode())
        return ""

    def _address(self, key: str, small: bytes) -> str:
        """Address of the thumbnail."""
        if not small:
            return ""
        if self.folder is None:
            return f"data:image/webp;base64,{base64.b64encode(small).decode()}"
        name = f"{hashlib.sha256(small).hexdigest()[:16]}.webp" if self.several else f"{key}.webp"
        if not (self.folder / name).exists():
            write_output(self.folder / name, small)
        return f"data/{name}"


def _thumbnail(cells: dict[str, Cell]) -> tuple[bytes, dict[str, Cell]]:
    """The thumbnail of an image, empty if it has none; and its cells, without a photograph that cannot be read."""
    picture = picture_of(cells)
    try:
        return (thumbnail(read_image(picture)) if picture is not None else b""), cells
    except InputError:
        return b"", {system: replace(cell, picture=None) for system, cell in cells.items()}
