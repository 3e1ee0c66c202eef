"""Detectors on trial: conditions change what they should, and the best of each is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage

from hyperacuity.edges import shapes, sweep
from hyperacuity.errors import InputError, UsageError
from hyperacuity_papers.abdulrahman2017.edge_trials import (
    StudyPicture,
    blurred,
    collect_trials,
    noisy,
    semi_automatic,
    trial,
    unchanged,
)

SHAPES = shapes(96)
PICTURE = StudyPicture("shapes", SHAPES.image, SHAPES.truth)


def slope(image: np.ndarray) -> np.ndarray:
    """A detector without suppression: good enough to be swept."""
    found = ndimage.gaussian_gradient_magnitude(image, 1.0)
    return (found / found.max()).astype(np.float32)


def rim(image: np.ndarray) -> np.ndarray:
    """A detector that knows what it is looking for: pixels near half of white."""
    return np.where(np.abs(image - 0.5) < 0.4, 1 - np.abs(image - 0.5), 0).astype(np.float32)


def test_a_trial_is_a_sweep_per_condition_and_detector() -> None:
    conditions = {"as it is": unchanged, "blurred": blurred(1.5)}
    found = trial(PICTURE, {"slope": slope, "rim": rim}, conditions, "psi, pm")
    expected = sweep(PICTURE.truth, slope(ndimage.gaussian_filter(PICTURE.image, 1.5)), "psi, pm")
    np.testing.assert_array_equal(found.sweeps[1][0].scores, expected.scores)
    study = collect_trials([found, replace(found, picture="again")])
    assert study.minimum.shape == (2, 2, 2, 2)
    assert study.minimum[0, 1, 0, 0] == expected.best("psi").score
    assert study.threshold[1, 1, 0, 1] == expected.best("pm").threshold
    assert study.mean[0, 1, 0] == 0  # the rim is found exactly where nothing is disturbed
    assert len(study.rows()) == 16
    assert study.rows()[0].keys() == {"picture", "condition", "detector", "measure", "score", "threshold"}


def test_intervals_hold_the_mean_and_shrink_to_it_when_pictures_agree() -> None:
    one = trial(PICTURE, {"slope": slope}, {f"{s}": noisy(40, seed=s) for s in (0,)}, "psi")
    other = trial(PICTURE, {"slope": slope}, {"0": noisy(80)}, "psi")
    low, high = collect_trials([one, other]).interval()[0, 0, 0]
    assert low < collect_trials([one, other]).mean[0, 0, 0] < high
    assert np.ptp(collect_trials([one, one]).interval()) == 0
    with pytest.raises(InputError, match="nothing to collect"):
        collect_trials([])


def test_noise_and_blur_change_the_image_and_leave_the_truth() -> None:
    rough, soft = noisy(25.5)(PICTURE), blurred(2)(PICTURE)
    assert (rough.image - PICTURE.image).std() == pytest.approx(0.1, rel=0.02)
    assert np.abs(np.diff(soft.image)).max() < np.abs(np.diff(PICTURE.image)).max() / 2
    assert rough.truth is soft.truth is PICTURE.truth
    np.testing.assert_array_equal(noisy(0)(PICTURE).image, PICTURE.image)
    np.testing.assert_array_equal(blurred(0)(PICTURE).image, PICTURE.image)
    for wrong in (noisy, blurred):
        with pytest.raises(UsageError, match="expected 0 or more"):
            wrong(-1)


def test_blur_does_not_mix_colours() -> None:
    colour = np.zeros((9, 9, 3))
    colour[..., 0] = 1
    np.testing.assert_allclose(blurred(2)(StudyPicture("red", colour, np.zeros((9, 9), bool))).image, colour)


def test_a_redrawn_truth_keeps_found_edges_near_the_hand_and_the_hand_where_none_is_found() -> None:
    hand = np.zeros((20, 30), bool)
    hand[:, 10] = True
    found = np.zeros_like(hand)
    found[:12, 12] = True  # two pixels beside the hand's line, and not all the way down
    found[:, 25] = True  # something the hand left out
    redrawn = semi_automatic(hand, found, radius=2)
    assert redrawn[:12, 12].all()
    assert not redrawn[:, 25].any()
    assert not redrawn[:11, 10].any()
    assert redrawn[14:, 10].all()
    np.testing.assert_array_equal(semi_automatic(hand, np.zeros_like(hand)), hand)
    assert not semi_automatic(np.zeros_like(hand), found).any()
