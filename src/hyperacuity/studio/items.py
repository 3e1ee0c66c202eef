"""The images of a page, with ids that do not reveal their paths, and their pictures for a browser."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from hyperacuity.data import read_image
from hyperacuity.data.datasets.pairing import stem_of
from hyperacuity.errors import InputError, UsageError

THUMBNAIL = (240, 160)


@dataclass(frozen=True)
class Item:
    """An image: its id in addresses, its name, its file."""

    id: str
    name: str
    path: Path

    @property
    def title(self) -> str:
        """The name for people: what cannot be written in UTF-8 is replaced."""
        return self.name.encode("utf-8", "replace").decode()


def items_of(files: Iterable[Path]) -> dict[str, Item]:
    """Images by id. ``UsageError`` for two of one name."""
    items: dict[str, Item] = {}
    for file in files:
        item = Item(item_id(stem_of(file)), stem_of(file), file)
        if item.id in items:
            raise UsageError(f"{items[item.id].path} and {file} have the same name, {item.title}: rename one")
        items[item.id] = item
    return items


def item_id(name: str) -> str:
    """An id that stays the same however the folder grows.

    >>> item_id("scene-1") == item_id("scene-1") != item_id("scene-2")
    True
    """
    return hashlib.blake2s(name.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def eight_bit(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Pixels with 8 bits per channel."""
    return (pixels >> 8).astype(np.uint8) if pixels.dtype == np.uint16 else pixels


def read_photograph(path: Path) -> NDArray[np.uint8]:
    """A picture as a browser shows it: H×W×3, 8 bit. ``InputError``, which names the file, for one that cannot be read."""
    pixels = eight_bit(read_image(path))
    return np.ascontiguousarray(np.broadcast_to(pixels[..., None], (*pixels.shape, 3)) if pixels.ndim == 2 else pixels)


def png(pixels: NDArray[Any]) -> bytes:
    """Pixels (bool, uint8, H×W, H×W×3 or H×W×4) as a PNG file without any metadata."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG", compress_level=1)  # three times as fast as 6, hardly larger
    return file.getvalue()


def thumbnail(pixels: NDArray[np.uint8]) -> bytes:
    """A small PNG of a picture."""
    picture = Image.fromarray(pixels)
    picture.thumbnail(THUMBNAIL)
    return png(np.asarray(picture))


def reason(error: InputError, item: Item, names: Mapping[Path, str] | None = None) -> str:
    """Reason for which an item failed, without its name in front; other files are called by ``names``. Browsers never see a path.

    >>> reason(InputError("/data/a.png: is damaged"), Item("", "a", Path("/data/a.png")))
    'is damaged'
    """
    sentence = str(error)
    for path, name in {item.path: item.name, **(names or {})}.items():
        sentence = sentence.replace(str(path), name)
    return sentence.removeprefix(f"{item.name}: ").encode("utf-8", "replace").decode()
