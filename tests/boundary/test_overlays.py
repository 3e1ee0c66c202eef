"""Pictures of a tally: what is coloured as a hit or a false alarm is what is counted as one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.boundary import Protocol, Suppression, match, overlay, overlays, overlays_with_partners, tally

HIT, FALSE, MISS = 1, 2, 3


def made(seed, annotators=3, shape=(24, 40)):
    """A soft map and annotators who half agree with it and with each other."""
    rng = np.random.default_rng(seed)
    soft = np.round(rng.random(shape), 2).astype(np.float32)
    truths = [rng.random(shape) < 0.12 for _ in range(annotators)]
    return soft, truths


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    thin=st.booleans(),
    annotators=st.integers(1, 4),
    nms=st.sampled_from([None, Suppression()]),
)
def test_hits_and_false_alarms_are_those_of_the_tally(seed, thin, annotators, nms):
    soft, truths = made(seed, annotators)
    protocol = Protocol(tolerance=0.05, thin=thin, nms=nms, thresholds=9)
    pictures = overlays(soft, truths, protocol)
    counts = tally(soft, truths, protocol)
    assert (pictures == HIT).sum(axis=(1, 2)).tolist() == counts.detected_matched.tolist()
    assert (pictures == FALSE).sum(axis=(1, 2)).tolist() == (counts.detected - counts.detected_matched).tolist()


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.9])
def test_with_one_annotator_a_picture_is_the_overlay_of_a_single_matching(threshold):
    soft, (truth,) = made(3, annotators=1)
    protocol = Protocol(tolerance=0.05, thin=False, thresholds=(threshold,))
    picture = overlays(soft, [truth], protocol)[0]
    detected = soft >= np.float32(threshold)
    alone = overlay(detected, truth, match(detected, truth, 0.05))
    assert (picture == alone).all()


def test_a_true_pixel_that_one_annotator_finds_is_no_miss():
    truth = np.zeros((9, 9), bool)
    truth[4] = True
    other = np.zeros((9, 9), bool)
    other[8] = True
    soft = truth.astype(np.float32)
    picture = overlays(soft, [truth, truth | other], Protocol(thresholds=1, thin=False))[0]
    assert (picture[4] == HIT).all()
    assert (picture[8] == MISS).all()


def test_hits_name_the_annotators_in_whose_matching_they_are():
    soft, truths = made(7)
    protocol = Protocol(tolerance=0.05, thin=False, thresholds=(0.9,))
    found = overlays_with_partners(soft, truths, protocol)
    for annotator, truth in enumerate(truths):
        alone = overlays(soft, [truth], protocol)
        assert ((found.partners >> annotator & 1 == 1) == (alone == HIT)).all()
    assert ((found.partners > 0) == (found.state == HIT)).all()
    assert overlays_with_partners(soft, truths * 3, protocol).partners is None


def test_an_empty_map_misses_everything_and_chosen_levels_are_those_of_the_whole():
    soft, truths = made(5)
    protocol = Protocol(thresholds=9)
    empty = overlays(np.zeros_like(soft), truths, protocol)
    assert ((empty == MISS) == np.logical_or.reduce(truths)).all()
    assert (overlays(soft, truths, protocol, levels=[2, 7]) == overlays(soft, truths, protocol)[[2, 7]]).all()


def test_stacks_of_segmentations_have_a_picture_per_level():
    labels = np.zeros((2, 12, 12), np.int32)
    labels[0, :, 6:] = 1
    labels[1, :, 3:] = 1
    truth = np.zeros((12, 12), bool)
    truth[:, 5] = True
    protocol = Protocol(thresholds="levels", tolerance=0.06)
    pictures = overlays(list(labels), [truth], protocol)
    counts = tally(list(labels), [truth], protocol)
    assert (pictures == HIT).sum(axis=(1, 2)).tolist() == counts.detected_matched.tolist() == [12, 0]
    assert (overlays(list(labels), [truth], protocol, levels=[1]) == pictures[1:]).all()
