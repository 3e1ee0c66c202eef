"""The sweep over thresholds counts what matching every threshold by itself would count."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter
from skimage.morphology import thin as thin_by_skimage

from hyperacuity.boundary import BoundaryTally, Protocol, Suppression, match, tally, tally_humans, tolerance_in_pixels
from hyperacuity.data.scenes import make_scene
from hyperacuity.errors import InputError
from hyperacuity.kernels.suppression import suppress_structured


def image(seed, shape=(40, 70), annotators=3, kind="smooth"):
    """A soft map and several truths that have something to do with it."""
    rng = np.random.default_rng(seed)
    field = gaussian_filter(rng.random(shape), 2)
    soft = np.exp(-(((field - 0.5) / 0.01) ** 2)).astype(np.float32)
    if kind == "noise":
        soft = rng.random(shape).astype(np.float32)
    truths = [thin_by_skimage(np.abs(field - 0.5 + 0.01 * rng.normal()) < 0.01) for _ in range(annotators)]
    return soft, truths


def counted_one_by_one(soft, truths, protocol):
    """Berkeley's loop: threshold, thin, match with each annotator."""
    rows = []
    for level in protocol.levels:
        detected = soft >= np.float32(level)
        if protocol.thin:
            detected = thin_by_skimage(detected)
        pixels = tolerance_in_pixels(soft.shape, protocol.tolerance)
        matches = [match(detected, truth, tolerance_px=pixels) for truth in truths]
        matched = {index for found in matches for index in found.detected.tolist()}
        pairs = sum(found.count for found in matches)
        rows.append(
            (
                pairs,
                sum(int(t.sum()) for t in truths),
                len(matched),
                int(detected.sum()),
                int(detected.sum()) * len(truths),
                int((soft >= np.float32(level)).sum()),
            )
        )
    return BoundaryTally(*np.array(rows).T, protocol=protocol)


@given(
    st.integers(0, 2**32 - 1),
    st.booleans(),
    st.sampled_from(["smooth", "noise"]),
    st.sampled_from([0.0, 0.01, 0.03, 0.06]),
)
@settings(max_examples=20, deadline=None)
def test_equals_matching_every_threshold_by_itself(seed, thin, kind, tolerance):
    soft, truths = image(seed, kind=kind)
    protocol = Protocol(thresholds=11, thin=thin, tolerance=tolerance)
    assert tally(soft, truths, protocol, checked=True) == counted_one_by_one(soft, truths, protocol)


def test_pixels_that_thinning_takes_away_give_their_partners_back():
    # Thick blobs: a lower threshold moves the centre line, so most steps delete pixels as well as insert them.
    soft = gaussian_filter(np.random.default_rng(1).random((60, 90)), 3).astype(np.float32)
    soft = (soft - soft.min()) / (soft.max() - soft.min())
    truths = [thin_by_skimage(soft > level) for level in (0.4, 0.6)]
    protocol = Protocol(thresholds=25, tolerance=0.03)
    assert tally(soft, truths, protocol, checked=True) == counted_one_by_one(soft, truths, protocol)


def test_does_not_depend_on_which_other_thresholds_are_swept():
    soft, truths = image(4)
    many = tally(soft, truths, Protocol(thresholds=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)))
    few = tally(soft, truths, Protocol(thresholds=(0.2, 0.5)))
    np.testing.assert_array_equal(many.detected_matched[[1, 4]], few.detected_matched)
    np.testing.assert_array_equal(many.truth_matched[[1, 4]], few.truth_matched)


def test_the_order_of_annotators_changes_nothing():
    soft, truths = image(5, annotators=4)
    assert tally(soft, truths) == tally(soft, truths[::-1])


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_same_bytes_for_any_number_of_threads(threads):
    images = [image(seed) for seed in range(6)]
    with ThreadPoolExecutor(threads) as pool:
        packed = list(pool.map(lambda one: tally(*one).pack(), images))
    assert packed == [tally(*one).pack() for one in images]


def test_a_prediction_equal_to_the_truth_is_perfect_at_every_threshold():
    truth = image(6)[1][0]
    counts = tally(truth.astype(np.float32), [truth])
    assert (counts.truth_matched == truth.sum()).all()
    assert (counts.detected_matched == counts.detected).all()


def test_empty_predictions_and_empty_truths_count_nothing():
    nothing = np.zeros((9, 9), dtype=bool)
    counts = tally(nothing.astype(np.float32), [nothing, np.eye(9, dtype=bool)], Protocol(thresholds=3))
    assert counts.truth.tolist() == [9, 9, 9]
    assert not counts.truth_matched.any()
    assert not counts.detected.any()


def test_thresholds_are_reached_by_equality():
    soft = np.full((3, 3), 51 / 255, np.float32)
    counts = tally(soft, [np.ones((3, 3), bool)], Protocol(thresholds=(0.2, 0.2 + 1e-3), thin=False))
    assert counts.detected.tolist() == [9, 0]


def test_the_worked_example_of_label_strength():
    # Hou et al. (2013), worked by hand: a strip of eight pixels and three annotators, exact positions.
    truths = [
        np.array([row], bool) for row in ([1, 1, 0, 1, 0, 0, 0, 0], [1, 0, 0, 1, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0])
    ]
    detected = np.array([[1, 1, 1, 1, 0, 0, 1, 0]], np.float32)
    counts = tally(detected, truths, Protocol(tolerance=0, thresholds=(0.5,), thin=False))
    assert (counts.truth_matched[0], counts.truth[0]) == (6, 7)
    assert (counts.detected_matched[0], counts.detected[0]) == (3, 5)
    assert (counts.truth_matched[0], counts.detected_shown[0]) == (6, 15)


def test_suppression_comes_before_thresholds():
    soft, truths = image(7)
    nms = Suppression(smooth=0, radius=2, round8=True)
    by_hand = tally(suppress_structured(soft, smooth=0, radius=2, round8=True), truths)
    suppressed, as_it_is = tally(soft, truths, Protocol(nms=nms)), tally(soft, truths)
    assert suppressed.pack() == by_hand.pack()
    assert as_it_is.pack() != by_hand.pack()


def test_a_stack_of_segmentations_is_matched_level_by_level():
    scene = make_scene(2, size=(96, 64), leaves=6)
    truths = [annotation.boundaries for annotation in scene.annotators]
    finest, coarsest = scene.annotators[0].labels, scene.annotators[-1].labels
    counts = tally([finest, coarsest], truths, Protocol(thresholds="levels"))
    assert counts.detected.tolist() == [int(truths[0].sum()), int(truths[-1].sum())]
    assert counts.detected_matched.tolist() == counts.detected.tolist()


def test_a_stack_where_thresholds_are_agreed_is_refused():
    with pytest.raises(InputError, match="stack of segmentations"):
        tally([np.zeros((4, 4), np.int32)], [np.eye(4, dtype=bool)])


def test_people_are_held_against_the_others():
    one = np.zeros((20, 20), bool)
    one[5] = True
    other = one.copy()
    other[15] = True
    counts = tally_humans([one, other])
    # One as detector: 20 of the other's 40 found, all 20 right. The other as detector: 20 of 20 found, 20 of 40 right.
    assert (int(counts.truth_matched[0]), int(counts.truth[0])) == (40, 60)
    assert (int(counts.detected_matched[0]), int(counts.detected[0])) == (40, 60)


def test_one_annotator_alone_has_no_human_performance():
    with pytest.raises(InputError, match="at least two annotators, got 1"):
        tally_humans([np.eye(4, dtype=bool)])


def test_a_prediction_of_another_size_is_refused_with_both_sizes():
    with pytest.raises(InputError, match="prediction is 5×4 but truth is 4×4"):
        tally(np.zeros((4, 5), np.float32), [np.eye(4, dtype=bool)])


def test_a_tally_of_99_thresholds_is_small():
    assert len(tally(*image(8)).pack()) < 4096
