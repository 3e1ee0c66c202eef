"""Damaged state files: a named error or all that was in them, never a traceback and never anything else."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("httpx", reason="needs the package httpx")

from hyperacuity.errors import UsageError
from hyperacuity.studio import actions, people
from hyperacuity.studio.choose import plan
from hyperacuity.studio.state import State

from . import sessions

SCHEMAS = {"label": [people.SCHEMA, actions.SCHEMA], "order": [people.SCHEMA, actions.SCHEMA], "choose": [plan.SCHEMA]}


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    """A folder with the state files of sessions."""
    folder = tmp_path_factory.mktemp("worked")
    sessions.build(folder)
    for name in SCHEMAS:
        getattr(sessions, name)(folder)
    return folder


def everything(path: Path, name: str) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables, read as the studio reads them."""

    def look(file):
        tables = [one for (one,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: file.execute(f"SELECT * FROM {table}").fetchall() for table in tables}  # noqa: S608

    with State(path, SCHEMAS[name]) as state:
        return state.read_now(look)


def flip_a_bit(data, rng):
    data[rng.integers(len(data))] ^= 1 << rng.integers(8)


def overwrite_a_byte(data, rng):
    data[rng.integers(len(data))] = rng.integers(256)


def overwrite_a_stretch(data, rng):
    start = rng.integers(len(data))
    stretch = rng.integers(0, 256, 40).astype(np.uint8).tobytes()[: len(data) - start]
    data[start : start + len(stretch)] = stretch


def empty_a_page(data, rng):
    start = 4096 * rng.integers(len(data) // 4096)
    data[start : start + 4096] = bytes(4096)


def swap_two_pages(data, rng):
    one, other = (4096 * number for number in rng.choice(len(data) // 4096, 2, replace=False))
    data[one : one + 4096], data[other : other + 4096] = data[other : other + 4096], data[one : one + 4096]


def cut_off(data, rng):
    del data[rng.integers(len(data)) :]


DAMAGES = (
    [flip_a_bit] * 6 + [overwrite_a_byte] * 4 + [overwrite_a_stretch] * 2 + [empty_a_page, swap_two_pages, cut_off]
)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_damaged_file_is_refused_by_name_or_holds_what_it_held(worked, tmp_path, name):
    expected = everything(worked / f"{name}.sqlite", name)
    whole = (worked / f"{name}.sqlite").read_bytes()
    used = sum(len(repr(rows)) for rows in expected.values()) / len(whole)
    rng = np.random.default_rng(7)
    refused = 0
    for number in range(150):
        data = bytearray(whole)
        damage = DAMAGES[number % len(DAMAGES)]
        damage(data, rng)
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes(data)
        try:
            found = everything(path, name)
        except UsageError as error:
            assert str(path) in str(error)  # noqa: PT017
            refused += 1
        else:
            assert found == expected or data == b"", damage.__name__
    assert refused > 150 * used / 2, "most of what is written there matters"


def test_a_torn_log_of_a_killed_server_is_what_was_there_before(tmp_path):
    key = actions.Key("label", "ada", "item")
    sent = [actions.Entry(n, f"key-{n}", {"kind": "add", "runs": [n, 1]}, 1.0, "then") for n in range(1, 9)]
    schemas = SCHEMAS["label"]
    with State(tmp_path / "studio.sqlite", schemas) as state:
        for entry in sent:
            state.write_now(lambda file, entry=entry: actions.append(file, key, "digest", [entry]))
        log = (tmp_path / "studio.sqlite-wal").read_bytes()
        killed = tmp_path / "killed"
        killed.mkdir()
        shutil.copy(tmp_path / "studio.sqlite", killed)
    rng, lengths = np.random.default_rng(3), set()
    whole = (killed / "studio.sqlite").read_bytes()
    for number in range(60):
        data = bytearray(log)
        (flip_a_bit, cut_off)[number % 2](data, rng)
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "studio.sqlite").write_bytes(whole)
        (folder / "studio.sqlite-wal").write_bytes(data)
        with closing(State(folder / "studio.sqlite", schemas)) as state:
            sheet, entries = state.read_now(
                lambda file: (actions.read_summary(file, key), actions.read_entries(file, key))
            )
        assert entries == sent[: len(entries)]
        assert (sheet.entries if sheet else 0) == len(entries)
        lengths.add(len(entries))
    assert len(lengths) > 3, "some are torn early, some late"
