"""Names with any bytes that a file system allows: nothing ends a run, reaches a terminal as a command, or leaves its folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.console import folder_name, printable
from hyperacuity.data import write_edges
from hyperacuity.kinds.disparity import DisparityKind
from hyperacuity.kinds.masks import MaskKind
from hyperacuity.kinds.orders import OrderKind
from hyperacuity.report.figures import _write_pictures
from hyperacuity.run import Cell

NASTY = [b"b\xffad", b"\x1b[31mred", b"two\nlines", b"\xe2\x80\xaegnp", b"tab\there", b"caf\xc3\xa9"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A map and a truth of every name, one of each kind broken, in a folder whose own name is no UTF-8."""
    home = os.fsencode(tmp_path_factory.mktemp("names")) + b"/pl\xffce\x1b"
    edges = np.zeros((16, 16), bool)
    edges[8] = True
    for side in (b"maps", b"truth"):
        os.makedirs(home + b"/" + side)
        for name in NASTY:
            write_edges(Path(os.fsdecode(home + b"/" + side + b"/" + name + b".png")), edges)
    with open(home + b"/maps/broken\x1b[2J\xff.png", "wb") as file:
        file.write(b"no picture")
    write_edges(Path(os.fsdecode(home + b"/truth/broken\x1b[2J\xff.png")), edges)
    return home


@pytest.fixture
def here(place, monkeypatch):
    """A command in the place, by this process, which has compiled kernels at hand."""
    monkeypatch.chdir(place)
    return lambda *words: CliRunner().invoke(app, words)


def run(*words, cwd):
    return subprocess.run([sys.executable, "-m", "hyperacuity", *words], cwd=cwd, capture_output=True, check=False)


def test_a_run_over_such_names_does_every_image_and_can_be_read_again(place, here):
    for reused in (b"6 computed", b"6 reused"):
        done = run("boundary", "maps", "truth", "--run", "run", cwd=place)
        assert done.returncode == 1, done.stderr.decode()
        assert reused in done.stderr
        assert b"Traceback" not in done.stderr
    for words in (
        ["run", "show", "run"],
        ["run", "check", "run"],
        ["run", "gc", "run"],
        ["run", "show", "run", "--json"],
    ):
        assert here(*words).exit_code == 0
    page = here("report", "run", "--out", "report", "--no-viewer")
    assert page.exit_code == 0, page.stderr


@pytest.mark.parametrize(
    "words", [["boundary", "maps", "truth"], ["boundary", "maps", "truth/caf\u00e9.png"], ["run", "show", "maps"]]
)
def test_no_escape_code_reaches_the_terminal(place, words):
    done = run(*words, cwd=place)
    for stream in (done.stdout, done.stderr):
        assert b"\x1b" not in stream
        assert "\u202e" not in stream.decode()


def test_a_system_called_after_the_folder_above_stays_inside(here, tmp_path):
    words = ["boundary", "maps", "truth", "--system", "..=maps", "--system", "../../up=maps", "--berkeley"]
    here(*words, str(tmp_path / "a" / "b"))
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("eval_bdry.txt"))
    assert written == ["a/b/.._.._up/eval_bdry.txt", "a/b/__/eval_bdry.txt", "a/b/maps/eval_bdry.txt"]


def test_pictures_of_such_a_system_or_image_stay_inside_too(tmp_path):
    nowhere, away = tmp_path / "nothing.png", str(tmp_path / "away")
    cells = [Cell(system, image, nowhere, ()) for system, image in (("..", "x"), (away, "x"), ("maps", "../../x"))]
    _write_pictures(tmp_path / "a" / "b", cells, lambda cell: np.zeros((2, 2), np.uint8))
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.png")}
    assert written == {"a/b/__/x.png", f"a/b{away}/x.png", "a/b/maps/.._.._x.png"}


@pytest.mark.parametrize(
    ("find", "files"),
    [
        (MaskKind().find, (b"maps/b\xffr/1.png", b"truth/b\xffr/1.png")),
        (DisparityKind().find, (b"maps/b\xffr/a.pfm", b"truth/b\xffr/groundtruth.png")),
        (OrderKind().find, (b"maps/b\xffr/1.png", b"truth/1.png")),
    ],
    ids=["sequences", "scenes", "operating points"],
)
def test_folders_that_become_images_and_systems_have_names_that_a_store_can_keep(tmp_path, find, files):
    for name in files:
        path = Path(tmp_path, os.fsdecode(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (cell,) = find({"a": tmp_path / "maps"}, tmp_path / "truth")
    assert "b\\xffr" in (cell.image, cell.system.removeprefix("a/"))


@given(st.text() | st.binary().map(os.fsdecode))
def test_printable_text_can_be_printed_and_says_no_more_than_itself(text):
    shown = printable(text)
    assert shown.encode().decode() == shown
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert printable(shown) == shown
    inside = folder_name(text)
    assert "/" not in inside
    assert inside not in (".", "..")
