"""A damaged store: whatever page is gone, every tally on the other pages is saved and reused."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from hyperacuity.boundary import Protocol, tally
from hyperacuity.cli import app
from hyperacuity.errors import UsageError
from hyperacuity.run import check_run, open_run, open_store, run_grid, salvage_run
from hyperacuity.run.pages import pages_of, rows_of

PAGE = 4096


def run_into(folder, job, cells):
    with open_store(folder) as store:
        return run_grid(job, cells, store=store, workers=1, progress=False)


@pytest.fixture
def folder(tmp_path, cells, make_job):
    run_into(tmp_path / "run", make_job(), cells)
    return tmp_path / "run"


def packed(folder):
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as connection:
        return dict(connection.execute("SELECT system || image, tally FROM tallies"))


def overwrite(folder, page):
    file = folder / "run.sqlite"
    data = bytearray(file.read_bytes())
    data[page * PAGE : (page + 1) * PAGE] = b"\xa5" * len(data[page * PAGE : (page + 1) * PAGE])
    file.write_bytes(data)


def test_a_sound_store_is_taken_over_whole(folder, tmp_path, cells, make_job):
    saved = salvage_run(folder, tmp_path / "saved")
    assert (saved.tallies, saved.cells, saved.runs, saved.waiting) == (24, 24, 1, 0)
    assert packed(tmp_path / "saved") == packed(folder)
    assert check_run(tmp_path / "saved").problems == ()
    with open_run(folder) as one, open_run(tmp_path / "saved") as other:
        assert one.states("numbers|v:1") == other.states("numbers|v:1")
        assert one.fingerprint("numbers|v:1") == other.fingerprint("numbers|v:1")
    assert run_into(tmp_path / "saved", make_job(), cells).reused == 24


def test_whichever_page_is_overwritten_the_tallies_on_the_others_are_saved(folder, tmp_path, cells, make_job):
    whole = packed(folder)
    pages = (folder / "run.sqlite").stat().st_size // PAGE
    lost = []
    for page in range(pages):
        broken, saved = tmp_path / f"broken-{page}", tmp_path / f"saved-{page}"
        shutil.copytree(folder, broken)
        overwrite(broken, page)
        salvage_run(broken, saved)
        found = packed(saved)
        assert found.items() <= whole.items(), "what is saved is as it was"
        assert check_run(saved).problems == ()
        again = run_into(saved, make_job(), cells)
        assert (again.reused, again.computed) == (len(found), 24 - len(found))
        assert packed(saved) == whole
        lost.append(24 - len(found))
    assert sum(lost) == 24, "each tally is on one page only"


def test_tallies_that_run_over_into_other_pages(tmp_path):
    """Rows of all lengths around those where SQLite begins to spill, read by SQLite and by us."""
    file = tmp_path / "rows.sqlite"
    rows = [
        (number, "x" * length, bytes(length), -number, number / 3, None)
        for number, length in enumerate(range(0, 20000, 397))
    ]
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, a TEXT, b BLOB, c INTEGER, d REAL, e TEXT)")
        connection.executemany("INSERT INTO things VALUES (?, ?, ?, ?, ?, ?)", rows)
    found = {number: values[1:] for number, values in rows_of(pages_of(file)) if len(values) == 6}
    assert found == {number: list(values) for number, *values in rows}


def test_what_is_only_in_the_log_is_saved_too(tmp_path, cells, make_job, folder):
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("UPDATE tallies SET image = 'only in the log' WHERE id = 1")
        connection.commit()
        copy = tmp_path / "copy"
        copy.mkdir()
        for name in ("run.sqlite", "run.sqlite-wal"):
            shutil.copy(folder / name, copy / name)
    (copy / "run.sqlite").write_bytes(b"\0" * 16 + (copy / "run.sqlite").read_bytes()[16:])
    salvage_run(copy, tmp_path / "saved")
    assert any("only in the log" in key for key in packed(tmp_path / "saved"))


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """One sound store for all examples: twelve tallies of noise."""
    folder = tmp_path_factory.mktemp("sound")
    random = np.random.default_rng(0)
    with open_store(folder) as store, store.writing() as connection:
        for k in range(12):
            truth = random.random((20, 30)) < 0.1
            counts = tally(random.random((20, 30)), [truth], Protocol())
            connection.execute(
                "INSERT INTO tallies (signature, system, image, inputs, code, tally) VALUES (?, ?, ?, ?, ?, ?)",
                ("boundary", "noise", str(k), bytes(8), "1", counts.pack()),
            )
    return folder


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_damage_makes_a_tally_that_was_never_computed(noise, tmp_path_factory, data):
    whole = set(packed(noise).values())
    content = bytearray((noise / "run.sqlite").read_bytes())
    for _ in range(data.draw(st.integers(1, 40))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    place = tmp_path_factory.mktemp("broken")
    (place / "run.sqlite").write_bytes(content[:cut] if data.draw(st.booleans()) else content)
    salvage_run(place, place / "saved")
    assert set(packed(place / "saved").values()) <= whole
    assert check_run(place / "saved").problems == ()


def test_the_command_says_what_was_saved_and_what_to_do(folder, tmp_path):
    overwrite(folder, 0)
    done = CliRunner().invoke(app, ["run", "salvage", str(folder), "--out", str(tmp_path / "saved"), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["tallies"] == 24
    with pytest.raises(UsageError, match="holds a run already"):
        salvage_run(folder, tmp_path / "saved")
    with pytest.raises(UsageError, match="there is no run"):
        salvage_run(tmp_path / "nowhere", tmp_path / "other")
