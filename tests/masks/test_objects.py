"""Objects: by label and by instance, paired by id or by overlap, in pictures and in sequences."""

from __future__ import annotations

import numpy as np
import pytest

import hyperacuity as ha
from hyperacuity.errors import InputError, UsageError
from hyperacuity.masks import Frames, Protocol, collect, count_masks, protocol, tally

INSTANCE = Protocol(by="instance")


def scene(*boxes, shape=(24, 36)):
    """A label map with boxes (label, rows, columns)."""
    labels = np.zeros(shape, np.uint8)
    for label, rows, columns in boxes:
        labels[rows, columns] = label
    return labels


LEFT, RIGHT = (slice(6, 18), slice(4, 16)), (slice(6, 18), slice(16, 28))
TOUCHING = scene((1, *LEFT), (2, *RIGHT))


def test_touching_instances_are_objects_of_their_own():
    """As one mask, the two make a rectangle that has no border between them; one object too many is not seen."""
    merged = np.where(TOUCHING > 0, 1, 0)
    as_one = collect({"a": tally(merged, [TOUCHING])})
    assert as_one.mean["j"] == as_one.mean["f"] == 1.0
    assert as_one.objects == 1
    apart = collect({"a": tally(merged, [TOUCHING], INSTANCE)})
    assert (apart.objects, apart.missed, apart.extra) == (2, 1, 0)
    assert apart.mean["j"] == pytest.approx((0.5 + 0) / 2)  # twice the area of the first; the second is missed
    radius, width = INSTANCE.radius(TOUCHING.shape), INSTANCE.band_width(TOUCHING.shape)
    first = count_masks(merged == 1, TOUCHING == 1, radius, width)
    assert apart.mean["f"] == pytest.approx(first.f / 2)
    assert apart.mean["boundary_iou"] == pytest.approx(first.boundary_iou / 2)


def test_ids_matter_unless_instances_are_paired_by_overlap():
    swapped = np.choose(TOUCHING, [0, 2, 1])
    by_id, by_iou = (tally(swapped, [TOUCHING], Protocol(by="instance", pair=pair)) for pair in ("id", "iou"))
    assert (by_id.j[0], by_iou.j[0], by_iou.f[0]) == (0, 2, 2)
    assert by_id.objects == by_iou.objects == 2


def test_pairs_by_overlap_have_the_greatest_sum():
    """IoU: 1–7 is 2/4, 1–8 and 2–7 are 1/3 each, 2–8 is 0. The best single pair gives 1/2, the other two 2/3."""
    truth = np.array([[1, 1, 1, 2]])
    found = np.array([[8, 7, 7, 7]])
    one = tally(found, [truth], Protocol(by="instance", pair="iou"))
    assert one.j[0] == pytest.approx(1 / 3 + 1 / 3)
    assert (one.missed[0], one.extra[0]) == (0, 0)


@pytest.mark.parametrize("pair", ["id", "iou"])
def test_objects_that_the_truth_lacks_count_or_not(pair):
    found = scene((1, *LEFT), (2, *RIGHT), (9, slice(0, 3), slice(30, 36)))
    counted, ignored = (
        tally(found, [TOUCHING], Protocol(by="instance", pair=pair, extra=extra)) for extra in ("count", "ignore")
    )
    assert (counted.objects[0], counted.extra[0], counted.f[0]) == (3, 1, 2.0)
    assert (ignored.objects[0], ignored.extra[0], ignored.f[0]) == (2, 0, 2.0)
    assert counted.detected > ignored.detected


def test_labels_are_averaged_over_images_then_over_labels():
    perfect, poor = scene((1, *LEFT), (5, *RIGHT)), scene((1, *LEFT))
    truth = scene((1, *LEFT), (5, *RIGHT))
    by_label = Protocol(by="label")
    score = collect({"a": tally(perfect, [truth], by_label), "b": tally(poor, [poor], by_label)}, resamples=20)
    assert {label: one.images for label, one in score.labels.items()} == {1: 2, 5: 1}
    worse = collect({"a": tally(poor, [truth], by_label), "b": tally(poor, [poor], by_label)}, resamples=20)
    assert worse.labels[5].mean["j"] == 0
    assert worse.mean["j"] == 0.5  # of two labels; of three objects it would be 2/3
    assert score.mean == dict.fromkeys(score.mean, 1.0)


def test_every_label_is_an_object_where_there_is_no_background():
    truth = scene((1, *LEFT))
    assert tally(truth, [truth], protocol("labels")).objects[:3].tolist() == [1, 1, 0]
    assert tally(truth, [truth], Protocol(by="label")).objects[:3].tolist() == [0, 1, 0]


def test_ignored_pixels_are_left_out_on_both_sides():
    truth = scene((1, *LEFT), (255, slice(0, 24), slice(16, 36)))
    found = scene((1, slice(6, 18), slice(4, 30)))  # goes on where nobody knows
    assert tally(found, [truth], Protocol(ignore=255)).j[0] == 1
    assert tally(found, [truth], Protocol(by="instance", ignore=255)).f[0] == 1
    assert tally(found, [truth], INSTANCE).objects[0] == 2  # 255 is then an object like any other
    assert tally(found.astype(int), [np.where(truth == 255, -1, truth.astype(int))]).j[0] == 1  # void


def test_a_sequence_is_averaged_over_frames_then_over_objects():
    """As DAVIS does it: an object that is gone from both counts as right, and the first and last frame are left out."""
    gone = scene((2, *RIGHT))
    truth = Frames([TOUCHING, TOUCHING, gone, gone, TOUCHING])
    found = Frames([0 * TOUCHING, scene((1, *LEFT)), gone, TOUCHING, 0 * TOUCHING])
    one = tally(found, [truth], protocol("davis2017"))
    assert one.objects[0] == 2
    # Of object 1 in the frames between: right, gone and not predicted, gone but predicted. Of object 2: missed, right, right.
    assert one.j[0] == pytest.approx((1 + 1 + 0) / 3 + (0 + 1 + 1) / 3)
    assert one.f[0] == pytest.approx(4 / 3)
    whole = tally(found, [truth], Protocol(by="instance"))
    assert whole.j[0] == pytest.approx((0 + 1 + 1 + 0 + 0) / 5 + (0 + 0 + 1 + 1 + 0) / 5)
    score = collect({"a": one, "b": one}, resamples=10)
    assert score.mean["jf"] == pytest.approx(2 / 3)


def test_an_object_that_only_the_first_frame_shows_is_an_object():
    truth = Frames([TOUCHING, scene((1, *LEFT)), scene((1, *LEFT))])
    assert tally(truth, [truth], protocol("davis2017")).objects[0] == 2


def test_nothing_to_compare_counts_nothing():
    empty = np.zeros((8, 9), int)
    one = tally(empty, [empty], INSTANCE)
    assert one.objects[0] == 0
    score = collect({"a": one}, resamples=10)
    assert np.isnan(score.mean["f"])
    assert collect({"a": one, "b": tally(TOUCHING, [TOUCHING], INSTANCE)}, resamples=10).mean["f"] == 1.0


def test_pooled_pixels_are_those_of_all_objects():
    score = collect(
        {"a": tally(TOUCHING, [TOUCHING], INSTANCE), "b": tally(0 * TOUCHING, [TOUCHING], INSTANCE)}, resamples=0
    )
    assert score.pooled.j == 0.5
    assert score.mean["j"] == 0.5
    assert np.isnan(score.interval["j"]).all()


@pytest.mark.parametrize(
    ("found", "truths", "agreed", "sentence"),
    [
        (TOUCHING, [TOUCHING] * 2, Protocol(), r"^there are 2 truths of an image, expected one label map"),
        (TOUCHING, [TOUCHING.T], Protocol(), "prediction is 36×24 but truth is 24×36"),
        (Frames([TOUCHING]), [TOUCHING], Protocol(), "is a sequence, the other a single map"),
        (Frames([TOUCHING]), [Frames([])], Protocol(), r"^the prediction has 1 frames but the truth 0"),
        (Frames([TOUCHING] * 2), [Frames([TOUCHING] * 2)], protocol("davis2016"), "has 2 frames, expected at least 3"),
        (TOUCHING * 200, [TOUCHING * 300.0], protocol("labels"), "has the label 600, expected 0 to 255"),
        (TOUCHING / 3, [TOUCHING], Protocol(), "prediction: holds fractions"),
    ],
)
def test_what_cannot_be_compared_is_named(found, truths, agreed, sentence):
    with pytest.raises(InputError, match=sentence):
        tally(found, truths, agreed)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tolerance": 2}, "tolerance 2: expected a fraction"),
        ({"by": "pixel"}, "by 'pixel': expected 'binary' or 'label' or 'instance'"),
        ({"background": None}, "binary masks need a background"),
        ({"by": "label", "pair": "iou"}, "only instances can be paired"),
        ({"ignore": -3}, "ignore -3: expected a label"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, sentence):
    with pytest.raises(UsageError, match=sentence):
        Protocol(**options)


def test_arrays_and_sequences_are_evaluated_by_name():
    result = ha.evaluate(
        "masks", {"a": [TOUCHING, TOUCHING], "b": [TOUCHING, 0 * TOUCHING]}, [TOUCHING] * 2, by="instance"
    )
    assert [result.score(name).mean["f"] for name in "ab"] == [1.0, 0.5]
    judge = ha.Evaluator("masks", "davis2017")
    judge.update(Frames([TOUCHING] * 4), Frames([TOUCHING] * 4))
    assert judge.numbers() == {"f": 1.0, "one_to_one": 1.0, "boundary_iou": 1.0, "j": 1.0}
