"""Trials as questions: what participants are shown, and what they cannot know from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.audit.trials import RADIUS, read_trials, write_trials
from hyperacuity.errors import UsageError
from hyperacuity.studio.choose.obvious import obvious_marks
from hyperacuity.studio.choose.trials import Question, as_dict, load_study, side_of, square_size

marks = st.sets(st.tuples(st.integers(0, 39), st.integers(0, 59)), min_size=1, max_size=12).map(
    lambda pixels: tuple(sorted(pixels))
)
questions = st.builds(Question, st.just("1"), st.just("a"), st.just((40, 60)), marks, marks).filter(
    lambda question: question.first != question.second
)


@settings(max_examples=100, deadline=None)
@given(questions, st.booleans())
def test_marks_are_on_opposite_sides_and_mirroring_changes_both(question, mirrored):
    sides = {which: side_of(question, which, mirrored) for which in ("first", "second")}
    assert sorted(sides.values()) == ["left", "right"]
    assert side_of(question, "first", not mirrored) == sides["second"]


@settings(max_examples=100, deadline=None)
@given(questions, st.booleans())
def test_what_is_shown_does_not_depend_on_the_order_in_the_table(question, mirrored):
    turned = Question("1", "a", question.shape, question.second, question.first)
    assert as_dict(question, mirrored) == as_dict(turned, mirrored)


@settings(max_examples=100, deadline=None)
@given(questions, st.booleans())
def test_the_left_mark_is_seen_on_the_left(question, mirrored):
    told = as_dict(question, mirrored)

    def centre(side):
        columns = [column for _, column in told[side]["pixels"]]
        return min(columns) + max(columns)

    assert centre("left") <= centre("right")
    for side in ("left", "right"):
        top, left = told[side]["square"]
        assert top >= 0
        assert left >= 0
        assert top + told["size"] <= max(40, told["size"])
        if told["size"] <= 40:
            for row, column in told[side]["pixels"]:
                assert top <= row < top + told["size"]
                assert left <= column < left + told["size"]


@settings(max_examples=50, deadline=None)
@given(questions)
def test_the_mirrored_picture_has_the_mirrored_marks(question):
    plain, mirrored = as_dict(question, False), as_dict(question, True)
    turned = sorted([row, 59 - column] for row, column in plain["left"]["pixels"])
    assert mirrored["right"]["pixels"] == turned


def test_both_squares_have_one_size_however_long_the_marks():
    long = tuple((5, column) for column in range(10, 50))
    question = Question("1", "a", (40, 60), long, ((30, 3), (30, 4)))
    assert square_size(question) == 40 + 4
    assert square_size(Question("1", "a", (40, 60), ((1, 1),), ((30, 3),))) == 2 * RADIUS + 1 + 4


class TestLoading:
    def test_every_trial_becomes_a_question(self, make_trials):
        folder = make_trials(6)
        study = load_study(folder / "trials", folder / "photos")
        for trial in read_trials(folder / "trials"):
            assert study.questions[trial.trial].first == trial.first.pixels
            assert study.trials[trial.trial] == trial
        assert study.failed == {}

    def test_a_broken_photograph_fails_its_trials_by_name_and_without_its_path(self, make_trials):
        folder = make_trials(4)
        (folder / "photos" / "holiday-001.png").write_bytes(b"\x89PNG nothing")
        (folder / "photos" / "holiday-002.png").unlink()
        study = load_study(folder / "trials", folder / "photos")
        assert set(study.failed) == {"02", "03"}
        assert study.failed["02"].startswith("holiday-001: is damaged")
        assert study.failed["03"] == "holiday-002: has no photograph"
        assert str(folder) not in "".join(study.failed.values())
        assert {"01", "04"} <= set(study.questions)
        assert not {"02", "03"} & set(study.questions)

    def test_a_segment_outside_of_its_photograph_fails_its_trial(self, make_trials):
        folder = make_trials(2)
        table = read_trials(folder / "trials")
        far = table[0].first._replace(pixels=((500, 3), (500, 4)))
        write_trials(folder / "trials", [table[0].__class__(**{**vars(table[0]), "first": far}), table[1]])
        study = load_study(folder / "trials", folder / "photos")
        assert study.failed == {"01": "holiday-000: is 200 × 120 pixels, and a segment lies outside of it"}

    def test_photographs_are_kept_for_browsers_as_far_as_wanted(self, make_trials):
        folder = make_trials(4)
        study = load_study(folder / "trials", folder / "photos")
        assert list(study.pictures) == [f"holiday-{n:03d}" for n in range(4)]
        assert all(picture.startswith(b"\x89PNG") for picture in study.pictures.values())
        two = sum(map(len, list(study.pictures.values())[:2]))
        assert len(load_study(folder / "trials", folder / "photos", keep=two).pictures) == 2
        assert load_study(folder / "trials", folder / "photos", keep=0).pictures == {}

    def test_no_trial_to_show_is_a_wrong_call(self, make_trials, tmp_path):
        folder = make_trials(2)
        for file in (folder / "photos").iterdir():
            file.write_bytes(b"nothing")
        with pytest.raises(UsageError, match="no trial can be shown: holiday-000"):
            load_study(folder / "trials", folder / "photos")
        write_trials(folder / "trials", [])
        with pytest.raises(UsageError, match="holds no trial"):
            load_study(folder / "trials", folder / "photos")


class TestObvious:
    def test_the_strong_mark_lies_on_the_edge_and_the_weak_one_where_nothing_is(self, make_trials):
        folder = make_trials(5)
        study = load_study(folder / "trials", folder / "photos")
        assert len(study.obvious) == 5
        for number in range(5):
            question = study.questions[f"obvious holiday-{number:03d}"]
            assert {column for _, column in question.first} <= {138 + number, 139 + number, 140 + number, 141 + number}
            assert study.obvious[question.name] == "first"
            weak = np.array(question.second)
            assert (abs(weak[:, 1] - 140 - number) > RADIUS).all()
            assert len(question.first) == len(weak) == 9  # as in the trials

    def test_they_keep_away_from_the_marks_of_trials(self, make_trials):
        folder = make_trials(5)
        study = load_study(folder / "trials", folder / "photos")
        for name in study.obvious:
            own = study.questions[name]
            for other in study.questions.values():
                if other.image == own.image and other.name != name:
                    for mine in (own.first, own.second):
                        for theirs in (other.first, other.second):
                            gaps = abs(np.array(mine)[:, None] - np.array(theirs)[None]).max(axis=2)
                            assert gaps.min() > RADIUS

    def test_a_photograph_without_an_edge_gives_none(self):
        assert obvious_marks(np.full((100, 120, 3), 80, np.uint8), []) is None

    def test_a_photograph_full_of_edges_gives_none(self):
        noise = np.random.default_rng(0).integers(0, 256, (100, 120, 3)).astype(np.uint8)
        assert obvious_marks(noise, []) is None

    def test_a_photograph_that_is_too_small_gives_none(self):
        picture = np.zeros((2 * RADIUS, 300, 3), np.uint8)
        picture[:, 150:] = 255
        assert obvious_marks(picture, []) is None
