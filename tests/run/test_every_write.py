"""An error at every write, sync, statement and allocation of a run in turn: nothing is lost, and the next start does the rest.

The grid has six cells, three of which were finished before. Each turn starts from a copy of that run, breaks one call, and looks:
the folder is sound, the three tallies are there, and a second start gives the bytes of a run that nothing disturbed.
"""

from __future__ import annotations

import ctypes
import errno
import io
import itertools
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest

from hyperacuity.errors import UsageError
from hyperacuity.outputs import LIST, write_bytes, write_output
from hyperacuity.run import check_run, open_run, open_store, run_grid, store

from .faulty_disk import FULL, IO_ERROR, faulty_disk, library

SIGNATURE = "numbers|v:1"

BOTH = [0, 1] if os.environ.get("HYPERACUITY_THOROUGH") else [0]
"""Which half of the turns; the other half too on request."""

needs_library = pytest.mark.skipif(library() is None, reason="needs SQLite as a shared library")


@pytest.fixture
def grid(cells, monkeypatch):
    """Two systems × three images; every tally is written by itself."""
    monkeypatch.setattr(store, "BATCH", 1)
    return [cell for cell in cells if cell.system != "größer" and cell.image[-1] in "012"]


def go(folder, job, grid):
    with open_store(folder) as opened:
        return run_grid(job, grid, store=opened, workers=1, progress=False)


def complaint(folder, job, grid):
    """What a run says that cannot go on; the words of comfort if it can."""
    try:
        go(folder, job, grid)
    except UsageError as error:
        return str(error)
    return "what was written before is kept"


def packed(folder):
    with open_run(folder) as run:
        return {(s, i): data for s in run.systems(SIGNATURE) for i, data in run.packed(SIGNATURE, s).items()}


@pytest.fixture
def quick():
    """A folder in memory where there is one, since hundreds of runs wait for the disk."""
    memory = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture
def break_in_turn(quick, grid, make_job):
    """Call ``attempt(folder, turn)`` on copies of a half-finished run, turn 1, 2, …, until it says that nothing was broken."""
    go(quick / "half", make_job(), grid[:3])
    before = packed(quick / "half")
    shutil.copytree(quick / "half", quick / "whole")
    go(quick / "whole", make_job(), grid)
    undisturbed = packed(quick / "whole")
    assert (len(before), len(undisturbed)) == (3, 6)

    def look(folder):
        assert check_run(folder).problems == ()
        assert before.items() <= packed(folder).items(), "what was kept is kept"
        again = go(folder, make_job(), grid)
        assert again.reused >= 3
        assert again.failures == []
        assert check_run(folder).problems == ()
        assert packed(folder) == undisturbed
        shutil.rmtree(folder)

    def turns(attempt):
        for turn in itertools.count(1):
            folder = quick / f"turn-{turn}"
            shutil.copytree(quick / "half", folder)
            broken = attempt(folder, turn)
            look(folder)
            if not broken:
                return turn - 1
        return 0

    turns.look = look
    return turns


@needs_library
@pytest.mark.parametrize("which", BOTH)
def test_the_disk_fails_at_every_write_and_sync(break_in_turn, grid, make_job, which):
    """Half of the turns it fails once, the others from then on."""

    def attempt(folder, turn):
        lasting = turn % 2 == which
        calls = itertools.count(1)
        broken = False

        def status(name):
            nonlocal broken
            number = next(calls)
            if number == turn or (lasting and number > turn):
                broken = True
                return FULL if name == "write" and turn % 4 < 2 else IO_ERROR
            return 0

        with faulty_disk(status):
            assert "what was written before is kept" in complaint(folder, make_job(), grid)
        return broken

    assert break_in_turn(attempt) > 30


@needs_library
def test_the_driver_ends_at_every_write(break_in_turn, grid, make_job, quick):
    """As for ``kill -9``: the files as they are before each write, sync and truncation."""
    shutil.copytree(quick / "half", quick / "run")
    moments = []

    def status(name):
        moments.append(shutil.copytree(quick / "run", quick / f"moment-{len(moments)}"))
        return 0

    with faulty_disk(status):
        go(quick / "run", make_job(), grid)
    assert len(moments) > 30
    for folder in moments:
        break_in_turn.look(folder)


@pytest.mark.parametrize("which", BOTH)
def test_every_statement_fails(break_in_turn, grid, make_job, monkeypatch, which):
    """Half of them after they were carried out, the others before."""

    def attempt(folder, turn):
        late = turn % 2 == which
        calls = itertools.count(1)
        broken = []

        class Faulty(sqlite3.Connection):
            def execute(self, *statement):
                done = super().execute(*statement) if late else None
                if next(calls) == turn:
                    broken.append(statement)
                    raise MemoryError if turn % 4 < 2 else sqlite3.OperationalError("disk I/O error")
                return done or super().execute(*statement)

        with monkeypatch.context() as patched:
            connect = sqlite3.connect
            patched.setattr(sqlite3, "connect", lambda *given, **options: connect(*given, **options, factory=Faulty))
            said = complaint(folder, make_job(), grid)
            assert "what was written before is kept" in said or "cannot use a temporary file" in said
        return broken

    assert break_in_turn(attempt) > 30


@needs_library
def test_sqlite_gets_ever_more_memory(break_in_turn, grid, make_job):
    """From none at all, in steps of a few kilobytes, until the run passes."""
    sqlite = library()
    sqlite.sqlite3_memory_used.restype = ctypes.c_int64
    sqlite.sqlite3_hard_heap_limit64.argtypes = [ctypes.c_int64]

    def attempt(folder, turn):
        sqlite.sqlite3_hard_heap_limit64(sqlite.sqlite3_memory_used() + 6000 * turn)
        try:
            return "out of memory" in complaint(folder, make_job(), grid)
        finally:
            sqlite.sqlite3_hard_heap_limit64(0)

    assert break_in_turn(attempt) > 5


@pytest.mark.parametrize("name", ["ftruncate", "lseek", "write"])
def test_a_lock_file_that_cannot_be_written_locks_all_the_same(tmp_path, monkeypatch, name):
    def fail(*given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, name, fail)
    with open_store(tmp_path / "run"):
        monkeypatch.undo()
        with pytest.raises(UsageError, match="is in use by another run"):
            open_store(tmp_path / "run")
    open_store(tmp_path / "run").close()


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), MemoryError()], ids=repr)
@pytest.mark.parametrize("name", ["open", "replace"])
@pytest.mark.parametrize("write", [write_bytes, write_output])
def test_a_file_that_cannot_be_written_leaves_the_old_one_and_no_litter(tmp_path, monkeypatch, write, name, error):
    """What reports, tables, labels and studies write goes through one function."""
    path = tmp_path / "page.html"
    write(path, b"old")

    class Full(io.FileIO):
        def write(self, data):
            super().write(data[:2])
            raise error

    def fail(self, *given, mode="wb", **more):
        if name == "open":
            return Full(self, *given or [mode])
        raise error

    monkeypatch.setattr(type(path), name, fail)
    with pytest.raises((UsageError, MemoryError)):
        write(path, b"new")
    monkeypatch.undo()
    assert {each.name for each in tmp_path.iterdir()} - {LIST} == {"page.html"}
    assert path.read_bytes() == b"old"
