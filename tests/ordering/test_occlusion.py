"""Occlusion boundaries: OPR and AOR by hand, by brute force, against the boundary benchmark, and on scenes."""

from __future__ import annotations

from math import cos, hypot, radians, sin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperacuity as ha
from hyperacuity import boundary
from hyperacuity.data.scenes import make_scene
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.thinning import thin
from hyperacuity.ordering import (
    Contours,
    OcclusionProtocol,
    OcclusionTally,
    collect_occlusion,
    contours,
    match_occlusion,
    occlusion_map,
    occlusion_overlays,
    ordering,
    owned_contours,
    tally_occlusion,
    tally_occlusion_humans,
)
from hyperacuity.ordering.occlusion_scores import collect_occlusion_humans

PLAIN = OcclusionProtocol(thresholds=(0.25, 0.75), nms=None, tolerance=0.0)


def column(angles, shape=(6, 9), at=4):
    """A truth with a vertical boundary, of which each pixel has an angle."""
    truth = np.full(shape, np.nan)
    truth[:, at] = angles
    return truth


def made(seed, annotators=2, shape=(16, 24)):
    """A soft map with directions, and annotators who half agree with it."""
    rng = np.random.default_rng(seed)
    soft = np.round(rng.random(shape), 2).astype(np.float32)
    angle = np.where(rng.random(shape) < 0.9, rng.choice(360, shape), np.nan).astype(float)
    truths = [
        np.where(rng.random(shape) < 0.15, rng.choice(360, shape), np.nan).astype(float) for _ in range(annotators)
    ]
    return occlusion_map(soft, angle), truths


def test_counts_by_hand():
    """Six true pixels: at 0.25 all are found, four on the right side; at 0.75 three are found, of which one is wrong."""
    truth = column([0, 0, 0, 0, 0, 0])
    soft, angle = np.zeros((6, 9)), np.zeros((6, 9))
    soft[:, 4] = [0.9, 0.9, 0.9, 0.5, 0.5, 0.5]
    angle[:, 4] = [90, 30, 91, -89, 180, 0]
    soft[0, 0] = 0.5  # a false alarm
    found = tally_occlusion(occlusion_map(soft, angle), [truth], PLAIN)
    assert found.truth.tolist() == [6, 6]
    assert found.truth_matched.tolist() == found.detected_matched.tolist() == [6, 3]
    assert found.truth_right.tolist() == found.detected_right.tolist() == [4, 2]
    assert found.detected.tolist() == [7, 3]
    score = collect_occlusion({"a": found}, resamples=0)
    assert score.opr.curve.precision.tolist() == [4 / 7, 2 / 3]
    assert score.opr.curve.recall.tolist() == [4 / 6, 2 / 6]
    assert score.accuracy.tolist() == [4 / 6, 2 / 3]
    assert score.boundary.curve.recall.tolist() == [1, 0.5]
    assert score.aor == 4 / 6  # F is 8/13 at 0.25 and 4/9 at 0.75


def test_a_detected_pixel_is_right_when_any_annotator_agrees():
    soft = np.where(np.isnan(column(0.0)), 0, 0.9)
    found = tally_occlusion(occlusion_map(soft, np.zeros((6, 9))), [column(0.0), column(180.0)], PLAIN)
    assert found.detected_right.tolist() == found.detected.tolist() == [6, 6]
    assert found.truth_right.tolist() == [6, 6]
    assert found.truth.tolist() == [12, 12]


@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 9999), thinned=st.booleans(), angle=st.sampled_from([0.0, 45.0, 90.0, 135.0]))
def test_a_sweep_counts_what_single_thresholds_count(seed, thinned, angle):
    given, truths = made(seed)
    protocol = OcclusionProtocol(tolerance=0.1, angle=angle, thin=thinned, thresholds=5, nms=None)
    found = tally_occlusion(given, truths, protocol)
    for n, level in enumerate(protocol.boundary.levels):
        pixels = given.soft >= np.float32(level)
        pixels = thin(pixels) if thinned else pixels
        right, right_by_any = 0, set()
        for truth in truths:
            pairs = boundary.match(pixels, ~np.isnan(truth), 0.1)
            for one, other in zip(pairs.detected.tolist(), pairs.truth.tolist(), strict=True):
                a, b = radians(given.angle.flat[one]), radians(truth.flat[other])
                # Two unit vectors are at most so far apart as their product is large; NaN never is.
                if cos(a) * cos(b) + sin(a) * sin(b) >= cos(radians(angle)) - 1e-12:
                    right += 1
                    right_by_any.add(one)
        assert (found.truth_right[n], found.detected_right[n]) == (right, len(right_by_any))


def matchings(left, right, allowed):
    """Every set of allowed pairs in which no pixel occurs twice."""
    if not left:
        yield []
        return
    one, *others = left
    for rest in matchings(others, right, allowed):
        yield rest
        yield from (
            [(one, other), *rest] for other in right if allowed(one, other) and other not in {b for _, b in rest}
        )


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 9999))
def test_right_pairs_are_those_of_a_best_matching_among_all(seed):
    """As many pairs as possible, then the least distance; where several matchings are best, theirs are the possible counts."""
    rng = np.random.default_rng(seed)
    angle, truth = rng.choice([0, 60, 120, 180, 240, 300], (2, 4, 5)).astype(float)
    detected, drawn = (rng.permutation(20).reshape(4, 5) < rng.integers(1, 6) for _ in range(2))
    near = 2.0
    left, right = (list(map(tuple, np.argwhere(pixels).tolist())) for pixels in (detected, drawn))
    every = list(matchings(left, right, lambda a, b: hypot(a[0] - b[0], a[1] - b[1]) <= near))
    cost = [(-len(one), sum(round(100 * hypot(a[0] - b[0], a[1] - b[1])) for a, b in one)) for one in every]
    best = [one for one, of in zip(every, cost, strict=True) if of == min(cost)]
    agree = [sum(cos(radians(angle[a] - truth[b])) > -1e-9 for a, b in one) for one in best]
    protocol = OcclusionProtocol(tolerance=near / hypot(4, 5), thin=False, thresholds=(0.5,), nms=None)
    found = tally_occlusion(occlusion_map(detected, angle), [np.where(drawn, truth, np.nan)], protocol)
    assert found.truth_matched[0] == len(best[0])
    assert found.truth_right[0] in agree
    score = collect_occlusion({"a": found}, resamples=0)
    assert score.opr.curve.precision[0] * len(left) == pytest.approx(found.truth_right[0])
    assert score.opr.curve.recall[0] * len(right) == pytest.approx(found.truth_right[0])
    assert np.isnan(score.aor) or score.aor == found.truth_right[0] / len(best[0])


@settings(deadline=None, max_examples=6)
@given(seed=st.integers(0, 9999), annotators=st.integers(1, 3), nms=st.sampled_from([None, "structured"]))
def test_at_180_degrees_the_benchmark_is_that_of_boundaries(seed, annotators, nms):
    given, truths = made(seed, annotators)
    given = occlusion_map(given.soft, np.nan_to_num(given.angle))
    protocol = OcclusionProtocol(tolerance=0.05, angle=180, thresholds=9, nms=nms)
    found = tally_occlusion(given, truths, protocol)
    drawn = [~np.isnan(truth) for truth in truths]
    plain = boundary.tally(given.soft, drawn, boundary.Protocol(tolerance=0.05, thresholds=9, nms=nms))
    assert found.truth_right.tolist() == found.truth_matched.tolist() == plain.truth_matched.tolist()
    assert found.detected_right.tolist() == found.detected_matched.tolist() == plain.detected_matched.tolist()
    assert (found.truth.tolist(), found.detected.tolist()) == (plain.truth.tolist(), plain.detected.tolist())
    ours, theirs = collect_occlusion({"a": found}, resamples=20), boundary.collect({"a": plain}, resamples=20)
    for one, other in ((ours.opr, theirs), (ours.boundary, theirs)):
        assert (one.ods, one.ap, one.ois.f, one.ois.interval) == (other.ods, other.ap, other.ois.f, other.ois.interval)


@pytest.fixture(scope="module")
def scene():
    return make_scene(1, size=(96, 64), leaves=6)


def test_the_truth_of_a_scene_has_every_side_right(scene):
    truth = contours(ordering(scene.order))
    given = occlusion_map(truth.pixels.astype(np.float32), truth.angle)
    result = ha.evaluate("occlusion", [given], [ordering(scene.order)], nms="none", progress=False)
    score = result.score()
    assert (score.opr.ods.f, score.opr.ois.f, score.aor) == (1, 1, 1)
    assert (score.accuracy == 1).all()


def test_turned_round_nothing_is_right_and_boundaries_are_as_before(scene):
    truth = contours(ordering(scene.order))
    turned = occlusion_map(truth.pixels.astype(np.float32), truth.angle + 180)
    score = collect_occlusion({"a": tally_occlusion(turned, [truth], OcclusionProtocol(nms=None))}, resamples=0)
    assert (score.opr.ods.f, score.boundary.ods.f, score.aor) == (0, 1, 0)


def test_pictures_show_what_is_counted():
    given, truths = made(5)
    protocol = OcclusionProtocol(tolerance=0.05, thresholds=5, nms=None)
    pictures, found = occlusion_overlays(given, truths, protocol), tally_occlusion(given, truths, protocol)
    assert (pictures == 1).sum(axis=(1, 2)).tolist() == found.detected_right.tolist()
    assert ((pictures == 1) | (pictures == 2)).sum(axis=(1, 2)).tolist() == found.detected.tolist()
    single = match_occlusion(given, truths[0], protocol.boundary.levels[2], protocol).outcomes()
    alone = tally_occlusion(given, truths[:1], protocol)
    assert (single.consistent, single.consistent + single.inconsistent) == (
        alone.truth_right[2],
        alone.truth_matched[2],
    )


def test_published_numbers_are_of_the_recall_of_whatever_was_found():
    """DOOBNet on BSDS ownership, as its authors stored it: the recall of OPR is that of boundaries (``eval_bdry_thr_occ_*``)."""
    threshold = (0.8, 0.81, 0.82, 0.83, 0.84)
    recall = np.array([0.655172, 0.646137, 0.634241, 0.619179, 0.600295])
    found, right = (
        np.array([0.637653, 0.644056, 0.651177, 0.658321, 0.666204]),
        np.array([0.47951, 0.485578, 0.492843, 0.500364, 0.50935]),
    )
    whole = np.full(5, 10**9)
    counts = [np.rint(part * whole).astype(np.int64) for part in (recall * right / found, recall, 1, right, found, 1)]
    protocol = OcclusionProtocol(thresholds=threshold, recall="found")
    score = collect_occlusion({"all": OcclusionTally(*counts, protocol=protocol)}, resamples=0)
    assert score.opr.ods.f == pytest.approx(0.554673, abs=2e-5)  # their stored ODS
    assert score.opr.ods.threshold == pytest.approx(0.82, abs=0.005)
    assert score.accuracy == pytest.approx([0.751991, 0.753937, 0.756849, 0.76006, 0.764556], abs=2e-6)
    defined = collect_occlusion(
        {"all": OcclusionTally(*counts, protocol=OcclusionProtocol(thresholds=threshold))}, resamples=0
    )
    assert defined.opr.ods.f < 0.5


def test_people_against_each_other_by_hand():
    """Two draw the same six pixels and agree on four; a third draws nothing."""
    first, second = column([0.0] * 6), column([0, 0, 0, 0, 180, 180])
    nobody = Contours(np.zeros((6, 9), bool), np.full((6, 9), np.nan))
    two = collect_occlusion_humans([tally_occlusion_humans([first, second])])
    assert (two.point.recall, two.point.precision, two.aor) == (4 / 6, 4 / 6, 4 / 6)
    three = collect_occlusion_humans([tally_occlusion_humans([first, second, nobody])])
    assert (three.point.recall, three.point.precision) == (8 / 24, 8 / 12)
    assert np.isnan(collect_occlusion_humans([]).point.f)
    with pytest.raises(InputError, match="needs at least two annotators, got 1"):
        tally_occlusion_humans([first])


def test_boundaries_without_an_owner_are_left_out():
    order = ordering([[2, 2, 2, 1, 1, 1]] * 4)
    flat = ordering([[2.0] * 6] * 4, [[0, 0, 0, 1, 1, 1]] * 4)
    assert owned_contours(order).count == 4
    assert (contours(flat).count, owned_contours(flat).count) == (4, 0)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: tally_occlusion(np.zeros((3, 3)), [column(0.0)]), InputError, "has no directions"),
        (lambda: tally_occlusion(occlusion_map(np.zeros((6, 9)), np.zeros((6, 9))), []), InputError, "no truth"),
        (lambda: owned_contours(np.zeros((3, 3))), InputError, "every pixel has an angle"),
        (lambda: occlusion_map(np.zeros((3, 3)), np.zeros((3, 4))), InputError, "its angles is 4×3"),
        (lambda: OcclusionProtocol(angle=200), UsageError, "expected degrees from 0 to 180"),
        (lambda: OcclusionProtocol(recall="all"), UsageError, "expected 'right' or 'found'"),
        (lambda: OcclusionProtocol(thresholds="levels"), UsageError, "a number or a tuple of numbers"),
        (lambda: OcclusionProtocol(tolerance=2), UsageError, "fraction of the image diagonal"),
    ],
)
def test_what_cannot_be_right_is_said(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
