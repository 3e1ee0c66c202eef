"""The studio's file: what was acknowledged is in it, whatever happens."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading

import pytest

from hyperacuity.errors import UsageError
from hyperacuity.studio.state import Schema, State, StateError

NOTES = Schema("notes", 1, ("CREATE TABLE notes (text TEXT NOT NULL UNIQUE)",))


def add(text):
    return lambda file: file.execute("INSERT INTO notes VALUES (?)", (text,)).rowcount


def texts(file):
    return sorted(text for (text,) in file.execute("SELECT text FROM notes"))


def test_what_was_written_is_there_when_the_file_is_opened_again(tmp_path):
    with State(tmp_path / "a" / "studio.sqlite", [NOTES]) as state:
        assert state.write_now(add("one")) == 1
    with State(tmp_path / "a" / "studio.sqlite", [NOTES]) as state:
        assert state.read_now(texts) == ["one"]


def test_a_change_that_fails_leaves_no_trace_and_spares_those_beside_it(tmp_path, run_async):
    with State(tmp_path / "studio.sqlite", [NOTES]) as state:

        def half(file):
            add("half")(file)
            raise ValueError("changed my mind")

        async def all_at_once():
            changes = [state.write(add("one")), state.write(half), state.write(add("one")), state.write(add("two"))]
            return await asyncio.gather(*changes, return_exceptions=True)

        outcomes = run_async(all_at_once())
        assert [type(one) for one in outcomes] == [int, ValueError, sqlite3.IntegrityError, int]
        assert state.read_now(texts) == ["one", "two"]


def test_many_writers_and_readers_at_once_lose_nothing(tmp_path):
    with State(tmp_path / "studio.sqlite", [NOTES]) as state:

        def work(worker):
            for n in range(20):
                state.write_now(add(f"{worker}-{n}"))
                assert f"{worker}-{n}" in state.read_now(texts)

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(state.read_now(texts)) == 160


def test_a_full_disk_is_told_and_what_was_written_before_stays(tmp_path):
    with State(tmp_path / "studio.sqlite", [NOTES]) as state:
        state.write_now(add("one"))
        (pages,) = state.write_now(lambda file: file.execute("PRAGMA page_count").fetchone())
        state.write_now(lambda file: file.execute(f"PRAGMA max_page_count = {pages + 1}").fetchone())
        with pytest.raises(StateError, match=r"cannot write .* full; what was acknowledged before is kept"):
            state.write_now(add("x" * 100_000))
        state.write_now(lambda file: file.execute("PRAGMA max_page_count = 100000").fetchone())
        state.write_now(add("two"))
        assert state.read_now(texts) == ["one", "two"]


def test_a_query_cannot_change_the_file(tmp_path):
    with State(tmp_path / "studio.sqlite", [NOTES]) as state, pytest.raises(sqlite3.OperationalError, match="readonly"):
        state.read_now(add("sly"))


KILLED = """
import os, signal, sys
from pathlib import Path
from hyperacuity.studio.state import Schema, State
notes = Schema("notes", 1, ("CREATE TABLE notes (text TEXT NOT NULL UNIQUE)",))
state = State(Path(sys.argv[1]), [notes])
for n in range(1000):
    state.write_now(lambda file: file.execute("INSERT INTO notes VALUES (?)", (str(n),)))
    print(n, flush=True)
"""


def test_a_killed_process_has_kept_all_that_it_acknowledged(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "studio.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        told = [process.stdout.readline().strip() for _ in range(25)]
        process.kill()
        told += process.stdout.read().split()
    with State(tmp_path / "studio.sqlite", [NOTES]) as state:
        assert set(told) <= set(state.read_now(texts))


def test_pages_share_a_file_but_not_tables(tmp_path):
    other = Schema("marks", 1, ("CREATE TABLE marks (number INTEGER)",))
    with State(tmp_path / "studio.sqlite", [NOTES]) as state, State(tmp_path / "studio.sqlite", [NOTES, other]) as both:
        state.write_now(add("one"))
        both.write_now(lambda file: file.execute("INSERT INTO marks VALUES (3)").rowcount)
        assert both.read_now(texts) == ["one"]


def test_files_of_other_programs_or_versions_are_refused(tmp_path):
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(UsageError, match="not the studio's"):
        State(tmp_path / "other.sqlite", [NOTES])
    (tmp_path / "text.sqlite").write_text("no database, but long enough to be looked at as one" * 20)
    with pytest.raises(UsageError, match="damaged or no SQLite file"):
        State(tmp_path / "text.sqlite", [NOTES])
    State(tmp_path / "studio.sqlite", [NOTES]).close()
    with pytest.raises(UsageError, match="another version"):
        State(tmp_path / "studio.sqlite", [Schema("notes", 2, ())])
    with sqlite3.connect(tmp_path / "studio.sqlite") as earlier:
        earlier.execute("DROP TABLE schemas")
        earlier.execute("PRAGMA user_version = 1")
    earlier.close()
    with pytest.raises(UsageError, match="another version"):
        State(tmp_path / "studio.sqlite", [NOTES])
    with pytest.raises(UsageError, match="cannot write"):
        State(tmp_path, [NOTES])


def test_a_closed_file_takes_no_more(tmp_path):
    state = State(tmp_path / "studio.sqlite", [NOTES])
    state.close()
    state.close()
    with pytest.raises(StateError, match="closed"):
        state.write_now(add("late"))
