"""Lessons on machine regions, from labelled contours."""

from __future__ import annotations

import numpy as np
import pytest

from hyperacuity.data import FigureGround, write_png
from hyperacuity.regions import merge_boundaries
from hyperacuity.train.depth_cues import hierarchy_lessons, labelled_lesson, learn_depth_cues
from hyperacuity.train.figure_ground import LabelledPhotograph


@pytest.fixture
def photograph(tmp_path):
    """A square in front of a ground, labelled by two people who agree; nobody labelled the stripe on the ground."""
    image = np.full((40, 60), 200, np.uint8)
    image[10:30, 10:30] = 50
    image[:, 50:] = 120
    write_png(tmp_path / "a.png", image)
    square = np.zeros((40, 60), bool)
    square[10:30, 10:30] = True
    inner, outer = np.zeros((2, 40, 60), bool)
    inner[10:30, 10:30], inner[11:29, 11:29] = True, False
    outer[9:31, 10:30] = outer[10:30, 9:31] = True
    outer &= ~square
    order = np.where(inner, 1.0, np.where(outer, -1.0, np.nan)).astype(np.float32)
    person = FigureGround("a", "1", "1", order, np.array([[1.0, -1.0]]), square.astype(np.int32))
    return LabelledPhotograph("a", tmp_path / "a.png", (person, person))


def tree_of(path, image):
    """Three regions, and halves of the square at the finest level."""
    labels = np.zeros((40, 60), np.int32)
    labels[:, 50:] = 1
    labels[10:30, 10:20], labels[10:30, 20:30] = 2, 3
    right, down = np.zeros((2, 40, 60))
    right[:, 49] = 0.5
    right[10:30, [9, 29]] = 0.9
    right[10:30, 19] = 0.1
    down[[9, 29], 10:30] = 0.9
    return merge_boundaries(labels, right, down)


def test_each_level_is_a_lesson_with_owners_and_steps(photograph):
    fine, coarse = hierarchy_lessons([photograph], tree_of, (0.0, 0.2), 1)
    assert fine.image == coarse.image == "a"
    pairs = {
        (int(a), int(b)): n
        for n, (a, b) in enumerate(zip(fine.cues.borders.first, fine.cues.borders.second, strict=True))
    }
    assert set(pairs) == {(0, 1), (0, 2), (0, 3), (2, 3)}
    front = {pair: int(fine.front[n]) for pair, n in pairs.items()}
    assert front == {(0, 1): 0, (0, 2): -1, (0, 3): -1, (2, 3): 0}
    step = {pair: float(fine.step[n]) for pair, n in pairs.items()}
    assert step == {(0, 1): 0, (0, 2): 1, (0, 3): 1, (2, 3): 0}
    np.testing.assert_allclose(fine.heights[pairs[0, 1]], 0.5)
    np.testing.assert_allclose(fine.heights[pairs[2, 3]], 0.1)
    assert coarse.cues.borders.count == 2


def test_a_field_is_among_the_cues_where_there_is_one(photograph):
    def field_of(image):
        return np.ones((*image.shape[:2], 2), np.float32)

    for lesson in (
        *hierarchy_lessons([photograph], tree_of, (0.2,), 1, field_of=field_of),
        labelled_lesson(photograph, field_of=field_of),
    ):
        assert "network: log-odds" in lesson.cues.names
    assert "network: log-odds" not in labelled_lesson(photograph).cues.names


def test_levels_of_one_photograph_are_one_image(photograph):
    learned = learn_depth_cues(hierarchy_lessons([photograph], tree_of, (0.0, 0.2), 1), "one image")
    assert learned.images == 1
    assert learned.pairs == 3
    assert set(learned.model.steps) == {"all", "tjc"}
