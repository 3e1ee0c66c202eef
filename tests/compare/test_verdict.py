"""The one voice about differences: what it says, and that every place says it."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import hyperacuity as ha
from hyperacuity.boundary import BoundaryTally, Protocol, compare_systems
from hyperacuity.boundary.scores import criteria
from hyperacuity.cli import app
from hyperacuity.compare.verdict import verdicts
from hyperacuity.data import write_edges, write_soft

PROTOCOL = Protocol(thresholds=(0.5,))


def data_set(seed: int, better: int = 0, images: int = 12) -> dict[str, BoundaryTally]:
    """Images of which between 30 and 60 of 100 pixels are found, or so many more."""
    found = np.random.default_rng(seed).integers(30, 60, images) + better
    fields = [[n, 100, n, 100, 100, 100] for n in found]
    return {
        f"{image}": BoundaryTally(*(np.array([value]) for value in row), protocol=PROTOCOL)
        for image, row in enumerate(fields)
    }


SYSTEMS = {"good": data_set(1, 30), "fair": data_set(2, 4), "poor": data_set(3)}


def judged(systems, **options):
    return verdicts(list(systems), systems.__getitem__, criteria(PROTOCOL), ["ods"], **options)["ods"]


def test_each_system_is_tested_against_the_first_and_corrected_for_their_number():
    fair, poor = judged(SYSTEMS)
    single = [compare_systems(SYSTEMS["good"], SYSTEMS[name])["ods"].p_value for name in ("fair", "poor")]
    assert [one.p_single for one in (fair, poor)] == single
    # Holm by hand: the smaller of two is doubled, the other may not fall below it
    least, most = sorted(single)
    assert sorted((fair.p, poor.p)) == pytest.approx([2 * least, max(2 * least, most)])
    assert (fair.tests, fair.images, fair.first, fair.second) == (2, 12, "good", "fair")
    assert fair.significant


def test_all_pairs_are_a_larger_family():
    pairs = judged(SYSTEMS, all_pairs=True)
    assert [(one.first, one.second) for one in pairs] == [("good", "fair"), ("good", "poor"), ("fair", "poor")]
    assert {one.tests for one in pairs} == {3}
    assert pairs[0].p == pytest.approx(min(1, 3 * pairs[0].p_single))


def test_equal_systems_may_always_be_chance():
    (one,) = judged({"a": SYSTEMS["good"], "b": SYSTEMS["good"]})
    assert (one.difference, one.p, str(one)) == (0, 1, "may be chance: p = 1.000")


def test_one_image_says_nothing():
    assert judged({"a": data_set(1, 30, images=1), "b": data_set(2, images=1)}) == ()


def test_the_order_of_images_changes_nothing():
    turned = {name: dict(reversed(images.items())) for name, images in SYSTEMS.items()}
    assert judged(turned) == judged(SYSTEMS)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Eight images, and three systems that find less and less of a line."""
    folder = tmp_path_factory.mktemp("world")
    dice = np.random.default_rng(0)
    for name in ("truth", "good", "fair", "poor"):
        (folder / name).mkdir()
    for image in range(8):
        truth = np.zeros((40, 60), bool)
        truth[int(dice.integers(10, 30))] = True
        write_edges(folder / "truth" / f"{image}.png", truth)
        for name, share in (("good", 0.8), ("fair", 0.78), ("poor", 0.3)):
            write_soft(folder / name / f"{image}.png", (truth & (dice.random(truth.shape) < share)).astype(np.float32))
    return folder


def printed(*words) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "250"})
    assert done.exit_code == 0, done.output
    return done.stdout


def test_table_json_page_and_comparison_say_the_same(world, tmp_path):
    """On one run, one place said p = .244, another "may be chance", a third "of superior performance"."""
    words = ["boundary", world / "good", world / "truth", "--system", world / "fair", "--system", world / "poor"]
    table = printed(*words, "--run", tmp_path)
    result = ha.evaluate("boundary", {n: world / n for n in ("good", "fair", "poor")}, world / "truth", progress=False)
    best, *others = sorted(result.scores, key=lambda name: -result.score(name).ods.f)
    p = {one.second: f"{one.p:.3f}" for one in result.verdicts["ods"]}
    assert set(p) == set(others)
    assert "p (Holm)" in table
    for name in others:
        assert re.search(rf"^{name} .* {re.escape(p[name])}$", table, re.MULTILINE)
    told = json.loads(printed(*words, "--run", tmp_path, "--json"))["paired"]
    assert {name: f"{told[f'{best} − {name}']['ods']['p_value']:.3f}" for name in others} == p
    (sheet,) = json.loads(printed("report", tmp_path, "--json"))["sheets"]
    assert {name: f"{sheet['systems'][name]['p']:.3f}" for name in others} == p
    second = max(others, key=lambda name: result.score(name).ods.f)
    assert f"ahead of {second} by" in sheet["findings"][0]
    assert f"p = {p[second]} with Holm's correction for 2 tests" in sheet["findings"][0]
    compared = printed("compare", tmp_path, "--criteria", "ods,ois,ap")
    for name in others:
        assert p[name] in compared
