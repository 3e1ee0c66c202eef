"""``hyperacuity study palou2014`` as a user calls it, on a small scene."""

from __future__ import annotations

import csv
import json
from collections import Counter
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data.scenes import make_scene
from hyperacuity.errors import InputError, UsageError
from hyperacuity.ordering import compare_neighbours, partition
from hyperacuity.regions import piecewise_constant, pruning_path
from hyperacuity.run.many import PictureSource
from hyperacuity.train.figure_ground import part
from hyperacuity_papers.common.claims import read_claims
from hyperacuity_papers.common.depth_pictures import held_out_pictures
from hyperacuity_papers.common.saving import BOX
from hyperacuity_papers.palou2014 import study as palou2014
from hyperacuity_papers.palou2014.depth_views import RANDOM, SYSTEMS, SystemViews, randomly_ordered, truly_ordered
from hyperacuity_papers.palou2014.figures import telling_lambdas
from hyperacuity_papers.palou2014.order_trials import COLUMNS, OrderFindings, OrderSums, examine
from hyperacuity_papers.palou2014.study import PUBLISHED

SMALL = ["--scenes", "1", "--size", "96x64", "--count", "0"]


def study(*words):
    return CliRunner().invoke(app, ["study", "palou2014", *map(str, words)])


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    out = tmp_path_factory.mktemp("study")
    found = study("--out", out, *SMALL, "--json")
    assert found.exit_code == 0, found.stderr
    return out, found


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_json_is_one_object_with_every_system_and_control(done):
    _, found = done
    assert found.stdout.count("\n") == 1
    scenes = json.loads(found.stdout)["sets"]["scenes"]
    assert scenes["images"] == 1
    assert set(scenes["systems"]) == set(SYSTEMS)
    controls = {name for name in scenes["accuracy"] if name.startswith("control: ")}
    assert controls == {
        f"control: {name}" for name in ("ownership without curvature", "gradient", "crack density", "lower is nearer")
    }
    for system in scenes["accuracy"].values():
        assert set(system) == set(COLUMNS)
        assert all(0 <= value <= 1 for reading in system.values() for value in reading.values())
    lower = scenes["accuracy"]["control: lower is nearer"]["true regions, median"]
    assert (lower["bacc"], lower["racc"]) == pytest.approx(accuracy_of_the_lower(make_scene(1, size=(96, 64))))


def accuracy_of_the_lower(scene):
    """Shares of boundary length and of pairs of neighbours where the region whose median row is lower is in front."""
    lengths = Counter()
    for a, b in ((scene.labels[:, :-1], scene.labels[:, 1:]), (scene.labels[:-1], scene.labels[1:])):
        lengths.update(tuple(sorted(pair)) for pair in zip(a[a != b].tolist(), b[a != b].tolist(), strict=True))
    names = np.unique(scene.labels)
    row = {n: np.median(np.nonzero(scene.labels == n)[0]) for n in names}
    depth = {n: np.median(scene.order[scene.labels == n]) for n in names}
    asked = {pair: length for pair, length in lengths.items() if depth[pair[0]] != depth[pair[1]]}
    right = {(a, b): n for (a, b), n in asked.items() if (row[a] - row[b]) * (depth[a] - depth[b]) > 0}
    return sum(right.values()) / sum(asked.values()), len(right) / len(asked)


def test_tables_and_pictures_are_written(done):
    out, _ = done
    assert {path.name for path in out.glob("[!.]*")} == {
        "accuracy.csv", "sweep.csv", "ledger.csv", "pictures", "sights", "scenes-ldc.png", "scenes-gdc.png",
        "scenes-figure-ground.png",
        "lambda-series.png", "comparison.png", "measures.png", "outcomes.png",
    }  # fmt: skip
    sweep = rows(out / "sweep.csv")
    assert {row["measure"] for row in sweep} == {"ldc", "gdc"}
    assert all(float(row["f0"]) <= float(row["f"]) for row in sweep if row["f"] != "nan")


def test_the_comparison_shows_the_picture_and_a_column_for_the_truth_and_each_system(done):
    with Image.open(done[0] / "comparison.png") as sheet:
        pixels = np.asarray(sheet.convert("RGB")).astype(int)
    scene = np.asarray(Image.fromarray(make_scene(1, size=(96, 64)).image).resize((420, 280), Image.Resampling.BOX))
    top, left = np.argwhere((pixels[: BOX[1], : BOX[0]] != pixels[0, 0]).any(axis=2)).min(axis=0)
    shown = pixels[top : top + 280, left : left + 420]
    assert np.abs(shown[20:-20, 20:-20] - scene[20:-20, 20:-20]).mean() < 4
    columns = 8 if find_spec("onnxruntime") else 7
    assert columns * BOX[0] <= pixels.shape[1] < (columns + 0.5) * BOX[0]


def test_the_figures_of_one_scene_come_with_its_counts(done):
    ours = {row["where"]: row["ours"] for row in json.loads(done[1].stdout)["ledger"]}
    counts = {row["measure"]: row for row in rows(done[0] / "sweep.csv") if row["parameter"] == "λ = 0.5"}
    for figure, measure in (("Fig. 3", "ldc"), ("Fig. 5", "gdc")):
        *_, four = ours[figure].partition("CD, ID, FD, MD = ")
        right, wrong, false, missed = map(float, four.split(", "))
        there, found = right + wrong + missed, right + wrong + false
        assert float(counts[measure]["recall"]) == pytest.approx((right + wrong) / there, rel=1e-2)
        if found:  # in a scene as small as this λ may leave one region
            assert float(counts[measure]["precision"]) == pytest.approx((right + wrong) / found, rel=1e-2)
    assert ours["Fig. 1"].startswith("outcomes.png: scene-0001, LDC F(1), LDC F(0), GDC F(1), GDC F(0): ")


def test_the_ledger_has_every_claim_and_says_what_was_not_run(done):
    out, found = done
    told = json.loads(found.stdout)["ledger"]
    assert [row["says"] for row in told] == [claim.says for claim in read_claims("palou2014").claims]
    assert [row["verdict"] for row in rows(out / "ledger.csv")] == [row["verdict"] for row in told]
    assert {row["because"] for row in told if row["verdict"] == "not run"} == {"needs BSDS500 and bsds-fg"}
    assert {row["verdict"] for row in told if row["where"].startswith("Eq.")} == {"holds"}
    for number in PUBLISHED.values():
        assert str(number) in [row["theirs"] for row in told]


def test_why_contours_are_inconsistent_adds_up(done):
    scenes = json.loads(done[1].stdout)["sets"]["scenes"]
    for system in scenes["systems"].values():
        why = system["inconsistency"]
        parts = [why[name] for name in ("consistent", "rough direction", "wrong side", "no direction")]
        assert sum(parts) == pytest.approx(1)
        assert why["right side"] == pytest.approx(parts[0] + parts[1])
        assert parts[0] == pytest.approx(system["ldc"]["fg"])


def test_what_is_found_in_a_picture_is_kept_and_used_again(done, monkeypatch):
    out, first = done
    monkeypatch.setattr(
        "hyperacuity_papers.palou2014.order_trials.examine", lambda _: pytest.fail("it was examined again")
    )
    monkeypatch.setattr(
        "hyperacuity_papers.palou2014.figures.comparison_sheet", lambda *_, **__: pytest.fail("drawn again")
    )
    again = study("--out", out, *SMALL, "--json")
    assert again.exit_code == 0, again.stderr
    assert json.loads(again.stdout) == json.loads(first.stdout)


def test_a_kept_file_that_is_damaged_is_made_again(done):
    out, first = done
    [kept] = (out / "pictures").glob("*.json")
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    again = study("--out", out, *SMALL, "--no-figures", "--json")
    assert json.loads(again.stdout)["sets"] == json.loads(first.stdout)["sets"]
    assert kept.read_bytes() == whole


def test_findings_survive_a_file():
    scene = make_scene(3, size=(64, 64), leaves=4)
    found = examine((scene.image, (partition(scene.order, scene.labels),), scene.labels))
    again = OrderFindings.from_json(json.loads(json.dumps(found.to_json())))
    assert again.sums == found.sums
    assert again.sweeps == found.sweeps


def test_an_order_by_lot_is_right_half_of_the_time(done):
    labels = np.repeat(np.arange(400), 9).reshape(20, 180).astype(np.int32)
    order = randomly_ordered(labels)
    assert np.unique(order.depth).size == 400
    assert np.array_equal(order.depth, randomly_ordered(labels).depth)
    assert np.mean(np.diff(order.depth) > 0) == pytest.approx(0.5, abs=0.1)
    assert RANDOM in json.loads(done[1].stdout)["sets"]["scenes"]["systems"]


def test_the_lambda_series_goes_from_many_regions_to_few():
    views = SystemViews(make_scene(5, size=(96, 64), leaves=6).image)
    path = pruning_path(views.tree, piecewise_constant(views.tree, views.ownership))
    counts = [views.pruned(lam).regions for lam in telling_lambdas(path)]
    assert counts == sorted(set(counts), reverse=True)
    assert counts[0] == pytest.approx(views.tree.leaves / 2, rel=0.2), "it starts with about half of the finest regions"
    assert counts[-1] >= 2


def test_the_table_names_the_set_and_the_signature(tmp_path):
    found = study("--out", tmp_path, *SMALL, "--no-figures")
    assert found.exit_code == 0, found.stderr
    assert "scenes, 1 image" in found.stdout
    assert "ordering|ldc:" in found.stdout
    assert all(str(number) in found.stdout for number in PUBLISHED.values())
    assert "photographs were left out" in found.stdout
    assert not list(tmp_path.glob("*.png"))


def test_photographs_that_are_asked_for_must_be_there(tmp_path):
    found = study("--out", tmp_path, "--bsds", tmp_path, "--scenes", "1", "--size", "96x64", "--no-figures")
    assert found.exit_code == 2
    assert "bsds500" in found.stderr


def test_a_torn_photograph_is_named_and_does_not_stop_the_others(done, monkeypatch):
    def load():
        raise InputError("torn.jpg: is cut short")

    monkeypatch.setattr(palou2014, "held_out_pictures", lambda *_, **__: [PictureSource("torn", load)])
    found = study("--out", done[0], "--scenes", "1", "--size", "96x64", "--no-figures", "--json")
    assert found.exit_code == 1
    assert "torn: torn.jpg: is cut short" in found.stderr
    assert json.loads(found.stdout)["sets"] == json.loads(done[1].stdout)["sets"]


def test_photographs_that_nobody_asked_for_may_be_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERACUITY_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert held_out_pictures(None) == []
    with pytest.raises(UsageError, match="bsds500"):
        held_out_pictures(tmp_path)
    assert held_out_pictures(tmp_path, stand_in=True) == [], (
        "where scenes may stand in, they may be missing all the same"
    )


def test_held_out_images_are_never_learned_from():
    names = [f"{n:03}" for n in range(150)]
    learned, held_out = part(names, held_out=False), part(names, held_out=True)
    assert (len(learned), len(held_out)) == (100, 50)
    assert not set(learned) & set(held_out)


def test_the_true_order_on_true_regions_is_right_wherever_neighbours_tell():
    scene = make_scene(5, size=(96, 64), leaves=6)
    truth = partition(scene.order, scene.labels)
    found = compare_neighbours(truly_ordered(scene.labels, truth), truth, scene.labels)
    assert found.accuracy()["racc"] > 0.9  # least squares may turn a pair that a longer way round contradicts


def test_ownership_is_cut_into_depths_of_equal_area():
    image = make_scene(5, size=(96, 64), leaves=6).image
    depths, pixels = np.unique(SystemViews(image).quantised(4).painted(), return_counts=True)
    assert depths.tolist() == [0, 1, 2, 3]
    assert pixels == pytest.approx(image.shape[0] * image.shape[1] / 4, rel=0.05)


def test_no_question_has_no_accuracy():
    assert np.isnan(OrderSums().bacc)
    assert np.isnan(OrderSums().racc)
    assert OrderSums(1, 2, 3, 4).plus(OrderSums(1, 2, 3, 4)) == (2, 4, 6, 8)
