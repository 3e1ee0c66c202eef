"""Overlays as compact data: what the page unpacks is what was packed."""

from __future__ import annotations

import base64
import io
import zlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from hyperacuity.report.pictures import layers, slider


@settings(deadline=None, max_examples=40)
@given(arrays(np.uint8, array_shapes(min_dims=3, max_dims=3, max_side=9), elements=st.integers(0, 3)))
def test_states_come_back(unpacked, pictures):
    made = layers.states(pictures)
    assert (unpacked(made, pictures.shape) == pictures).all()
    for step, picture in enumerate(pictures):
        assert (layers.states_at(made, picture.shape, step) == picture).all()


@settings(deadline=None, max_examples=20)
@given(arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(0, 7)))
def test_strengths_come_back(unpacked, counts):
    made = layers.strength(counts, 7)
    assert (unpacked(made, counts.shape) == counts).all()
    assert (layers.strength_counts(made, counts.shape) == counts).all()


@settings(deadline=None, max_examples=20)
@given(arrays(np.bool_, (3, 7, 8)), st.sampled_from([0.0, 1.0, 1.5, 3.0]))
def test_what_is_drawn_has_the_people_who_drew_nearby(truths, within):
    made = layers.drawn(list(truths), within)
    found, who = layers.strength_counts(made, (7, 8)), []
    for y, x in np.ndindex(7, 8):
        near = []
        for truth in truths:
            ys, xs = np.nonzero(truth)
            near.append(bool(((ys - y) ** 2 + (xs - x) ** 2 <= within**2).any()))
        drawn = truths[:, y, x].any()
        assert found[y, x] == (sum(near) if drawn else 0)
        who += [sum(1 << person for person, did in enumerate(near) if did)] if drawn else []
    assert list(zlib.decompress(base64.b64decode(made["who"]))) == who


def test_more_than_eight_people_are_counted_only():
    truths = [np.eye(3, dtype=bool)] * 9
    made = layers.drawn(truths, 0)
    assert "who" not in made
    assert (layers.strength_counts(made, (3, 3)) == 9 * np.eye(3)).all()


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


def test_a_soft_map_takes_less_room_where_there_is_less():
    noise = np.random.default_rng(0).random((64, 96)).astype(np.float32)
    whole = len(layers.soft_picture(noise)["uri"])
    assert len(layers.soft_picture(noise, whole)["uri"]) == whole
    assert len(layers.soft_picture(noise, whole - 1)["uri"]) < whole
    assert layers.soft_picture(noise, 1)["uri"] == layers.soft_picture(noise, 2)["uri"]  # as small as it can be


def test_thumbnails_are_small():
    noise = np.random.default_rng(0).integers(0, 255, (321, 481, 3)).astype(np.uint8)
    small = layers.thumbnail(noise)
    assert max(Image.open(io.BytesIO(small)).size) == 192
    assert len(small) < 20_000


class TestSlider:
    def test_what_fits_keeps_every_threshold(self):
        quiet = np.zeros((99, 200, 300), np.uint8)
        quiet[3:, 50] = 1
        _, kept = slider.fitted(quiet, closeness=np.ones(99), best=7, room=2000)
        assert kept == list(range(99))

    @pytest.mark.parametrize("best", [0, 1, 13, 30])
    @pytest.mark.parametrize("room", [30_000, 10_000, 4_000, 500])
    def test_noise_loses_thresholds_but_never_the_best(self, unpacked, best, room):
        noise = np.random.default_rng(best).integers(0, 4, (31, 40, 50)).astype(np.uint8)
        assert slider.text_size(layers.states(noise)) > room
        closeness = 1 - np.abs(np.arange(31) - best) / 31
        layer, kept = slider.fitted(noise, closeness=closeness, best=best, room=room)
        assert best in kept
        assert layer["count"] == len(kept) < 31
        assert slider.text_size(layer) <= room or kept == [best]
        assert (unpacked(layer, (len(kept), 40, 50)) == noise[kept]).all()

    @settings(deadline=None, max_examples=30)
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=400), st.data())
    def test_ever_fewer_thresholds_and_those_that_matter_last(self, values, data):
        best = data.draw(st.integers(0, len(values) - 1))
        closeness = np.array(values)
        closeness[best] = 1
        found = list(slider.choices(closeness, best))
        assert all(best in kept for kept in found)
        assert all(set(b) < set(a) for a, b in pairwise(found))
        assert len(found[0]) == len(values) or len(values) > 256 >= len(found[0])
        assert found[-1] == [best]
        near = {n for n, value in enumerate(closeness) if value >= slider.NEAR}
        for kept in found[:-1]:
            assert {n for n in near if n >= best} <= set(kept)  # strict thresholds cost little
            weak = {n for n in near if n < best}
            if not weak <= set(kept):  # where near ones go, those that are farther have gone
                assert all(closeness[n] > closeness[m] for n in kept if n < best for m in weak - set(kept))

    def test_a_report_of_many_images_stays_within_its_size(self):
        budget = slider.Budget(images=200, systems=4, taken=40_000)
        taken = 0
        for want in (300_000, 10_000, 90_000, 300_000):
            used = min(want, budget.share())
            taken += used
            budget.take(used)
        assert 200 * (taken + 40_000) <= 80_000_000
        assert taken > 300_000


def test_a_scale_can_be_read_back_and_keeps_within_its_room():
    values = np.random.default_rng(0).random((60, 90))
    unknown = values > 0.9
    for room in (None, 3000):
        others = [(unknown, "#b8bac0", "unknown")]
        layer = layers.scale_layer(values, ("#000000", "#ffffff"), ends=(0, 1), others=others, room=room)
        seen = Image.open(io.BytesIO(base64.b64decode(layer["uri"].partition(",")[2])))
        assert room is None or len(layer["uri"]) <= room
        if seen.size == (90, 60):
            off = np.abs(np.asarray(seen.convert("RGB"))[..., 0] / 255 - values)[~unknown]
            assert off.max() <= 0.5 / (layer["scale"]["steps"] - 1) + 1 / 255
            assert (np.asarray(seen) == layer["scale"]["steps"])[unknown].all()
