"""Looking at a photograph with the network: boundaries, and a field of ownership.

The photograph is enlarged, its frame is reflected outwards so that no line is seen along it, and the answers are brought back to
its size. The setting ``best`` averages three enlargements and their mirror images.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image
from scipy import ndimage

from hyperacuity.detect.detection import Detection, memory_for, planes
from hyperacuity.errors import InputError, UsageError, not_installed
from hyperacuity.kernels.suppression import suppress_structured
from hyperacuity.maps import SoftMap
from hyperacuity.small_files import read_small

Float32s = NDArray[np.float32]
Setting = Literal["fast", "best"]

SHIPPED = Path(__file__).with_name("net.onnx")
CARD = Path(__file__).with_name("net.json")
"""Facts of the shipped network: its checksum, what it learned from and how."""

STEP = 32
"""Heights and widths that the network takes are multiples of this."""

MARGIN = 12
"""Least distance by which the frame is reflected outwards, in pixels of the enlarged photograph."""

LARGEST = 2_000_000
"""So many pixels are looked at. A photograph that would have more, enlarged, is enlarged less or reduced."""

MOST_BYTES = 1 << 30
"""Most bytes of a network's file."""

LARGEST_PADDED = 3_000_000
"""Most pixels with the frame around them; only long and thin photographs (beyond 100 : 1) reach it."""

PER_PIXEL = 650
"""Bytes that the network takes for each of these."""

CACHED_PER_PIXEL = 1000
"""Bytes where onnxruntime caches them for the next photograph, which is then seen faster by a third."""

CACHED = 1_000_000
"""After more padded pixels it gives its memory back."""

PASSES: dict[str, tuple[tuple[float, bool], ...]] = {
    "fast": ((2**0.5, False),),
    "best": tuple((scale, mirrored) for scale in (1.0, 1.5, 2.0) for mirrored in (False, True)),
}
"""Enlargement and whether mirrored, for each time that a photograph is looked at."""


@dataclass(frozen=True, eq=False)
class Look:
    """The network's maps of a photograph.

    Attributes
    ----------
    boundaries
        float32 H×W in [0, 1]: the share of people expected to draw a boundary there.
    field
        float32 H×W×2, (x, y): from ground to figure. Across a contour with unit normal n, v·n is the log-odds that the side to
        which n points is in front.
    """

    boundaries: SoftMap
    field: Float32s


def look(image: ArrayLike, *, setting: Setting = "fast", model: Path | str = "", threads: int = 1) -> Look:
    """Look at a photograph.

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    setting
        ``"fast"``: once, with twice the pixels; ``"best"``: at three sizes, mirrored too, and averaged.
    model
        A file that ``hyperacuity train net`` wrote, instead of the network that comes with the package.
    threads
        How many sizes are looked at side by side. Results do not depend on it.
    """
    if setting not in PASSES:
        raise UsageError(f"setting is {setting!r}, expected one of {', '.join(PASSES)}")
    return look_through(load(model), image, setting=setting, threads=threads)


def look_through(session: Any, image: ArrayLike, *, setting: Setting = "fast", threads: int = 1) -> Look:
    """As :func:`look`, with a network that is open already: a session of onnxruntime, or whatever has its ``run``."""
    pixels = np.clip(planes(image), 0, 1)
    colour = np.repeat(pixels, 3, axis=0) if len(pixels) == 1 else pixels
    passes = PASSES[setting]
    enlargement = max(scale for scale, _ in passes)
    height, width = colour.shape[1:]
    shrink = min(1.0, float(np.sqrt(LARGEST / colour[0].size)) / enlargement)
    if math.prod(_padded(round(enlargement * shrink * size) for size in (height, width))) > LARGEST_PADDED:
        # Of (s·h + b)(s·w + b) = LARGEST_PADDED the root s; b is the widest border.
        border = 2 * MARGIN + STEP + 1
        half = border * (height + width) / (2 * height * width)
        rest = (LARGEST_PADDED - border**2) / (height * width)
        shrink = (math.sqrt(half**2 + rest) - half) / enlargement

    def one(which: tuple[float, bool]) -> Float32s:
        return _answers(session, colour, which[0] * shrink, mirrored=which[1])

    mean: Float32s = np.zeros((3, *colour.shape[1:]), np.float32)
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for answers in pool.map(one, passes):  # added up as they come: of a large photograph each has half a gigabyte
            mean += answers
    mean /= np.float32(len(passes))
    return Look(np.clip(mean[0], 0, 1), np.ascontiguousarray(np.moveaxis(mean[1:], 0, 2)))


def net(image: ArrayLike, *, setting: Setting = "fast", model: str = "") -> Detection:
    """The network as a detector of boundaries; strength is the share of people expected to draw one.

    The thin map is suppressed as is usual for such maps (Dollár & Zitnick 2015: smoothing 1, radius 1), and not divided by its
    largest value. ``setting`` and ``model`` are those of :func:`look`.
    """
    strength = look(image, setting=setting, model=model).boundaries
    return Detection(
        strength, across_ridges(strength), suppress_structured(strength, smooth=1, radius=1), absolute=True
    )


def across_ridges(strength: Float32s, *, sigma: float = 1.5) -> Float32s:
    """The direction across the ridge at each pixel, radians: that of the strongest second derivative downwards.

    >>> ridge = np.zeros((9, 9), np.float32); ridge[:, 4] = 1  # it runs down, and x is across it
    >>> bool(abs(across_ridges(ridge)[4, 4]) < 1e-6)
    True
    """
    xx, yy, xy = (ndimage.gaussian_filter(strength, sigma, order=order) for order in ((0, 2), (2, 0), (1, 1)))
    angle: Float32s = 0.5 * np.arctan2(-2 * xy, yy - xx).astype(np.float32)
    return angle


def load(model: Path | str = "") -> Any:
    """A session with the network of a file, or with the one that comes with the package; cached."""
    return _session(Path(model)) if model else shipped()


def shipped() -> Any:
    """A session with the network that comes with the package, its checksum verified."""
    return _session(SHIPPED, card()["sha256"])


@cache
def card() -> dict[str, Any]:
    """Facts of the network that comes with the package."""
    result: dict[str, Any] = json.loads(CARD.read_text(encoding="utf-8"))
    return result


@cache
def _session(path: Path, checksum: str = "") -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise not_installed("seeing with the network needs onnxruntime", "see") from error
    data = read_small(path, "a network", most=MOST_BYTES)
    if checksum and hashlib.sha256(data).hexdigest() != checksum:
        raise InputError(f"{path}: is damaged (its checksum is not that of the network of this version); reinstall")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        names = [one.name for one in session.get_inputs()], [one.name for one in session.get_outputs()]
    except Exception as error:  # onnxruntime has no common class of errors
        raise InputError(f"{path}: holds no network that can be run ({str(error).splitlines()[0]})") from error
    if names != (["photograph"], ["boundary", "ownership"]):
        raise InputError(f"{path}: is another network, expected one that hyperacuity train net wrote")
    return _Session(session, onnxruntime.RunOptions)


class _Session:
    """A session of onnxruntime that gives its memory back after a large photograph."""

    def __init__(self, session: Any, options: Callable[[], Any]) -> None:
        self._session, self._options = session, options

    def run(self, outputs: None, given: Mapping[str, Float32s]) -> list[Float32s]:
        """The network's outputs."""
        options = self._options()
        if given["photograph"][0, 0].size > CACHED:
            options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        answers: list[Float32s] = self._session.run(outputs, given, options)
        return answers


def _answers(session: Any, colour: Float32s, scale: float, *, mirrored: bool) -> Float32s:
    """Boundary and the two components of ownership, at the photograph's size: 3×H×W."""
    height, width = colour.shape[1:]
    rows, columns = (max(1, round(scale * size)) for size in (height, width))
    enlarged = _resized(colour, rows, columns)
    if mirrored:
        enlarged = enlarged[:, :, ::-1]
    shape = _padded((rows, columns))
    top, left = (shape[0] - rows) // 2, (shape[1] - columns) // 2
    border = ((0, 0), (top, shape[0] - rows - top), (left, shape[1] - columns - left))
    with memory_for("looking at a photograph", (height, width), memory_of(math.prod(shape))):
        padded = np.pad(enlarged, border, mode="reflect")
        try:
            boundary, field = session.run(None, {"photograph": np.ascontiguousarray(padded[np.newaxis])})
        except Exception as error:  # neither has onnxruntime a class of errors for this, nor has PyTorch
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"the network cannot look at {shape[1]}×{shape[0]} pixels of a photograph of {width}×{height} "
                f"({reason}): resize it, or look at fewer at a time"
            ) from error
    seen = np.concatenate([boundary[0], field[0]])[:, top : top + rows, left : left + columns]
    if mirrored:
        seen = seen[:, :, ::-1] * np.array([1, -1, 1], np.float32)[:, np.newaxis, np.newaxis]
    return _resized(seen, height, width)


def memory_of(area: int) -> int:
    """Bytes that the network takes for so many padded pixels."""
    return area * (CACHED_PER_PIXEL if area <= CACHED else PER_PIXEL)


def _padded(sizes: Iterable[int]) -> list[int]:
    """Heights and widths with the frame."""
    return [-(-(size + 2 * MARGIN) // STEP) * STEP for size in sizes]


def _resized(planes: Float32s | Sequence[Float32s], rows: int, columns: int) -> Float32s:
    """Planes at another size, bilinear."""
    return np.stack(
        [
            np.asarray(Image.fromarray(np.ascontiguousarray(plane)).resize((columns, rows), Image.Resampling.BILINEAR))
            for plane in planes
        ]
    )
