"""On the figure/ground labels of Fowlkes, Martin & Malik (2007): what two people agree on, and what simple rules get."""

from __future__ import annotations

import numpy as np
import pytest

from hyperacuity.data import figure_ground
from hyperacuity.ordering import Sides, compare_neighbours, ordering
from hyperacuity.resampling import ratio


@pytest.fixture(scope="module")
def people(shared_data):
    """image → what each of two subjects said."""
    archive = shared_data / "bsds-fg-dev.tar.xz"
    if not archive.exists():
        pytest.skip(f"needs {archive.name}")
    found = {}
    for label in figure_ground(archive):
        small = np.nan_to_num(label.order).astype(np.int8)
        found.setdefault(label.image, []).append((small, label.segmentation.astype(np.int16)))
    return found


def sides(small, labels):
    return Sides(np.where(small == 0, np.nan, small).astype(np.float32), labels.astype(np.int32))


def test_two_subjects_labelled_each_of_150_segmentations(people):
    assert len(people) == 150
    assert all(np.array_equal(one[1], other[1]) for one, other in people.values())


def test_two_people_agree_on_95_percent_of_the_pixels_both_labelled(people):
    agreement = [np.mean((one == other)[(one != 0) & (other != 0)]) for (one, _), (other, _) in people.values()]
    assert np.mean(agreement) == pytest.approx(0.95, abs=0.005)


@pytest.fixture(scope="module")
def questions(people):
    """Numerators and denominators per image, by tie rule: one subject against the other; on some images two simple rules too."""
    found = {}
    for n, (one, other) in enumerate(people.values()):
        truth, labels = sides(*one), one[1].astype(np.int32)
        height, width = labels.shape
        answers = {"person": sides(*other)}
        if n % 3 == 0:
            answers["constant"] = ordering(np.ones((height, width)))
            answers["lower"] = ordering(np.repeat(np.arange(height), width).reshape(height, width))
        for name, answer in answers.items():
            asked = compare_neighbours(answer, truth, labels)
            for tie in ("wrong", "half"):
                found.setdefault((name, tie), []).append(asked.sums(tie))
    return found


def test_two_people_agree_on_who_owns_a_boundary(questions):
    racc, bacc = np.nanmean([ratio(*sums)[:2] for sums in questions["person", "half"]], axis=0)
    assert racc == pytest.approx(0.90, abs=0.01)
    assert bacc == pytest.approx(0.92, abs=0.01)


def test_a_constant_order_knows_nothing(questions):
    assert ratio(*np.sum(questions["constant", "wrong"], axis=0))[0] == 0
    assert ratio(*np.sum(questions["constant", "half"], axis=0))[0] == 0.5


def test_lower_in_the_image_is_nearer_more_often_than_not(questions):
    racc, bacc, *_ = ratio(*np.sum(questions["lower", "wrong"], axis=0))
    assert racc > 0.55
    assert bacc > 0.58
