"""The simulated observer: sees the picture, not the labels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from hyperacuity.audit.observer import Observer, evidence_along, evidence_of_trials
from hyperacuity.audit.risk import majority_wins, risk, simulate_answers
from hyperacuity.audit.trials import Segment, Trial
from hyperacuity.errors import UsageError

SHARES = st.floats(0, 1)


def piece(row: int, columns: range) -> Segment:
    pixels = tuple((row, column) for column in columns)
    return Segment(pixels[0], pixels)


class TestChoice:
    def test_pieces_a_noise_apart_are_told_apart_in_three_of_four_looks(self):
        """d′ = 1: Φ(1/√2) = 0.7602 in every table of the two-alternative forced choice."""
        assert float(Observer(noise=0.2, lapse=0).chance(0.7, 0.5)) == pytest.approx(0.7602, abs=5e-5)

    def test_it_is_how_often_the_larger_of_two_noisy_numbers_is_the_first(self):
        looks = np.random.default_rng(5).normal([[0.45], [0.3]], 0.15, (2, 200_000))
        share = (looks[0] > looks[1]).mean()
        assert float(Observer(noise=0.15, lapse=0).chance(0.45, 0.3)) == pytest.approx(share, abs=0.004)

    def test_lapses_are_guesses(self):
        assert float(Observer(noise=0.01, lapse=0.1).chance(1, 0)) == pytest.approx(0.95)
        assert float(Observer(lapse=1).chance(1, 0)) == 0.5

    @given(SHARES, SHARES, st.floats(0.01, 1), SHARES)
    def test_one_of_two_is_chosen_and_the_stronger_more_often(self, one, other, noise, lapse):
        observer = Observer(noise, lapse)
        assert float(observer.chance(one, other) + observer.chance(other, one)) == pytest.approx(1)
        assert float(observer.chance(max(one, other), min(one, other))) >= 0.5

    @pytest.mark.parametrize("options", [{"noise": 0}, {"noise": -1}, {"lapse": 1.5}, {"lapse": -0.1}])
    def test_what_makes_no_sense_is_a_wrong_call(self, options):
        with pytest.raises(UsageError, match="noise"):
            Observer(**options)


class TestEvidence:
    @settings(max_examples=30)
    @given(st.integers(0, 3), st.integers(0, 2**32 - 1))
    def test_it_is_the_mean_of_the_largest_nearby(self, reach, seed):
        generator = np.random.default_rng(seed)
        seen = generator.random((9, 11), np.float32)
        pixels = tuple((int(y), int(x)) for y, x in generator.integers(0, 9, (5, 2)))
        largest = [
            max(
                float(seen[y, x])
                for y in range(max(row - reach, 0), min(row + reach + 1, 9))
                for x in range(max(column - reach, 0), min(column + reach + 1, 11))
            )
            for row, column in pixels
        ]
        found = evidence_along(Segment(pixels[0], pixels), seen, reach=reach)
        assert found == pytest.approx(math.fsum(largest) / 5)

    def test_who_drew_a_piece_does_not_enter(self):
        """The key swapped, the same two numbers come in the other order."""
        seen = np.zeros((30, 30), np.float32)
        seen[4, :12], seen[20, :12] = 0.3, 0.8
        strong, weak = piece(20, range(2, 9)), piece(4, range(2, 9))
        one = Trial("image", "canny", "hard", strong, weak, "first", "1")
        other = Trial("image", "canny", "hard", strong, weak, "second", "1")
        found = [evidence_of_trials([trial], {"image": seen})["1"] for trial in (one, other)]
        assert found[0] == found[1][::-1]
        assert found[0] == pytest.approx((0.8, 0.3))


def test_the_hard_risk_is_what_the_picture_says_and_not_nothing():
    """Alarms on a strong edge win over an orphan on a weak one; alarms where nothing is lose; the rest is a matter of noise."""
    seen = np.zeros((60, 40), np.float32)
    seen[5], seen[20], seen[35] = 0.9, 0.3, 0.35
    orphan = piece(20, range(5, 15))
    alarms = {"edge": piece(5, range(5, 15)), "nothing": piece(50, range(5, 15)), "near": piece(35, range(5, 15))}
    trials = [
        Trial("image", name, "hard", alarm, orphan, "first", f"{name}-{n}")
        for name, alarm in alarms.items()
        for n in range(400)
    ]
    observer = Observer(noise=0.1, lapse=0)
    evidence = evidence_of_trials(trials, {"image": seen})
    found = risk(trials, simulate_answers(trials, evidence, seed=4, chance=observer.chance)).risks["hard"]
    assert found["edge"].risk > 0.99
    assert found["nothing"].risk < 0.03
    expected = float(majority_wins(norm.cdf(0.05 / (0.1 * math.sqrt(2)))))
    assert found["near"].risk == pytest.approx(expected, abs=0.07)
