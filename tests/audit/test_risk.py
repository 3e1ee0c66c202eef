"""Risk: shares with intervals that cover, majority votes, agreement of people, and how many trials it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from hyperacuity.audit.risk import (
    Answer,
    krippendorff_alpha,
    majority,
    majority_wins,
    preference,
    read_answers,
    risk,
    simulate_answers,
    trials_needed,
    wilson,
    worths_by_strength,
    write_answers,
)
from hyperacuity.audit.strength import strengths
from hyperacuity.audit.trials import Segment, Trial
from hyperacuity.errors import InputError, UsageError

PIECE = Segment((0, 0), ((0, 0),))


def trial(name, system="canny", mode="hard", false_alarm="first"):
    return Trial("image", system, mode, PIECE, PIECE, false_alarm, name)


def answers(name, for_false_alarm, people, false_alarm="first"):
    other = "second" if false_alarm == "first" else "first"
    return [Answer(f"p{n}", name, false_alarm if n < for_false_alarm else other) for n in range(people)]


class TestRisk:
    def test_the_worked_example_wins_two_of_four(self):
        trials = [trial(str(n), false_alarm="second" if n % 2 else "first") for n in range(4)]
        given = [a for n, votes in enumerate((3, 2, 4, 1)) for a in answers(str(n), votes, 5, trials[n].false_alarm)]
        score = risk(trials, given)
        found = score.risks["hard"]["canny"]
        assert (found.risk, found.trials, found.ties) == (1 / 2, 4, 0)
        assert found.interval == pytest.approx(tuple(binomtest(2, 4).proportion_ci(method="wilson")))
        assert score.subjects == 5

    def test_a_tie_is_left_out_and_counted_and_a_trial_without_an_answer_does_not_count(self):
        trials = [trial("a"), trial("b"), trial("c")]
        found = risk(trials, [*answers("a", 1, 2), *answers("b", 1, 1)]).risks["hard"]["canny"]
        assert (found.risk, found.trials, found.ties) == (1, 1, 1)

    def test_systems_and_modes_are_told_apart_and_the_mean_weighs_systems_alike(self):
        trials = [*(trial(f"a{n}", "canny") for n in range(8)), trial("b", "hk"), trial("c", "hk", "easy")]
        given = [*(a for n in range(8) for a in answers(f"a{n}", 3, 3)), *answers("b", 0, 3), *answers("c", 0, 3)]
        score = risk(trials, given)
        assert {mode: {s: r.risk for s, r in systems.items()} for mode, systems in score.risks.items()} == {
            "hard": {"canny": 1, "hk": 0},
            "easy": {"hk": 0},
        }
        assert score.mean["hard"].risk == 1 / 2
        assert score.mean["hard"].trials == 9
        # The variance of the mean is that of 4 / (1/8 + 1/1) trials.
        assert score.mean["hard"].interval == pytest.approx(wilson(0.5 * 32 / 9, 32 / 9))

    def test_the_interval_of_equal_numbers_of_trials_is_that_of_all_trials_together(self):
        trials = [trial(f"{s}{n}", s) for s in "ab" for n in range(10)]
        given = [a for t in trials for a in answers(t.trial, 1 if t.trial in ("a1", "a2", "b3") else 0, 1)]
        assert risk(trials, given).mean["hard"].interval == pytest.approx(wilson(3, 20))

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            ([Answer("eve", "x", "first")], "eve answered trial 'x', which is not"),
            ([Answer("eve", "a", "first")] * 2, "eve answered trial 'a' twice"),
        ],
    )
    def test_answers_that_cannot_be_are_refused(self, given, sentence):
        with pytest.raises(InputError, match=sentence):
            risk([trial("a")], given)

    def test_without_answers_nothing_is_said(self):
        score = risk([trial("a")], [])
        assert (score.risks, score.mean, score.subjects) == ({}, {}, 0)

    def test_the_mean_time_is_told_where_it_is_known(self):
        given = [Answer("p", "a", "first", 4.0), Answer("q", "a", "first", 6.0), Answer("r", "a", "first")]
        assert risk([trial("a")], given).seconds == 5


class TestWilson:
    @settings(max_examples=50, deadline=None)
    @given(st.integers(1, 300), st.data())
    def test_it_is_scipys(self, trials, data):
        wins = data.draw(st.integers(0, trials))
        expected = binomtest(wins, trials).proportion_ci(0.9, method="wilson")
        assert wilson(wins, trials, 0.9) == pytest.approx(tuple(expected), abs=1e-12)

    def test_without_trials_everything_is_possible(self):
        assert wilson(0, 0) == (0, 1)

    @pytest.mark.parametrize("wrong", [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0)])
    def test_what_makes_no_sense_is_refused(self, wrong):
        with pytest.raises(UsageError):
            wilson(*wrong)


class TestTrialsNeeded:
    @settings(max_examples=30, deadline=None)
    @given(st.floats(0.02, 0.4), st.floats(0, 1))
    def test_one_trial_fewer_is_not_enough(self, half, share):
        def width(n):
            low, high = wilson(share * n, n)
            return high - low

        needed = trials_needed(half, share=share)
        assert width(needed) <= 2 * half
        assert needed == 1 or width(needed - 1) > 2 * half

    def test_at_one_half_it_is_the_closed_form(self):
        z = 1.959963984540054
        for half in (0.2, 0.1, 0.05, 0.02):
            assert trials_needed(half) == math.ceil(z**2 / (4 * half**2) - z**2)


class TestAgreement:
    """Worked examples of Krippendorff (2011), Computing Krippendorff's alpha-reliability."""

    def test_two_observers_two_names(self):
        one, other = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
        assert krippendorff_alpha([one, other]) == pytest.approx(0.095, abs=5e-4)

    def test_four_observers_with_answers_missing(self):
        no = math.nan
        ratings = [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, no, no, no],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, no, 3],
            [no, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, no],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, no],
        ]
        assert krippendorff_alpha(ratings) == pytest.approx(0.743, abs=5e-4)

    def test_perfect_agreement_is_one_and_one_name_says_nothing(self):
        assert krippendorff_alpha([[0, 1, 1], [0, 1, 1], [0, 1, 1]]) == 1
        assert math.isnan(krippendorff_alpha([[1, 1], [1, 1]]))
        assert math.isnan(krippendorff_alpha([[1, math.nan], [math.nan, 0]]))

    def test_answers_by_chance_agree_by_chance(self):
        by_chance = np.random.default_rng(1).integers(0, 2, (5, 4000))
        assert abs(krippendorff_alpha(by_chance)) < 0.02

    def test_a_score_says_how_far_people_agree_on_the_false_alarm_not_on_the_side(self):
        trials = [trial("a", false_alarm="first"), trial("b", false_alarm="second"), trial("c", false_alarm="first")]
        given = [Answer(p, t, side) for p in "xyz" for t, side in (("a", "first"), ("b", "second"), ("c", "second"))]
        assert risk(trials, given).alpha["hard"] == 1


class TestObserver:
    def test_preference_is_bradley_and_terrys(self):
        assert preference(0.8, 0.2) == pytest.approx(0.8)
        assert preference(2, 2) == 0.5

    @given(st.floats(0, 1), st.sampled_from([1, 3, 5, 7]))
    def test_a_majority_wins_as_often_as_the_binomial_says(self, chance, people):
        assert float(majority_wins(chance, people)) == pytest.approx(binom.sf(people // 2, people, chance), abs=1e-12)

    def test_an_even_number_of_people_may_be_split(self):
        with pytest.raises(UsageError, match="odd"):
            majority_wins(0.5, 4)
        assert majority([True, False]) is None

    def test_an_observer_sees_strength_and_what_nobody_drew_as_half_a_persons(self):
        drawn = np.zeros((4, 40, 40), bool)
        drawn[:, 10] = True
        drawn[0, 30] = True
        people = {"image": strengths(drawn, tolerance_px=0)}
        strong, weak, nobodys = (Segment((row, 5), ((row, 5), (row, 6))) for row in (11, 30, 20))
        hard = Trial("image", "canny", "hard", nobodys, weak, "first", "1")
        easy = Trial("image", "canny", "easy", strong, weak, "second", "2")
        assert worths_by_strength([hard, easy], people) == {"1": (1 / 8, 1 / 4), "2": (1 / 4, 1)}

    def test_equal_seeds_give_equal_answers(self):
        trials = [trial(str(n)) for n in range(20)]
        worths = {one.trial: (1.0, 2.0) for one in trials}
        assert simulate_answers(trials, worths, seed=3) == simulate_answers(trials, worths, seed=3)
        assert simulate_answers(trials, worths, seed=3) != simulate_answers(trials, worths, seed=4)

    @pytest.mark.parametrize("contrast", [1.0, 2.5])
    def test_over_many_seeds_the_interval_covers_the_true_risk_at_its_nominal_rate(self, contrast):
        """Trials are drawn from a population of strengths, five observers answer each, the majority decides."""
        label = np.array([0.2, 0.4, 0.6, 0.8, 1.0])
        alarm = np.array([0.1, 0.3, 0.5, 0.7])
        true = majority_wins(preference(alarm[:, None], contrast * label)).mean()
        generator = np.random.default_rng(20)
        trials = [trial(str(n), false_alarm="second" if n % 2 else "first") for n in range(60)]
        covered = 0
        for seed in range(400):
            worths = {
                one.trial: (float(generator.choice(alarm)), contrast * float(generator.choice(label))) for one in trials
            }
            found = risk(trials, simulate_answers(trials, worths, seed=seed)).risks["hard"]["canny"]
            covered += found.interval[0] <= true <= found.interval[1]
        low, high = binom.interval(0.999, 400, 0.95)
        assert low <= covered <= high, f"{covered} of 400 intervals cover {true:.3f}"


def test_answers_are_written_and_read_back(tmp_path):
    given = [Answer("eva, dr.", "1", "first", 4.25), Answer("größe", "2", "second")]
    path = write_answers(tmp_path / "answers.csv", given)
    back = read_answers(path)
    assert back[0] == given[0]
    assert (back[1].subject, back[1].choice, math.isnan(back[1].seconds)) == ("größe", "second", True)


@pytest.mark.parametrize(("old", "new"), [("first", "left"), ("4.25", "soon"), ("choice", "answer")])
def test_a_table_of_answers_that_makes_no_sense_is_refused(tmp_path, old, new):
    path = write_answers(tmp_path / "answers.csv", [Answer("eva", "1", "first", 4.25)])
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=r"answers\.csv"):
        read_answers(path)
