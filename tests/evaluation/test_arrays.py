"""Whatever the shape, the maker or the nesting: the same image gives the same arrays, and what is ambiguous is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.errors import InputError
from hyperacuity.kinds import kind_of
from hyperacuity.kinds.arrays import as_array, plane, rank
from hyperacuity.ordering import Partition, ordering
from hyperacuity.tasks import task

few = settings(deadline=None, max_examples=60)
BOUNDARY, REGIONS, VIEWS, STRENGTH = (task(name) for name in ("boundary", "regions", "views", "strength"))


def samples(task, prediction, truths, extras):
    """The images that a task takes from arrays, under its own protocol."""
    return kind_of(task).from_arrays(prediction, truths, extras, task.protocol())


class Shown:
    """An array of another library, which numpy may ask for its numbers."""

    def __init__(self, array):
        self._array, self.shape = array, array.shape

    def __array__(self, dtype=None, copy=None):
        return self._array


class Exchanged:
    """An array of another library, which has nothing but DLPack."""

    def __init__(self, array):
        self._array, self.shape = array, array.shape

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


MAKERS = [np.asarray, Shown, Exchanged, lambda array: array.tolist()]
maker = st.sampled_from(MAKERS)
height, width, several = st.integers(5, 9), st.integers(5, 9), st.integers(2, 4)


def numbers(*shape):
    """An array in which no two values are alike, so that no axis can be mistaken for another."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def same(found, expected):
    """Compare samples with (prediction, truths) pairs."""
    assert len(found) == len(expected)
    for one, (prediction, truths) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.prediction, prediction)
        assert len(one.truths) == len(truths)
        for truth, wanted in zip(one.truths, truths, strict=True):
            np.testing.assert_array_equal(truth, wanted)


@few
@given(height, width, several, maker, maker, st.data())
def test_one_image_in_every_shape(h, w, k, make, make_truth, data):
    soft, truths = numbers(h, w), -numbers(k, h, w)
    shape = data.draw(st.sampled_from([(h, w), (1, h, w), (1, 1, h, w), (h, w, 1), (1, h, w, 1)]))
    one = data.draw(st.sampled_from([(h, w), (1, h, w), (1, 1, h, w), (h, w, 1)]))
    prediction = make(soft.reshape(shape))
    same(samples(BOUNDARY, prediction, make_truth(truths[0].reshape(one)), {}), [(soft, truths[:1])])
    every = data.draw(
        st.sampled_from(
            [
                truths,
                truths[:, None],
                truths[None],
                truths[..., None],
                list(truths),
                [list(truths)],
                [truths],
                tuple(truths[:, None]),
            ]
        )
    )
    same(samples(BOUNDARY, prediction, every, {}), [(soft, truths)])


@few
@given(height, width, several, several, maker, maker, st.data())
def test_a_batch_in_every_shape(h, w, n, k, make, make_truth, data):
    soft, truths = numbers(n, h, w), -numbers(n, k, h, w)
    given_soft = data.draw(
        st.sampled_from([make(soft), make(soft[:, None]), make(soft[..., None]), [make(one) for one in soft]])
    )
    single = data.draw(
        st.sampled_from(
            [
                make_truth(truths[:, 0]),
                make_truth(truths[:, :1]),
                make_truth(truths[:, 0, :, :, None]),
                [make_truth(one) for one in truths[:, 0]],
            ]
        )
    )
    same(samples(BOUNDARY, given_soft, single, {}), [(soft[i], truths[i, :1]) for i in range(n)])
    same(samples(BOUNDARY, given_soft, make_truth(truths), {}), [(soft[i], truths[i]) for i in range(n)])
    ragged = [list(truths[i, : 1 + i % k]) for i in range(n)]
    same(samples(BOUNDARY, given_soft, ragged, {}), [(soft[i], ragged[i]) for i in range(n)])


@few
@given(height, width, several, several)
def test_of_segmentations_only_a_fourth_dimension_is_a_batch(h, w, n, levels):
    stacks, truths = numbers(n, levels, h, w), -numbers(n, h, w)
    one = samples(REGIONS, stacks[0], truths[0], {})
    assert len(one) == 1
    np.testing.assert_array_equal(one[0].prediction, stacks[0])
    np.testing.assert_array_equal(samples(REGIONS, stacks[0, 0], truths[0], {})[0].prediction, stacks[0, :1])
    for batch in (stacks, list(stacks), [list(stack) for stack in stacks]):
        found = samples(REGIONS, batch, truths, {})
        np.testing.assert_array_equal([sample.prediction for sample in found], stacks)
        np.testing.assert_array_equal([sample.truths[0] for sample in found], truths)


def test_a_pair_of_pictures_takes_the_place_of_truths():
    soft = numbers(6, 7)
    colour, grey = numbers(2, 6, 7, 3), numbers(2, 6, 7)
    for pair, expected in (
        (grey, grey),
        (colour, colour),
        (np.moveaxis(colour, -1, 1), colour),  # channels first, as tensors have them
        (tuple(colour), colour),
        ([tuple(colour)], colour),
    ):
        np.testing.assert_array_equal(samples(VIEWS, soft, pair, {})[0].truths, expected)
    found = samples(VIEWS, np.stack([soft, soft]), [tuple(colour), tuple(colour + 1)], {})
    np.testing.assert_array_equal(found[1].truths, colour + 1)


def test_annotators_alone_are_one_image_or_several():
    truths = numbers(2, 3, 6, 7)
    assert len(samples(STRENGTH, None, truths[0], {})) == 1
    assert len(samples(STRENGTH, None, truths[0][:, None], {})) == 1
    for several_images in (truths, [list(one) for one in truths], [truths[0, :2], truths[1]]):
        assert len(samples(STRENGTH, None, several_images, {})) == 2


def test_values_of_a_task_pass_as_they_are():
    own = ordering(np.array([[2, 2, 1, 1]] * 3))
    assert isinstance(own, Partition)
    (found,) = samples(task("ordering"), own, own, {})
    assert found.prediction is own
    assert found.truths == [own]
    found = samples(task("ordering"), [own, own], [own, [own, own]], {})
    assert [len(one.truths) for one in found] == [1, 2]


def test_extras_of_a_batch_are_one_for_each_image():
    soft, mask = numbers(3, 6, 7), numbers(3, 6, 7) > 60
    task_ = task("disparity")
    for masks in ({"all": mask}, {"all": mask[:, None]}, [{"all": one} for one in mask]):
        found = samples(task_, soft, soft, {"masks": masks, "flag": True})
        assert [one.extras["flag"] for one in found] == [True] * 3
        np.testing.assert_array_equal([one.extras["masks"]["all"] for one in found], mask)
    alone = samples(task_, soft[0], soft[0], {"masks": [{"all": mask[:1]}]})
    np.testing.assert_array_equal(alone[0].extras["masks"]["all"], mask[0])
    regions = [[mask[0]], [mask[1], mask[2]], mask[2]]
    found = samples(task("ordering"), soft, soft, {"regions": regions})
    assert [len(one.extras["regions"]) for one in found] == [1, 2, 1]
    with pytest.raises(InputError, match=r"^masks: there are 3 predictions but 2 of these, expected one for each$"):
        samples(task_, soft, soft, {"masks": [{"all": mask[0]}] * 2})
    with pytest.raises(InputError, match=r"^masks all: there are 3 predictions but masks all of 2 images"):
        samples(task_, soft, soft, {"masks": {"all": mask[:2]}})


@pytest.mark.parametrize(
    ("prediction", "truths", "sentence"),
    [
        (
            numbers(2, 3, 6, 7),
            numbers(2, 6, 7),
            r"prediction: has shape 2×3×6×7, expected one channel N×1×H×W: choose one",
        ),
        (
            numbers(6, 7, 3),
            numbers(6, 7),
            r"truths: there are 6 predictions but one of shape 6×7, expected one for each",
        ),
        (numbers(7), numbers(7), r"prediction: has shape 7, expected H×W, or a batch"),
        (numbers(0, 6, 7), numbers(0, 6, 7), r"prediction: has shape 0×6×7, a batch without an image"),
        (numbers(1, 2, 3, 4, 5), numbers(6, 7), r"prediction: has shape 1×2×3×4×5, expected H×W, or a batch"),
        (
            numbers(2, 6, 7),
            numbers(3, 6, 7),
            r"truths: there are 2 predictions but truths of 3 images, expected one map",
        ),
        (numbers(2, 6, 7), [], r"truths: there are 2 predictions but truths of 0 images, expected one map"),
        (
            numbers(2, 6, 7),
            numbers(6, 7),
            r"truths: there are 2 predictions but one of shape 6×7, expected one for each",
        ),
        (numbers(6, 7), numbers(2, 3, 6, 7), r"truths: has shape 2×3×6×7, expected H×W, or K×H×W of K annotators"),
        (
            numbers(6, 7),
            [numbers(6, 7), numbers(7, 6)],
            r"truths: annotators' maps are 6×7 and 7×6 \(height×width\), expected one size: bring all to the size of the",
        ),
        (
            numbers(2, 6, 7),
            [[numbers(6, 7)], [numbers(6, 7), numbers(5, 7)]],
            r"truths of image 2: annotators' maps are 6×7 and 5×7",
        ),
        (numbers(6, 7), [numbers(6, 7, 3)] * 2, r"truths, annotator 1: has shape 6×7×3, expected one channel H×W"),
        ([[1, 2], [3]], numbers(6, 7), r"prediction: cannot be read as one array"),
        (np.array([["a"]]), numbers(1, 1), r"prediction: holds <U1 values, expected numbers"),
        (None, numbers(6, 7), r"prediction: is None, expected a soft map"),
    ],
)
def test_what_can_mean_two_things_or_none_is_refused(prediction, truths, sentence):
    with pytest.raises(InputError, match=f"^{sentence}") as refused:
        samples(BOUNDARY, prediction, truths, {})
    assert "\n" not in str(refused.value)


def test_pictures_that_are_not_two_or_not_in_grey_levels_are_refused():
    soft = numbers(6, 7)
    with pytest.raises(
        InputError, match=r"^truths: has 3 parts, expected two pictures: the left one and the right one$"
    ):
        samples(VIEWS, soft, numbers(3, 6, 7), {})
    with pytest.raises(InputError, match=r"^left picture: values reach 1, expected grey levels up to 255: multiply by"):
        samples(VIEWS, soft, [soft / soft.max()] * 2, {})
    with pytest.raises(InputError, match=r"^prediction: is something, expected None"):
        samples(STRENGTH, soft, numbers(3, 6, 7), {})


def test_a_numpy_array_is_not_copied():
    array = numbers(2, 1, 6, 7)
    assert np.shares_memory(as_array(array), array)
    assert all(np.shares_memory(one.prediction, array) for one in samples(BOUNDARY, array, array, {}))
    assert np.shares_memory(as_array(Exchanged(array)), array)


def test_small_floats_of_other_libraries_are_widened():
    small = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes, which JAX brings").bfloat16
    found = as_array(np.array([[0.5, 0.25]], dtype=small))
    assert found.dtype == np.float32
    assert found.tolist() == [[0.5, 0.25]]


def test_ranks():
    assert [rank(one) for one in (3.0, [1], [[1]], numbers(2, 3), [numbers(2, 3)], [[numbers(2, 3)]], [])] == [
        0, 1, 2, 2, 3, 4, 1,
    ]  # fmt: skip
    assert plane([[1, 2]], "x").shape == (1, 2)
