"""The images a page works on: found once, told apart by ids that say nothing about their place, and drawn for a browser."""

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
from hyperacuity.data.datasets.pairing import files_in, stem_of
from hyperacuity.errors import InputError, UsageError


@dataclass(frozen=True)
class Item:
    """An image: its id in addresses, its name for people, its file."""

    id: str
    name: str
    path: Path


def find_items(folder: Path) -> dict[str, Item]:
    """The images of a folder by id, in the order of their names. ``UsageError`` where there is none."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    return by_id(Item(item_id(stem_of(file)), stem_of(file), file) for file in files_in(folder))


def by_id(items: Iterable[Item]) -> dict[str, Item]:
    """Items by their id. ``UsageError`` for two of one name."""
    found: dict[str, Item] = {}
    for item in items:
        if item.id in found:
            raise UsageError(f"{found[item.id].path} and {item.path} have the same name, {item.name}: rename one")
        found[item.id] = item
    return found


def item_id(name: str) -> str:
    """An id that stays the same however the folder grows.

    >>> item_id("scene-1") == item_id("scene-1") != item_id("scene-2")
    True
    """
    return hashlib.blake2s(name.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def photograph(path: Path) -> NDArray[np.uint8]:
    """A picture as a browser shows it: H×W×3, 8 bit. ``InputError``, which names the file, for one that cannot be read."""
    pixels = read_image(path)
    if pixels.dtype == np.uint16:
        pixels = (pixels >> 8).astype(np.uint8)
    return np.ascontiguousarray(np.broadcast_to(pixels[..., None], (*pixels.shape, 3)) if pixels.ndim == 2 else pixels)


def png(pixels: NDArray[Any]) -> bytes:
    """Pixels (bool, uint8, H×W, H×W×3 or H×W×4) as a PNG file without any metadata."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG", compress_level=1)  # three times as fast as 6, hardly larger
    return file.getvalue()


def reason(error: InputError, names: Mapping[Path, str]) -> str:
    """Why an item failed, with its files called by their names: what browsers are told never holds a path.

    >>> reason(InputError("/data/a.png: is damaged"), {Path("/data/a.png"): "a"})
    'a: is damaged'
    """
    sentence = str(error)
    for path, name in names.items():
        sentence = sentence.replace(str(path), name)
    return sentence
