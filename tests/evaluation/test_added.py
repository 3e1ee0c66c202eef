"""A benchmark of another package: the example of the page about it, found by its entry point in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import hyperacuity as ha
from hyperacuity import tasks
from hyperacuity.cli import app
from hyperacuity.data import write_png
from hyperacuity.errors import InputError, UsageError

PAGE = Path(__file__).parents[2] / "docs/add-a-benchmark.md"
pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="needs the documentation's source")

MAIN = "from hyperacuity.cli import main; main()"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A folder with the page's benchmark as an installed package, on the path of this process and of those it starts."""
    code = PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    (tmp_path / "exact.py").write_text(code, encoding="utf-8")
    about = tmp_path / "exact-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: exact\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[hyperacuity.tasks]\nexact = exact:TASK\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(tasks, "_joined", {})
    monkeypatch.delitem(sys.modules, "exact", raising=False)
    for folder, strengths in {"truth": (255, 255), "good": (200, 200), "poor": (200, 90)}.items():
        (tmp_path / folder).mkdir()
        for n, strength in enumerate(strengths):
            drawn = np.zeros((8, 10), np.uint8)
            drawn[4] = strength
            write_png(tmp_path / folder / f"{n}.png", drawn)
    return tmp_path


def elsewhere(folder, *words):
    """What a process of its own says."""
    call = [sys.executable, "-c", MAIN, *words]
    return subprocess.run(call, cwd=folder, capture_output=True, encoding="utf-8", check=False)


@pytest.fixture
def command(installed, monkeypatch):
    """What this process says, which has compiled kernels at hand."""
    monkeypatch.chdir(installed)
    return lambda *words: CliRunner().invoke(app, words)


def test_it_is_found_by_name(installed):
    assert "exact" in tasks.names()
    task = tasks.task("exact")
    assert task.title == "Exact edges"
    assert tasks.task("exact") is task
    with pytest.raises(UsageError, match=r"^there is no benchmark 'exacting'; there are boundary, .*, exact$"):
        tasks.task("exacting")


def test_the_general_command_evaluates_keeps_and_compares(installed, command):
    words = ("evaluate", "exact", "good", "truth", "--system", "poor", "--run", "run", "--json")
    done = elsewhere(installed, *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["signature"] == "exact|threshold:0.5|v:1"
    # Of poor's two lines one is below the threshold: 10 of 10 pixels are right, 10 of 20 found, F = 2·10 / (10 + 20).
    assert {name: one["f"] for name, one in found["systems"].items()} == {"good": 1, "poor": pytest.approx(2 / 3)}
    again = command(*words)
    assert json.loads(again.stdout) == found
    assert "(4 reused)" in again.stderr, "what another process kept"
    compared = command("compare", "run", "--json")
    assert compared.exit_code == 0, compared.stderr
    assert "good" in json.loads(compared.stdout)["interpretation"]


def test_a_run_becomes_a_page(installed, command):
    for module in ("altair", "jinja2", "vl_convert"):
        pytest.importorskip(module, reason="needs the extra report")
    assert command("evaluate", "exact", "good", "truth", "--run", "run").exit_code == 0
    done = command("report", "run", "--out", "page")
    assert done.exit_code == 0, done.stderr
    page = (installed / "page/index.html").read_text(encoding="utf-8")
    assert "exact|threshold:0.5|v:1" in page
    assert "Exact edges" in page


def test_options_reach_the_protocol(command):
    done = command("evaluate", "exact", "poor", "truth", "--option", "threshold=0.3")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "exact|threshold:0.3|v:1"
    assert "1.0000" in done.stdout
    lists = ("--option", "names=pm,psi", "--option", "thresholds=11", "--option", "thin=structured")
    edges = command("evaluate", "edges", "poor", "truth", *lists)
    assert edges.stdout.splitlines()[-1] == "edges|measures:pm+psi|thr:11|thin:structured|norm:max|gt:mean|v:1"
    crisp = command("evaluate", "boundary", "poor", "truth", "--option", "thin=false", "--json")
    assert json.loads(crisp.stdout)["signature"].split("|")[3] == "thin:none"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--option", "threshold"), "--option threshold: expected NAME=VALUE, and every name once"),
        (("--option", "threshold=1", "--option", "threshold=2"), "--option threshold=2: expected NAME=VALUE"),
        (("--option", "treshold=1"), "exact has no option 'treshold'; there are data, force, glob, invert_prediction,"),
        (("--option", "threshold=7"), "threshold 7: expected a number above 0, up to 1"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(command, words, sentence):
    done = command("evaluate", "exact", "good", "truth", *words)
    assert done.exit_code == 2
    assert f"error: {sentence}" in done.stderr
    assert done.stdout == ""


RIGHT = {"near": pytest.approx(2 / 3), "far": pytest.approx(1 / 3)}
"""Of three angles, those within one degree."""

OFF = {"near": pytest.approx(4.5 / 3), "far": pytest.approx(60 / 3)}
"""The means of the differences."""


class TestAKindOfDataFromOutside:
    """The second benchmark of the page, on data of a kind that the package does not know: one file, one entry point."""

    @pytest.fixture
    def horizons(self, tmp_path, monkeypatch):
        blocks = [text.split("```")[0] for text in PAGE.read_text(encoding="utf-8").split("```python\n")]
        code = next(text for text in blocks if text.startswith("# horizon.py"))
        (tmp_path / "horizon.py").write_text(code, encoding="utf-8")
        about = tmp_path / "horizon-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: horizon\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text("[hyperacuity.tasks]\nhorizon = horizon:TASK\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(tasks, "_joined", {})
        monkeypatch.delitem(sys.modules, "horizon", raising=False)
        monkeypatch.chdir(tmp_path)
        angles = {"truth": (0.0, 10.0, 5.0), "near": (0.5, 10.0, 9.0), "far": (30.0, -20.0, 5.0)}
        for folder, values in angles.items():
            (tmp_path / folder).mkdir()
            for name, value in zip("abc", values, strict=True):
                (tmp_path / folder / f"{name}.txt").write_text(f"{value}")
        return tmp_path

    @pytest.fixture
    def say(self, horizons):
        def say(*words):
            done = CliRunner().invoke(app, list(words))
            assert done.exit_code == 0, done.output
            return done.stdout

        return say

    def test_files_and_arrays_have_the_same_score(self, horizons):
        files = ha.evaluate("horizon", {"near": "near", "far": "far"}, "truth", progress=False)
        arrays = ha.evaluate("horizon", {"near": [0.5, 10.0, 9.0], "far": [30.0, -20.0, 5.0]}, [0.0, 10.0, 5.0])
        for result in (files, arrays):
            assert {name: score.right for name, score in result.scores.items()} == RIGHT
            assert {name: score.off for name, score in result.scores.items()} == OFF

    def test_an_evaluator_takes_numbers_and_batches_of_several_annotators(self, horizons):
        judge = ha.Evaluator("horizon")
        judge.update(0.5, 0.0)
        judge.update(np.array([10.0, 9.0]), [[10.0], [5.0, 9.5]])
        assert judge.numbers() == {"right": 3 / 4, "off": (0.5 + 0 + 4 + 0.5) / 4}
        with pytest.raises(InputError, match="the angle of a horizon is"):
            judge.update(100.0, 0.0)

    def test_a_file_of_another_kind_fails_alone_and_options_of_reading_are_in_the_signature(self, horizons):
        (horizons / "near/a.txt").write_text("level")
        result = ha.evaluate("horizon", "near", "truth", progress=False, radians=True)
        assert {failure.image: failure.reason for failure in result.failures}["a"].endswith(
            "a.txt: expected one number"
        )
        assert str(result.signature) == "horizon|close:1deg|unit:radians|v:1"

    def test_tables_runs_and_comparisons(self, horizons, say):
        words = ("evaluate", "horizon", "near", "truth", "--system", "far", "--run", "run")
        found = json.loads(say(*words, "--json"))["systems"]
        assert {name: one["off"] for name, one in found.items()} == OFF
        say(*words, "--latex", "table.tex", "--csv", "table.csv")
        assert "0.667" in (horizons / "table.tex").read_text()
        assert "near" in json.loads(say("compare", "run", "--json"))["values"]

    def test_cards_are_made_and_set_against_others_only_on_the_same_truths(self, horizons, say):
        say("evaluate", "horizon", "far", "truth", "--run", "run")
        say("card", "run", "--out", "far.card")
        found = json.loads(say("evaluate", "horizon", "near", "truth", "--against", "far.card", "--json"))
        assert found["systems"]["far"]["off"] == OFF["far"]
        assert found["paired"]
        (horizons / "truth/b.txt").write_text("11")
        done = CliRunner().invoke(app, ["evaluate", "horizon", "near", "truth", "--against", "far.card"])
        assert done.exit_code == 2
        assert "truth of b differs" in done.output

    def test_reports_and_leaderboards(self, horizons, say):
        for module in ("altair", "jinja2", "vl_convert"):
            pytest.importorskip(module, reason="needs the extra report")
        say("evaluate", "horizon", "near", "truth", "--system", "far", "--run", "run")
        say("report", "run", "--out", "page")
        assert "Horizons" in (horizons / "page/index.html").read_text(encoding="utf-8")
        for name in ("near", "far"):
            say("card", "run", "--system", name, "--out", f"{name}.card")
        say("board", "near.card", "far.card", "--out", "site")
        assert "Horizons" in (horizons / "site/index.html").read_text(encoding="utf-8")

    def test_what_to_cite_and_what_to_compile_ahead(self, horizons, say):
        assert say("cite", "horizon").startswith("@misc{horizon,")
        assert "kernels of horizon are ready" in say("warm", "horizon", "--workers", "1")

    def test_a_kind_with_an_entry_point_can_be_named(self, horizons):
        from hyperacuity import kinds

        (horizons / "horizon-1.0.dist-info/entry_points.txt").write_text(
            "[hyperacuity.kinds]\nhorizons = horizon:HorizonKind\n"
        )
        assert kinds.kind("horizons").describe() == "A prediction is an angle, a truth is an angle."
        with pytest.raises(UsageError, match=r"there is no kind of data 'horizon'; there are contours, .*, horizons"):
            kinds.kind("horizon")
