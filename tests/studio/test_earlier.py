"""State files of earlier versions: the same people, logs, decisions and answers, and the same files written of them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="needs the package httpx")

from . import sessions

EARLIER = Path(__file__).parent / "earlier"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    sessions.build(folder)
    return folder


@pytest.mark.parametrize("name", sessions.READERS)
def test_everything_in_it_is_as_it_was(name, inputs):
    with closing(sqlite3.connect(inputs / f"{name}.sqlite")) as file:
        file.executescript((EARLIER / f"{name}.sql").read_text(encoding="utf-8"))
    expected = json.loads((EARLIER / f"{name}.json").read_text(encoding="utf-8"))
    for _ in range(2):  # it is brought up to date when it is opened, and then it is as if it had always been
        assert json.loads(json.dumps(sessions.READERS[name](inputs))) == expected
