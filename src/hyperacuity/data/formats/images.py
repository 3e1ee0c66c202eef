"""Pictures: PNG, JPEG, BMP, TIFF and PGM/PPM/PBM of 1, 8 and 16 bit, grey, colour, with alpha or a palette.

Values are the file's; no gamma or colour profile is applied. Alpha is dropped. A palette is looked up; ``palette=False`` is
for images whose index is a region's label. A TIFF is turned as its tag asks; a JPEG or PNG that asks for it is read as stored,
with a warning, since programs differ in what they do. Of several pages or frames the first is read, with a warning.
"""

from __future__ import annotations

import contextlib
import io
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.BmpImagePlugin import BmpImageFile
from PIL.ImageFile import ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.PpmImagePlugin import PpmImageFile
from PIL.TiffImagePlugin import TiffImageFile

from hyperacuity.data.files import check_pixels, first_line, read_bytes, warn
from hyperacuity.data.formats.metadata import TiffFloats, further_pictures, strip_jpeg, strip_png, tiff_floats, turned
from hyperacuity.data.formats.sniff import kind_of_bytes
from hyperacuity.errors import InputError
from hyperacuity.outputs import write_bytes

# Opened by name: Image.open would try other limits, with warnings, and look for further pictures in the file.
_DECODERS: dict[str, type[ImageFile]] = {
    "PNG": PngImageFile,
    "JPEG": JpegImageFile,
    "BMP": BmpImageFile,
    "TIFF": TiffImageFile,
    "PNM": PpmImageFile,
}
_DENSEST = {"PNG": 8 * 1032, "JPEG": 8 * 1032, "BMP": 8 * 1032, "PNM": 8}
"""Most pixels per byte of a file: deflate makes at most 1032 bytes of one. (TIFF can pack a white page into a few bytes.)"""

_MAX_SCANS = 500
"""A progressive JPEG has about ten scans; each takes as long as the whole picture, and a few bytes can ask for one."""

KITTI_SCALE = 256
"""KITTI's disparity pictures: 16-bit grey PNG, disparity = value / 256, 0 = unknown."""

_quiet_tiff = threading.Lock()
_LUMINANCE = (0.299, 0.587, 0.114)


def read_image(path: Path | str) -> NDArray[Any]:
    """A photograph: uint8 or uint16, H×W or H×W×3. A 1-bit picture becomes 0 and 255; other types are refused."""
    path = Path(path)
    pixels = read_pixels(path)
    if pixels.dtype == np.bool_:
        return pixels.astype(np.uint8) * np.uint8(255)
    if pixels.dtype not in (np.uint8, np.uint16):
        raise InputError(f"{path}: holds {pixels.dtype} pixels, expected 8 or 16 bit")
    return pixels


def read_grey(path: Path) -> NDArray[Any]:
    """The picture as one plane: colour with equal channels is grey; other colour gives its luminance, with a warning."""
    pixels = read_pixels(path)
    if pixels.ndim == 2:
        return pixels
    red, green, blue = (pixels[..., channel] for channel in range(3))
    if np.array_equal(red, green) and np.array_equal(green, blue):
        return np.ascontiguousarray(red)
    warn(f"{path}: is a colour picture where grey was expected; its luminance is used")
    # Added in this order, and not as a library of matrices does on this machine: one pixel in a thousand is a half.
    exact = sum(share * channel for share, channel in zip(_LUMINANCE, (red, green, blue), strict=True))
    grey: NDArray[Any] = np.rint(exact).astype(pixels.dtype)
    return grey


def write_png(path: Path | str, pixels: NDArray[Any]) -> None:
    """Write bool (1 bit), uint8 (H×W, H×W×3 or H×W×4) or uint16 (H×W) pixels as PNG."""
    write_bytes(Path(path), encode_png(pixels, str(path)))


def encode_png(pixels: NDArray[Any], name: str = "a picture") -> bytes:
    """The bytes that :func:`write_png` writes; ``name`` is for the sentence that refuses other pixels."""
    channels = ((),) if pixels.dtype in (np.bool_, np.uint16) else ((), (3,), (4,))
    fits = pixels.dtype in (np.bool_, np.uint8, np.uint16) and pixels.ndim >= 2 and pixels.shape[2:] in channels
    if not fits or not pixels.size:
        raise InputError(f"{name}: cannot write {pixels.dtype} pixels of shape {pixels.shape} as PNG")
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, format="PNG")
    return file.getvalue()


def image_size(path: Path | str) -> tuple[int, int]:
    """Height and width that a picture's header declares; what :func:`read_image` refuses for them is refused."""
    path = Path(path)
    with _opened(path, read_bytes(path)) as (image, _, floats):
        return image.height, image.width // (2 if floats and floats.bits == 64 else 1)


def read_pixels(path: Path, *, palette: bool = True) -> NDArray[Any]:
    """The picture as stored: H×W, or H×W×3 for colour; bool (1 bit), uint8, uint16; in TIFF also int32 and floats.

    With ``palette=False`` a palette image gives its indices.
    """
    data = read_bytes(path)
    with _opened(path, data) as (image, kind, floats):
        # Pillow's plan of decoding names the raw form or the largest value of channels that it will cut down to 8 bits.
        plan: list[Any] = []
        for tile in getattr(image, "tile", []):
            plan += tile[3] if isinstance(tile[3], tuple) else [tile[3]]
        deep = any(";16" in part if isinstance(part, str) else image.format == "PPM" and part > 255 for part in plan)
        deep = deep and image.mode in ("RGB", "RGBA", "RGBX", "LA")
        pixels = _deep_png(strip_png(data), str(image.tile[0][3])) if deep and kind == "PNG" else _array(image, palette)
        if floats:
            words = pixels.reshape(len(pixels), -1, floats.bits // (8 * pixels.itemsize))
            pixels = np.ascontiguousarray(words[..., ::-1] if floats.swapped else words).view(f"f{floats.bits // 8}")[
                ..., 0
            ]
    if pixels.size == 0:
        raise InputError(f"{path}: has no pixels")
    if (asked := turned(data, kind)) != 1 and kind != "TIFF":
        warn(f"{path}: asks to be turned (EXIF orientation {asked}); its pixels are read as they are stored")
    if further_pictures(data, kind):
        warn(f"{path}: holds further pictures; only the first is read")
    if deep and kind != "PNG":
        warn(f"{path}: has more than 8 bits per colour channel; only the upper 8 are read")
    return pixels


@contextlib.contextmanager
def _opened(path: Path, data: bytes) -> Iterator[tuple[ImageFile, str, TiffFloats | None]]:
    """The picture in a file's bytes, not yet decoded, its format, and what to make floats of; a fault becomes one sentence."""
    kind = kind_of_bytes(data[:140])
    if kind not in _DECODERS:
        raise InputError(f"{path}: is damaged or not a picture")
    if kind == "JPEG" and (scans := data.count(b"\xff\xda")) > _MAX_SCANS:
        raise InputError(f"{path}: has {scans} scans, more than the limit of {_MAX_SCANS}")
    try:
        floats = tiff_floats(data) if kind == "TIFF" else None
        plain = floats.data if floats else {"PNG": strip_png, "JPEG": strip_jpeg}.get(kind, bytes)(data)
        with _quiet(kind), _DECODERS[kind](io.BytesIO(plain)) as image:
            check_pixels((image.height, image.width), str(path))
            if image.height * image.width > _DENSEST.get(kind, 1 << 40) * len(data):
                raise InputError(
                    f"{path}: declares {image.width}×{image.height} pixels, too many for its {len(data)} bytes"
                )
            yield image, kind, floats
    except InputError:
        raise
    except Exception as error:  # Pillow's decoders raise many kinds; all of them mean that the file is bad
        raise InputError(f"{path}: is damaged or not a picture ({first_line(error)})") from error


@contextlib.contextmanager
def _quiet(kind: str) -> Iterator[None]:
    """Silence Pillow's warnings about odd TIFF tags. One file at a time, since threads share Python's warning filters."""
    if kind != "TIFF":
        yield
        return
    with _quiet_tiff, warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.")
        yield


def _array(image: Image.Image, palette: bool) -> NDArray[Any]:
    if image.mode == "P" and not palette:
        return np.array(image)
    if image.mode in ("P", "PA", "CMYK", "YCbCr", "LAB", "HSV", "RGBX"):
        return np.array(image.convert("RGB"))
    pixels = np.array(image)
    if pixels.ndim == 3:
        return np.ascontiguousarray(pixels[..., 0] if pixels.shape[2] == 2 else pixels[..., :3])
    if pixels.dtype == np.int32 and image.format in ("PNG", "PPM"):  # Pillow widens 16-bit PGM
        return pixels.astype(np.uint16)
    return pixels.astype(pixels.dtype.newbyteorder("="), copy=False)


def _deep_png(data: bytes, stored: str) -> NDArray[Any]:
    """Every bit of a PNG with 16 bits per colour channel, of which Pillow keeps 8; alpha is dropped."""

    def decode(layout: str) -> NDArray[Any]:
        with PngImageFile(io.BytesIO(data)) as image:
            image.tile = [(*tile[:3], layout) for tile in image.tile]  # type: ignore[misc]
            return np.array(image)

    if stored == "LA;16B":  # four bytes a pixel, as in 8-bit RGBA
        pixels: NDArray[Any] = decode("RGBA").view(">u2")[..., 0].astype(np.uint16)
    else:  # Pillow keeps the upper byte of big-endian numbers, but the lower when it takes them for little-endian
        upper, lower = (decode(stored.removesuffix("B") + order)[..., :3] for order in "BL")
        pixels = upper.astype(np.uint16) << 8 | lower
    return pixels
