r"""``pb``: the probability that a boundary passes, learned from what people drew.

At each pixel and for eight orientations, the halves of a disc are compared by brightness, colour (a and b of Lab) and texture.
Each gradient is localised by a parabola across the line; a logistic function of the four gives the probability. The parameters
are in ``pb.json``, with how they were obtained; :mod:`hyperacuity.detect.pb_training` learns others.

References
----------
Martin, Fowlkes & Malik (2004), Learning to detect natural image boundaries using local brightness, color, and texture cues.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft

from hyperacuity.detect.bank import responses, rotated
from hyperacuity.detect.detection import Detection, Float32Array, ThinNorm, finish, planes, takes_memory
from hyperacuity.errors import InputError
from hyperacuity.kernels.half_discs import DIRECTIONS, HistDistance, half_disc_gradients
from hyperacuity.kernels.planes import nearest, weighted_sums
from hyperacuity.maps import diagonal
from hyperacuity.outputs import write_bytes
from hyperacuity.small_files import read_json

BINS = 32
SMOOTH = 0.1 * BINS
"""Brightnesses and colours closer than about a tenth of the range are much alike, in bins."""

CUES = ("brightness", "a", "b", "texture")
RADII = (0.01, 0.02, 0.02, 0.02)
"""Radius of the disc for each cue, as a fraction of the image diagonal."""

REACH = max(RADII)

_CACHED = 3_000_000
"""The labels of images of at most so many numbers are cached."""

_CACHED_PLANES = 400_000
"""Transfers for planes of at most so many pixels are cached: cues of one radius share them, and so do images of one size."""

SHIPPED = Path(__file__).with_name("pb.json")

_XYZ = np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])
_WHITE = _XYZ.sum(axis=1)


@dataclass(frozen=True, eq=False)
class PbModel:
    """Learned parameters: textons (K × filters), and the logistic function's weights (constant first) of the four cues.

    ``hist_distance`` is how histograms of brightness and colour are compared; those of textons, without order, always by χ².
    """

    textons: NDArray[np.float64]
    weights: NDArray[np.float64]
    about: str
    hist_distance: HistDistance = "chi2"

    def save(self, path: Path) -> Path:
        """Write as readable JSON: textons with four significant digits, weights with four decimals."""
        rows = ",\n  ".join(json.dumps(row) for row in as_written(self.textons).tolist())
        weights = json.dumps(
            {name: round(float(w), 4) for name, w in zip(("constant", *CUES), self.weights, strict=True)}
        )
        head = f' "about": {json.dumps(self.about)},\n "hist_distance": "{self.hist_distance}",\n "weights": {weights},'
        write_bytes(path, f'{{\n{head}\n "textons": [\n  {rows}\n ]\n}}\n'.encode())
        return path


def as_written(textons: NDArray[np.float64]) -> NDArray[np.float64]:
    """Textons as a file holds them, so that weights can be learned for what will be used.

    >>> as_written(np.array([[0.123456, -2.0]]))
    array([[ 0.1235, -2.    ]])
    """
    return np.array([[float(f"{value:.4g}") for value in row] for row in textons], np.float64).reshape(textons.shape)


def load_model(path: Path = SHIPPED) -> PbModel:
    """Read a model; ``InputError`` when the file holds none."""
    result = read_json(path, "model of pb")
    try:
        weights = np.array([result["weights"][name] for name in ("constant", *CUES)], np.float64)
        textons = np.array(result["textons"], np.float64)
        about, hist_distance = str(result["about"]), result.get("hist_distance", "chi2")
    except (ArithmeticError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: holds no model of pb ({error})") from error
    if textons.ndim != 2 or textons.shape[1] != len(texture_kernels()[0]) or not 1 <= len(textons) <= 256:
        raise InputError(f"{path}: textons have shape {textons.shape}, expected up to 256 rows of filter responses")
    if not (np.isfinite(textons).all() and np.isfinite(weights).all()):
        raise InputError(f"{path}: has a weight or texton that is no finite number")
    if hist_distance not in ("chi2", "quadratic"):
        raise InputError(f"{path}: compares histograms by {hist_distance!r}, expected chi2 or quadratic")
    return PbModel(textons, weights, about, hist_distance)


@cache
def _shipped() -> PbModel:
    return load_model()


@takes_memory(260, reach=REACH)
def pb(image: ArrayLike, *, model: str = "", thin_norm: ThinNorm = "none") -> Detection:
    """Probability of a boundary, learned from BSDS500's training images (Martin, Fowlkes & Malik 2004).

    ``strength`` is the probability, ``thin`` the same after non-maximum suppression. ``model`` is a file with other parameters.
    A grey image has no colour gradients.

    >>> image = np.zeros((40, 60), np.uint8)
    >>> image[:, 30:] = 200
    >>> seen = pb(image)
    >>> bool(seen.strength[20, 29:31].max() > 5 * seen.strength[20, 10])
    True
    """
    chosen = load_model(Path(model)) if model else _shipped()
    return detect_with(chosen, image, thin_norm=thin_norm)


def detect_with(model: PbModel, image: ArrayLike, *, thin_norm: ThinNorm = "none") -> Detection:
    """Run a model."""
    cues = gradients(image, model.textons, hist_distance=model.hist_distance)
    return detect_from(cues, model.weights, thin_norm=thin_norm)


def detect_from(cues: Float32Array, weights: NDArray[np.float64], *, thin_norm: ThinNorm = "none") -> Detection:
    """Put the cues of an image (:func:`gradients`) together by weights, the constant first."""
    shares = weights[1:].astype(np.float32)[None]
    score = weighted_sums(shares, cues.reshape(len(cues), -1)).reshape(cues.shape[1:]) + np.float32(weights[0])
    best = score.argmax(axis=0)
    strength = 1 / (1 + np.exp(-np.take_along_axis(score, best[None], axis=0)[0].astype(np.float64)))
    # Plateaus are level only to rounding, and suppression relies on level ones. And what processors make of exp differs less.
    strength = (np.rint(strength * 1e5) * 1e-5).astype(np.float32)
    return finish(strength, across(best), thin_norm)


def across(direction: NDArray[np.int64]) -> Float32Array:
    """The angle across the dividing line of a direction, as detections have it."""
    return np.asarray(direction * (np.pi / DIRECTIONS) + np.pi / 2, np.float32)


def gradients(image: ArrayLike, textons: NDArray[np.float64], *, hist_distance: HistDistance = "chi2") -> Float32Array:
    """The localised gradients of all cues: cues × directions × H × W, 0 or more."""
    pixels = planes(image)
    diameter = diagonal(pixels.shape[1:])
    maps = channel_labels(pixels, textons)
    result = np.zeros((len(CUES), DIRECTIONS, *pixels.shape[1:]), np.float32)
    for cue, (labels, share) in enumerate(zip(maps, RADII, strict=True)):
        if labels.min() == labels.max():
            continue  # no colour, or nothing at all
        radius = max(1.0, share * diameter)
        if CUES[cue] == "texture":
            raw = half_disc_gradients(labels, len(textons), radius)
        else:
            raw = half_disc_gradients(labels, BINS, radius, smooth=SMOOTH, hist_distance=hist_distance)
        result[cue] = localised(raw, radius)
    return result


def channel_labels(pixels: Float32Array, textons: NDArray[np.float64]) -> tuple[NDArray[np.uint8], ...]:
    """The label of each pixel in each channel of :data:`CUES`: a bin of brightness or colour, or a texton.

    The last few are cached, since ``pb`` and ``gpb`` look at an image in turn; do not write to them.
    """
    known: NDArray[np.float64] = np.ascontiguousarray(textons, np.float64)
    if pixels.size > _CACHED:
        return _labels(pixels, known)
    return _labels_again(pixels.tobytes(), pixels.shape, known.tobytes(), known.shape)


@lru_cache(maxsize=4)
def _labels_again(
    pixels: bytes, shape: tuple[int, ...], textons: bytes, count: tuple[int, ...]
) -> tuple[NDArray[np.uint8], ...]:
    return _labels(np.frombuffer(pixels, np.float32).reshape(shape), np.frombuffer(textons, np.float64).reshape(count))


def _labels(pixels: Float32Array, textons: NDArray[np.float64]) -> tuple[NDArray[np.uint8], ...]:
    lab = to_lab(pixels)
    binned = [np.minimum((plane * BINS).astype(np.int64), BINS - 1).astype(np.uint8) for plane in lab]
    return (*binned, nearest_texton(texture_responses(lab[0]), textons))


def to_lab(pixels: Float32Array) -> Float32Array:
    """L, a and b in [0, 1] of planes in [0, 1]: a gamma of 2.5, L / 100, and [−73, 95] of a and b brought to [0, 1]."""
    colour = np.repeat(pixels, 3, axis=0) if len(pixels) == 1 else pixels
    linear = np.clip(colour, 0, 1).astype(np.float64) ** 2.5
    ratio = np.stack([r * linear[0] + g * linear[1] + b * linear[2] for r, g, b in _XYZ]) / _WHITE[:, None, None]
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    light = np.where(ratio[1] > 0.008856, 116 * np.cbrt(ratio[1]) - 16, 903.3 * ratio[1]) / 100
    a, b = 500 * (f[0] - f[1]), 200 * (f[1] - f[2])
    if len(pixels) == 1:
        a, b = np.zeros_like(a), np.zeros_like(b)  # not the last bits of a rounding
    return np.asarray(np.clip(np.stack([light, (a + 73) / 168, (b + 73) / 168]), 0, 1), np.float32)


@cache
def texture_kernels() -> tuple[list[NDArray[np.float64]], int]:
    """The filters that texture is seen with, each of absolute sum 1, and their radius: for lines, edges and spots."""
    radius = 9
    kernels = []
    for sigma in (1.0, math.sqrt(2)):
        for turn in range(6):
            u, v = rotated(turn * math.pi / 6, radius)
            bell = np.exp(-0.5 * ((u / sigma) ** 2 + (v / (3 * sigma)) ** 2))
            kernels += [bell * ((u / sigma) ** 2 - 1), bell * u / sigma]
        u, v = rotated(0, radius)
        distance = (u * u + v * v) / sigma**2
        kernels.append(np.exp(-0.5 * distance) - np.exp(-0.25 * distance) / 2)
    scaled = []
    for kernel in kernels:
        centred = kernel - kernel.mean()
        scaled.append(centred / np.abs(centred).sum())
    return scaled, radius


def texture_responses(light: Float32Array) -> Float32Array:
    """Answers of the texture filters: filters × H × W."""
    kernels, radius = texture_kernels()
    return np.stack([answer[0].copy() for answer in responses(light[None], kernels, radius)])


def nearest_texton(answers: Float32Array, textons: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The number of the texton that is nearest to each pixel's answers."""
    return nearest(textons.astype(np.float32), answers.reshape(len(answers), -1)).reshape(answers.shape[1:])


def localised(raw: Float32Array, radius: float) -> Float32Array:
    """The middle of the parabola, across the line, that fits best in an ellipse (:func:`_parabola`); 0 or more."""
    reach = math.ceil(radius)
    height, width = raw.shape[1:]
    padded = np.pad(raw, ((0, 0), (reach, reach), (reach, reach)), mode="symmetric")
    shape = [fft.next_fast_len(size, real=True) for size in padded.shape[1:]]
    inside = slice(2 * reach, 2 * reach + height), slice(2 * reach, 2 * reach + width)
    result = np.empty_like(raw)
    transfers = (_transfers if math.prod(shape) > _CACHED_PLANES else _cached_transfers)(radius, reach, tuple(shape))
    for answer, plane, transfer in zip(result, padded, transfers, strict=True):
        spectrum = fft.rfft2(plane, shape)
        spectrum *= transfer
        np.maximum(fft.irfft2(spectrum, shape, overwrite_x=True)[inside], 0, out=answer)
    return result


def _transfers(radius: float, reach: int, shape: tuple[int, ...]) -> list[NDArray[np.complex64]]:
    """Factors of spectra that localise in each direction."""
    turned = (_parabola(direction * math.pi / DIRECTIONS, radius, reach) for direction in range(DIRECTIONS))
    return [fft.rfft2(weights.astype(np.float32), shape) for weights in turned]


_cached_transfers = lru_cache(maxsize=16)(_transfers)


@cache
def _parabola(angle: float, radius: float, reach: int) -> NDArray[np.float64]:
    """Weights that give the constant term of a + b·v + c·v², v across, fitted in an ellipse a quarter as wide as long."""
    u, v = rotated(angle, reach)
    wide = max(1.5, radius / 4)
    inside = (u / radius) ** 2 + (v / wide) ** 2 <= 1
    # The ellipse is symmetric, so odd powers of v add up to 0, and the least squares have a closed form.
    squares = v[inside] ** 2
    count, second, fourth = inside.sum(), squares.sum(), (squares**2).sum()
    weights = np.zeros(u.shape)
    weights[inside] = (fourth - second * squares) / (count * fourth - second**2)
    return weights
