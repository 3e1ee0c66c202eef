"""What is kept, what is reused, and what is said when the run folder cannot be used."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from hyperacuity.errors import UsageError
from hyperacuity.run import Cell, check_run, fingerprint, open_run, open_store, run_grid
from hyperacuity.run.code import code_version


@pytest.fixture
def run(tmp_path):
    """Run a job over cells in one run folder; a fresh store each time, as the next call of the program would."""

    def run(job, cells):
        with open_store(tmp_path / "run") as store:
            return run_grid(job, cells, store=store, workers=2, progress=False)

    return run


def counts(outcome):
    return outcome.computed, outcome.reused, len(outcome.failures)


def test_nothing_is_computed_again_when_nothing_changed(run, cells, make_job):
    first = run(make_job(), cells)
    job = make_job()
    second = run(job, cells)
    assert (counts(first), counts(second)) == ((24, 0, 0), (0, 24, 0))
    assert job.evaluated == []
    assert second.tallies == first.tallies


def test_a_changed_prediction_recomputes_its_cell_alone(run, cells, make_job):
    run(make_job(), cells)
    cells[9].prediction.write_text("17 4")
    job = make_job()
    assert counts(run(job, cells)) == (1, 23, 0)
    assert job.evaluated == [("sobel", "image 1")]


def test_a_changed_truth_recomputes_its_image_for_every_system(run, cells, make_job):
    run(make_job(), cells)
    cells[4].truths[0].write_text("17 4")
    job = make_job()
    assert counts(run(job, cells)) == (3, 21, 0)
    assert {image for _, image in job.evaluated} == {"image 4"}


def test_a_change_that_keeps_size_and_time_is_noticed(run, cells, make_job):
    run(make_job(), cells)
    path = cells[9].prediction
    before, text = path.stat(), path.read_text()
    path.write_text(text[::-1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert counts(run(make_job(), cells)) == (1, 23, 0)


def test_a_touched_file_with_the_same_content_is_not_evaluated_again(run, cells, make_job):
    run(make_job(), cells)
    cells[9].prediction.touch()
    assert counts(run(make_job(), cells)) == (0, 24, 0)


def test_a_file_put_back_finds_its_old_tally(run, cells, make_job):
    run(make_job(), cells)
    path = cells[9].prediction
    text = path.read_text()
    path.write_text("17 4")
    run(make_job(), cells)
    path.write_text(text)
    assert counts(run(make_job(), cells)) == (0, 24, 0)


def test_a_system_of_another_name_or_folder_finds_its_tallies(run, cells, make_job, protocol, tmp_path):
    def under(name):
        moved = tmp_path / name
        moved.mkdir()
        first = [cell for cell in cells if cell.system == cells[0].system]
        for cell in first:
            (moved / cell.prediction.name).write_bytes(cell.prediction.read_bytes())
        return [replace(cell, system=name, prediction=moved / cell.prediction.name) for cell in first]

    jobs = [
        make_job(),
        make_job(replace(protocol, base=16)),
    ]  # their tallies have the same inputs, and must not be mixed up
    befores = [run(job, cells) for job in jobs]
    renamed = under("renamed")
    renamed[0].prediction.write_text("77 4")
    for job, before in zip(jobs, befores, strict=True):
        again = run(job, renamed)
        assert (again.computed, again.reused) == (1, len(renamed) - 1)
        for cell in renamed[1:]:
            assert again.tallies["renamed"][cell.image] == before.tallies[cells[0].system][cell.image]
        assert run(job, renamed).reused == len(renamed), "under its own name from now on"


def test_a_changed_protocol_recomputes_everything_and_keeps_both(run, cells, make_job, protocol, tmp_path):
    run(make_job(), cells)
    assert counts(run(make_job(replace(protocol, base=16)), cells)) == (24, 0, 0)
    assert counts(run(make_job(), cells)) == (0, 24, 0)
    with open_run(tmp_path / "run") as kept:
        assert sorted(kept.signatures()) == ["numbers|base:16|v:1", "numbers|v:1"]


def test_changed_code_recomputes_everything(run, cells, make_job, monkeypatch):
    run(make_job(), cells)
    monkeypatch.setattr("hyperacuity.run.grid.code_version", lambda job: "0.0.1+other")
    assert counts(run(make_job(), cells)) == (24, 0, 0)


def test_a_system_of_another_name_finds_no_tallies_of_other_code(run, cells, make_job, monkeypatch):
    first = [cell for cell in cells if cell.system == cells[0].system]
    run(make_job(), first)
    monkeypatch.setattr("hyperacuity.run.grid.code_version", lambda job: "0.0.1+other")
    run(make_job(), [cell for cell in cells if cell not in first])
    renamed = [replace(cell, system="renamed") for cell in first]
    assert counts(run(make_job(), renamed)) == (len(renamed), 0, 0)


def test_the_role_of_a_file_counts_as_much_as_its_content(run, cells, make_job):
    cell = cells[1]
    run(make_job(), [cell])
    swapped = Cell(cell.system, cell.image, cell.prediction, cell.truths[::-1])
    assert counts(run(make_job(), [swapped])) == (1, 0, 0)
    extra = Cell(cell.system, cell.image, cell.prediction, cell.truths[:1], extras=(("mask", cell.truths[1]),))
    assert counts(run(make_job(), [extra])) == (1, 0, 0)
    other = replace(extra, extras=(("other mask", cell.truths[1]),))
    assert counts(run(make_job(), [other])) == (1, 0, 0)
    assert counts(run(make_job(), [extra])) == (0, 1, 0)


def test_a_damaged_tally_is_computed_again_and_replaced(run, cells, make_job, tmp_path):
    whole = run(make_job(), cells)
    with contextlib.closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as connection, connection:
        connection.execute(
            "UPDATE tallies SET tally = substr(tally, 1, 20) WHERE system = 'sobel' AND image = 'image 3'"
        )
    assert counts(again := run(make_job(), cells)) == (1, 23, 0)
    assert again.tallies == whole.tallies
    assert counts(run(make_job(), cells)) == (0, 24, 0)


def test_large_settled_files_are_not_read_again_and_small_ones_are(run, cells, make_job, monkeypatch):
    monkeypatch.setattr("hyperacuity.run.fingerprint.SETTLED_NS", 0)
    files = {path for cell in cells for path in cell.files}
    for path in files:
        os.utime(path, ns=(1_700_000_000_123_456_789,) * 2)  # as a copy that keeps dates does
    time.sleep(0.02)  # let the clock pass the files' change time
    run(make_job(), cells)
    reads, read = [], fingerprint._read
    monkeypatch.setattr(fingerprint, "_read", lambda path, *rest: reads.append(path) or read(path, *rest))
    assert counts(run(make_job(), cells)) == (0, 24, 0)
    assert sorted(reads) == sorted(files), "each once"
    reads.clear()
    monkeypatch.setattr(fingerprint, "LARGE", 0)
    assert counts(run(make_job(), cells)) == (0, 24, 0)
    assert reads == []


def test_a_file_with_other_bytes_and_the_same_stamp_is_evaluated_again(run, cells, make_job, monkeypatch):
    monkeypatch.setattr(fingerprint, "stamp", lambda path: f"{path.stat().st_size}:1:1:1")
    run(make_job(), cells)
    text = cells[0].prediction.read_text()
    cells[0].prediction.write_text(text[::-1])
    assert counts(run(make_job(), cells)) == (1, 23, 0)


def test_one_run_folder_has_one_driver(tmp_path):
    with (
        open_store(tmp_path / "run"),
        pytest.raises(UsageError, match=rf"in use by another run \(process {os.getpid()} on "),
    ):
        open_store(tmp_path / "run")
    with open_store(tmp_path / "run"):
        pass  # free again


def test_a_killed_driver_leaves_no_lock_behind(tmp_path):
    hold = (
        "import sys, time; from pathlib import Path; from hyperacuity.run import open_store;"
        "store = open_store(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", hold, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    with pytest.raises(UsageError, match=f"process {process.pid}"):
        open_store(tmp_path / "run")
    process.kill()
    process.communicate()
    with open_store(tmp_path / "run"):
        pass


@pytest.mark.parametrize("opener", [open_store, open_run])
class TestRefuses:
    def refuse(self, opener, folder, sentence):
        before = (folder / "run.sqlite").read_bytes()
        with pytest.raises(UsageError, match=sentence) as caught:
            opener(folder)
        assert "run.sqlite" in str(caught.value)
        assert (folder / "run.sqlite").read_bytes() == before, "a file that is not understood is not touched"

    def test_a_file_that_is_not_sqlite(self, opener, tmp_path):
        (tmp_path / "run.sqlite").write_text("these are my notes\n" * 100)
        self.refuse(opener, tmp_path, "damaged or not a run store .*move it away")

    def test_a_truncated_store(self, opener, run, cells, make_job, tmp_path):
        run(make_job(), cells)
        file = tmp_path / "run" / "run.sqlite"
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        self.refuse(opener, tmp_path / "run", "damaged")

    def test_an_sqlite_file_of_another_program(self, opener, tmp_path):
        with contextlib.closing(sqlite3.connect(tmp_path / "run.sqlite")) as connection, connection:
            connection.execute("CREATE TABLE recipes (name)")
        self.refuse(opener, tmp_path, "not a run store")

    def test_a_store_of_a_later_version(self, opener, run, cells, make_job, tmp_path):
        run(make_job(), cells)
        with contextlib.closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as connection:
            connection.execute("PRAGMA user_version = 99")
        self.refuse(opener, tmp_path / "run", "has layout 99")


def test_a_read_only_run_folder_is_refused_before_any_work(open_folder, read_only_folder):
    read_only_folder(open_folder)
    with pytest.raises(UsageError, match=f"cannot write to the run folder {open_folder}"):
        open_store(open_folder)
    with pytest.raises(UsageError, match="cannot make the run folder"):
        open_store(open_folder / "deeper")


def test_a_read_only_store_in_a_writable_folder_is_refused(open_folder, read_only_folder):
    with open_store(open_folder):
        pass
    (open_folder / "run.lock").chmod(0o666)
    read_only_folder(open_folder / "run.sqlite")
    with pytest.raises(UsageError, match=r"run\.sqlite"):
        open_store(open_folder)


def test_a_run_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(UsageError, match="cannot make the run folder"):
        open_store(tmp_path / "run")


def test_a_full_disk_stops_the_run_with_a_sentence_and_loses_nothing(cells, make_job, tmp_path):
    with open_store(tmp_path / "run") as store:
        run_grid(make_job(), cells[:8], store=store, progress=False)
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        many = [Cell("new", f"image {k}", cells[0].prediction, cells[0].truths) for k in range(2000)]
        with pytest.raises(UsageError, match=r"run\.sqlite: database or disk is full; what was written before is kept"):
            run_grid(make_job(), many, store=store, progress=False)
    with open_store(tmp_path / "run") as store:
        assert counts(run_grid(make_job(), cells[:8], store=store, progress=False)) == (0, 8, 0)


def test_metadata_says_how_the_run_was_made(cells, make_job, tmp_path):
    with open_store(tmp_path / "run", metadata={"seed": 7, "folder of truths": tmp_path}) as store:
        run_grid(make_job(), cells, store=store, workers=2, progress=False)
    with open_run(tmp_path / "run") as run:
        about = run.metadata("numbers|v:1")
        assert run.history() == [about]
    assert about["seed"] == 7
    assert about["folder of truths"] == str(tmp_path)
    assert about["workers"] == 2
    assert about["status"] == "finished"
    assert {"hyperacuity", "python", "numpy", "numba"} <= set(about["versions"])
    assert about["command"]
    assert about["started"] <= about["ended"]
    json.dumps(about)


@pytest.mark.parametrize(
    ("called", "told"),
    [
        ("/lib/hyperacuity/__main__.py", "hyperacuity demo 'a b'"),
        ("/lib/other/__main__.py", "/lib/other/__main__.py demo 'a b'"),
        ("hyperacuity", "hyperacuity demo 'a b'"),
    ],
)
def test_the_command_can_be_typed_again(run, cells, make_job, tmp_path, monkeypatch, called, told):
    monkeypatch.setattr(sys, "argv", [called, "demo", "a b"])
    run(make_job(), cells[:1])
    with open_run(tmp_path / "run") as kept:
        assert kept.metadata(make_job().signature)["command"] == told


class TestARunThatIsStopped:
    """What a finished run left is still there when the next one is stopped before it has looked at everything."""

    @staticmethod
    def begin(folder, job, cells, code=None):
        with open_store(folder) as store:
            store.begin(job.signature, code or code_version(job), cells, workers=1, job={})

    @staticmethod
    def states(folder, job):
        with open_run(folder) as run:
            return run.states(job.signature)["canny"]

    def test_leaves_the_tallies_of_the_one_before(self, tmp_path, cells, make_job):
        with open_store(tmp_path) as store:
            before = run_grid(make_job(), cells, store=store, progress=False)
        self.begin(tmp_path, make_job(), cells)
        assert self.states(tmp_path, make_job()) == {"done": 8, "failed": 0, "waiting": 0}
        with open_run(tmp_path) as run:
            packed = run.packed(make_job().signature, "canny")
        assert packed == {image: tally.pack() for image, tally in before.tallies["canny"].items()}

    def test_but_not_under_other_code_nor_for_other_files(self, tmp_path, cells, make_job):
        with open_store(tmp_path) as store:
            run_grid(make_job(), cells, store=store, progress=False)
        moved = replace(cells[0], prediction=cells[1].prediction)
        self.begin(tmp_path, make_job(), [moved, *cells[1:]])
        assert self.states(tmp_path, make_job()) == {"done": 7, "failed": 0, "waiting": 1}
        self.begin(tmp_path, make_job(), cells, code="another")
        assert self.states(tmp_path, make_job()) == {"done": 0, "failed": 0, "waiting": 8}

    def test_a_cell_that_fails_the_second_time_has_no_tally(self, tmp_path, cells, make_job):
        with open_store(tmp_path) as store:
            run_grid(make_job(), cells, store=store, progress=False)
            cells[0].prediction.write_text("no number")
            run_grid(make_job(), cells, store=store, progress=False)
        assert self.states(tmp_path, make_job()) == {"done": 7, "failed": 1, "waiting": 0}
        assert check_run(tmp_path).problems == ()
