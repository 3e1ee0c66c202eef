"""What becomes of a system when the labels change (Hou et al. 2013, sections 4 and 5)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from hyperacuity.audit.benchmark import (
    AuditProtocol,
    collect_audit,
    ranking_changes,
    rankings,
    spearman_of_table,
    tallies_under,
    tally_audit,
)
from hyperacuity.audit.partial import PARTIAL_KINDS, partial_labels
from hyperacuity.audit.strength import strengths
from hyperacuity.boundary import Protocol, collect, tally
from hyperacuity.errors import UsageError

STRIP = [
    np.array([row], bool) for row in ([1, 1, 0, 1, 0, 0, 0, 0], [1, 0, 0, 1, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0])
]
DETECTED = np.array([[1, 1, 1, 1, 0, 0, 1, 0]], np.float32)
EXACT = Protocol(tolerance=0, thin=False, thresholds=(0.5,))


def people(seed, count=3, shape=(24, 32)):
    return list(np.random.default_rng(seed).random((count, *shape)) < 0.08)


def soft(seed, shape=(24, 32)):
    generator = np.random.default_rng(seed)
    return (generator.random(shape) * (generator.random(shape) < 0.15)).astype(np.float32)


class TestWorkedExample:
    agreed = AuditProtocol(EXACT, strengths=(0, 0.5, 2 / 3, 1), repeats=1)
    counts = tally_audit(DETECTED, STRIP, agreed)
    audit = collect_audit({"strip": counts}, resamples=0)

    @pytest.mark.parametrize(
        ("index", "recall", "precision", "f"),
        [(0, 6 / 7, 3 / 5, 12 / 17), (1, 1, 2 / 5, 4 / 7), (2, 1, 2 / 5, 4 / 7), (3, 1, 1 / 5, 1 / 3)],
    )
    def test_with_stronger_labels_precision_falls_and_recall_does_not(self, index, recall, precision, f):
        ods = self.audit.by_strength[index].ods
        assert (ods.recall, ods.precision, ods.f) == pytest.approx((recall, precision, f))

    def test_the_bonus_is_the_precision_that_any_annotator_gives_over_their_mean(self):
        assert self.audit.bonus.precision_any == pytest.approx(3 / 5)
        assert self.audit.bonus.precision_mean == pytest.approx(2 / 5)
        assert self.audit.bonus.f_mean == pytest.approx(2 * (6 / 7) * (2 / 5) / (6 / 7 + 2 / 5))

    def test_partial_labels_are_as_many_as_consensus_labels(self):
        assert self.counts.truth.ravel().tolist() == [7, 5, 5, 3, 3, 3, 3]

    def test_output_is_counted_by_the_number_of_people_who_drew_it(self):
        assert self.counts.output[-1].tolist() == [2, 1, 1, 1]
        assert self.counts.output[:-1].sum() == 0
        shares = self.audit.output.shares[-1]
        assert shares.tolist() == pytest.approx([0, 1 / 3, 0, 1 / 3, 0, 1 / 3])
        assert self.audit.output.unmatched[-1] == pytest.approx(2 / 5)


def test_all_labels_give_what_the_benchmark_gives():
    truths, detected = people(1), soft(1)
    counts = tally_audit(detected, truths, image="a")
    assert counts.under(0, Protocol()) == tally(detected, truths)
    audit = collect_audit({"a": counts}, resamples=20)
    assert audit.all.ods.f == collect({"a": tally(detected, truths)}, resamples=0).ods.f
    mean = tally(detected, truths, Protocol(precision="mean"))
    assert audit.mean.ods.f == collect({"a": mean}, resamples=0).ods.f


def test_an_image_without_consensus_has_false_alarms_only():
    first, second = np.zeros((2, 12, 12), bool)
    first[2], second[9] = True, True
    audit = collect_audit({"a": tally_audit(first.astype(np.float32), [first, second])}, resamples=0)
    assert audit.all.ods.precision == 1
    assert (audit.consensus.ods.recall, audit.consensus.ods.precision, audit.consensus.ods.f) == (0, 0, 0)


def test_images_with_different_numbers_of_annotators_come_together_by_strength():
    tallies = {str(n): tally_audit(soft(n), people(n, count=n), image=str(n)) for n in (1, 2, 4, 5)}
    audit = collect_audit(tallies, resamples=50)
    shown = ~np.isnan(audit.output.shares[:, 0])
    assert shown.any()
    np.testing.assert_allclose(audit.output.shares[shown].sum(axis=1), 1)
    assert audit.output.interval[0] <= audit.output.spearman <= audit.output.interval[1]


def test_the_audit_is_the_same_each_time_and_depends_on_the_name_of_the_image():
    truths, detected, loose = people(3), soft(3), AuditProtocol(Protocol(tolerance=0.05))
    one, same, other = (tally_audit(detected, truths, loose, image=name) for name in ("a", "a", "b"))
    assert one == same
    assert np.array_equal(one.truth_matched[:6], other.truth_matched[:6])
    assert not np.array_equal(one.truth_matched[6:], other.truth_matched[6:])


def test_a_detector_whose_output_is_strength_has_the_correlation_one():
    truths = np.zeros((4, 16, 40), bool)
    for n, truth in enumerate(truths, 1):
        truth[2 : 2 + 4 * n : 4] = True  # the first line by all four, the last by one
    found = strengths(truths, tolerance_px=0)
    perfect = collect_audit({"a": tally_audit(found.strongest.astype(np.float32), truths)}, resamples=0)
    assert perfect.output.spearman == pytest.approx(1)
    wrong = np.where(found.strongest > 0, 1.25 - found.strongest, 0).astype(np.float32)
    assert collect_audit({"a": tally_audit(wrong, truths)}, resamples=0).output.spearman == pytest.approx(-1)


class TestRankings:
    @staticmethod
    def world():
        """One system that finds what everybody drew, and one that also finds what one person drew."""
        everyone, alone = np.zeros((2, 30, 30), bool)
        everyone[5, :12], alone[[15, 25], :] = True, True
        truths = [everyone | alone, everyone, everyone]
        bold, shy = (everyone | alone).astype(np.float32), everyone.astype(np.float32)
        tallies = {
            "shy": {str(n): tally_audit(shy, truths, image=str(n)) for n in range(4)},
            "bold": {str(n): tally_audit(bold, truths, image=str(n)) for n in range(4)},
        }
        return tallies, {name: collect_audit(counts, resamples=0) for name, counts in tallies.items()}

    def test_labels_of_one_person_reward_the_bold_and_consensus_the_shy(self):
        tallies, audits = self.world()
        orders = rankings(audits)
        assert orders["all"] == ["bold", "shy"]
        assert orders["consensus"] == ["shy", "bold"]
        changes = {change.truth: change for change in ranking_changes(audits, tallies)}
        assert (changes["consensus"].ahead, changes["consensus"].behind) == ("shy", "bold")
        assert changes["consensus"].difference == pytest.approx(1 - 2 * (12 / 72) / (1 + 12 / 72))
        assert changes["consensus"].p_value < 0.05
        assert "all" not in changes

    def test_tallies_under_a_truth_are_those_of_the_benchmark(self):
        tallies, _ = self.world()
        strict = Protocol(precision="mean")
        found = tallies_under(tallies["shy"], 0, strict)
        assert list(found) == ["0", "1", "2", "3"]
        assert all(one.protocol == strict for one in found.values())
        # Twelve pixels that three people drew and sixty that one did; the shy system finds the twelve, at every threshold.
        assert {
            (int(n), int(m)) for one in found.values() for n, m in zip(one.truth, one.truth_matched, strict=True)
        } == {(96, 36)}


class TestPartialLabels:
    @settings(max_examples=30, deadline=None)
    @given(
        arrays(np.bool_, (3, 9, 13), elements=st.booleans()),
        st.lists(st.integers(0, 130), min_size=3, max_size=3),
        st.sampled_from(PARTIAL_KINDS),
        st.integers(0, 5),
    )
    def test_so_many_pixels_are_kept_and_none_added(self, truths, keep, kind, seed):
        parts = partial_labels(truths, keep, kind=kind, seed=(seed,))
        for truth, part, count in zip(truths, parts, keep, strict=True):
            assert part.sum() == min(count, truth.sum())
            assert not (part & ~truth).any()

    @pytest.mark.parametrize("seed", range(6))
    def test_a_half_plane_is_kept_on_one_side_of_a_line(self, seed):
        part = partial_labels([np.ones((20, 20), bool)], [150], kind="halfplane", seed=(seed,))[0]
        inside, outside = np.argwhere(part).mean(axis=0), np.argwhere(~part).mean(axis=0)
        direction = inside - outside
        # A line of this direction separates them but for the pixels it passes through.
        overlap = (np.argwhere(~part) @ direction).max() - (np.argwhere(part) @ direction).min()
        assert overlap < 0.15 * np.ptp(np.argwhere(part | True) @ direction)

    @pytest.mark.parametrize("seed", range(6))
    def test_a_window_is_a_box_in_a_corner(self, seed):
        part = partial_labels([np.ones((20, 40), bool)], [200], kind="window", seed=(seed,))[0]
        rows, columns = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
        assert (rows.size, columns.size) == (10, 20)
        assert rows[0] == 0 or rows[-1] == 19
        assert columns[0] == 0 or columns[-1] == 39

    def test_all_annotators_of_an_image_lose_the_same_side(self):
        truth = np.ones((30, 30), bool)
        for kind in ("halfplane", "window"):
            one, two = partial_labels([truth, truth], [300, 300], kind=kind, seed=(4, 2))
            assert np.array_equal(one, two)
        one, two = partial_labels([truth, truth], [300, 300], kind="random", seed=(4, 2))
        assert not np.array_equal(one, two)

    def test_an_unknown_kind_is_refused(self):
        with pytest.raises(UsageError, match="halfplane, window, random"):
            partial_labels([np.ones((2, 2), bool)], [1], kind="third")


@settings(max_examples=30, deadline=None)
@given(arrays(np.int64, (4, 5), elements=st.integers(0, 6)))
def test_spearman_of_a_table_is_scipys_of_the_values(table):
    rows, columns = np.repeat(np.argwhere(table >= 0), table.ravel(), axis=0).T
    ours = float(spearman_of_table(table))
    if len(set(rows.tolist())) < 2 or len(set(columns.tolist())) < 2:
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(spearmanr(rows, columns).statistic, abs=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        {"protocol": Protocol(thresholds="levels")},
        {"strengths": (0.2, 1)},
        {"strengths": (0, 0.5)},
        {"strengths": (0, 0.8, 0.5, 1)},
        {"repeats": 0},
        {"seed": -1},
    ],
)
def test_a_protocol_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(UsageError):
        AuditProtocol(**wrong)


def test_the_signature_tells_everything_that_changes_the_tallies():
    changed = [AuditProtocol(), AuditProtocol(EXACT), AuditProtocol(repeats=2), AuditProtocol(seed=1)]
    assert len({one.signature for one in [*changed, AuditProtocol(strengths=(0, 1))]}) == 5
    assert str(AuditProtocol().signature).startswith("audit|tol:0.0075diag|")
