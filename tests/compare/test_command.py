"""``hyperacuity compare``: tables and runs in, the JSON that programs read out; what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.compare import Table
from hyperacuity.compare.criteria import join
from hyperacuity.data import write_disparity
from hyperacuity.errors import UsageError

EXAMPLE = """# the spec's worked vectors
system,x,y,z
a,1,5,3
b,2,4,3
c,2,5,4
d,1,5,3
e,3,3,9
f,9,9,9
"""


def call(*words, status=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == status, result.stderr + str(result.exception)
    return result


def compared(*words):
    return json.loads(call("compare", *words, "--json").stdout)


@pytest.fixture
def table(tmp_path):
    (tmp_path / "table.csv").write_text(EXAMPLE)
    return tmp_path / "table.csv"


class TestTables:
    def test_the_worked_example(self, table):
        found = compared(table)
        assert found["criteria"] == ["x", "y", "z"]
        assert found["senses"] == ["min"] * 3
        assert sorted(found["optimal"]) == ["a", "b", "d", "e"]
        assert [sorted(group) for group in found["groups"]] == [["a", "b", "d", "e"], ["c"], ["f"]]
        assert found["ranks"] == pytest.approx({"a": 5 / 3, "b": 2, "c": 10 / 3, "d": 5 / 3, "e": 11 / 3, "f": 17 / 3})
        assert found["dominates"] == {
            "a": ["c", "f"],
            "b": ["c", "f"],
            "c": ["f"],
            "d": ["c", "f"],
            "e": ["f"],
            "f": [],
        }
        assert "are comparable: " in found["interpretation"]

    @pytest.mark.parametrize(
        ("epsilon", "expected"), [("1", "abcd"), ("2", "abcd"), ("0,0,0", "abde"), ("9,0,0", "be")]
    )
    def test_tolerance(self, table, epsilon, expected):
        assert "".join(sorted(compared(table, "--epsilon", epsilon)["optimal"])) == expected

    def test_criteria_and_their_senses(self, table):
        found = compared(table, "--criteria", "x,z:max")
        assert found["criteria"] == ["x", "z"]
        assert found["senses"] == ["min", "max"]
        assert sorted(found["optimal"]) == ["a", "c", "d", "e"]

    def test_scores_known_to_be_better_when_larger_need_no_word(self, tmp_path):
        (tmp_path / "scores.csv").write_text("system,ODS,psnr forward,rms,speed:max\nA,0.7,30,2,5\nB,0.6,29,3,4\n")
        found = compared(tmp_path / "scores.csv")
        assert found["senses"] == ["max", "max", "min", "max"]
        assert found["criteria"][-1] == "speed"
        assert found["optimal"] == ["A"]
        assert "By dominance, A is ahead" in found["interpretation"]

    def test_strict_dominance_and_rounding_and_some_systems(self, table):
        assert sorted(compared(table, "--strict")["optimal"]) == ["a", "b", "c", "d", "e"]
        assert compared(table, "--systems", "c,f")["optimal"] == ["c"]
        assert sorted(compared(table, "--criteria", "x", "--round", "0")["optimal"]) == ["a", "d"]

    def test_the_table_for_people_names_groups_and_marks_the_optimum(self, table):
        said = call("compare", table, "--groups").stdout
        assert "group 1: a, d, b, e" in said
        assert "group 3: f" in said
        assert "* in the optimal set, of 3 components" in said

    def test_charts_are_written(self, table, tmp_path):
        pytest.importorskip("vl_convert", reason="charts need the extra report")
        call("compare", table, "--charts", tmp_path / "three")
        names = {path.name for path in (tmp_path / "three").glob("[!.]*")}
        assert names == {"parallel.svg", "ranks.svg", "dominance.svg", "critical-difference.svg"}

    def test_the_servers_table_of_ten(self, shared_data):
        path = shared_data / "middlebury-v2" / "server-table-10.csv"
        names = [
            f"{scene}_{region}" for scene in ("tsukuba", "venus", "teddy", "cones") for region in ("nonocc", "disc")
        ]
        dense = compared(path, "--criteria", ",".join([*names, *(n.replace("disc", "all") for n in names[1::2])]))
        semi = compared(path, "--criteria", ",".join(names))
        assert set(dense["optimal"]) == {"GC+DP", "BM+DP (2 iterations)"}
        assert set(semi["optimal"]) <= set(dense["optimal"])
        assert dense["places"]["GC+DP"] == 1

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["--criteria", "w"], "there is no criterion w, expected one of x, y, z"),
            (["--criteria", ","], "names no criterion"),
            (["--systems", "g"], "there is no system g"),
            (["--epsilon", "a"], "expected a number"),
            (["--epsilon", "1,2"], "expected one number or 3"),
            (["--epsilon", "-1"], "expected a number ≥ 0"),
            (["--vector", "sum"], "expected concat or mean"),
            (["--test", "sign"], "expected wilcoxon, t or bootstrap"),
        ],
    )
    def test_a_wrong_call_says_what_was_expected(self, table, words, sentence):
        assert sentence in call("compare", table, *words, status=2).stderr

    def test_what_is_not_there(self, tmp_path, table):
        assert "there is no file or folder" in call("compare", tmp_path / "none", status=2).stderr
        assert "expected one table, or run folders" in call("compare", table, tmp_path, status=2).stderr
        assert "there is no run in" in call("compare", tmp_path, status=2).stderr


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Two systems on six scenes: the first is right to half a pixel, the second is 2 px off in a growing part."""
    folder = tmp_path_factory.mktemp("world")
    truth = np.tile(np.linspace(5, 20, 40, dtype=np.float32), (20, 1))
    for part in range(6):
        for name in ("truths", "good", "poor"):
            (folder / name).mkdir(exist_ok=True)
        poor = truth.copy()
        poor[: 3 + 2 * part] += 2
        for name, disparity in (("truths", truth), ("good", truth + 0.5), ("poor", poor)):
            write_disparity(folder / name / f"scene{part}.pfm", disparity)
    call("disparity", folder / "good", folder / "truths", "--region", "all", "--run", folder / "one")
    call("disparity", folder / "poor", folder / "truths", "--region", "all", "--run", folder / "two")
    call("disparity", folder / "poor", folder / "truths", "--region", "all", "--delta", "3", "--run", folder / "other")
    return folder


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    call("scenes", folder, "--count", "2", "--size", "96x64", "--leaves", "6")
    return folder


class TestRuns:
    def test_runs_are_joined_image_by_image(self, world):
        found = compared(world / "one", world / "two")
        assert found["criteria"] == [f"scene{part} bad(1) all" for part in range(6)]
        assert found["vector"] == "concat"
        assert found["optimal"] == ["good"]
        assert found["dominates"] == {"good": ["poor"], "poor": []}
        assert found["stability"] == {"good": 1, "poor": 0}
        assert found["signature"].startswith("disparity|delta:0.5,1,2")

    def test_averaged_over_images_with_other_criteria(self, world):
        found = compared(world / "one", world / "two", "--vector", "mean", "--criteria", "epe all,density all")
        assert found["criteria"] == ["epe all", "density all"]
        assert found["senses"] == ["min", "max"]
        assert found["values"]["good"] == pytest.approx([0.5, 100])

    def test_paired_tests_give_clusters(self, world):
        for test in ("wilcoxon", "t", "bootstrap"):
            found = compared(world / "one", world / "two", "--test", test)
            assert found["tests"]["bad(1) all"]["clusters"] == {"good": 1, "poor": 2}
            assert found["tests"]["bad(1) all"]["p"]["good"]["poor"] < 0.05
        assert (
            compared(world / "one", world / "two", "--test", "wilcoxon")["tests"]["bad(1) all"]["p"]["good"]["poor"]
            == 2**-5
        )

    def test_protocols_are_not_mixed(self, world):
        said = call("compare", world / "one", world / "other", status=2).stderr
        assert "follow 2 protocols" in said
        assert "delta is 0.5,1,2 in one and 3 in the other" in said

    def test_tasks_are_not_mixed_by_accident(self, world, scenes, tmp_path):
        words = ("edges", scenes / "boundaries", scenes / "groundTruth", "--measures", "psi")
        call(*words, "--run", tmp_path / "edges")
        said = call("compare", world / "one", tmp_path / "edges", status=2).stderr
        assert "only when --criteria names criteria of each" in said

    def test_unknown_criteria_are_refused_with_what_there_is(self, world):
        assert "they have bad(0.5) all" in call("compare", world / "one", "--criteria", "ods", status=2).stderr

    @pytest.mark.parametrize(
        ("verb", "prediction", "truth", "expected"),
        [
            ("boundary", "boundaries", "groundTruth", ["ods", "ois", "ap"]),
            ("edges", "boundaries", "groundTruth", None),
            ("ordering", "order", ".", ["racc", "bacc", "ldc-ori"]),
            ("regions", "groundTruth", "groundTruth", ["covering", "pri", "vi"]),
        ],
    )
    def test_runs_of_every_task_can_be_compared(self, scenes, tmp_path, verb, prediction, truth, expected):
        call(verb, scenes / prediction, scenes / truth, "--run", tmp_path / "run")
        found = compared(tmp_path / "run", "--resamples", "10")
        assert expected is None or found["criteria"] == expected
        assert len(found["optimal"]) == 1
        assert "trivially" in found["interpretation"]


class TestJoin:
    def test_criteria_of_two_protocols_side_by_side(self):
        first = Table(("a", "b"), ("1", "2"), ("x",), ("min",), np.array([[[1.0], [2]], [[3], [4]]]))
        second = Table(("b", "a"), ("2", "1"), ("y",), ("max",), np.array([[[5.0], [6]], [[7], [8]]]))
        both = join([first, second])
        assert both.criteria == ("x", "y")
        assert both.values.tolist() == [[[1, 8], [2, 7]], [[3, 6], [4, 5]]]
        assert both.overall().tolist() == [[1.5, 7.5], [3.5, 5.5]]

    def test_nothing_in_common(self):
        first = Table.flat(["a"], ["x"], [[1]])
        with pytest.raises(UsageError, match="share no system and image"):
            join([first, Table.flat(["b"], ["y"], [[1]])])
