"""Commands of other packages: the example of the page about them, and packages that are broken."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app, plugins
from hyperacuity.data import write_png

PAGE = Path(__file__).parents[2] / "docs/add-a-command.md"

MAIN = """
import atexit, sys
from hyperacuity.cli import main
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
main()
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """``installed(name, code, entry)``: a package on the path, as if it had been installed."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))

    def install(name, code, *entries, summary="Count edge pixels"):
        module = name.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        about = tmp_path / f"{module}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nSummary: {summary}\n")
        (about / "entry_points.txt").write_text("\n".join(["[hyperacuity.commands]", *entries]))
        monkeypatch.delitem(sys.modules, module, raising=False)
        plugins.offered.cache_clear()
        return tmp_path

    yield install
    plugins.offered.cache_clear()


@pytest.fixture
def counting(installed):
    """The page's package."""
    text = PAGE.read_text(encoding="utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    entry = re.search(r'entry-points."hyperacuity.commands"\]\n(\w+) = "(.*)"', text)
    folder = installed("edge-count", code, f"{entry[1]} = {entry[2]}")
    (folder / "maps").mkdir()
    write_png(folder / "maps" / "a.png", np.array([[0, 120, 255]], np.uint8))
    return folder


def call(*words):
    return CliRunner().invoke(app, words)


def elsewhere(folder, *words):
    """Call the program in a process of its own, which lists the modules it loaded on standard error."""
    line = [sys.executable, "-c", MAIN, *words]
    return subprocess.run(line, cwd=folder, capture_output=True, encoding="utf-8", check=False)


def test_the_commands_of_the_page_do_what_it_says(counting, monkeypatch):
    monkeypatch.chdir(counting)
    lines = re.findall(r"^\$ hyperacuity (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed, helped, counted = (call(*line.split()) for line in lines)
    assert [done.exit_code for done in (listed, helped, counted)] == [0, 0, 0]
    assert re.search(r"^\W*count +Count edge pixels \(edge-count\)", listed.stdout, re.MULTILINE)
    assert "Count the edge pixels of each map in a folder." in helped.stdout
    assert json.loads(counted.stdout) == {"a": 2}
    assert call("count", "maps").stdout == "a 1\n", "0.5 is the threshold by default"


def test_its_errors_end_it_as_those_of_other_commands_do(counting):
    done = call("count", "nowhere")
    assert done.exit_code == 2
    assert done.stderr == "error: nowhere: there is no such folder\n"
    assert call("count", "--no-such-option").exit_code == 2


def test_the_list_of_commands_loads_no_package(counting):
    listed = elsewhere(counting, "--help")
    assert listed.returncode == 0
    assert "Count edge pixels" in listed.stdout
    assert "edge_count" not in listed.stderr.split()
    called = elsewhere(counting, "count", "maps")
    assert called.stdout == "a 1\n"
    assert "edge_count" in called.stderr.split()
    assert "hyperacuity.cli.boundary" in listed.stderr.split()
    assert "hyperacuity.cli.boundary" not in called.stderr.split(), "nor does its call load other commands"


def test_what_is_installed_is_read_as_the_standard_library_reads_it(installed):
    group = ["# a comment", "mine=one:main", "  spaced  =  one:group.app  ", "", "[other.group]", "not-ours = one:main"]
    installed("one", "", *group, summary="Say: one, two\nAuthor: A\nSummary-like: no")
    read = {name: (offer.value, offer.package, offer.summary) for name, offer in plugins.offered().items()}
    points = entry_points(group=plugins.ENTRY_POINTS)
    assert read == {one.name: (one.value, one.dist.name, one.dist.metadata["Summary"]) for one in points}
    assert {"mine", "spaced"} <= set(read)


@pytest.mark.parametrize(
    ("code", "entry", "why"),
    [
        ("import no_such_module", "broken:main", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemError", "broken:main", "SystemError"),
        ("main = 3", "broken:main", "TypeError: 3 is not a callable object"),
        ("", "broken:main", "AttributeError: module 'broken' has no attribute 'main'"),
        ("def main(", "broken:main", "SyntaxError: "),
    ],
)
def test_a_package_that_cannot_be_loaded_is_one_line_that_names_it(installed, code, entry, why):
    installed("broken", code, f"mine = {entry}")
    done = call("mine")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: the command mine of the package broken cannot be loaded: {why}")
    assert done.stderr.count("\n") == 1
    assert "mine" in call("--help").stdout
    assert call("warm", "--help").exit_code == 0


def test_names_that_are_taken_are_left_out_with_a_warning(installed):
    installed("one", "def main() -> None:\n    print('one')", "boundary = one:main", "mine = one:main")
    installed("two", "def main() -> None:\n    print('two')", "mine = two:main")
    done = call("--help")
    assert done.exit_code == 0
    taken, twice = sorted(done.stderr.splitlines())
    assert taken == "warning: the package one offers a command boundary, which is built in: left out"
    assert re.fullmatch(
        r"warning: the package (\w+) offers a command mine, which is that of the package (\w+): left out", twice
    )
    used = twice.split("of the package ")[1].partition(":")[0]
    assert call("mine").stdout == f"{used}\n"
    assert "--tolerance" in call("boundary", "--help").stdout
