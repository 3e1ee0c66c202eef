"""A stored tally depends on all code that makes it, and on nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import hyperacuity
from hyperacuity.data import write_png
from hyperacuity.run import code
from hyperacuity.run.code import code_version, modules_behind

PACKAGE = Path(hyperacuity.__file__).parent

ASK = textwrap.dedent(
    """
    import json, sys
    from hyperacuity.evaluation.jobs import job_for, reader_type
    from hyperacuity.run import code
    from hyperacuity.tasks import task

    print("ready", flush=True)
    for name in sys.stdin:
        code._parsed.cache_clear()
        code._file_of.cache_clear()
        known = task(name.strip())
        print(code.code_version(job_for(known, known.protocol(), reader_type(known)())), flush=True)
    """
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package whose text may be changed, and the environment in which programs use it."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / "hyperacuity", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "hyperacuity", {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture(scope="module")
def ask(copy):
    """The version of the code of a task's job, as a program that runs the copy sees it."""
    _, environment = copy
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", ASK], env=environment, **pipes) as process:
        assert process.stdout.readline() == "ready\n"

        def ask(task):
            process.stdin.write(f"{task}\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        yield ask
        process.stdin.close()


@pytest.fixture
def change(copy):
    """Change a file of the copy until the test ends."""
    before = {}

    def change(file, old, new):
        path = copy[0] / file
        before.setdefault(path, path.read_text(encoding="utf-8"))
        assert old in before[path], f"{file} has changed: it has no {old!r}"
        path.write_text(before[path].replace(old, new, 1), encoding="utf-8")

    yield change
    for path, text in before.items():
        path.write_text(text, encoding="utf-8")


TASKS = ("boundary", "edges", "regions", "ordering", "disparity", "views", "audit", "strength")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("cli/boundary.py", "Score soft boundary maps", "Grade soft boundary maps"),
        ("evaluation/tables/boundary.py", '"behind the best"', '"behind"'),
        ("report/charts/boundary.py", "recall", "Recall"),
        ("boundary/tallies.py", "Counts of one image", "The counts of one image"),
        ("boundary/protocols.py", '"""', '"""Read this: '),
        ("tally.py", "# numpy would broadcast", "# it would broadcast"),
        ("kernels/sweep.py", "\n\n\ndef ", "\n\n\n\n# a word about this one\ndef "),
        ("data/writers.py", "def write_soft(", "def write_soft_map("),
        ("run/grid.py", "TRIES = 3", "TRIES = 4"),
        ("compare/ranking.py", "import", "import ast; import"),
    ],
)
def test_what_cannot_change_a_tally_leaves_the_version_as_it_is(ask, change, file, old, new):
    before = [ask(task) for task in TASKS]
    change(file, old, new)
    assert [ask(task) for task in TASKS] == before


@pytest.mark.parametrize(
    ("file", "old", "new", "concerned"),
    [
        ("evaluation/readers/ordering.py", "read_segmentations([path])", "read_segmentations([path])[:1]", {"ordering"}),
        ("evaluation/readers/contours.py", "inverted=self.inverted", "inverted=True", {"boundary", "edges", "audit", "strength"}),
        ("data/readers.py", "return _all_of(paths, _segmentations)", "return _all_of(paths, _segmentations)[:1]", set(TASKS)),
        ("evaluation/jobs.py", "given.prediction, given.truths", "given.prediction, given.truths[:1]", set(TASKS)),
        ("kernels/sweep.py", "\nimport numpy", "\nX = 1\nimport numpy", {"boundary", "ordering", "audit", "strength"}),
        ("boundary/protocols.py", " = 99", " = 98", {"boundary", "audit"}),
        ("disparity/masks.py", "\nimport numpy", "\nX = 1\nimport numpy", {"disparity", "views"}),
        ("tally.py", "zlib.compress(body, 6)", "zlib.compress(body, 9)", set(TASKS)),
    ],
)
def test_what_can_change_a_tally_changes_the_version_of_the_tasks_concerned(ask, change, file, old, new, concerned):
    before = {task: ask(task) for task in TASKS}
    change(file, old, new)
    assert {task for task in TASKS if ask(task) != before[task]} == concerned


def test_line_ends_do_not_count(ask, copy):
    before, path = ask("boundary"), copy[0] / "maps.py"
    text = path.read_bytes()
    path.write_bytes(text.replace(b"\n", b"\r\n"))
    assert ask("boundary") == before
    path.write_bytes(text)


@pytest.mark.parametrize("library", code.LIBRARIES)
def test_another_version_of_a_library_that_reads_or_computes_counts(make_job, monkeypatch, library):
    before, real = code_version(make_job()), code.version
    assert code_version(make_job()) == before
    monkeypatch.setattr(code, "version", lambda name: "0.0.1" if name == library else real(name))
    assert code_version(make_job()) != before


def test_a_job_from_elsewhere_counts_with_what_it_imports_of_its_own_package(tmp_path, monkeypatch):
    package = tmp_path / "ours_alone"
    package.mkdir()
    (package / "__init__.py").write_text("from .jobs import Job\n")
    (package / "jobs.py").write_text(
        "from . import helper\nimport numpy\nfrom hyperacuity.maps import soft_map\nclass Job: tally_type = object\n"
    )
    (package / "helper.py").write_text("from ours_alone.deeper import x\n")
    (package / "deeper.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import ours_alone  # noqa: F401

    found = modules_behind({"ours_alone.jobs"})
    assert {"ours_alone.jobs", "ours_alone.helper", "ours_alone.deeper", "hyperacuity.maps"} <= found
    assert not any(name.startswith(("numpy", "hyperacuity.run")) for name in found)


def test_the_version_of_the_package_is_named(make_job):
    version, _, digest = code_version(make_job()).partition("+")
    assert version == hyperacuity.__version__
    assert len(digest) == 20


def test_a_job_without_source_is_never_taken_for_an_earlier_one():
    scope = {"__name__": "typed in"}
    exec("class Job:\n    class tally_type: pass", scope)  # noqa: S102
    job = scope["Job"]()
    assert code_version(job) != code_version(job)
