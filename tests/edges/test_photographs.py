"""The protocol on photographs: what the paper says of the curves over thresholds holds there (Fig. 8, section 3.2)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from hyperacuity.data import load_dataset, read_edges, read_image
from hyperacuity.detect import canny
from hyperacuity.edges import PAPER, edges_at, evaluate, measure, sweep
from hyperacuity.edges.thresholds import Sweep
from hyperacuity.maps import EdgeMap, SoftMap

PICTURES = [("rug", 0), ("rug", 3), ("uded", 1), ("uded", 5)]


class Picture(NamedTuple):
    truth: EdgeMap
    thin: SoftMap
    swept: Sweep


@pytest.fixture(scope="module", params=PICTURES, ids=lambda p: f"{p[0]} {p[1]}")
def picture(request: pytest.FixtureRequest, shared_data: Path) -> Picture:
    name, number = request.param
    dataset = load_dataset(name, shared_data)
    sample = dataset.samples[number]
    assert sample.image is not None
    truth = read_edges(sample.truths[0], inverted=dataset.inverted)
    thin = canny(read_image(sample.image)).thin
    return Picture(truth, thin, sweep(truth, thin))


def test_a_measure_of_missed_pixels_is_lowest_when_everything_is_kept(picture: Picture) -> None:
    assert picture.swept.best("omega").threshold == 0


def test_measures_of_false_pixels_are_lowest_near_the_top(picture: Picture) -> None:
    for name in PAPER:
        if measure(name).penalises == "false":
            assert picture.swept.best(name).threshold > 0.5, name


def test_measures_of_both_have_their_minimum_in_between(picture: Picture) -> None:
    for name in ("fom", "f_pinho", "sfom", "hausdorff(percent=5)", "f2d6", "sk(k=1)", "sk(k=2)", "baddeley", "psi"):
        best, curve = picture.swept.best(name), picture.swept.of(name)
        assert 0 < best.threshold < 0.9, name
        assert best.score < min(curve[0], curve[-1])


def test_phi_and_dp_accept_more_false_pixels_than_psi(picture: Picture) -> None:
    for name in ("phi", "dp"):
        assert picture.swept.best(name).threshold < picture.swept.best("psi").threshold


def test_scores_are_those_of_the_measures_threshold_by_threshold(picture: Picture) -> None:
    for t in range(0, 101, 20):
        found = dict(zip(PAPER, picture.swept.scores[:, t], strict=True))
        expected = evaluate(picture.truth, edges_at(picture.thin, picture.swept.thresholds[t]))
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
