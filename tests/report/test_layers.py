"""Overlays as compact data: what the page unpacks is what was packed."""

from __future__ import annotations

import base64
import io
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from hyperacuity.boundary import BoundaryTally, Protocol, collect
from hyperacuity.report import layers
from hyperacuity.report.sheets.boundary import BUDGET, slider_steps, within_budget


def unpacked(layer, shape):
    """As the page's script does it, byte by byte."""
    data = zlib.decompress(base64.b64decode(layer["data"]))
    size = shape[-2] * shape[-1]
    places = [at for at in range(size) if data[at >> 3] & (128 >> (at & 7))]
    values = data[(size + 7) // 8 :]
    if layer["kind"] == "strength":
        found = np.zeros(size, np.uint8)
        found[places] = list(values)
        return found.reshape(shape)
    stride = (layer["count"] + 3) // 4
    found = np.zeros((layer["count"], size), np.uint8)
    for n, at in enumerate(places):
        for step in range(layer["count"]):
            found[step, at] = (values[n * stride + (step >> 2)] >> (2 * (step & 3))) & 3
    return found.reshape(shape)


@settings(deadline=None, max_examples=40)
@given(arrays(np.uint8, array_shapes(min_dims=3, max_dims=3, max_side=9), elements=st.integers(0, 3)))
def test_states_come_back(pictures):
    assert (unpacked(layers.states(pictures), pictures.shape) == pictures).all()


@settings(deadline=None, max_examples=20)
@given(arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(0, 7)))
def test_strengths_come_back(counts):
    assert (unpacked(layers.strength(counts, 7), counts.shape) == counts).all()


@settings(deadline=None, max_examples=20)
@given(arrays(np.bool_, (3, 7, 8)), st.sampled_from([0.0, 1.0, 1.5, 3.0]))
def test_agreement_counts_people_who_drew_nearby(truths, within):
    found = layers.agreement(list(truths), within)
    for y, x in np.ndindex(7, 8):
        near = 0
        for truth in truths:
            ys, xs = np.nonzero(truth)
            near += bool(((ys - y) ** 2 + (xs - x) ** 2 <= within**2).any())
        assert found[y, x] == (near if truths[:, y, x].any() else 0)


def decoded(uri: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))


def test_pictures_keep_their_shape_and_large_photographs_are_made_smaller():
    assert decoded(layers.photograph(np.zeros((20, 30, 3), np.uint8))["uri"]).size == (30, 20)
    assert decoded(layers.photograph(np.zeros((100, 3200), np.uint16))["uri"]).size == (1600, 50)
    soft = np.zeros((20, 30), np.float32)
    soft[:, 10:] = 1
    shown = np.asarray(decoded(layers.soft_picture(soft)["uri"]).convert("L"))
    assert shown.shape == (20, 30)
    assert shown[:, :8].min() > 200
    assert shown[:, 12:].max() < 55


def test_thumbnails_are_small():
    noise = np.random.default_rng(0).integers(0, 255, (321, 481, 3)).astype(np.uint8)
    small = layers.thumbnail(noise)
    assert max(Image.open(io.BytesIO(small)).size) == 192
    assert len(small) < 20_000


class TestSlider:
    @staticmethod
    def score(f_peak: float):
        """Scores whose F rises to a peak and falls: detected pixels that are right with a probability that depends on t."""
        levels = Protocol().levels
        right = np.round(1000 * np.exp(-(((levels - f_peak) / 0.2) ** 2))).astype(np.int64)
        n = np.full(levels.size, 1000, np.int64)
        return collect({"a": BoundaryTally(right, n, right, n, n)}, resamples=0)

    @pytest.mark.parametrize("peak", [0.02, 0.13, 0.5, 0.98])
    def test_it_has_few_steps_with_the_best_threshold_among_them(self, peak):
        score = self.score(peak)
        steps = slider_steps(score)
        assert steps == sorted(set(steps))
        assert len(steps) <= 15
        assert min(abs(score.curve.threshold[steps] - score.ods.threshold)) < 0.006
        assert (score.curve.f[steps] >= 0.75 * score.ods.f - 1e-9).all()

    def test_a_system_that_never_hits_has_one_all_the_same(self):
        zero = np.zeros(99, np.int64)
        steps = slider_steps(collect({"a": BoundaryTally(zero, zero + 5, zero, zero + 9, zero + 9)}, resamples=0))
        assert len(steps) == 15


@pytest.mark.parametrize("best", range(15))
def test_noise_that_cannot_be_packed_loses_steps_but_never_the_best(best):
    noise = np.random.default_rng(best).integers(0, 4, (15, 200, 300)).astype(np.uint8)
    assert len(layers.states(noise)["data"]) > BUDGET
    layer, kept = within_budget(noise, best)
    assert best in kept
    assert layer["count"] == len(kept) >= 2
    assert len(layer["data"]) <= BUDGET or len(kept) <= 3


def test_what_fits_keeps_every_step():
    quiet = np.zeros((15, 200, 300), np.uint8)
    quiet[3:, 50] = 1
    assert within_budget(quiet, 7)[1] == list(range(15))
