"""Trials of the forced-choice experiment: drawn fairly, reproducible, and silent about which is which."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from hyperacuity.audit.trials import (
    Candidates,
    Skip,
    Trial,
    candidates,
    draw_trial,
    read_trials,
    shuffled,
    write_trials,
)
from hyperacuity.boundary import Protocol
from hyperacuity.errors import InputError, UsageError


def lines(*rows, shape=(90, 120)):
    drawn = np.zeros(shape, bool)
    drawn[list(rows)] = True
    return drawn


WORLD = Candidates(lines(5, 40), [lines(70), lines(70, 85)])


def trial(seed=0, image="a", system="canny", mode="hard", **options):
    return draw_trial(WORLD, image=image, system=system, mode=mode, seed=seed, **options)


def segment_of(one, source):
    human = {"first": one.second, "second": one.first}[one.false_alarm]
    alarm = {"first": one.first, "second": one.second}[one.false_alarm]
    return alarm if source == "alarm" else human


class TestCandidates:
    truths = (lines(20, 50), lines(20))
    seen = lines(20, 80).astype(np.float32) * np.float32(0.5)
    plain = Protocol(thin=False)

    def test_in_the_hard_mode_false_alarms_compete_with_orphans(self):
        found = candidates(self.seen, self.truths, 0.5, "hard", self.plain)
        assert np.array_equal(found.false_alarms, lines(80))
        assert np.array_equal(found.labels[0], lines(50))
        assert not found.labels[1].any()

    def test_in_the_easy_mode_false_alarms_compete_with_consensus(self):
        found = candidates(lines(20, 50).astype(np.float32), self.truths, 0.5, "easy", self.plain)
        assert np.array_equal(found.false_alarms, lines(50))  # drawn by one person, so no longer a label
        assert all(np.array_equal(labels, lines(20)) for labels in found.labels)

    def test_nothing_reaches_a_threshold_above_the_output(self):
        assert not candidates(self.seen, self.truths, 0.6, "hard", self.plain).false_alarms.any()

    def test_an_unknown_mode_is_refused(self):
        with pytest.raises(UsageError, match="hard or easy"):
            candidates(self.seen, self.truths, 0.5, "medium")


class TestDraw:
    @pytest.mark.parametrize("seed", range(12))
    def test_segments_lie_where_they_come_from_and_their_windows_do_not_overlap(self, seed):
        one = trial(seed)
        alarm, human = segment_of(one, "alarm"), segment_of(one, "human")
        assert {row for row, _ in alarm.pixels} in ({5}, {40})
        assert {row for row, _ in human.pixels} in ({70}, {85})
        assert max(abs(alarm.centre[0] - human.centre[0]), abs(alarm.centre[1] - human.centre[1])) > 24
        for segment in (alarm, human):
            assert segment.centre in segment.pixels
            assert 6 <= len(segment.pixels) <= 25
            assert all(abs(column - segment.centre[1]) <= 12 for _, column in segment.pixels)

    def test_a_segment_is_connected(self):
        broken = lines(70)
        broken[70, 40:] = False
        broken[70, 50:58] = True
        one = draw_trial(Candidates(lines(5), [broken]), image="a", system="s", mode="hard", seed=3)
        columns = [column for _, column in segment_of(one, "human").pixels]
        assert columns == list(range(columns[0], columns[0] + len(columns)))

    def test_equal_names_and_seeds_give_equal_trials_and_others_do_not(self):
        assert trial() == trial()
        others = {trial(seed=1), trial(image="b"), trial(system="hk"), trial(mode="easy")}
        assert len({(one.first.centre, one.second.centre) for one in {trial(), *others}}) == 5

    def test_either_source_comes_first_about_as_often(self):
        first = sum(trial(seed).false_alarm == "first" for seed in range(200))
        assert 70 < first < 130  # 4 standard deviations

    @pytest.mark.parametrize(
        ("choice", "mode", "reason"),
        [
            (Candidates(lines(), [lines(5)]), "hard", "no false alarm"),
            (Candidates(lines(5), [lines()]), "hard", "no orphan label"),
            (Candidates(lines(5), [lines()]), "easy", "no consensus label"),
            (
                Candidates(np.eye(90, 120, dtype=bool) & lines(5), [lines(70)]),
                "hard",
                "no false alarm of 6 pixels or more",
            ),
            (
                Candidates(lines(5, shape=(30, 20)), [lines(9, shape=(30, 20))]),
                "hard",
                "no orphan label of 6 pixels or more apart from every false alarm",
            ),
        ],
    )
    def test_what_cannot_be_drawn_is_skipped_with_a_reason(self, choice, mode, reason):
        skip = draw_trial(choice, image="a", system="s", mode=mode)
        assert skip == Skip("a", "s", mode, reason)


class TestTable:
    def trials(self):
        return shuffled([trial(image=f"image {n}", mode=mode) for n in range(6) for mode in ("hard", "easy")], seed=7)

    def test_shuffling_keeps_every_trial_and_numbers_them_anew(self):
        ordered = [trial(image=f"image {n}", mode=mode) for n in range(6) for mode in ("hard", "easy")]
        mixed = shuffled(ordered, seed=7)
        assert [one.trial for one in mixed] == [f"{n:02d}" for n in range(1, 13)]
        assert {(one.image, one.mode) for one in mixed} == {(one.image, one.mode) for one in ordered}
        assert [(one.image, one.mode) for one in mixed] != [(one.image, one.mode) for one in ordered]

    def test_what_is_written_is_read_back(self, tmp_path):
        trials = self.trials()
        write_trials(tmp_path, trials, [Skip("z", "s", "easy", "no false alarm")])
        assert read_trials(tmp_path) == trials
        with (tmp_path / "skipped.csv").open() as file:
            assert list(csv.reader(file))[1] == ["z", "s", "easy", "no false alarm"]

    def test_the_same_seed_writes_the_same_bytes(self, tmp_path):
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            write_trials(tmp_path / name, self.trials())
        for name in ("trials.csv", "key.csv"):
            assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()

    def test_the_table_does_not_tell_which_is_which(self, tmp_path):
        one = trial()
        other = Trial(one.image, one.system, one.mode, one.first, one.second, "first", "1")
        swapped = Trial(one.image, one.system, one.mode, one.first, one.second, "second", "1")
        tables = []
        for side in (other, swapped):
            write_trials(tmp_path, [side])
            tables.append((tmp_path / "trials.csv").read_bytes())
        assert tables[0] == tables[1]

    @pytest.mark.parametrize(
        ("name", "old", "new", "sentence"),
        [
            ("key.csv", "first", "third", "expected first or second"),
            ("key.csv", "false_alarm", "answer", "no column false_alarm"),
            ("trials.csv", ":", ";", "is no segment"),
            ("trials.csv", "hard", "medium", "has the mode 'medium'"),
        ],
    )
    def test_a_damaged_table_is_refused(self, tmp_path, name, old, new, sentence):
        one = trial()
        write_trials(tmp_path, [Trial(one.image, one.system, one.mode, one.first, one.second, "first", "1")])
        path = tmp_path / name
        path.write_text(path.read_text().replace(old, new))
        with pytest.raises(InputError, match=sentence):
            read_trials(tmp_path)

    def test_a_missing_table_is_named(self, tmp_path):
        with pytest.raises(InputError, match=r"key\.csv: cannot be read"):
            read_trials(tmp_path)
