"""Looking after stores: older layouts, checks, merging, export, cleaning up, readers meanwhile, and how large a tally is."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import hyperacuity as ha
from hyperacuity.boundary import BoundaryTally, Protocol, tally
from hyperacuity.cli import app
from hyperacuity.data.scenes import make_scene
from hyperacuity.errors import UsageError
from hyperacuity.run import Cell, check_run, export_run, merge_runs, open_run, open_store, run_grid, sweep_run
from hyperacuity.run.code import code_version
from hyperacuity.run.records import VERSION

SIGNATURE = "numbers|v:1"


def run_into(folder, job, cells):
    with open_store(folder) as store:
        return run_grid(job, cells, store=store, workers=2, progress=False)


def contents(folder):
    with open_run(folder) as run:
        return {(p, s): run.packed(p, s) for p in run.signatures() for s in run.systems(p)}


def stopped(folder, job, cells):
    """A run that is stopped before its first cell."""
    with open_store(folder) as store:
        store.begin(job.signature, code_version(job), cells, workers=1, job={})


@contextlib.contextmanager
def tampering(folder):
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as connection, connection:
        yield connection


@pytest.fixture
def folder(tmp_path, cells, make_job):
    run_into(tmp_path / "run", make_job(), cells)
    return tmp_path / "run"


def command(*words):
    return CliRunner().invoke(app, ["run", *map(str, words)])


@dataclass(frozen=True, eq=False)
class AnyBoundaryTally(BoundaryTally):
    """The arrays of a boundary tally, whatever is in them."""

    def validate(self) -> None:
        """Promise nothing."""


class TestAnOlderLayout:
    @pytest.fixture
    def old(self, tmp_path):
        (tmp_path / "old").mkdir()
        with contextlib.closing(sqlite3.connect(tmp_path / "old" / "run.sqlite")) as connection:
            connection.executescript(Path(__file__).with_name("layout2.sql").read_text(encoding="utf-8"))
        return tmp_path / "old"

    @staticmethod
    def layout(folder):
        with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as connection:
            return connection.execute("PRAGMA user_version").fetchone()[0]

    def test_is_read_as_it_is(self, old, tally_type, protocol):
        with open_run(old) as run:
            assert run.systems(SIGNATURE) == ["canny", "sobel"]
            assert run.tallies(SIGNATURE, "canny", tally_type, protocol)["image 2"].sums.tolist() == [7.5, 2.0]
            assert [f.reason for f in run.failures(SIGNATURE)] == ["sobel-2.txt: expected numbers"]
        assert self.layout(old) == 2
        assert check_run(old).problems == ()

    def test_is_brought_up_to_date_when_a_run_goes_on_and_its_tallies_are_reused(
        self, old, tmp_path, make_job, monkeypatch
    ):
        before = contents(old)
        cells = []
        for system in ("canny", "sobel"):
            for k in range(3):
                prediction, truth = tmp_path / f"{system}-{k}.txt", tmp_path / f"truth-{k}.txt"
                prediction.write_text(f"{k} {len(system)}.5")
                truth.write_text(f"{k}")
                cells.append(Cell(system, f"image {k}", prediction, (truth,)))
        monkeypatch.setattr("hyperacuity.run.grid.code_version", lambda job: "0.1.0+layout2")
        outcome = run_into(old, make_job(), cells)
        assert (outcome.reused, outcome.computed) == (5, 1), "sobel-2.txt has numbers now"
        assert self.layout(old) == VERSION
        after = contents(old)
        assert after[SIGNATURE, "canny"] == before[SIGNATURE, "canny"]
        health = check_run(old)
        assert (health.problems, health.layout, health.runs) == ((), VERSION, 2)

    def test_has_the_same_tables_afterwards_as_a_new_one(self, old, folder):
        with open_store(old):
            pass

        def plan(where):
            with contextlib.closing(sqlite3.connect(where / "run.sqlite")) as connection:
                return sorted(connection.execute("SELECT type, name, sql FROM sqlite_master"), key=str)

        assert plan(old) == plan(folder)

    def test_stays_as_it_was_when_the_change_is_interrupted(self, old, monkeypatch):
        steps = {2: ("CREATE INDEX cells_in_order ON cells (run, position)", "SELECT no_such_function()")}
        monkeypatch.setattr("hyperacuity.run.records._STEPS", steps)
        with pytest.raises(UsageError, match="no_such_function"):
            open_store(old)
        assert self.layout(old) == 2
        monkeypatch.undo()
        with open_store(old):
            pass
        assert self.layout(old) == VERSION

    @pytest.mark.parametrize(
        ("layout", "sentence"),
        [
            (1, "older than any release of hyperacuity .*: evaluate again"),
            (99, "made by a later version .*: update it"),
        ],
    )
    def test_beyond_what_can_be_read_is_refused(self, old, layout, sentence):
        with tampering(old) as connection:
            connection.execute(f"PRAGMA user_version = {layout}")
        for opener in (open_run, open_store):
            with pytest.raises(UsageError, match=f"has layout {layout}, {sentence}"):
                opener(old)


class TestCheck:
    def test_finds_nothing_wrong_with_a_sound_run(self, folder):
        health = check_run(folder)
        assert health.problems == ()
        assert (health.cells, health.tallies, health.failed, health.waiting) == (24, 24, 0, 0)
        done = command("check", folder)
        assert (done.exit_code, done.stdout) == (0, "sound: 24 cells, 24 tallies, 0 failed, 0 waiting\n")

    @pytest.mark.parametrize(
        ("damage", "sentence"),
        [
            ("UPDATE tallies SET tally = substr(tally, 1, 30) WHERE id = 3", "image 2: stored tally is damaged"),
            ("UPDATE tallies SET tally = 'x' WHERE id = 3", "image 2: stored tally is damaged"),
            ("DELETE FROM tallies WHERE id = 3", "image 2: points to tally 3, which is not there"),
            ("UPDATE cells SET tally = 4 WHERE tally = 3", "image 2: points to tally 4, which is another cell's"),
            ("UPDATE cells SET reason = 'no' WHERE tally = 3", "image 2: has a tally and a reason why it has none"),
            ("UPDATE cells SET files = '{' WHERE tally = 3", "image 2: its list of files cannot be read"),
            ("UPDATE runs SET about = '{'", "run 1: its description cannot be read"),
            ("DELETE FROM runs", "image 2: belongs to run 1, which is not there"),
        ],
    )
    def test_names_what_is_wrong_and_ends_with_status_1(self, tmp_path, cells, make_job, damage, sentence):
        with open_store(tmp_path / "run") as store:  # one worker: tallies are numbered in the order of the cells
            run_grid(make_job(), cells, store=store, workers=1, progress=False)
        with tampering(tmp_path / "run") as connection:
            connection.execute(damage)
        assert any(sentence in problem for problem in check_run(tmp_path / "run").problems)
        done = command("check", tmp_path / "run", "--json")
        assert done.exit_code == 1
        assert not json.loads(done.stdout)["sound"]
        assert sentence in done.stderr.replace("\n", " ")

    @pytest.mark.parametrize("which", range(0, 24, 5))
    def test_notices_one_byte_of_a_tally_overwritten_on_the_disk(self, folder, which):
        file = folder / "run.sqlite"
        data = bytearray(file.read_bytes())
        at = [found.end() for found in re.finditer(rb'"sums":\["<f8",\[3\]\]\}\n', data)][which] + 12
        data[at] ^= 0x10
        file.write_bytes(data)
        done = command("check", folder)
        assert (done.exit_code, done.stdout) == (1, "")
        assert "stored tally is damaged" in done.stderr.replace("\n", " ")

    @pytest.mark.parametrize("page", [2, 4, 8])
    def test_notices_a_page_overwritten_on_the_disk(self, folder, page):
        file = folder / "run.sqlite"
        data = bytearray(file.read_bytes())
        data[page * 4096 : (page + 1) * 4096] = b"\xa5" * 4096
        file.write_bytes(data)
        done = command("check", folder)
        assert (done.exit_code, done.stdout) == (1, "")
        assert "wrong:" in done.stderr

    @pytest.mark.parametrize("keep", [0, 100, 5000])
    def test_notices_a_file_cut_short(self, folder, keep):
        file = folder / "run.sqlite"
        file.write_bytes(file.read_bytes()[:keep])
        assert command("check", folder).exit_code == 1

    def test_names_an_impossible_tally_with_a_sound_checksum(self, tmp_path):
        truth = np.eye(24, dtype=bool)
        for folder in ("maps", "truth"):
            (tmp_path / folder).mkdir()
            np.save(tmp_path / folder / "a.npy", truth)
        place = {"run": tmp_path / "run", "progress": False, "thresholds": 3}
        whole = ha.evaluate("boundary", tmp_path / "maps", tmp_path / "truth", **place).tallies()["a"]
        assert check_run(tmp_path / "run").problems == ()
        forged = AnyBoundaryTally(**{**whole.arrays, "truth_matched": 2 * whole.truth_matched}, protocol=whole.protocol)
        with tampering(tmp_path / "run") as connection:
            connection.execute("UPDATE tallies SET tally = ?", (forged.pack(),))
        (problem,) = check_run(tmp_path / "run").problems
        assert "a BoundaryTally (truth_matched[0] is 48, expected 0 to truth, 24)" in problem
        again = ha.evaluate("boundary", tmp_path / "maps", tmp_path / "truth", **place)
        assert again.tallies()["a"] == whole, "computed again, not taken from the store"

    def test_of_a_folder_without_a_run_is_a_wrong_call(self, tmp_path):
        assert command("check", tmp_path).exit_code == 2


class TestMerge:
    @pytest.fixture
    def halves(self, tmp_path, cells, make_job):
        run_into(tmp_path / "a", make_job(), cells[:12])
        run_into(tmp_path / "b", make_job(), cells[12:])
        return [tmp_path / "a", tmp_path / "b"]

    def test_of_two_halves_is_the_whole(self, halves, folder, tmp_path, cells, make_job):
        whole = contents(folder)
        merged = merge_runs(halves, tmp_path / "c")
        assert (merged.runs, merged.cells, merged.tallies) == (2, 24, 24)
        together = contents(tmp_path / "c")
        assert together[SIGNATURE, "canny"] == whole[SIGNATURE, "canny"]
        assert together[SIGNATURE, "größer"] == whole[SIGNATURE, "größer"]
        assert check_run(tmp_path / "c").problems == ()
        with open_run(tmp_path / "c") as run:
            assert [entry["merged from"] for entry in run.history()] == [str(half / "run.sqlite") for half in halves]
        assert run_into(tmp_path / "c", make_job(), cells).reused == 24, "a merged run goes on like any other"

    def test_goes_into_a_run_that_is_there_and_the_sources_stay_as_they_are(self, halves, folder):
        before = [contents(half) for half in halves]
        whole = contents(folder)
        assert merge_runs(halves, folder).cells == 0
        assert contents(folder).keys() == whole.keys()
        assert all(sorted(contents(folder)[key].items()) == sorted(whole[key].items()) for key in whole)
        assert [contents(half) for half in halves] == before

    def test_prefers_a_tally_to_a_failure_whichever_comes_first(self, tmp_path, cells, make_job):
        def no():
            raise OSError("not today")

        run_into(tmp_path / "failed", make_job(special={("canny", "image 1"): no}), cells[:8])
        run_into(tmp_path / "done", make_job(), cells[:8])
        for name, order in {"x": ["failed", "done"], "y": ["done", "failed"]}.items():
            merge_runs([tmp_path / part for part in order], tmp_path / name)
            assert len(contents(tmp_path / name)[SIGNATURE, "canny"]) == 8
            assert check_run(tmp_path / name).failed == 0

    def test_refuses_the_same_name_for_other_files_and_writes_nothing(self, halves, tmp_path, cells, make_job):
        cells[3].prediction.write_text("17 4")
        run_into(tmp_path / "other", make_job(), cells[:8])
        done = command("merge", *halves, tmp_path / "other", "--out", tmp_path / "c")
        assert done.exit_code == 2
        assert "canny: image 3: was computed from other files" in done.stderr.replace("\n", " ")
        assert contents(tmp_path / "c") == {}

    def test_refuses_two_tallies_of_the_same_files(self, halves, folder, tmp_path):
        with tampering(folder) as connection:
            connection.execute("UPDATE tallies SET tally = substr(tally, 1, 30) WHERE system = 'canny'")
        with pytest.raises(UsageError, match=r"another tally of the same files .* run check"):
            merge_runs([*halves, folder], tmp_path / "c")

    def test_with_itself_is_refused(self, folder):
        with pytest.raises(UsageError, match="cannot be merged into itself"):
            merge_runs([folder], folder)


class TestExport:
    def test_writes_a_row_per_cell_with_the_arrays_as_lists(self, tmp_path, cells, make_job, tally_type, protocol):
        parquet = pytest.importorskip("pyarrow.parquet")
        cells[5].prediction.write_text("not numbers")
        run_into(tmp_path / "run", make_job(), cells)
        run_into(tmp_path / "run", make_job(replace(protocol, base=16)), cells[:2])
        done = command("export", tmp_path / "run", "--out", tmp_path / "tables", "--json")
        assert done.exit_code == 0
        assert [Path(p).name for p in json.loads(done.stdout)["files"]] == ["numbers.parquet", "numbers-2.parquet"]
        rows = parquet.read_table(tmp_path / "tables" / "numbers.parquet").to_pylist()
        assert len(rows) == 24
        assert [row["state"] for row in rows].count("failed") == 1
        assert rows[5]["reason"] == "canny-5.txt: expected numbers"
        with open_run(tmp_path / "run") as run:
            expected = run.tallies(SIGNATURE, "sobel", tally_type, protocol)["image 3"]
        (row,) = [row for row in rows if (row["system"], row["image"]) == ("sobel", "image 3")]
        assert (row["count"], row["sums"]) == (expected.count.tolist(), expected.sums.tolist())
        assert row["truths"] == [str(path) for path in cells[11].truths]

    def test_csv_says_the_same(self, folder, tmp_path, tally_type, protocol):
        (tmp_path / "tables").mkdir()
        with open_run(folder) as run:
            (path,) = export_run(run, tmp_path / "tables", "csv")
            expected = run.tallies(SIGNATURE, "größer", tally_type, protocol)["image 7"]
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert json.loads(rows[-1]["sums"]) == expected.sums.tolist()
        assert rows[-1]["system"] == "größer"

    def test_what_cannot_be_written_is_a_wrong_call(self, folder, tmp_path, monkeypatch):
        assert command("export", folder, "--format", "xls", "--out", tmp_path).exit_code == 2
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        done = command("export", folder, "--out", tmp_path)
        assert "needs pyarrow (csv does not): pip install 'pyarrow>=" in done.stderr.replace("\n", " ")


class TestSweep:
    def test_drops_what_no_cell_refers_to_and_keeps_the_rest(self, tmp_path, cells, make_job):
        run_into(tmp_path / "run", make_job(), cells)
        for k in range(30):
            cells[0].prediction.write_text(f"{k} " * 500)
            run_into(tmp_path / "run", make_job(), cells)
        before = contents(tmp_path / "run")
        swept = sweep_run(tmp_path / "run")
        assert swept.tallies == 30
        assert swept.after < swept.before
        assert contents(tmp_path / "run") == before
        assert check_run(tmp_path / "run").tallies == 24
        assert run_into(tmp_path / "run", make_job(), cells).reused == 24
        assert command("gc", tmp_path / "run").stdout.startswith("0 tallies deleted")

    def test_keeps_the_tallies_of_a_finished_run_after_one_that_was_stopped(self, folder, cells, make_job):
        stopped(folder, make_job(), cells)
        assert sweep_run(folder).tallies == 0
        again = run_into(folder, make_job(), cells)
        assert (again.reused, again.computed) == (24, 0)

    def test_keeps_the_tally_of_a_cell_that_failed_once(self, folder, cells, make_job):
        words = cells[0].prediction.read_text()
        dates = cells[0].prediction.stat()
        cells[0].prediction.write_text("no number")
        assert len(run_into(folder, make_job(), cells).failures) == 1
        assert sweep_run(folder).tallies == 0
        cells[0].prediction.write_text(words)
        os.utime(cells[0].prediction, ns=(dates.st_atime_ns, dates.st_mtime_ns))
        again = run_into(folder, make_job(), cells)
        assert (again.reused, again.computed) == (24, 0)

    def test_drops_what_a_stopped_run_no_longer_asks_for(self, folder, cells, make_job):
        stopped(folder, make_job(), [cell for cell in cells if cell.image != "image 3"])
        assert sweep_run(folder).tallies == 3

    def test_forgets_digests_of_files_that_no_cell_names(self, folder, cells, make_job):
        with tampering(folder) as connection:
            connection.execute("INSERT OR REPLACE INTO files VALUES ('/gone.png', 'x', X'00')")
            connection.execute(
                "INSERT OR REPLACE INTO files VALUES (?, 'x', X'00')", (str(cells[0].prediction.absolute()),)
            )
            named = connection.execute("SELECT count(*) FROM files").fetchone()[0] - 1
        assert sweep_run(folder).files == 1
        with tampering(folder) as connection:
            assert connection.execute("SELECT count(*) FROM files").fetchone()[0] == named

    def test_waits_for_no_run_that_writes(self, folder):
        with open_store(folder), pytest.raises(UsageError, match="in use by another run"):
            sweep_run(folder)


def test_show_tells_protocols_systems_and_history(folder):
    done = command("show", folder)
    assert "sobel: 8 done" in done.stdout
    told = json.loads(command("show", folder, "--json").stdout)
    assert told["protocols"][0]["systems"]["canny"] == {"done": 8, "failed": 0, "waiting": 0}
    assert told["history"][0]["status"] == "finished"


READER = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from hyperacuity.run import check_run, open_run
    seen, end = 0, time.monotonic() + 20
    print("ready", flush=True)
    while time.monotonic() < end:
        with open_run(Path(sys.argv[1])) as run:
            done = sum(len(run.packed("numbers|v:1", s)) for s in run.systems("numbers|v:1"))
            left = len(run.waiting("numbers|v:1"))
            assert done + left == 600, (done, left)  # one moment
        assert done >= seen
        if not seen and done:
            assert not check_run(Path(sys.argv[1])).problems
        seen = done
        if not left:
            break
    print(seen, flush=True)
    """
)


def test_readers_in_other_processes_look_on_while_a_run_writes(tmp_path, cells, make_job):
    many = [Cell("s", str(k), cells[k % 24].prediction, ()) for k in range(600)]
    with open_store(tmp_path / "run") as store:
        store.begin(SIGNATURE, "0", many, workers=1, job={})
        command = [sys.executable, "-c", READER, str(tmp_path / "run")]
        readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for reader in readers:
            assert reader.stdout.readline() == "ready\n"
        outcome = run_grid(make_job(dawdle=0.002), many, store=store, workers=2, progress=False)
        assert outcome.computed == 600
        assert [reader.communicate()[0] for reader in readers] == ["600\n", "600\n"]
    assert [reader.returncode for reader in readers] == [0, 0]


class TestAReadOnlyCopy:
    def test_is_checked_exported_and_merged_from(self, folder, open_folder, read_only_folder, tmp_path):
        (open_folder / "copy").mkdir()
        shutil.copy(folder / "run.sqlite", open_folder / "copy")
        (open_folder / "copy" / "run.sqlite").chmod(0o444)
        (open_folder / "out").mkdir()
        (open_folder / "out").chmod(0o777)
        read_only_folder(open_folder / "copy")
        assert check_run(open_folder / "copy").problems == ()
        with open_run(open_folder / "copy") as run:
            assert len(export_run(run, open_folder / "out", "csv")) == 1
        assert merge_runs([open_folder / "copy"], open_folder / "out").cells == 24

    def test_taken_in_the_middle_of_a_run_is_read_with_its_log(self, tmp_path, cells, make_job):
        def copy():
            shutil.copytree(tmp_path / "run", tmp_path / "copy")

        job = make_job(special={("größer", "image 7"): copy}, dawdle=0.03)
        with open_store(tmp_path / "run") as store:
            run_grid(job, cells, store=store, workers=1, progress=False)
        assert (tmp_path / "copy" / "run.sqlite-wal").stat().st_size > 0
        assert check_run(tmp_path / "copy").problems == ()
        with open_run(tmp_path / "copy") as run:
            assert 0 < len(run.waiting(SIGNATURE)) < 24


def test_a_boundary_tally_of_99_thresholds_has_less_than_4_kilobytes():
    """Counts that differ at every threshold, so that nothing is easy to compress: noise against a scene of natural size."""
    scene = make_scene(3, size=(481, 321))
    noise = np.random.default_rng(5).random(scene.boundaries.shape, dtype=np.float32)
    packed = tally(noise, [scene.boundaries], Protocol()).pack()
    assert 500 < len(packed) < 4096
