"""Pictures of every depth and kind, against Pillow and OpenCV."""

from __future__ import annotations

import io
import struct
import zlib

import cv2
import numpy as np
import pytest
from fuzz_seeds import chunk, png
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from hyperacuity.data import DataWarning, read_image, read_order, read_soft, write_png
from hyperacuity.data.formats.images import image_size, read_grey, read_pixels
from hyperacuity.data.formats.metadata import further_pictures
from hyperacuity.errors import InputError, UsageError

SIZES = st.tuples(st.integers(1, 9), st.integers(1, 9))


def pictures(*dtypes):
    return st.sampled_from(dtypes).flatmap(lambda dtype: SIZES.flatmap(lambda size: arrays(dtype, size)))


def saved(image: Image.Image, format: str, **options) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


@given(pictures(np.bool_, np.uint8, np.uint16))
@settings(max_examples=40, deadline=None)
def test_png_gives_back_what_was_written(scratch, pixels):
    write_png(scratch / "a.png", pixels)
    back = read_pixels(scratch / "a.png")
    assert back.dtype == pixels.dtype
    assert np.array_equal(back, pixels)
    if pixels.dtype != np.bool_:
        assert np.array_equal(cv2.imread(str(scratch / "a.png"), cv2.IMREAD_UNCHANGED), pixels)


@given(SIZES.flatmap(lambda size: arrays(np.uint8, (*size, 3))))
@settings(max_examples=15, deadline=None)
def test_colour_png_gives_back_what_was_written(scratch, pixels):
    write_png(scratch / "a.png", pixels)
    assert np.array_equal(read_image(scratch / "a.png"), pixels)


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tiff", ".pgm"])
@given(pixels=pictures(np.uint8, np.uint16))
@settings(max_examples=15, deadline=None)
def test_grey_pictures_of_opencv_are_read(scratch, suffix, pixels):
    if suffix == ".bmp":
        pixels = pixels.astype(np.uint8)
    path = scratch / f"a{suffix}"
    cv2.imwrite(str(path), pixels)
    back = read_grey(path)
    assert back.dtype == pixels.dtype
    assert np.array_equal(back, pixels)


@given(pixels=SIZES.flatmap(lambda size: arrays(np.uint8, (*size, 3))))
@settings(max_examples=10, deadline=None)
def test_colour_pictures_of_opencv_are_read_as_rgb(scratch, pixels):
    for suffix in (".png", ".bmp", ".tiff", ".ppm"):
        path = scratch / f"a{suffix}"
        cv2.imwrite(str(path), pixels[..., ::-1])
        assert np.array_equal(read_image(path), pixels)


def test_jpeg_is_read_as_pillow_decodes_it(put):
    ramp = np.tile(np.arange(64, dtype=np.uint8) * 4, (16, 1))
    data = saved(Image.fromarray(ramp), "JPEG", quality=95)
    assert np.array_equal(read_image(put(data)), np.array(Image.open(io.BytesIO(data))))
    assert np.abs(read_image(put(data)).astype(int) - ramp).max() < 8


def test_a_palette_is_looked_up_except_for_labels(put):
    image = Image.fromarray(np.array([[0, 1, 2]], dtype=np.uint8), "P")
    image.putpalette([0, 0, 0, 255, 255, 255, 128, 128, 128])
    path = put(saved(image, "PNG"))
    assert read_grey(path).tolist() == [[0, 255, 128]]
    assert read_pixels(path, palette=False).tolist() == [[0, 1, 2]]


def test_alpha_is_dropped(put):
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    assert np.array_equal(read_image(put(saved(Image.fromarray(pixels, "RGBA"), "PNG"))), pixels[..., :3])
    grey = saved(Image.fromarray(pixels[..., :2].copy(), "LA"), "PNG")
    assert np.array_equal(read_image(put(grey)), pixels[..., 0])


def test_colour_with_equal_channels_is_grey_without_a_warning(put, recwarn):
    grey = np.array([[0, 51], [102, 255]], dtype=np.uint8)
    soft = read_soft(put(saved(Image.fromarray(np.dstack([grey] * 3)), "PNG")))
    assert soft == pytest.approx(np.array([[0, 0.2], [0.4, 1]]))
    assert not recwarn.list


def test_other_colour_gives_luminance_with_a_warning(put):
    red = np.zeros((2, 2, 3), dtype=np.uint8)
    red[..., 0] = 200
    with pytest.warns(DataWarning, match="colour picture"):
        assert (read_grey(put(saved(Image.fromarray(red), "PNG"))) == 60).all()  # 0.299 · 200


def test_16_bit_values_are_divided_by_65535(scratch):
    write_png(scratch / "a.png", np.array([[0, 13107], [65535, 1]], dtype=np.uint16))
    assert read_soft(scratch / "a.png") == pytest.approx(np.array([[0, 0.2], [1, 1 / 65535]]))


def test_a_pgm_of_odd_depth_is_stretched_to_its_range(put):
    assert read_soft(put(b"P5 2 1 3\n\x00\x03")).tolist() == [[0, 1]]
    assert read_soft(put(b"P2\n# drawn by hand\n3 1\n1\n0 1 0\n")).tolist() == [[0, 1, 0]]
    assert read_pixels(put(b"P4 2 1\n\x40")).dtype == np.bool_


def test_float_tiff_keeps_its_values(put):
    values = np.array([[0.25, 0.5], [1, 0]], dtype=np.float32)
    assert np.array_equal(read_soft(put(saved(Image.fromarray(values), "TIFF"))), values)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("packed", [{}, {"compression": "zlib"}, {"tile": (16, 16)}], ids=["plain", "deflate", "tiles"])
def test_tiffs_hold_floats_of_any_depth(kind, order, packed, scratch):
    tifffile = pytest.importorskip("tifffile")
    values = np.random.default_rng(3).normal(size=(37, 53)).astype(kind)
    tifffile.imwrite(scratch / "depth.tif", values, byteorder=order, **packed)
    if order == ">" and kind != "f2" and "compression" in packed:  # Pillow swaps their bytes once too often
        with pytest.raises(InputError, match=r"big-endian numbers of .* save them little-endian"):
            read_pixels(scratch / "depth.tif")
        return
    found = read_pixels(scratch / "depth.tif")
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, values)
    assert image_size(scratch / "depth.tif") == (37, 53)
    np.testing.assert_array_equal(read_order(scratch / "depth.tif"), values.astype(np.float32))


def test_a_tiff_of_floats_with_a_predictor_is_refused_by_a_sentence(put):
    tifffile = pytest.importorskip("tifffile")
    file = io.BytesIO()
    tifffile.imwrite(file, np.ones((4, 5)))
    data = bytearray(file.getvalue())
    (start,) = struct.unpack_from("<I", data, 4)
    entries = range(start + 2, start + 2 + 12 * struct.unpack_from("<H", data, start)[0], 12)
    at = next(at for at in entries if struct.unpack_from("<H", data, at)[0] == 0x0131)  # the program's name
    struct.pack_into("<HHIHH", data, at, 317, 3, 1, 3, 0)
    with pytest.raises(InputError, match="floats of 64 bits with a predictor, or turned; save them as 32 bits"):
        read_pixels(put(bytes(data)))


def deep_png(pixels: np.ndarray, filters: list[int]) -> bytes:
    """A 16-bit colour PNG whose rows use the given filters; the encoder is the specification's, byte by byte."""
    height, width, channels = pixels.shape
    raw, step = pixels.astype(">u2").tobytes(), 2 * channels
    rows = [raw[i * width * step : (i + 1) * width * step] for i in range(height)]
    out, above = b"", bytes(width * step)
    for row, kind in zip(rows, filters, strict=True):
        out += bytes([kind])
        for x, value in enumerate(row):
            a, b, c = row[x - step] if x >= step else 0, above[x], above[x - step] if x >= step else 0
            nearest = min((a, b, c), key=lambda v: abs(a + b - c - v))  # min keeps the first of equals
            out += bytes([(value - (0, a, b, (a + b) // 2, nearest)[kind]) % 256])
        above = row

    colour = {2: 4, 3: 2, 4: 6}[channels]
    head = struct.pack(">IIBBBBB", width, height, 16, colour, 0, 0, 0)
    packed = zlib.compress(out)
    half = len(packed) // 2  # two chunks, since real files have several
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [chunk(b"IHDR", head), chunk(b"IDAT", packed[:half]), chunk(b"IDAT", packed[half:]), chunk(b"IEND", b"")]
    )


@given(
    st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(2, 4)).flatmap(lambda shape: arrays(np.uint16, shape)),
    st.lists(st.integers(0, 4), min_size=6, max_size=6),
)
@settings(max_examples=40, deadline=None)
def test_16_bit_colour_png_keeps_all_its_bits_under_every_filter(put, pixels, filters):
    path = put(deep_png(pixels, filters[: len(pixels)]))
    expected = pixels[..., 0] if pixels.shape[2] == 2 else pixels[..., :3]
    assert np.array_equal(read_image(path), expected)
    if pixels.shape[2] > 2:
        decoded = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        assert np.array_equal(read_image(path), decoded[..., 2::-1])


@given(
    st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(2, 4)).flatmap(lambda shape: arrays(np.uint16, shape))
)
@settings(max_examples=30, deadline=None)
def test_interlaced_16_bit_colour_png_keeps_all_its_bits(put, pixels):
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    parts = [pixels[y::down, x::across] for y, x, down, across in passes]  # Adam7
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for part in parts if part.size for row in part)
    colour = {2: 4, 3: 2, 4: 6}[pixels.shape[2]]
    path = put(png(struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 16, colour, 0, 0, 1), rows))
    assert np.array_equal(read_image(path), pixels[..., 0] if pixels.shape[2] == 2 else pixels[..., :3])


def test_a_damaged_16_bit_colour_png_is_refused(put):
    for channels in (2, 3, 4):
        data = deep_png(np.full((8, 8, channels), 40000, dtype=np.uint16), [4] * 8)
        for length in range(30, len(data) - 24, 5):
            with pytest.raises(InputError, match="damaged"):
                read_image(put(data[:length]))
        unknown_filter = png(data[16:29], bytes([5]) + bytes(8 * 2 * channels) + bytes(7 * (1 + 8 * 2 * channels)))
        with pytest.raises(InputError, match="damaged"):
            read_image(put(unknown_filter))
        wrong_checksum = bytearray(data)
        wrong_checksum[data.index(b"IDAT") + 5] ^= 1
        with pytest.raises(InputError, match="damaged"):
            read_image(put(bytes(wrong_checksum)))


def test_other_deep_colour_is_read_at_8_bits_with_a_warning(put, scratch):
    cv2.imwrite(str(scratch / "deep.tiff"), np.full((2, 2, 3), 0x8040, dtype=np.uint16))
    for data in ((scratch / "deep.tiff").read_bytes(), b"P6 1 1 65535\n" + b"\x80\x40" * 3):
        with pytest.warns(DataWarning, match="upper 8"):
            assert (read_image(put(data)) == 0x80).all()


def test_what_png_cannot_hold_is_refused(scratch):
    for pixels in (
        np.zeros((2, 2)),
        np.zeros((2, 2, 3), np.uint16),
        np.zeros((2, 2, 2), np.uint8),
        np.zeros(3, np.uint8),
    ):
        with pytest.raises(InputError, match="cannot write"):
            write_png(scratch / "a.png", pixels)


def test_a_folder_that_cannot_be_written_to_is_named(scratch):
    with pytest.raises(UsageError, match=r"nowhere.*cannot be written"):
        write_png(scratch / "nowhere" / "a.png", np.zeros((2, 2), np.uint8))


def as_file(kind, orientation=None, **more):
    """A picture of 2×3 pixels as Pillow writes it, with an orientation in its metadata."""
    exif = Image.Exif()
    if orientation is not None:
        exif[0x0112] = orientation
    file = io.BytesIO()
    Image.fromarray(np.full((2, 3), 200, np.uint8)).save(file, kind, exif=exif, **more)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
@pytest.mark.parametrize("orientation", [3, 6, 8])
def test_a_picture_that_asks_to_be_turned_is_read_as_stored_and_named(put, kind, orientation):
    path = put(as_file(kind, orientation))
    with pytest.warns(DataWarning, match=rf"asks to be turned \(EXIF orientation {orientation}\)"):
        assert read_image(path).shape == (2, 3)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF"])
def test_nothing_is_said_of_a_picture_that_is_the_right_way_up(put, kind, recwarn):
    for orientation in (None, 1):
        assert read_image(put(as_file(kind, orientation))).shape == (2, 3)
    assert not recwarn.list


def test_a_tiff_is_turned_as_its_tag_asks(put, recwarn):
    assert read_image(put(as_file("TIFF", 6))).shape == (3, 2)
    assert not recwarn.list


@pytest.mark.parametrize("kind", ["TIFF", "PNG"])
def test_further_pages_and_frames_are_named(put, kind):
    other = Image.fromarray(np.zeros((2, 3), np.uint8))
    path = put(as_file(kind, save_all=True, append_images=[other, other]))
    with pytest.warns(DataWarning, match="holds further pictures; only the first is read"):
        assert read_image(path).tolist() == [[200] * 3] * 2


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("pages", [1, 2])
def test_further_pages_are_counted_in_large_files_too(order, big, pages):
    tifffile = pytest.importorskip("tifffile")
    file = io.BytesIO()
    pixels = np.full((pages, 20, 30), 200, np.uint8)
    tifffile.imwrite(file, pixels, bigtiff=big, byteorder=order, photometric="minisblack", metadata=None)
    assert file.getvalue()[2:4].strip(b"\0") == (b"+" if big else b"*")
    assert further_pictures(file.getvalue(), "TIFF") == (pages > 1)
