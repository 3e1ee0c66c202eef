"""Synthetic shapes: what is true is known, and noise has the level that was asked for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from hyperacuity.edges.synthetic import add_noise, rimmed, shapes
from hyperacuity.errors import UsageError


def test_the_truth_is_the_grey_rim_between_white_and_black() -> None:
    made = shapes(200)
    assert np.unique(made.image).tolist() == [0, 0.5, 1]
    np.testing.assert_array_equal(made.truth, made.image == 0.5)
    white = made.image == 1
    np.testing.assert_array_equal(made.truth, ndimage.binary_dilation(white) & ~white)


@pytest.mark.parametrize("size", [96, 256])
def test_shapes_keep_apart_and_clear_of_the_border(size: int) -> None:
    made = shapes(size)
    for image in (made.image > 0, made.image == 1):
        assert ndimage.label(image, np.ones((3, 3)))[1] == 12
    assert not made.image[[0, -1]].any()
    assert not made.image[:, [0, -1]].any()


def test_differences_are_steepest_on_the_rim_of_a_straight_edge() -> None:
    """The masks [−1 0 1] see the whole step on the grey pixel and half of it beside it: why the rim is there."""
    white = np.zeros((9, 20))
    white[:, 10:] = 1
    row = rimmed(white).image[4]
    assert np.abs(row[2:] - row[:-2])[7:11].tolist() == [0.5, 1, 0.5, 0]


@pytest.mark.parametrize(
    ("definition", "signal"), [("variance", np.var), ("power", lambda i: np.mean(i**2)), ("psnr", lambda i: 1)]
)
@pytest.mark.parametrize("snr", [4, 3.3, -3])
def test_noise_has_the_ratio_that_was_asked_for(definition: str, signal: object, snr: float) -> None:
    image = shapes(256).image
    noise = add_noise(image, snr, definition=definition) - image  # type: ignore[arg-type]
    assert 10 * np.log10(signal(image) / noise.var()) == pytest.approx(snr, abs=0.05)  # type: ignore[operator]
    assert noise.mean() == pytest.approx(0, abs=0.01)


def test_noise_is_nearly_normal_and_white() -> None:
    noise = add_noise(np.zeros((300, 300)), 0, definition="psnr")
    for sigmas, share in ((1, 0.3173), (2, 0.0455), (3, 0.0027)):
        assert np.mean(np.abs(noise) > sigmas) == pytest.approx(share, rel=0.15)
    for neighbour in (noise[:, 1:] * noise[:, :-1], noise[1:] * noise[:-1]):
        assert neighbour.mean() == pytest.approx(0, abs=0.01)


def test_noise_is_the_same_everywhere_and_follows_its_seed() -> None:
    flat = np.zeros((4, 5, 3))
    noise = add_noise(flat, 10, definition="psnr", seed=3)
    words = [int(word).to_bytes(8, "little") for word in np.random.PCG64(3).random_raw(4 * flat.size)]
    sums = [sum(b"".join(words[n : n + 4])) for n in range(0, len(words), 4)]  # of bytes, each uniform on 0 … 255
    expected = (np.array(sums) - 32 * 127.5) / np.sqrt(32 * (256**2 - 1) / 12) * np.sqrt(0.1)
    np.testing.assert_allclose(noise.ravel(), expected, rtol=1e-14)
    assert not np.array_equal(noise, add_noise(flat, 10, definition="psnr", seed=4))
    np.testing.assert_array_equal(add_noise(flat, np.inf, definition="psnr"), flat)


def test_an_image_without_signal_has_no_ratio() -> None:
    with pytest.raises(UsageError, match="has no signal-to-noise ratio"):
        add_noise(np.full((4, 4), 0.5), 4)
    with pytest.raises(UsageError, match="at least 96"):
        shapes(32)
