"""Pictures small enough that a page can hold thousands of them.

A **picture** layer is a data URI. A **states** layer says of every pixel what it is at each threshold (nothing, hit, false alarm,
miss). From one threshold to the next few pixels change, and most change once or twice in all; so what is kept are the changes,
from the strictest threshold to the weakest: which pixels ever change, into what, and at which threshold, each deflated. A
**strength** layer has a byte for each pixel that anybody drew. The page inflates them and paints them on a canvas.
"""

from __future__ import annotations

import base64
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from hyperacuity.kernels.distances import squared_distances
from hyperacuity.kernels.sweep_pairs import MOST_NAMED
from hyperacuity.maps import EdgeMap, SoftMap
from hyperacuity.report.pictures.colours import ramp, rgb

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


QUALITIES = (20, 8, 2)
"""Qualities of a stored soft map, as WebP counts them: the first that fits is taken."""


def soft_picture(soft: SoftMap, room: int | None = None) -> dict[str, Any]:
    """A soft map as a picture layer: dark ink on white, so that strong is dark; of at most ``room`` characters, if it can be."""
    grey = Image.fromarray((255 - 255 * np.clip(soft, 0, 1)).astype(np.uint8))
    uri = ""
    for quality in QUALITIES:
        uri = _uri(grey, "WEBP", quality=quality, method=2)
        if room is None or len(uri) <= room:
            break
    return {"kind": "picture", "ink": True, "uri": uri}


HIT = 1
"""The state of a detected pixel that is matched."""

MOST_THRESHOLDS = 256
"""Thresholds of a states layer: the index of each is a byte."""


def states(pictures: NDArray[np.uint8]) -> dict[str, Any]:
    """A states layer: thresholds × height × width, thresholds rising, at most 256 of them; each pixel 0 to 3.

    ``where`` has a bit per pixel, set if it ever changes; at first, nothing is anything. ``into`` has, for each of those pixels
    in raster order, a byte of its first two states, 4 × first + second; then a byte with the third for those that had two; and
    so on. A state that is the one before means that there is no further change. ``when`` has the thresholds of the changes, the
    strictest threshold being 0: those from state 0 to 1, from 0 to 2, … from 3 to 2, each in the order of ``into``.

    >>> made = states(np.array([[[0, 1, 0]], [[0, 3, 2]]], np.uint8))
    >>> [list(zlib.decompress(base64.b64decode(made[name]))) for name in ("where", "into", "when")]
    [[96], [13, 8, 1, 0], [0, 0, 1, 1]]
    """
    falling = pictures[::-1].reshape(len(pictures), -1)
    ever = np.asarray(falling.any(axis=0), np.bool_)
    now = falling[:, ever]
    before = np.zeros_like(now)
    before[1:] = now[:-1]
    when, pixel = np.nonzero(now != before)
    in_turn = np.argsort(pixel, kind="stable")
    when, pixel = when[in_turn], pixel[in_turn]
    source, target = before[when, pixel], now[when, pixel]
    changes = np.bincount(pixel, minlength=now.shape[1])
    first = np.cumsum(changes) - changes
    turn = np.arange(pixel.size) - first[pixel]
    by_kind = np.lexsort((pixel, turn, target, source))
    return {
        "kind": "states",
        "count": len(pictures),
        "where": _deflated(np.packbits(ever)),
        "into": _deflated(_into(target, changes, first)),
        "when": _deflated(when[by_kind].astype(np.uint8)),
    }


def partners(picture: NDArray[np.uint8], who: NDArray[np.uint8]) -> str:
    """With whom the hits of one picture of a states layer are matched: a byte for each, in raster order, a bit per annotator."""
    return _deflated(who[picture == HIT])


def _into(target: NDArray[np.uint8], changes: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The states that pixels change into, turn by turn; the state before, once more, where there is no further change."""
    turns = []
    for turn in range(1, int(changes.max(initial=0)) + 1):
        going = changes >= turn
        last = first[going] + turn - 1
        turns.append(target[last + (changes[going] > turn)])
    if not turns:
        return np.zeros(0, np.uint8)
    return np.concatenate([4 * target[first] + turns[0], *turns[1:]]).astype(np.uint8)


def strength(counts: NDArray[np.uint8], most: int) -> dict[str, Any]:
    """A strength layer: of how many of ``most`` people each pixel is; 0 where it is nobody's."""
    ever = np.asarray(counts.ravel() > 0)
    where, many = _deflated(np.packbits(ever)), _deflated(counts.ravel()[ever])
    return {"kind": "strength", "most": most, "where": where, "many": many}


def drawn(truths: list[EdgeMap], within: float) -> dict[str, Any]:
    """People's lines as a strength layer: each pixel counts those who drew one at most ``within`` pixels away.

    ``who`` has a bit for each of them, the first annotator's the lowest; it is left out where there are more than eight.

    >>> one, two = np.array([[1, 0, 0, 0]], bool), np.array([[0, 1, 0, 1]], bool)
    >>> _inflated(drawn([one, two], 1)["who"]).tolist()
    [3, 3, 2]
    """
    near = np.stack([squared_distances(truth) <= within**2 for truth in truths])
    ever = np.logical_or.reduce(truths)
    made = strength(np.where(ever, near.sum(axis=0), 0).astype(np.uint8), len(truths))
    if len(truths) > MOST_NAMED:
        return made
    return made | {"who": _deflated(np.packbits(near[:, ever], axis=0, bitorder="little")[0])}


def strength_counts(layer: Mapping[str, Any], shape: tuple[int, int]) -> NDArray[np.uint8]:
    """The counts of a strength layer again.

    >>> strength_counts(strength(np.array([[0, 2], [1, 0]], np.uint8), 2), (2, 2)).tolist()
    [[0, 2], [1, 0]]
    """
    counts = np.zeros(shape[0] * shape[1], np.uint8)
    counts[_marked(layer, counts.size)] = _inflated(layer["many"])
    return counts.reshape(shape)


def states_at(layer: Mapping[str, Any], shape: tuple[int, int], step: int) -> NDArray[np.uint8]:
    """A states layer's picture at one threshold, given by its index.

    >>> pictures = np.array([[[0, 1, 0]], [[0, 3, 2]]], np.uint8)
    >>> [states_at(states(pictures), (1, 3), step).tolist() for step in (0, 1)]
    [[[0, 1, 0]], [[0, 3, 2]]]
    """
    picture = np.zeros(shape[0] * shape[1], np.uint8)
    where = _marked(layer, picture.size)
    changes = list(_changes(where.size, _inflated(layer["into"]).tolist()))
    when = _inflated(layer["when"]).tolist()
    # Changes stand turn by turn, so a pixel's stand in their order; their times stand by kind.
    by_kind = sorted(range(len(changes)), key=lambda n: changes[n][1:])
    times = dict(zip(by_kind, when, strict=True))
    for n, (pixel, _, target) in enumerate(changes):
        if times[n] <= layer["count"] - 1 - step:
            picture[where[pixel]] = target
    return picture.reshape(shape)


def _changes(pixels: int, into: list[int]) -> Iterator[tuple[int, int, int]]:
    """The changes of a states layer, turn by turn: pixel, state before, state after."""
    state = [into[pixel] >> 2 for pixel in range(pixels)]
    yield from ((pixel, 0, state[pixel]) for pixel in range(pixels))
    rest = iter(into[pixels:])
    going = [(pixel, into[pixel] & 3) for pixel in range(pixels)]
    while going := [(pixel, target) for pixel, target in going if target != state[pixel]]:
        for pixel, target in going:
            yield pixel, state[pixel], target
            state[pixel] = target
        going = [(pixel, next(rest)) for pixel, _ in going]


def _marked(layer: Mapping[str, Any], size: int) -> NDArray[np.int64]:
    return np.flatnonzero(np.unpackbits(_inflated(layer["where"]), count=size))


def _inflated(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)


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
    return {"kind": "picture", "uri": data_uri(image, 64)}


ATTEMPTS = ((61, 1), (31, 1), (16, 1), (31, 2), (16, 2), (16, 3), (16, 4), (8, 4), (8, 6))
"""Resolutions of a stored scale: number of colours, and pixels per sample; the first that fits is taken.

With the colours of what has no value, a pixel takes six bits at most.
"""


def scale_layer(
    share: NDArray[Any],
    colours: Sequence[str],
    *,
    ends: tuple[float, float],
    unit: str = "",
    others: Sequence[tuple[NDArray[np.bool_], str, str]] = (),
    room: int | None = None,
) -> dict[str, Any]:
    """Values as a picture layer whose colours can be read back: ``share`` of the way between two ends, from 0 to 1.

    ``others`` are pixels without a value: where, in which colour, and what is said of them; later ones lie on top. A value
    read back is one of 61 from end to end, or of fewer where the picture would take more than ``room`` characters.

    >>> layer = scale_layer(np.array([[0, 1]]), ("#000000", "#ffffff"), ends=(2, 8), unit="px")
    >>> layer["scale"]["low"], layer["scale"]["high"], layer["scale"]["steps"]
    (2.0, 8.0, 61)
    """
    known = np.clip(np.nan_to_num(share), 0, 1)
    uri, steps = "", 0
    for steps, stride in ATTEMPTS:
        uri = _scale_uri(known, colours, others, steps, stride)
        if room is None or len(uri) <= room:
            break
    others_shown = [[colour, word] for _, colour, word in others]
    scale = {"low": float(ends[0]), "high": float(ends[1]), "unit": unit, "colours": list(colours), "steps": steps}
    return {"kind": "picture", "uri": uri, "scale": scale | {"others": others_shown}}


def _scale_uri(
    share: NDArray[Any],
    colours: Sequence[str],
    others: Sequence[tuple[NDArray[np.bool_], str, str]],
    steps: int,
    stride: int,
) -> str:
    """The picture in so many colours, of every so many pixels the one in the middle."""
    at = np.rint(share * (steps - 1)).astype(np.uint8)
    palette = ramp(np.linspace(0, 1, steps), colours).tolist()
    for number, (where, colour, _) in enumerate(others):
        at[where] = steps + number
        palette.append(rgb(colour))
    picture = Image.fromarray(np.ascontiguousarray(at[stride // 2 :: stride, stride // 2 :: stride]))
    picture.putpalette([channel for colour in palette for channel in colour])
    return _uri(picture, "PNG", optimize=True)


def data_uri(image: NDArray[np.uint8], colours: int) -> str:
    """A picture with few colours as text that a page or a chart can hold."""
    return _uri(Image.fromarray(image).quantize(colours), "PNG", optimize=True)


def _uri(picture: Image.Image, kind: str, **options: Any) -> str:
    return f"data:image/{kind.lower()};base64,{base64.b64encode(_bytes(picture, kind, **options)).decode()}"


def _bytes(picture: Image.Image, kind: str, **options: Any) -> bytes:
    data = io.BytesIO()
    picture.save(data, kind, **options)
    return data.getvalue()


def _deflated(values: NDArray[np.uint8]) -> str:
    return base64.b64encode(zlib.compress(values.tobytes(), 6)).decode()
