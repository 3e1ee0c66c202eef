"""Labels are replayed: candidates, a threshold, and pixels that actions have decided."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import masks
from hyperacuity.kernels.thinning import thin
from hyperacuity.studio.actions import in_effect
from hyperacuity.studio.label.map import (
    ACTIONS,
    ADDING,
    TOP,
    Action,
    are_runs,
    checksum,
    find_candidates,
    pixels,
)

from .labelling import replay

SHAPE = (8, 9)


@pytest.fixture(scope="module")
def photo():
    return make_scene(3, size=(96, 64), leaves=6).image


class TestCandidates:
    def test_they_are_the_suppressed_gradient_of_the_masks(self, photo):
        found, thin = find_candidates(photo), masks(photo).thin
        assert np.array_equal(found.survives, thin > 0)
        assert np.abs(found.level[found.survives] / TOP - thin[found.survives]).max() < 1 / TOP
        assert found.level.max() == TOP

    def test_a_step_of_grey_pixels_is_found_where_the_paper_wants_it(self):
        """Abdulrahman et al. (2017), figure 5: shapes with a rim of grey, whose edge is the grey."""
        shape = np.zeros((20, 20), np.uint8)
        shape[4:16, 4:16] = 128
        shape[5:15, 5:15] = 255
        rim = shape == 128
        found = find_candidates(shape)
        corners = np.zeros_like(rim)
        corners[np.ix_([4, 15], [4, 15])] = True
        assert np.array_equal(found.above(found.start) & ~corners, rim & ~corners)

    def test_a_higher_threshold_leaves_fewer(self, photo):
        found = find_candidates(photo)
        counts = [found.above(level).sum() for level in (1, 1000, 10_000, TOP)]
        assert counts == sorted(counts, reverse=True)
        assert counts[0] == found.survives.sum()
        assert counts[-1] >= 1

    @pytest.mark.parametrize(
        "image", [np.full((5, 7), 9, np.uint8), np.zeros((1, 1), np.uint8), np.zeros((4, 4, 3), np.uint16)]
    )
    def test_a_flat_image_has_none(self, image):
        found = find_candidates(image)
        assert not found.survives.any()
        assert not replay(found, [])[0].any()

    def test_sixteen_bits_count(self):
        faint = np.zeros((6, 6), np.uint16)
        faint[:, 3:] = 40  # not one step of 8 bits
        assert find_candidates(faint).survives.any()


def scripts():
    sets = st.sets(st.integers(0, SHAPE[0] * SHAPE[1] - 1), min_size=1, max_size=12)
    drawn = st.builds(
        lambda kind, chosen: (kind, chosen, None), st.sampled_from([k for k in ACTIONS if k != "threshold"]), sets
    )
    moved = st.builds(lambda level: ("threshold", set(), level), st.integers(1, TOP))
    return st.lists(drawn | moved, max_size=8)


def runs_of(chosen):
    mask = np.zeros(SHAPE[0] * SHAPE[1] + 2, np.int8)
    mask[[pixel + 1 for pixel in chosen]] = 1
    starts, ends = np.flatnonzero(np.diff(mask) == 1), np.flatnonzero(np.diff(mask) == -1)
    return tuple(int(n) for pair in zip(starts, ends - starts, strict=True) for n in pair)


@settings(max_examples=60, deadline=None)
@given(scripts(), st.integers(0, 2**32 - 1))
def test_the_last_word_on_a_pixel_counts_and_the_threshold_decides_the_rest(script, seed):
    image = np.random.default_rng(seed).integers(0, 256, SHAPE, np.uint8)
    candidates = find_candidates(image)
    edges, threshold = replay(candidates, [Action(kind, runs_of(chosen), level) for kind, chosen, level in script])
    assert threshold == next((level for kind, _, level in reversed(script) if kind == "threshold"), candidates.start)
    for pixel, edge in enumerate(edges.ravel()):
        words = [kind in ADDING for kind, chosen, _ in script if pixel in chosen]
        free = candidates.survives.ravel()[pixel] and candidates.level.ravel()[pixel] >= threshold
        assert edge == (words[-1] if words else free)


@given(st.sets(st.integers(0, 71)))
def test_runs_hold_the_pixels_that_they_were_made_of(chosen):
    runs = runs_of(chosen)
    assert pixels(runs).tolist() == sorted(chosen)
    assert are_runs(runs, 72)


@pytest.mark.parametrize(
    "runs",
    [[0], [0, 0], [-1, 1], [71, 2], [0, 73], [5, 2, 6, 1], [5, 1, 2, 1], [True, 1], [0.0, 1], ["0", 1], [2**70, 1]],
)
def test_lists_that_are_no_runs_are_told(runs):
    assert not are_runs(runs, 72)


def test_undo_goes_back_to_the_beginning_and_a_new_action_forgets_what_was_undone():
    assert in_effect(["add"] * 3 + ["undo"] * 3) == ([], [2, 1, 0])
    assert in_effect(["add"] * 3 + ["undo"] * 3 + ["redo"] * 2) == ([0, 1], [2])
    assert in_effect(["add", "undo", "done", "path", "done"]) == ([3], [])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.9))
def test_what_is_written_is_one_pixel_wide_and_hangs_together_as_before(seed, density):
    drawn = np.random.default_rng(seed).random((12, 17)) < density
    edges = thin(drawn)
    assert np.array_equal(thin(edges), edges)
    assert not (edges & ~drawn).any()
    pieces = np.ones((3, 3))
    assert ndimage.label(edges, pieces)[1] == ndimage.label(drawn, pieces)[1]


def test_the_checksum_is_that_of_the_bytes():
    edges = np.eye(4, dtype=bool)
    assert checksum(edges) == zlib.crc32(bytes([1, 0, 0, 0, 0] * 3 + [1]))
    assert checksum(edges.T[:, ::-1]) == zlib.crc32(bytes([0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0]))
