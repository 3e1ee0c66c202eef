"""The manners that every verb keeps: where output goes, what JSON looks like, exit codes, help that can be pasted."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from hyperacuity import __version__
from hyperacuity.cli import app, common
from hyperacuity.errors import InputError, UsageError

VERBS = {command.name: command for command in app.registered_commands}

JSON_CALLS: dict[str, str] = {
    "audit": "audit {world}/groundTruth --system drawn={world}/boundaries --partial 1 --trials {out}",
    "regions": "regions {world}/groundTruth {world}/groundTruth --berkeley {out}",
    "masks": "masks {world}/labels {world}/labels --by instance",
    "report": "report {world}/run --no-viewer --out {out}",
    "see": "see {world}/images --setting fast --out {out}",
    "segment": "segment {world}/images --with canny --out {out}",
    "scenes": "scenes {out} --count 1 --size 96x64 --leaves 6",
    "detect": "detect {world}/images --out {out}",
    "detect train depth-cues": "detect train depth-cues --images {world}/images --order {world}/order "
    "--segmentation {world}/labels --out {out}/cues.json",
    "detect train pb": "detect train pb --images {world}/images --labels {world}/groundTruth --out {out}/pb.json",
    "demo": "demo {out} --count 1 --size 96x64",
    "boundary": "boundary {world}/boundaries {world}/groundTruth --human",
    "evaluate": "evaluate boundary {world}/boundaries {world}/groundTruth --option protocol=nyud",
    "ordering": "ordering {world}/order {world} --human",
    "ordering occlusion": "ordering occlusion {world}/owned {world} --nms none --thresholds 9",
    "ordering whdr": "ordering whdr {world}/order {world}/pairs.csv",
    "ordering dbe": "ordering dbe {world}/order {world}",
    "card": "card {world}/run --out {out}/drawn.card",
    "card show": "card show {world}/drawn.card",
    "card check": "card check {world}/drawn.card",
    "compare": "compare {world}/run --against {world}/drawn.card",
    "disparity": "disparity {world}/disparity {world}",
    "stereo": "stereo {world} --with sad --out {out}",
    "warm": "warm edges --workers 1",
    "watch": "watch {world}/run --out {out}/over-time.html",
    "board": "board {world}/psi.card --out {out}/site",
    "board check": "board check {world}/psi.card",
    "semantic": "semantic {world}/semantic {world}/semantic --thresholds 3",
    "semantic truth": "semantic truth {world}/labels --out {out} --raw",
    "edges": "edges {world}/boundaries {world}/groundTruth --measures psi,pm",
}
"""A small call of each verb that has --json. ``{out}`` is an empty folder, ``{world}`` one that ``scenes`` has written, with
a ``run`` and its card, its owned boundaries (``owned``) and ``pairs.csv``."""


def hyperacuity(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from hyperacuity.cli import main; main()", *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", **environment},
        check=False,
    )


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example_that_can_be_pasted(verb):
    result = CliRunner().invoke(app, [verb, "--help"], env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"})
    assert result.exit_code == 0
    lines = [line.strip("│ ").removeprefix("Example:").strip(" $") for line in result.output.splitlines()]
    assert any(line.startswith(f"hyperacuity {verb} ") for line in lines), f"{verb} --help shows no example of a call"


@pytest.mark.parametrize("verb", VERBS)
def test_an_unknown_option_is_a_wrong_call(verb):
    result = CliRunner().invoke(app, [verb, "--no-such-option"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "No such option" in result.stderr


@pytest.mark.parametrize(
    "verb", [name for name, command in VERBS.items() if "json" in command.callback.__annotations__]
)
def test_json_is_one_object_on_standard_output_and_nothing_else(verb, world, tmp_path):
    assert verb in JSON_CALLS, f"give a small call of {verb} in JSON_CALLS"
    words = [word.format(out=tmp_path, world=world) for word in JSON_CALLS[verb].split()]
    elsewhere = {"HYPERACUITY_DATA": str(tmp_path)}  # the tour sees photographs of data at hand
    # All in this process, which has compiled kernels at hand, but for one in a process of its own.
    if verb == "boundary":
        done = hyperacuity(*words, "--json", **elsewhere)
        assert done.returncode == 0, done.stderr
    else:
        done = CliRunner().invoke(app, [*words, "--json"], env=elsewhere)
        assert done.exit_code == 0, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    assert done.stdout.count("\n") == 1


def test_help_lists_every_verb_and_says_where_to_start():
    done = hyperacuity("--help")
    assert done.returncode == 0
    assert all(re.search(rf"^\W*{verb}\b", done.stdout, re.MULTILINE) for verb in VERBS)
    assert "hyperacuity demo" in done.stdout


def test_help_survives_a_terminal_that_knows_no_letters_but_ascii():
    assert hyperacuity("--help", PYTHONIOENCODING="ascii").returncode == 0


def test_version():
    done = hyperacuity("--version")
    assert (done.returncode, done.stdout) == (0, f"hyperacuity {__version__}\n")


def test_an_unknown_verb_is_a_wrong_call():
    done = hyperacuity("no-such-verb")
    assert (done.returncode, done.stdout) == (2, "")


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "status", "line"),
        [
            (InputError("a[1].png: has no pixels"), 1, "error: a[1].png: has no pixels\n"),
            (UsageError("there is no folder x:x:"), 2, "error: there is no folder x:x:\n"),
            (KeyboardInterrupt(), 130, "stopped; finished work is saved\n"),
            (MemoryError(), 1, "error: out of memory; finished work is saved\n"),
        ],
    )
    def test_a_known_error_is_one_line_and_an_exit_status(self, error, status, line, capfd):
        verbs = typer.Typer(cls=common.Commands)
        verbs.callback()(lambda: None)

        @verbs.command()
        def boom() -> None:
            raise error

        with pytest.raises(SystemExit) as end:
            verbs(["boom"])
        assert end.value.code == status
        assert capfd.readouterr() == ("", line)

    @pytest.mark.parametrize(
        ("words", "line"),
        [
            (["count"], "stopped; nothing is saved without --run DIR\n"),
            (["count", "--run", "kept"], "stopped; finished work is saved\n"),
        ],
    )
    def test_what_is_kept_after_ctrl_c_depends_on_run(self, words, line, capfd):
        commands = typer.Typer(cls=common.Commands)
        commands.callback()(lambda: None)

        @commands.command()
        def count(run: str = "") -> None:
            raise KeyboardInterrupt

        with pytest.raises(SystemExit) as end:
            commands(words)
        assert (end.value.code, capfd.readouterr()) == (130, ("", line))

    def test_of_many_that_failed_alike_the_first_are_named(self, capfd):
        alike = [(f"mine: {n}", f"maps/{n}.png: is empty (0 bytes)") for n in range(180)]
        assert common.report_failures([*alike, ("mine: x", "maps/x.png: is a web page")]) == 1
        lines = capfd.readouterr().err.splitlines()
        assert [line.partition(" (")[0] for line in lines[2:]] == [
            "failed: mine: 2: maps/2.png: is empty",
            "failed: and 177 more like it",
            "failed: mine: x: maps/x.png: is a web page",
        ]

    def test_a_long_sentence_in_a_log_stays_on_one_line(self, tmp_path):
        (tmp_path / "file").touch()
        environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
        out = tmp_path / "file" / ("a long name " * 15)
        done = subprocess.run(
            [sys.executable, "-c", "from hyperacuity.cli import main; main()", "scenes", str(out)],
            capture_output=True,
            encoding="utf-8",
            env=environment,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert str(out) in done.stderr


class TestJson:
    def test_values_that_json_lacks_become_what_it_has(self, capsys):
        common.print_json(
            {
                "nan": math.nan,
                "inf": np.float32(np.inf),
                "array": np.array([[1, 2], [3, 4]]),
                "with nan": np.array([0.5, np.nan]),
                "flag": np.bool_(True),
                "count": np.int64(7),
                "path": Path("a") / "b.png",
                "tuple": (1, (2, 3)),
                "set": {"b", "a"},
                1: None,
            }
        )
        assert json.loads(capsys.readouterr().out) == {
            "nan": None,
            "inf": None,
            "array": [[1, 2], [3, 4]],
            "with nan": [0.5, None],
            "flag": True,
            "count": 7,
            "path": str(Path("a") / "b.png"),
            "tuple": [1, [2, 3]],
            "set": ["a", "b"],
            "1": None,
        }

    def test_any_file_name_can_be_written_whatever_the_encoding(self, capsys):
        common.print_json({"name": "größer \udcff Ψ"})
        out = capsys.readouterr().out
        assert out.isascii()
        assert json.loads(out) == {"name": "größer \udcff Ψ"}

    def test_what_cannot_be_written_leaves_nothing_behind(self, capsys):
        with pytest.raises(TypeError):
            common.print_json({"fine": 1, "not": object()})
        assert capsys.readouterr().out == ""


class TestFailures:
    def test_each_failure_is_named_and_the_exit_status_is_one(self, capfd):
        assert common.report_failures([("canny/a[b].png", "has no pixels"), ("x", "gone")]) == 1
        assert capfd.readouterr() == ("", "failed: canny/a[b].png: has no pixels\nfailed: x: gone\n")

    def test_no_failure_no_word(self, capfd):
        assert common.report_failures([]) == 0
        assert capfd.readouterr() == ("", "")

    def test_a_warning_goes_to_standard_error(self, capfd):
        common.warn("nearly every pixel is an edge: inverted?")
        assert capfd.readouterr() == ("", "warning: nearly every pixel is an edge: inverted?\n")


class TestSystems:
    def test_systems_are_named_or_take_the_name_of_their_folder(self, tmp_path):
        for name in ("canny", "thr=0.5"):
            (tmp_path / name).mkdir()
        options = [f"best={tmp_path / 'canny'}", str(tmp_path / "canny"), str(tmp_path / "thr=0.5")]
        systems = common.systems_of(options)
        assert list(systems) == ["best", "canny", "thr=0.5"]
        assert systems["best"] == systems["canny"] == tmp_path / "canny"
        assert systems["thr=0.5"] == tmp_path / "thr=0.5"

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (["={0}"], "the name is empty"),
            (["a={0}", "a={0}"], "the name a is taken twice"),
            (["a={0}/nowhere"], "there is no folder .*nowhere"),
            (["{0}/nowhere"], "there is no folder .*nowhere"),
            (["a={0}/file"], "there is no folder .*file"),
            (["/"], "the name is empty"),
        ],
    )
    def test_a_system_that_makes_no_sense_is_refused(self, options, sentence, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(UsageError, match=f"^--system .*: {sentence}"):
            common.systems_of([option.format(tmp_path) for option in options])


class TestOutputFolder:
    def test_the_folder_is_made_and_left_empty(self, tmp_path):
        folder = common.output_folder(tmp_path / "deep" / "er")
        assert list(folder.iterdir()) == []

    def test_a_file_in_its_place_is_refused(self, tmp_path):
        (tmp_path / "out").touch()
        with pytest.raises(UsageError, match="out: it is a file, expected a folder"):
            common.output_folder(tmp_path / "out")
