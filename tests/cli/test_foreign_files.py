"""No command overwrites or removes a file that the package did not write: every option that names an output is tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from .foreign_files import INPUTS, MINE, NOTES, assert_untouched, path_options, put, refuse, run, try_command

TABLES = "--latex {out}/tables/t.tex --markdown {out}/tables/t.md --csv {out}/tables/t.csv --run {out}/run"

CALLS: dict[str, str] = {
    "audit": "audit {world}/groundTruth --system drawn={world}/boundaries --partial 1 --thresholds 3 "
    f"--figures {{out}}/figures --trials {{out}}/trials {TABLES}",
    "audit out": "audit {world}/groundTruth --partial 1 --thresholds 3 --out {out}/page",
    "board": "board {world}/psi.card --out {out}/site "
    "--latex {out}/tables/t.tex --markdown {out}/tables/t.md --csv {out}/tables/t.csv",
    "boundary": f"boundary {{world}}/boundaries {{world}}/groundTruth --thresholds 3 --berkeley {{out}}/eval {TABLES}",
    "card": "card {world}/run --out {out}/mine.card",
    "compare": "compare {world}/run --against {world}/drawn.card "
    "--charts {out}/charts --latex {out}/tables/t.tex --markdown {out}/tables/t.md --csv {out}/tables/t.csv",
    "demo": "demo {out}/tour --count 1 --size 64x64",
    "detect": "detect {world}/images --with canny,ae --out {out}/maps",
    "detect train pb": "detect train pb --images {world}/images --labels {world}/groundTruth --out {out}/models/pb.json",
    "detect train depth-cues": "detect train depth-cues --images {world}/images --order {world}/order "
    "--segmentation {world}/labels --out {out}/models/cues.json",
    "disparity": f"disparity {{world}}/disparity {{world}} --pictures {{out}}/pictures {TABLES}",
    "edges": f"edges {{world}}/boundaries {{world}}/groundTruth --measures psi {TABLES}",
    "evaluate": f"evaluate boundary {{world}}/boundaries {{world}}/groundTruth --option thresholds=3 {TABLES}",
    "masks": f"masks {{world}}/labels {{world}}/labels --by instance {TABLES}",
    "ordering": f"ordering {{world}}/order {{world}} --charts {{out}}/charts --pictures {{out}}/pictures {TABLES}",
    "ordering dbe": f"ordering dbe {{world}}/order {{world}} {TABLES}",
    "ordering occlusion": f"ordering occlusion {{world}}/owned {{world}} --nms none --thresholds 3 {TABLES}",
    "ordering whdr": f"ordering whdr {{world}}/order {{world}}/pairs.csv {TABLES}",
    "regions": f"regions {{world}}/groundTruth {{world}}/groundTruth --berkeley {{out}}/eval {TABLES}",
    "report": "report {world}/run --out {out}/page --figures {out}/figures",
    "report one file": "report {world}/run --single-file --out {out}/page.html",
    "run export": "run export {world}/run --format csv --out {out}/tables",
    "run merge": "run merge {world}/run --out {out}/merged",
    "run salvage": "run salvage {world}/run --out {out}/saved",
    "scenes": "scenes {out}/scenes --count 1 --size 64x64 --leaves 3",
    "see": "see {world}/images/scene-0001.png --setting fast --out {out}/seen",
    "segment": "segment {world}/images --with canny --out {out}/regions",
    "semantic": f"semantic {{world}}/semantic {{world}}/semantic --thresholds 3 {TABLES}",
    "semantic truth": "semantic truth {world}/labels --out {out}/edges",
    "stereo": "stereo {world} --with sad --disparities 8 --out {out}/maps",
    "train pb": "train pb --images {world}/images --labels {world}/groundTruth --out {out}/models/pb.json",
    "train gpb": "train gpb --images {world}/images --labels {world}/groundTruth --out {out}/models/gpb.json",
    "train depth-cues": "train depth-cues --images {world}/images --order {world}/order "
    "--segmentation {world}/labels --out {out}/models/cues.json",
    "watch": "watch {world}/run --out {out}/page.html",
}
"""A small call that names every output of each command."""

SLOW = {"audit", "demo", "see"}
"""Commands that take their time: their many files are written in one loop, or by what others write with too."""

READ = {
    *(
        f"{command} images"
        for command in ("audit", "detect", "detect train pb", "detect train depth-cues", "ordering whdr")
    ),
    *(f"{command} images" for command in ("see", "segment", "train pb", "train gpb", "train depth-cues", "train net")),
    *("studio choose images", "studio label images", "studio order images", "studio choose trials"),
    *("card run", "report pictures", "watch pictures"),
    *(f"run {command} run" for command in ("show", "check", "salvage", "export", "gc")),
}
"""What is read by these commands, though others write to options of the same name."""

ELSEWHERE = {
    *(f"studio {what}" for what in ("choose state", "choose export", "choose export_data", "label out", "label state")),
    *(f"studio {what}" for what in ("order out", "order state")),
    "train net out",
}
"""Outputs that are tried by tests of their own, below."""


@pytest.fixture(scope="module")
def words(world, tmp_path_factory):
    """Calls with the small data in their places."""
    return {name: call.replace("{world}", str(world)) for name, call in CALLS.items()}


def test_every_option_that_names_a_path_is_read_or_tried():
    """A new command with an output that nobody tries fails here: give a small call of it in CALLS."""
    for command, option in path_options():
        if command.startswith("study ") or option in INPUTS or {f"{command} {option}"} & (READ | ELSEWHERE):
            continue  # the studies' outputs are tried by the tests of papers/
        calls = [call for name, call in CALLS.items() if call.startswith(f"{command} ")]
        if option == "out" and any("{out}" in call and "--out" not in call for call in calls):
            continue  # an argument
        assert any(f" --{option.replace('_', '-')} {{out}}" in call for call in calls), (
            f"{command}: who tries {option}?"
        )


@pytest.fixture
def trials(words, tmp_path, world, monkeypatch):
    """Calls of the studio that write and exit, and a server that ends at once."""
    monkeypatch.setattr("hyperacuity.studio.server.serve", lambda *_, **__: None)
    done = run(
        f"audit {world}/groundTruth --system drawn={world}/boundaries --partial 1 --trials {tmp_path}/asked", tmp_path
    )
    assert done.exit_code == 0, done.stderr
    return f"studio choose {tmp_path}/asked --images {world}/images"


def test_exports_of_the_studio_leave_files_of_others_alone(trials, tmp_path):
    try_command(f"{trials} --state {tmp_path}/a.sqlite --export {{out}}/tables/answers.csv", tmp_path / "one")
    try_command(f"{trials} --state {tmp_path}/b.sqlite --export-data {{out}}/data", tmp_path / "both")


@pytest.mark.parametrize("name", ["label", "order"])
def test_the_studio_leaves_files_of_others_alone(name, trials, world, tmp_path):
    mine = {Path(NOTES): MINE, Path("edges") / "Ada" / "scene-0001.png": MINE, Path("order") / "a.npy": MINE}
    put(tmp_path / "out", mine)
    for _ in range(2):
        done = run(f"studio {name} {world}/images --out {{out}}", tmp_path / "out")
        assert done.exit_code == 0, done.output
        assert_untouched(name, tmp_path / "out", mine)


@pytest.mark.parametrize("name", ["choose", "label", "order"])
def test_a_state_that_is_somebody_elses_file_is_left_alone(name, trials, world, tmp_path):
    call = trials if name == "choose" else f"studio {name} {world}/images --out {{out}}"
    refuse(f"{call} --state {{out}}/state.sqlite", tmp_path / "out", {Path("state.sqlite"): MINE})


def test_training_leaves_files_of_others_alone(world, tmp_path):
    call = (
        f"train net --data none --scenes 2 --images {world}/images --labels {world}/groundTruth --out {{out}}/net.onnx"
    )
    refuse(call, tmp_path, {Path("net.onnx"): MINE, Path("net.onnx.checkpoint"): MINE})


@pytest.mark.parametrize("name", CALLS)
def test_files_of_others_are_left_alone(name, words, tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERACUITY_DATA", str(tmp_path / "nowhere"))
    try_command(words[name], tmp_path, slow=name in SLOW)
