"""An error at every write and sync of the studio in turn: what was acknowledged is kept, and the rest can be done again."""

from __future__ import annotations

import errno
import itertools
import os
import tempfile
from pathlib import Path

import pytest

from hyperacuity.errors import UsageError
from hyperacuity.studio.outputs import are_whole, write_outputs
from hyperacuity.studio.state import Schema, State

from ..run.faulty_disk import FULL, IO_ERROR, faulty_disk, library

NOTES = Schema("notes", 1, ("CREATE TABLE notes (text TEXT NOT NULL UNIQUE)",))


@pytest.fixture
def quick():
    """A folder in memory where there is one."""
    memory = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


def note(text):
    return lambda file: file.execute("INSERT INTO notes VALUES (?)", (text,))


def outputs(folder, content):
    return {folder / "out" / "a" / "one.txt": content, folder / "out" / "two.txt": content * 1000}


def work(folder):
    """Yields what was acknowledged, as it is; what fails ends it with a sentence, or is tried again by the next one."""
    with State(folder / "studio.sqlite", [NOTES]) as state:
        for text in ("two", "three", "four"):
            try:
                state.write_now(note(text))
            except UsageError as error:
                assert "what was acknowledged before is kept" in str(error)  # noqa: PT017
            else:
                yield text
        write_outputs(state, folder / "out", outputs(folder, b"new"))
        yield "written"


def start(folder):
    """A studio that has done something before."""
    with State(folder / "studio.sqlite", [NOTES]) as state:
        state.write_now(note("one"))
        write_outputs(state, folder / "out", outputs(folder, b"old"))


def acknowledged(folder):
    said = ["one"]
    try:
        for text in work(folder):
            said.append(text)
    except (UsageError, OSError):
        pass
    return said


def look(folder, said):
    """What was acknowledged is there; files are old or new, and new once they were called written; all can be done again."""
    with State(folder / "studio.sqlite", [NOTES]) as state:
        kept = {text for (text,) in state.read_now(lambda file: file.execute("SELECT text FROM notes").fetchall())}
        assert set(said) - {"written"} <= kept <= {"one", "two", "three", "four"}
        old, new = outputs(folder, b"old"), outputs(folder, b"new")
        found = {path: path.read_bytes() for path in old}
        assert all(found[path] in (old[path], new[path]) for path in old)
        assert "written" not in said or found == new
        write_outputs(state, folder / "out", new)
        assert are_whole(state, new)
        assert {path: path.read_bytes() for path in new} == new
        assert [path.name for path in (folder / "out").rglob(".*")] == [], "no litter"


@pytest.mark.skipif(library() is None, reason="needs SQLite as a shared library")
def test_the_disk_fails_at_every_write_and_sync_of_the_state(quick):
    """Half of the turns it fails once, the others from then on."""
    for turn in itertools.count(1):
        folder = quick / str(turn)
        folder.mkdir()
        start(folder)
        calls, broken = itertools.count(1), []

        def status(name, turn=turn, calls=calls, broken=broken):
            number = next(calls)
            if number == turn or (turn % 2 and number > turn):
                broken.append(name)
                return FULL if name == "write" and turn % 4 < 2 else IO_ERROR
            return 0

        with faulty_disk(status):
            said = acknowledged(folder)
        look(folder, said)
        if not broken:
            break
    assert said == ["one", "two", "three", "four", "written"]
    assert turn > 10


@pytest.mark.skipif(os.name != "posix", reason="folders can be synced on POSIX systems only")
def test_the_disk_fails_at_every_step_of_writing_files(quick, monkeypatch):
    """Making folders, opening, syncing and renaming files."""
    for turn in itertools.count(1):
        folder = quick / str(turn)
        folder.mkdir()
        start(folder)
        calls, broken = itertools.count(1), []

        def failing(original, turn=turn, calls=calls, broken=broken):
            def call(*given, **options):
                if next(calls) == turn:
                    broken.append(original)
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return original(*given, **options)

            return call

        with monkeypatch.context() as patched, State(folder / "studio.sqlite", [NOTES]) as state:
            for owner, name in ((os, "fsync"), (Path, "open"), (Path, "replace"), (Path, "mkdir")):
                patched.setattr(owner, name, failing(getattr(owner, name)))
            new = {**outputs(folder, b"new"), folder / "out" / "b" / "three.txt": b"new"}
            try:
                write_outputs(state, folder / "out", new)
                said = ["one", "written"]
            except (UsageError, OSError):
                said = ["one"]
        look(folder, said)
        if not broken:
            break
    assert said == ["one", "written"]
    assert turn > 10
