"""The output that SBD's own MATLAB benchmark wrote for two images and one class."""

from __future__ import annotations

import numpy as np
import pytest

import hyperacuity as ha
from hyperacuity.boundary.scores import f_measure
from hyperacuity.semantic import area, interpolated_ap

NAMES = ("2008_000051", "2008_000195")


@pytest.fixture(scope="module")
def bench(shared_data):
    folder = shared_data / "sbd-bench"
    if not folder.is_dir():
        pytest.skip("needs sbd-bench, the example output of SBD's benchmark")
    return folder


@pytest.fixture(scope="module")
def result(bench):
    return ha.evaluate("semantic", bench / "indir", bench / "datadir", protocol="sbd", progress=False, workers=1)


@pytest.fixture(scope="module")
def person(result):
    return result.score().classes["person"]


def printed(values):
    """Numbers with the six digits that MATLAB's ``%g`` prints."""
    return [f"{value:.6g}" for value in values]


def stored(path):
    return [line.split() for line in path.read_text().splitlines()]


def test_best_points_equal_the_stored_ones_to_all_printed_digits(bench, person):
    ods, ois = person.ods, person.ois
    found = (ods.threshold, ods.recall, ods.precision, ods.f, ois.recall, ois.precision, ois.f)
    assert printed(found) == stored(bench / "outdir" / "eval_bdry.txt")[0][:7]


def test_the_best_point_of_each_image_equals_the_stored_one_to_all_printed_digits(bench, person):
    rows = [printed((n, p.threshold, p.recall, p.precision, p.f)) for n, p in enumerate(person.per_image, 1)]
    assert rows == stored(bench / "outdir" / "eval_bdry_img.txt")
    assert person.images == NAMES


def test_counts_equal_the_stored_ones_but_for_one_pair_more_at_five_thresholds(bench, result):
    """Truth and detected pixels are equal throughout. Where pairs differ, an exact matching finds one more than theirs."""
    more = 0
    for name in NAMES:
        counts = result.tallies("indir")[name].of_class(14)
        theirs = np.loadtxt(bench / "outdir" / f"{name}_ev1.txt").astype(int)
        assert np.array_equal(counts.truth, theirs[:, 2])
        assert np.array_equal(counts.detected, theirs[:, 4])
        extra = counts.detected_matched - theirs[:, 3]
        assert set(extra.tolist()) <= {0, 1}
        more += int(extra.sum())
    assert more == 5


def test_the_rules_of_both_areas_give_the_stored_ones_from_the_stored_counts(bench):
    counts = sum(np.loadtxt(bench / "outdir" / f"{name}_ev1.txt")[:, 1:] for name in NAMES)
    recall, precision = counts[:, 0] / counts[:, 1], counts[:, 2] / counts[:, 3]
    *_, eighth, ninth = stored(bench / "outdir" / "eval_bdry.txt")[0]
    assert printed((area(recall, precision, repeated="higher"), interpolated_ap(recall, precision))) == [eighth, ninth]
    curve = np.loadtxt(bench / "outdir" / "eval_bdry_thr.txt")
    assert np.allclose(curve[:, 1:], np.stack([recall, precision, f_measure(recall, precision)], 1), atol=1e-6)


def test_areas_from_exact_counts_are_within_two_ten_thousandths_of_the_stored_ones(bench, person):
    *_, eighth, ninth = map(float, stored(bench / "outdir" / "eval_bdry.txt")[0])
    assert person.ap == pytest.approx(eighth, abs=2e-4)
    assert person.interpolated_ap == pytest.approx(ninth, abs=2e-4)


def test_classes_without_maps_and_without_truth_are_named_and_not_averaged(result):
    score = result.score()
    assert list(score.classes) == ["person"]
    assert score.mean.ods == score.classes["person"].ods.f
    assert score.without_maps == ("boat", "bottle", "chair")
    assert len(score.without_truth) == 16
    assert result.notes[0] == "no map of 3 classes of the truth, left out of the means: boat, bottle, chair"


def test_objects_have_boundaries_of_their_own(bench, person):
    options = {"protocol": "sbd-thin", "thresholds": (0.4, 0.5), "progress": False, "workers": 1}
    objects = ha.evaluate("semantic", bench / "indir", bench / "datadir", **options)
    classes = ha.evaluate("semantic", bench / "indir", bench / "datadir", instances=False, **options)
    drawn = [result.tallies("indir")[NAMES[1]].truth[14] for result in (objects, classes)]
    assert drawn[0] > drawn[1] > 0  # three people stand side by side
    assert objects.signature != classes.signature
