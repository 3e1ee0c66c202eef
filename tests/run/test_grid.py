"""Systems × images by threads: order, isolation of failures, interruption, and what people see meanwhile."""

from __future__ import annotations

import _thread
import errno
import gc
import random
import signal
import threading
import weakref

import pytest

from hyperacuity.errors import InputError, UsageError
from hyperacuity.run import Cell, Failure, Filled, fill_grid, open_run, open_store, run_grid
from hyperacuity.run.work import Threads


def raiser(error):
    def special():
        raise error

    return special


def as_bytes(outcome):
    return {(s, i): tally.pack() for s, images in outcome.tallies.items() for i, tally in images.items()}


def test_tallies_are_those_of_the_job_in_the_order_of_the_cells(cells, make_job):
    outcome = run_grid(make_job(dawdle=0.005), cells, workers=8, progress=False)
    assert [(s, i) for s, images in outcome.tallies.items() for i in images] == [(c.system, c.image) for c in cells]
    # image 3: prediction "3 0.3", truths "0.3 1" and "0.3 2"
    assert outcome.tallies["sobel"]["image 3"].count.tolist() == [2, 2, 2]
    assert outcome.tallies["sobel"]["image 3"].sums.tolist() == pytest.approx([3.3, 1.3, 2.3])
    assert (outcome.computed, outcome.reused, outcome.failures) == (24, 0, [])


@pytest.mark.parametrize("workers", [1, 2, 8, None])
@pytest.mark.parametrize("stored", [False, True])
def test_results_are_the_same_bytes_for_any_number_of_workers_and_any_order(cells, make_job, workers, stored, tmp_path):
    plain = as_bytes(run_grid(make_job(), cells, workers=1, progress=False))
    shuffled = random.Random(workers).sample(cells, len(cells))  # noqa: S311
    job = make_job(dawdle=0.003)
    if stored:
        with open_store(tmp_path / "run") as store:
            outcome = run_grid(job, shuffled, store=store, workers=workers, progress=False)
        with open_run(tmp_path / "run") as run:
            kept = {(s, i): d for s in run.systems(job.signature) for i, d in run.packed(job.signature, s).items()}
        assert kept == plain
    else:
        outcome = run_grid(job, shuffled, workers=workers, progress=False)
    assert as_bytes(outcome) == plain
    assert list(outcome.tallies) == list(dict.fromkeys(c.system for c in shuffled))


def test_each_failure_costs_its_own_cell_and_carries_a_reason(cells, make_job, tmp_path):
    special = {
        ("canny", "image 1"): raiser(InputError("canny-1.png: has no pixels")),
        ("sobel", "image 0"): raiser(ZeroDivisionError("float division by zero")),
        ("sobel", "image 7"): raiser(AssertionError()),
        ("größer", "image 2"): raiser(UsageError("no such variable")),
    }
    job = make_job(special=special)
    with open_store(tmp_path / "run") as store:
        outcome = run_grid(job, cells, store=store, workers=3, progress=False)
    assert [(f.system, f.image, f.reason) for f in outcome.failures] == [
        ("canny", "image 1", "canny-1.png: has no pixels"),
        ("sobel", "image 0", "ZeroDivisionError: float division by zero"),
        ("sobel", "image 7", "AssertionError"),
        ("größer", "image 2", "UsageError: no such variable"),
    ]
    assert outcome.computed == 20
    assert not any(image in outcome.tallies[system] for system, image in special)
    with open_run(tmp_path / "run") as run:
        assert run.failures(job.signature) == outcome.failures
        details = {f.image: f.detail for f in run.failures(job.signature)}
    assert "raise error" in details["image 0"], "the traceback of an unforeseen error is kept"
    assert details["image 1"] == ""


def test_a_missing_file_fails_its_cell_by_name(cells, make_job, tmp_path):
    cells[5].prediction.unlink()
    with open_store(tmp_path / "run") as store:
        outcome = run_grid(make_job(), cells, store=store, progress=False)
    assert [f.image for f in outcome.failures] == ["image 5"]
    assert outcome.failures[0].reason == f"{cells[5].prediction}: cannot be read (No such file or directory)"


def test_failed_cells_are_tried_again_next_time(cells, make_job, tmp_path):
    job = make_job(special={("canny", "image 1"): raiser(OSError("server gone"))})
    with open_store(tmp_path / "run") as store:
        assert len(run_grid(job, cells, store=store, progress=False).failures) == 1
        job.special.clear()
        outcome = run_grid(job, cells, store=store, progress=False)
    assert (outcome.computed, outcome.reused, outcome.failures) == (1, 23, [])
    with open_run(tmp_path / "run") as run:
        assert run.failures(job.signature) == []


def test_a_tally_of_the_wrong_class_is_a_failure(cells, make_job):
    job = make_job()
    job.evaluate = lambda cell: 7
    (failure,) = run_grid(job, cells[:1], progress=False).failures
    assert failure.reason == "TypeError: the job returned int, expected NumberTally"


def test_a_file_that_changes_while_its_cell_is_evaluated_fails_the_cell(cells, make_job, tmp_path):
    cell = cells[0]
    job = make_job(special={(cell.system, cell.image): lambda: cell.truths[1].write_text("1 2 3 4 5")})
    with open_store(tmp_path / "run") as store:
        outcome = run_grid(job, [cell], store=store, progress=False)
        assert "changed while it was being evaluated" in outcome.failures[0].reason
        assert run_grid(make_job(), [cell], store=store, progress=False).computed == 1


@pytest.fixture
def ctrl_c_raises():
    """Python's own answer to Ctrl-C.

    Other tests may have put something in its place, and a shell that starts the tests in the background (``pytest &`` in a
    script) has Ctrl-C ignored: then nothing is raised, and rightly so.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


@pytest.mark.usefixtures("ctrl_c_raises")
def test_interruption_keeps_what_is_finished_and_a_second_run_does_the_rest(cells, make_job, tmp_path):
    job = make_job(dawdle=0.01, special={("sobel", "image 2"): _thread.interrupt_main})
    with open_store(tmp_path / "run") as store, pytest.raises(KeyboardInterrupt):
        run_grid(job, cells, store=store, workers=2, progress=False)
    with open_run(tmp_path / "run") as run:
        waiting = run.waiting(job.signature)
        assert run.metadata(job.signature)["status"] == "interrupted"
    # Each cell that was begun was finished and kept, none was begun twice.
    assert set(job.evaluated).isdisjoint(waiting)
    assert len(job.evaluated) + len(waiting) == len(cells)
    with open_store(tmp_path / "run") as store:
        rest = make_job()
        outcome = run_grid(rest, cells, store=store, workers=2, progress=False)
    assert sorted(rest.evaluated) == sorted(waiting)
    assert as_bytes(outcome) == as_bytes(run_grid(make_job(), cells, workers=1, progress=False))


def test_no_more_than_two_cells_per_worker_are_on_their_way(cells, make_job, monkeypatch):
    class Counting(Threads):
        away = most = 0

        def give(self, task):
            Counting.away += 1
            Counting.most = max(Counting.most, Counting.away)
            super().give(task)

        def take(self, seconds):
            results = super().take(seconds)
            Counting.away -= len(results)
            return results

    monkeypatch.setattr("hyperacuity.run.grid.Threads", Counting)
    many = [Cell("s", str(k), cells[0].prediction, ()) for k in range(200)]
    assert run_grid(make_job(), many, workers=3, progress=False).computed == 200
    assert Counting.most == 2 * 3


def test_a_grid_may_be_a_generator_that_ends_up_in_the_store_alone(cells, make_job, tmp_path, monkeypatch):
    monkeypatch.setattr("hyperacuity.run.store.PAGE", 7)
    job = make_job(special={("sobel", "image 0"): raiser(InputError("no"))})
    with open_store(tmp_path / "run") as store:
        first = fill_grid(job, (cell for cell in cells), store=store, workers=2, progress=False)
        second = fill_grid(make_job(), iter(cells), store=store, progress=False)
    assert first == Filled(computed=23, reused=0, failures=[Failure("sobel", "image 0", "no")])
    assert second == Filled(computed=1, reused=23, failures=[])
    expected = as_bytes(run_grid(make_job(), cells, progress=False))
    with open_run(tmp_path / "run") as run:
        kept = {(s, i): d for s in run.systems(job.signature) for i, d in run.packed(job.signature, s).items()}
        assert [(c.system, c.image) for c in run.cells(job.signature)] == [(c.system, c.image) for c in cells]
    assert kept == expected


def test_cells_of_a_generator_are_not_held(cells, make_job, tmp_path, monkeypatch):
    made, alive = [], []
    plain = Cell.__init__

    def noted(cell, *values):
        plain(cell, *values)
        made.append(weakref.ref(cell))

    def count():
        gc.collect()
        alive.append(sum(cell() is not None for cell in list(made)))

    monkeypatch.setattr(Cell, "__init__", noted)
    many = (Cell("counted", str(k), cells[k % 24].prediction, ()) for k in range(3000))
    with open_store(tmp_path / "run") as store:
        job = make_job(special={("counted", "2900"): count})
        filled = fill_grid(job, many, store=store, workers=2, progress=False)
    assert filled.computed == 3000
    assert len(made) >= 3000
    assert 0 < alive[0] < 20, "a few cells on their way, not thousands"


def test_a_generator_that_makes_no_sense_is_refused_and_leaves_no_trace(cells, make_job, tmp_path):
    with open_store(tmp_path / "run") as store:
        run_grid(make_job(), cells, store=store, progress=False)
        with pytest.raises(UsageError, match="the image image 3 of the system canny is given twice"):
            fill_grid(make_job(), iter([*cells, cells[3]]), store=store, progress=False)
        with pytest.raises(UsageError, match="there is nothing to evaluate"):
            fill_grid(make_job(), iter([]), store=store, progress=False)
    with open_run(tmp_path / "run") as run:
        assert len(run.history()) == 1
        assert run.waiting("numbers|v:1") == []


class TestASecondTry:
    @pytest.fixture(autouse=True)
    def short_pauses(self, monkeypatch):
        monkeypatch.setattr("hyperacuity.run.grid.PAUSE", 0.01)

    @staticmethod
    def bad_moments(error, count):
        left = [error] * count

        def special():
            if left:
                raise left.pop()

        return special

    def test_is_given_to_a_cell_that_met_a_bad_moment_and_its_reason_is_kept(self, cells, make_job, tmp_path):
        special = {
            ("canny", "image 1"): self.bad_moments(OSError(errno.ESTALE, "Stale file handle"), 2),
            ("sobel", "image 2"): self.bad_moments(MemoryError(), 1),
        }
        job = make_job(special=special)
        with open_store(tmp_path / "run") as store:
            outcome = run_grid(job, cells, store=store, workers=2, progress=False)
        assert (outcome.computed, outcome.failures) == (24, [])
        assert as_bytes(outcome) == as_bytes(run_grid(make_job(), cells, progress=False))
        stale = {"system": "canny", "image": "image 1", "reason": f"OSError: [Errno {errno.ESTALE}] Stale file handle"}
        with open_run(tmp_path / "run") as run:
            told = run.metadata(job.signature)["tried again"]
        assert sorted(told, key=str) == [stale, stale, {"system": "sobel", "image": "image 2", "reason": "MemoryError"}]

    def test_is_not_given_for_a_bad_file(self, cells, make_job):
        job = make_job(special={("canny", "image 1"): self.bad_moments(InputError("has no pixels"), 1)})
        assert [f.reason for f in run_grid(job, cells, progress=False).failures] == ["has no pixels"]
        assert job.evaluated.count(("canny", "image 1")) == 1

    def test_comes_to_an_end(self, cells, make_job):
        job = make_job(special={("canny", "image 1"): self.bad_moments(ConnectionResetError("server gone"), 99)})
        (failure,) = run_grid(job, cells, progress=False).failures
        assert failure.reason == "ConnectionResetError: server gone (tried 3 times)"
        assert job.evaluated.count(("canny", "image 1")) == 3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda cells: [], "there is nothing to evaluate"),
        (lambda cells: [*cells, cells[3]], "the image image 3 of the system canny is given twice"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(cells, make_job, change, sentence):
    with pytest.raises(UsageError, match=sentence):
        run_grid(make_job(), change(cells), progress=False)


def test_at_least_one_worker_is_needed(cells, make_job):
    with pytest.raises(UsageError, match="0 workers"):
        run_grid(make_job(), cells, workers=0)


class TestThreadsThatGetNoMemory:
    def start(self, monkeypatch, allowed):
        started, start = [], threading.Thread.start

        def faulty(thread):
            started.append(thread)
            if len(started) > allowed:
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", faulty)

    def test_none_at_all_ends_the_run_with_a_sentence(self, cells, make_job, monkeypatch):
        self.start(monkeypatch, 0)
        with pytest.raises(UsageError, match="cannot start a thread"):
            run_grid(make_job(), cells, workers=2, progress=False)

    def test_one_does_the_work_of_two(self, cells, make_job, monkeypatch):
        undisturbed = as_bytes(run_grid(make_job(), cells, workers=2, progress=False))
        self.start(monkeypatch, 1)
        assert as_bytes(run_grid(make_job(), cells, workers=2, progress=False)) == undisturbed

    def test_one_that_ends_is_noticed(self, cells, make_job, monkeypatch):
        """A thread that cannot even say that it failed."""
        monkeypatch.setattr(Threads, "_work", lambda self: None)
        with pytest.raises(UsageError, match="a thread ended with a cell in hand"):
            run_grid(make_job(), cells, workers=1, progress=False)


def test_progress_is_one_line_in_a_log_when_quick_and_nothing_on_standard_output(cells, make_job, capsys):
    run_grid(make_job(special={("canny", "image 0"): raiser(InputError("no"))}), cells)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("numbers: 24 of 24 cells in ")
    assert err.endswith("s (23 computed, 1 failed)\n")
    assert err.count("\n") == 1


def test_progress_in_a_log_tells_each_quarter_when_slow(cells, make_job, capsys, monkeypatch):
    monkeypatch.setattr("hyperacuity.run.grid._QUIET_SECONDS", 0.0)
    run_grid(make_job(), cells)
    assert [line.split(" cells")[0] for line in capsys.readouterr().err.splitlines()] == [
        f"numbers: {done} of 24" for done in (6, 12, 18, 24)
    ]


def test_progress_on_a_terminal_is_a_bar(cells, make_job, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    run_grid(make_job(dawdle=0.05), cells, workers=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "━" in err
    assert "cells/s" in err


def test_progress_can_be_switched_off(cells, make_job, capsys):
    run_grid(make_job(), cells, progress=False)
    assert capsys.readouterr() == ("", "")
