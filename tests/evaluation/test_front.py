"""The front door: three lines give the score of two folders, and arrays go the same way as files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hyperacuity as ha
from hyperacuity.boundary import collect, tally
from hyperacuity.data import write_png
from hyperacuity.errors import UsageError
from hyperacuity.run import open_run

from .conftest import inputs

maps = [inputs("boundary", seed)[0] for seed in range(2)]
people = [inputs("boundary", seed)[1] for seed in range(2)]
truths = [each[0] for each in people]

THREE_LINES = """
import hyperacuity as ha
result = ha.evaluate("boundary", "maps/mine", "truth", progress=False)
print(result.score("mine").ods.f, result.signature)
"""
INSTANT = """
import sys
import hyperacuity
assert not {"numpy", "numba", "rich", "typer"} & set(sys.modules), sorted(sys.modules)
assert {"Evaluator", "Result", "evaluate"} <= set(dir(hyperacuity))
"""


def python(code, folder):
    call = [sys.executable, "-c", code]
    done = subprocess.run(call, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folders(tmp_path):
    """The maps as files of 8 bits, and the arrays that these files hold."""
    rounded = []
    for name in ("maps/mine", "truth"):
        (tmp_path / name).mkdir(parents=True)
    for n, (soft, truth) in enumerate(zip(maps, truths, strict=True)):
        rounded.append(np.rint(soft * 255).astype(np.uint8))
        write_png(tmp_path / "maps/mine" / f"{n}.png", rounded[-1])
        write_png(tmp_path / "truth" / f"{n}.png", np.uint8(truth * 255))
    return tmp_path, [(one / 255).astype(np.float32) for one in rounded]


def test_three_lines_in_a_fresh_interpreter_give_ods_of_two_folders(folders):
    folder, rounded = folders
    expected = collect({str(n): tally(one, [truths[n]]) for n, one in enumerate(rounded)}).ods.f
    assert python(THREE_LINES, folder) == (
        f"{expected} boundary|tol:0.0075diag|nms:none|thin:guo-hall|thr:99|precision:any|v:1\n"
    )


def test_importing_the_package_loads_nothing(tmp_path):
    python(INSTANT, tmp_path)


def test_one_file_finds_its_truth_in_a_known_data_set(folders):
    folder, rounded = folders
    for part in ("imgs", "gt"):
        (folder / "UDED" / part).mkdir(parents=True)
        for n, truth in enumerate(truths):
            write_png(folder / "UDED" / part / f"{n}.png", np.uint8(truth * 255))
    result = ha.evaluate("boundary", folder / "maps/mine/1.png", "uded", data=folder, progress=False)
    assert result.images == ["1"]
    assert result.score().ods.f == collect({"1": tally(rounded[1], [truths[1]])}).ods.f
    (folder / "maps/mine/1.png").rename(folder / "7.png")
    with pytest.raises(UsageError, match="uded has no truth of 7"):
        ha.evaluate("boundary", folder / "7.png", "uded", data=folder, progress=False)


def test_arrays_and_files_give_the_same_result(folders):
    folder, rounded = folders
    of_files = ha.evaluate("boundary", folder / "maps/mine", folder / "truth", run=folder / "run", progress=False)
    named = ha.evaluate(
        "boundary",
        {"mine": {str(n): one for n, one in enumerate(rounded)}},
        {str(n): one for n, one in enumerate(truths)},
    )
    assert str(named) == str(of_files).replace(" = 0.77 px at 80×64", "")  # √(80² + 64²) · 0.0075
    assert named.json() == of_files.json()
    assert named.tallies("mine") == of_files.tallies("mine")
    with open_run(folder / "run") as run:
        assert [str(named.signature)] == [str(signature) for signature in run.signatures()]


SAME = {
    "lists": ([*maps], [*truths]),
    "arrays": (np.stack(maps), np.stack(truths)),
    "arrays with a channel": (np.stack(maps)[:, None], np.stack(truths)[:, None]),
    "lists of annotators": ([*maps], [[truth] for truth in truths]),
    "mappings": ({"1": maps[0], "2": maps[1]}, {"1": truths[0], "2": truths[1]}),
    "mappings by number": ({1: maps[0], 2: maps[1]}, {1: truths[0], 2: [truths[1]]}),
}


@pytest.mark.parametrize("kind", SAME)
def test_images_come_in_many_ways(kind):
    expected = ha.evaluate("boundary", iter(maps), iter(truths), thresholds=9)
    found = ha.evaluate("boundary", *SAME[kind], thresholds=9, workers=1)
    assert found.systems == ["prediction"]
    assert found.tallies() == expected.tallies()
    assert list(found.tallies()) == ["1", "2"]


def test_a_bare_map_is_one_image_and_all_truths_are_its_own():
    for of in (people[0], np.stack(people[0])):
        found = ha.evaluate("boundary", maps[0], of, thresholds=9)
        assert found.tallies() == {"1": tally(maps[0], people[0], found.protocol)}
    several = ha.evaluate("boundary", {"a": maps[0], "b": maps[0] / 2}, people[0], thresholds=9)
    assert several.systems == ["a", "b"]
    assert several.tallies("b") == {"1": tally(maps[0] / 2, people[0], several.protocol)}


def test_an_iterable_is_asked_once_and_no_sooner_than_needed():
    asked = []

    def predictions():
        for n in range(300):
            asked.append(n)
            yield maps[n % 2]

    result = ha.evaluate("edges", {"mine": predictions(), "other": predictions()}, [truths[0]] * 300, names=["pm"])
    assert asked == [*range(300)] * 2
    assert result.score("mine").images == 300


def test_several_systems_are_compared():
    result = ha.evaluate("boundary", {"good": truths, "poor": [one.T.copy().T * 0 for one in maps]}, truths)
    assert result.score("good").ods.f == 1
    assert result.score("poor").ods.f == 0
    assert result.compare().systems[int(np.argmin(result.compare().average_rank))] == "good"
    shown = str(result)
    assert shown.index("good") < shown.index("poor")
    assert shown.endswith(str(result.signature))
    assert json.loads(json.dumps(result.json(), allow_nan=False))["systems"]["good"]["ods"]["f"] == 1


def test_people_are_scored_from_arrays_too():
    result = ha.evaluate("boundary", maps, people, human=True, thresholds=9)
    assert result.people.images == 2
    assert result.json()["human"]["f"] == result.people.point.f
    assert "people" in str(result)
    alone = ha.evaluate("boundary", maps, truths, human=True, thresholds=9)
    assert alone.people.images == 0
    assert "people" not in str(alone)


def test_what_cannot_be_counted_fails_alone():
    for workers in (1, 2):
        result = ha.evaluate(
            "boundary", [maps[0], maps[1] * 0 + 255, maps[1][:5]], [*truths, truths[1]], workers=workers
        )
        assert list(result.tallies()) == ["1"]
        assert [(one.image, one.reason.partition(",")[0]) for one in result.failures] == [
            ("2", "prediction: values run from 255 to 255"),
            ("3", "prediction is 80×5 but truth is 80×64: they must have the same size"),
        ]
        assert [one["image"] for one in result.json()["failed"]] == ["2", "3"]
    with pytest.raises(UsageError, match=r"^prediction has no score: prediction: values run from 255 to 255"):
        ha.evaluate("boundary", [maps[0] * 0 + 255], [truths[0]]).score()


@pytest.mark.parametrize(
    ("predictions", "of", "options", "sentence"),
    [
        ([maps[0]], truths, {}, r"prediction: there are 1 predictions but truths of 2 images: expected as many"),
        ([*maps, maps[0]], truths, {}, r"prediction: there are 3 predictions but truths of 2 images: expected as many"),
        (maps, {"a": truths[0], "b": truths[1]}, {}, r"prediction: its images have no names but the truths names"),
        ({"mine": {"a": maps[0]}}, truths, {}, r"mine: its images have names but the truths no names: expected both"),
        ({"mine": {"c": maps[0]}}, {"a": truths[0]}, {}, r"mine: there is no truth of image c, but of a$"),
        ("maps", truths, {}, r"the predictions are files, but the others are in memory: expected both alike"),
        ({"mine": Path("maps")}, truths, {}, r"mine is a path, but the truths are in memory: expected both alike"),
        (maps, "truth", {}, r"the truths are files, so the predictions must be files or folders too"),
        (maps, truths, {"run": "here"}, r"run: for files only, but these truths are in memory"),
        (maps, truths, {"cluster": "local:1", "invert_truth": True}, r"cluster, invert_truth: for files only"),
        (maps, truths, {"thresold": 5}, r"boundary has no option 'thresold'; there are"),
        ({}, truths, {}, r"there is no system to evaluate"),
    ],
)
def test_a_call_that_cannot_be_meant_is_refused(predictions, of, options, sentence):
    with pytest.raises(UsageError, match=f"^{sentence}"):
        ha.evaluate("boundary", predictions, of, **options)


def test_a_result_in_memory_has_no_page():
    with pytest.raises(UsageError, match=r"^a report needs a run folder"):
        ha.evaluate("boundary", maps, truths, thresholds=9).report("page")


def test_annotators_alone_need_no_prediction():
    result = ha.evaluate("strength", None, {"a": people[0], "b": people[1]})
    assert list(result.tallies()) == ["a", "b"]
    assert result.tallies() == ha.evaluate("strength", {"labels": None}, {"a": people[0], "b": people[1]}).tallies()
