"""Pictures small enough that a page can hold thousands of them.

A **picture** layer is a data URI. A **states** layer says of every pixel what it is at each threshold (nothing, hit, false alarm,
miss): a bit per pixel that is ever anything, then two bits per threshold for each such pixel, deflated. A **strength** layer has
a byte for each such pixel instead. The page inflates them and paints them on a canvas.
"""

from __future__ import annotations

import base64
import io
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from hyperacuity.maps import EdgeMap, SoftMap

LONGEST_SIDE = 1600
"""Photographs are shown no larger than this; overlays keep their size."""

THUMBNAIL = 192


def photograph(image: NDArray[np.uint8] | NDArray[np.uint16]) -> dict[str, Any]:
    """A photograph as a picture layer."""
    picture = as_picture(image)
    picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return {"kind": "picture", "uri": _uri(picture, "WEBP", quality=70, method=2)}


def thumbnail(image: NDArray[np.uint8] | NDArray[np.uint16]) -> bytes:
    """A small picture of an image, as the bytes of a WebP file."""
    picture = as_picture(image)
    picture.thumbnail((THUMBNAIL, THUMBNAIL))
    return _bytes(picture, "WEBP", quality=68, method=3)


def soft_picture(soft: SoftMap) -> dict[str, Any]:
    """A soft map as a picture layer: dark ink on white, so that strong is dark."""
    grey = (255 - 255 * np.clip(soft, 0, 1)).astype(np.uint8)
    return {"kind": "picture", "ink": True, "uri": _uri(Image.fromarray(grey), "WEBP", quality=20, method=2)}


def states(pictures: NDArray[np.uint8]) -> dict[str, Any]:
    """A states layer: thresholds × height × width, each pixel 0 to 3.

    >>> made = states(np.array([[[0, 1, 0]], [[0, 3, 2]]], np.uint8))
    >>> list(zlib.decompress(base64.b64decode(made["data"])))
    [96, 13, 8]
    """
    flat = pictures.reshape(len(pictures), -1)
    ever = np.asarray(flat.any(axis=0), np.bool_)
    chosen = flat[:, ever]
    rows = np.zeros(((len(flat) + 3) // 4, chosen.shape[1]), np.uint8)
    for place, state in enumerate(chosen):
        rows[place // 4] |= state << (2 * (place % 4))
    return {"kind": "states", "count": len(flat), "data": _deflated(ever, np.ascontiguousarray(rows.T))}


def strength(counts: NDArray[np.uint8], most: int) -> dict[str, Any]:
    """A strength layer: of how many of ``most`` people each pixel is; 0 where it is nobody's."""
    ever = np.asarray(counts.ravel() > 0)
    return {"kind": "strength", "most": most, "data": _deflated(ever, counts.ravel()[ever])}


def agreement(truths: list[EdgeMap], within: float) -> NDArray[np.uint8]:
    """Of each pixel that anybody drew: how many people drew one at most ``within`` pixels away.

    >>> one, two = np.array([[1, 0, 0, 0]], bool), np.array([[0, 1, 0, 1]], bool)
    >>> agreement([one, two], 1)
    array([[2, 2, 0, 1]], dtype=uint8)
    """
    from scipy.ndimage import distance_transform_edt

    drawn = np.logical_or.reduce(truths)
    near = np.zeros(drawn.shape, np.uint8)
    for truth in truths:
        if truth.any():
            near += distance_transform_edt(~truth) <= within
    return np.where(drawn, near, 0).astype(np.uint8)


def as_picture(image: NDArray[Any]) -> Image.Image:
    """An 8-bit picture of an image array, grey or colour; 16-bit values lose their lower byte, others are stretched."""
    if image.dtype == np.uint16:
        image = image >> 8
    elif image.dtype != np.uint8:
        low, high = float(np.nanmin(image)), float(np.nanmax(image))
        image = np.nan_to_num((image - low) / ((high - low) or 1) * 255)
    return Image.fromarray(np.ascontiguousarray(image.astype(np.uint8)))


def picture_uri(image: NDArray[np.uint8]) -> dict[str, Any]:
    """A picture with few colours (an error map, regions) as a picture layer, without loss."""
    return {"kind": "picture", "uri": _uri(Image.fromarray(image).quantize(64), "PNG", optimize=True)}


def _uri(picture: Image.Image, kind: str, **options: Any) -> str:
    return f"data:image/{kind.lower()};base64,{base64.b64encode(_bytes(picture, kind, **options)).decode()}"


def _bytes(picture: Image.Image, kind: str, **options: Any) -> bytes:
    data = io.BytesIO()
    picture.save(data, kind, **options)
    return data.getvalue()


def _deflated(ever: NDArray[np.bool_], values: NDArray[np.uint8]) -> str:
    return base64.b64encode(zlib.compress(np.packbits(ever).tobytes() + values.tobytes(), 6)).decode()
