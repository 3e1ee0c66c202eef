"""One image: counts against thresholding, thinning, dropping and matching one step after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt

from hyperacuity.boundary import match
from hyperacuity.errors import InputError
from hyperacuity.kernels.thinning import thin
from hyperacuity.semantic import ClassMaps, Protocol, collect, drawn_truth, masks2edges, overlays, semantic_truth, tally

LEVELS = (0.2, 0.5, 0.7)


@pytest.mark.parametrize("internal", ["count", "drop"])
@pytest.mark.parametrize("name", ["goat", "bear"])
def test_counts_are_those_of_the_steps_one_after_the_other(small, name, internal):
    image = small[name]
    soft = image.soft / np.float32(255)
    protocol = Protocol(tolerance=0.03, thresholds=LEVELS, internal=internal)
    counts = tally(soft, [semantic_truth(image.labels)], protocol)
    truth = masks2edges(image.labels, [1, 2], radius=1, thin=True)
    for c in range(2):
        far = (
            distance_transform_edt(~truth[c]) > 0.03 * np.hypot(40, 60) if truth[c].any() else np.zeros((40, 60), bool)
        )
        for t, level in enumerate(LEVELS):
            detected = thin(soft[c] >= level)
            if internal == "drop":
                detected &= ~(far & (image.labels == c + 1))
            assert counts.detected[c, t] == detected.sum()
            assert counts.matched[c, t] == match(detected, truth[c], 0.03).count
        assert counts.truth[c] == truth[c].sum()
    assert counts.shown.tolist() == [1, 1]


def test_dropping_takes_away_the_line_through_the_object_and_leaves_the_one_below(small):
    image = small["goat"]
    soft = image.soft[:1] / np.float32(255)
    states = [
        next(overlays(soft, [semantic_truth(image.labels)], Protocol(thresholds=(0.2,), internal=internal), [0]))[0]
        for internal in ("count", "drop")
    ]
    assert (states[0][15, 12:33] == 2).all()
    assert not states[1][15, 12:33].any()
    assert (states[0][36, 5:48] == 2).all()
    assert np.array_equal(states[0][36], states[1][36])


def test_an_image_without_the_class_counts_as_false_or_is_skipped(small):
    labels = small["goat"].labels  # which has no class 2
    soft = small["goat"].soft / np.float32(255)
    counted, skipped = (
        tally(soft, [semantic_truth(labels)], Protocol(thresholds=LEVELS, absent=absent))
        for absent in ("count", "skip")
    )
    assert counted.truth[1] == skipped.truth[1] == 0
    assert counted.detected[1, 0] > 0
    assert not skipped.detected[1].any()
    assert np.array_equal(counted.detected[0], skipped.detected[0])


def test_a_class_without_a_map_detects_nothing_and_says_so(small):
    soft = small["bear"].soft / np.float32(255)
    counts = tally(ClassMaps([soft[0], None]), [semantic_truth(small["bear"].labels)], Protocol(thresholds=LEVELS))
    assert counts.shown.tolist() == [1, 0]
    assert counts.truth[1] > 0
    assert not counts.detected[1].any()
    score = collect({"bear": counts}, resamples=0)
    assert score.without_maps == ("class_002",)
    assert score.mean.ods == score.classes["class_001"].ods.f


def test_touching_objects_have_a_boundary_between_them_where_objects_count(small):
    image = small["goat"]
    truth = semantic_truth(image.labels, instances=image.objects)
    between = [truth.edges(Protocol(instances=instances, truth="raw"))[0][10:25, 14:16] for instances in (True, False)]
    assert between[0].all()
    assert not between[1].any()


def test_pixels_at_the_frame_are_cut_off_both_sides(small):
    image = small["goat"]
    soft, truth = image.soft / np.float32(255), semantic_truth(image.labels)
    protocol = Protocol(thresholds=LEVELS, tolerance=0.03)
    edges = {c: one[5:-5, 5:-5] for c, one in truth.edges(protocol).items()}
    inner = np.stack([edges.get(c, np.zeros((30, 50), bool)) for c in range(2)])
    expected = tally(soft[:, 5:-5, 5:-5], [drawn_truth(inner)], protocol)
    found = tally(soft, [truth], replace(protocol, border=5))
    assert all(np.array_equal(getattr(found, name), getattr(expected, name)) for name in found.names())


def test_at_half_size_every_second_pixel_is_taken_and_maps_of_that_size_are_taken_as_they_are(small):
    image = small["goat"]
    soft, truth = image.soft / np.float32(255), semantic_truth(image.labels)
    for kind in ("thin", "raw"):
        protocol = Protocol(thresholds=LEVELS, half=True, truth=kind, radius=2)
        assert tally(soft, [truth], protocol) == tally(soft[:, 1::2, 1::2], [truth], protocol)
    raw, full = truth.edges(protocol)[0], masks2edges(image.labels, [1], radius=2)[0]
    assert np.array_equal(raw, full[1::2, 1::2])
    halved = masks2edges(image.labels[1::2, 1::2], [1], radius=2, thin=True)[0]
    assert np.array_equal(truth.edges(replace(protocol, truth="thin"))[0], halved)
    with pytest.raises(InputError, match="prediction is 60×39 but truth is 60×40: expected that size, or 30×20"):
        tally(soft[:, 1:], [truth], protocol)


def test_what_cannot_be_right_is_refused(small):
    soft, labels = small["goat"].soft / np.float32(255), small["goat"].labels
    with pytest.raises(InputError, match="the truth has a class 7, expected up to 2"):
        tally(soft, [np.where(labels > 0, 7, 0)])
    with pytest.raises(InputError, match="maps of 2 classes, expected 1"):
        tally(soft, [labels], Protocol(classes=("goat",)))
    with pytest.raises(InputError, match="needs a label map"):
        tally(soft, [drawn_truth(soft > 0)], Protocol(internal="drop"))
    with pytest.raises(InputError, match="too small to cut 20 pixels off"):
        tally(soft, [labels], Protocol(border=20))
