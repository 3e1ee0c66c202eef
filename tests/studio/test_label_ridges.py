"""Candidates of detectors by name, on the gradient's ridges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.data import write_png
from hyperacuity.data.scenes import make_scene
from hyperacuity.edges import psi
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label.map import TOP, EdgeCandidates, find_candidates
from hyperacuity.studio.label.sources import LAST, detector_source, known_sources, net_source, on_ridges, sources_of


def random_candidates(seed: int, share: float) -> EdgeCandidates:
    rng = np.random.default_rng(seed)
    survives = rng.random((9, 12)) < share
    level = np.where(survives, rng.integers(round(LAST * TOP) + 1, TOP, survives.shape), 0).astype(np.uint16)
    return EdgeCandidates(level, survives, TOP // 2)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 999), share=st.sampled_from([0.0, 0.1, 0.5]), other=st.sampled_from([0.0, 0.2, 0.9]))
def test_candidates_move_by_a_pixel_at_most_and_keep_their_strength(seed, share, other):
    found, gradient = random_candidates(seed, share), random_candidates(seed + 1, other)
    moved = on_ridges(found, gradient)
    strong = moved.survives & (moved.level > LAST * TOP)
    for row, column in np.argwhere(strong):
        around = found.level[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]
        assert moved.level[row, column] in around, "someone nearby had just this strength"
    for row, column in np.argwhere(found.survives):
        near = (slice(max(0, row - 1), row + 2), slice(max(0, column - 1), column + 2))
        assert (moved.level[near] >= found.level[row, column]).any(), "no candidate is lost"
        if gradient.survives[near].any():
            steepest = np.where(gradient.survives[near], gradient.level[near], 0).argmax()
            assert moved.level[near].flat[steepest] >= found.level[row, column]
    assert (moved.survives >= gradient.survives).all()
    assert moved.start == found.start


def test_a_detector_is_named_with_its_options_and_nothing_else_is_one(tmp_path):
    scene = make_scene(11, size=(120, 80), leaves=4)
    write_png(tmp_path / "one.png", scene.image)
    (canny, again) = sources_of(["canny( sigma = 2 )", "canny(sigma=2.0)"])[0], detector_source("canny(sigma=2)")
    assert (canny.title, canny.id) == ("canny(sigma=2.0)", again.id) != ("canny", detector_source("canny").id)
    assert canny.settings["detector"] == "canny(sigma=2.0)"
    found = canny.find(items_of([tmp_path / "one.png"])[item_id("one")])
    assert found.above(found.start).any()


def test_ridges_place_what_a_detector_found_more_precisely(tmp_path):
    """On a made scene, whose boundaries are known to the pixel; best of all thresholds for each."""
    pytest.importorskip("onnxruntime", reason='needs the network: pip install ".[see]"')
    scene = make_scene(11, size=(240, 160), leaves=12)
    write_png(tmp_path / "one.png", scene.image)
    item = items_of([tmp_path / "one.png"])[item_id("one")]

    def best(candidates):
        levels = [round(TOP * (slider / 20) ** 2) for slider in range(4, 16)]
        return min(psi(scene.boundaries, candidates.above(level)) for level in levels)

    gradient = best(find_candidates(scene.image))
    plain, moved = (best(net_source(moved=one).find(item)) for one in (False, True))
    assert moved < plain < gradient


def test_logs_of_studios_without_ridges_can_be_replayed():
    ids = known_sources([]).keys()
    assert {net_source(moved=False).id, net_source().id} <= ids
    assert net_source().id == f"{net_source(moved=False).id}-ridges"
