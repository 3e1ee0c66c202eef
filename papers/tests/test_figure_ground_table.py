"""``hyperacuity study figure-ground`` and ``whole-orders``: systems that know the answer, and what is told of them."""

from __future__ import annotations

import csv
import json
import struct

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import FigureGround, write_png
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import orderer
from hyperacuity.errors import UsageError
from hyperacuity.ordering import Sides, tally, tally_humans
from hyperacuity.ordering.orderings import pieces
from hyperacuity.train.figure_ground import LabelledPhotograph
from hyperacuity_papers.maire2016.figure_ground_table import (
    GIVEN,
    ONTO,
    OWN,
    PEOPLE,
    PUBLISHED,
    figure_ground_table,
    photographs_of,
)

SCENES = {f"{seed}": make_scene(seed, size=(120, 80), leaves=5) for seed in (1, 2, 3)}


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """Scenes whose order two people labelled, of whom the second always says the opposite."""
    folder, found = tmp_path_factory.mktemp("photographs"), []
    for name, scene in SCENES.items():
        write_png(folder / f"{name}.png", scene.image)
        sides = np.where(scene.ownership == 0, np.nan, scene.ownership).astype(np.float32)
        people = [
            FigureGround(name, "1", who, turn * sides, np.zeros((0, 2)), scene.labels)
            for who, turn in (("a", 1), ("b", -1))
        ]
        found.append(LabelledPhotograph(name, folder / f"{name}.png", tuple(people)))
    return found


def alone(photographs):
    """The same with the first person only."""
    return [LabelledPhotograph(one.name, one.photograph, one.people[:1]) for one in photographs]


class Knowing:
    """Knows the true order of the scenes; in some ways it ties, is blind without regions, or finds no regions."""

    def __init__(self, *, takes_regions=True, blind=False, dense=False):
        self.takes_regions, self.blind, self.dense = takes_regions, blind, dense
        self.calls = 0

    def __str__(self):
        return "knowing"

    def scene(self, image):
        return next(scene for scene in SCENES.values() if np.array_equal(scene.image, image))

    def __call__(self, image, labels=None):
        self.calls += 1
        if labels is None and self.blind:
            return np.zeros(image.shape[:2], np.float32)
        return self.scene(image).order

    def regions(self, image, order=None):
        count = image.shape[0] * image.shape[1]
        return np.arange(count, dtype=np.int32).reshape(image.shape[:2]) if self.dense else pieces(order).labels


def accuracy(table, system, column, tie="wrong"):
    return [table.scores[system][column, tie].accuracy[name] for name in ("racc", "bacc", "bacc50", "bacc25")]


def test_who_knows_the_order_is_right_in_every_column(photographs):
    table = figure_ground_table({"knowing": Knowing()}, alone(photographs))
    for column in (ONTO, OWN, GIVEN):
        assert accuracy(table, "knowing", column)[:2] == pytest.approx([1, 1], abs=0.02)
    assert table.images == ("1", "2", "3")
    assert not table.failures


def test_regions_that_are_given_are_not_mixed_up_with_what_the_photograph_alone_gives(photographs):
    table = figure_ground_table({"blind": Knowing(blind=True)}, alone(photographs))
    assert accuracy(table, "blind", GIVEN)[:2] == pytest.approx([1, 1], abs=0.02)
    assert accuracy(table, "blind", ONTO) == [0, 0, 0, 0]
    assert accuracy(table, "blind", ONTO, "half") == [0.5] * 4


def test_a_column_that_a_system_cannot_fill_is_empty(photographs):
    table = figure_ground_table({"plain": Knowing(takes_regions=False, dense=True)}, alone(photographs))
    assert {column for column, _ in table.scores["plain"]} == {ONTO}
    [row] = [row for row in table.rows() if row[0] == "plain"]
    assert row[3:] == ("–",) * 4


def test_numbers_are_those_of_the_command_ordering(photographs):
    system = orderer("depth-cues")
    table = figure_ground_table({"depth-cues": system}, photographs)
    sums = np.zeros((2, 4))
    for one in photographs:
        people = [Sides(labels.order, labels.segmentation) for labels in one.people]
        sums += tally(system(SCENES[one.name].image), people).questions
    assert accuracy(table, "depth-cues", ONTO) == pytest.approx(list(sums[0] / sums[1]))


def test_people_are_a_row_of_their_own(photographs):
    table = figure_ground_table({}, photographs)
    assert list(table.scores) == [PEOPLE]
    assert accuracy(table, PEOPLE, GIVEN)[:2] == [0, 0], "the two people always disagree"
    whole = sum(tally_humans([Sides(p.order, p.segmentation) for p in one.people]).questions for one in photographs)
    assert whole[0, 0] == 0
    assert list(figure_ground_table({}, alone(photographs)).scores) == []


def test_maps_are_kept_and_resumed(photographs, tmp_path):
    first, second = Knowing(), Knowing()
    made = figure_ground_table({"a": first}, photographs, folders={"a": tmp_path / "a"})
    assert first.calls == 6
    again = figure_ground_table({"a": second}, photographs, folders={"a": tmp_path / "a"}, resume=True)
    assert second.calls == 0
    assert again.as_dict() == made.as_dict()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["given", "image-only", "regions"]


def test_a_photograph_that_cannot_be_read_is_named_and_the_others_go_on(photographs, tmp_path):
    lost = LabelledPhotograph("lost", tmp_path / "lost.png", photographs[0].people)
    table = figure_ground_table({"a": Knowing()}, [lost, *photographs])
    assert [name for name, _ in table.failures] == ["lost"]
    assert table.images == ("1", "2", "3")


def test_published_numbers_are_marked_as_of_other_images(photographs):
    table = figure_ground_table({}, photographs)
    for name in PUBLISHED:
        assert any(row[0] == f"{name}, other 50 images" for row in table.rows())
        assert table.as_dict()["published"][name]["images"] == "other 50 images"
    # Table 1 of Maire, Narihira & Yu (2016), supplement.
    assert PUBLISHED["Affinity CNN (Maire et al. 2016)"][ONTO]["bacc50"] == 0.72
    assert PUBLISHED["angular embedding (Maire 2010)"][OWN]["racc"] == 0.59


def test_only_two_parts_are_known():
    with pytest.raises(UsageError, match="expected held-out or dev"):
        photographs_of("all", None)


def test_the_part_to_develop_with_has_no_image_that_is_held_out(shared_data):
    if not (shared_data / "bsds-fg-dev.tar.xz").exists():
        pytest.skip("needs bsds-fg-dev.tar.xz")
    from hyperacuity.data.datasets.bsds import reserved

    names = [one.name for one in photographs_of("dev", shared_data)]
    assert len(names) == 20
    assert not set(names) & reserved()


def fg_bytes(sides):
    """A .fg file: two matrices, the second with one contour."""
    height, width = sides.shape
    values = np.nan_to_num(sides).astype("<f8").ravel(order="F").tobytes()
    return b"MATRIX ARRAY 2\n" + struct.pack("<ii", height, width) + values + struct.pack("<ii2d", 1, 2, 1, -1)


def seg_bytes(labels):
    height, width = labels.shape
    runs = "\n".join(f"{labels[y, x]} {y} {x} {x}" for y in range(height) for x in range(width))
    return f"format ascii cr\nwidth {width}\nheight {height}\nsegments {labels.max() + 1}\ndata\n{runs}\n".encode()


@pytest.fixture(scope="module")
def berkeley(tmp_path_factory):
    """BSDS500 and its figure/ground labels in small: six photographs of which the third and the sixth are held out."""
    data = tmp_path_factory.mktemp("berkeley")
    for folder in ("bsds500/images/train", "bsds500/groundTruth/train", "bsds-fg/fg/1", "bsds-fg/seg/1"):
        (data / folder).mkdir(parents=True)
    for number in range(6):
        scene = make_scene(number + 1, size=(96, 64), leaves=4)
        sides = np.where(scene.ownership == 0, np.nan, scene.ownership).astype(np.float32)
        write_png(data / f"bsds500/images/train/{number}.png", scene.image)
        (data / f"bsds500/groundTruth/train/{number}.mat").write_bytes(b"")
        for subject in "ab":
            (data / f"bsds-fg/fg/1/{number}-{subject}.fg").write_bytes(fg_bytes(sides))
        (data / f"bsds-fg/seg/1/{number}.seg").write_bytes(seg_bytes(scene.labels))
    return data


def study(*words):
    return CliRunner().invoke(app, ["study", *map(str, words)])


def test_the_command_writes_a_table_and_maps(berkeley, tmp_path):
    done = study("figure-ground", "--data", berkeley, "--with", "depth-cues,ownership", "--out", tmp_path, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["images"] == ["2", "5"]
    assert set(found["systems"]) == {"depth-cues", "ownership", "people"}
    assert set(found["systems"]["depth-cues"]) == {"onto", "own", "given"}
    assert found["systems"]["people"]["given"]["wrong"]["bacc"] == 1
    low, high = found["systems"]["ownership"]["onto"]["wrong"]["intervals"]["bacc"]
    assert low <= found["systems"]["ownership"]["onto"]["wrong"]["bacc"] <= high
    with (tmp_path / "figure-ground.csv").open() as file:
        records = list(csv.DictReader(file))
    [one] = [
        r
        for r in records
        if (r["system"], r["column"], r["ties"], r["measure"]) == ("depth-cues", "own regions", "half", "racc")
    ]
    assert float(one["value"]) == pytest.approx(found["systems"]["depth-cues"]["own"]["half"]["racc"], abs=1e-4)
    assert (tmp_path / "depth-cues" / "given" / "2.pfm").exists()


def test_the_command_prints_what_systems_were_given(berkeley, tmp_path):
    done = study("figure-ground", "--data", berkeley, "--with", "ownership", "--images", "dev", "--out", tmp_path)
    assert done.exit_code == 0, done.stderr
    for words in (
        "1 photograph:",
        "image only, onto people's regions",
        "given people's regions",
        "other 50 images",
        "B-ACC-25",
    ):
        assert words in done.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--with", "canny"], "there is no detector canny; there are ownership"),
        (["--with", ","], "--with names no system"),
        (["--images", "all"], "expected held-out or dev"),
    ],
)
def test_wrong_calls_exit_with_2(words, complaint, berkeley, tmp_path):
    done = study("figure-ground", "--data", berkeley, "--out", tmp_path, *words)
    assert done.exit_code == 2
    assert complaint in done.stderr


def test_whole_orders_of_scenes_contradict_nothing(berkeley, tmp_path):
    done = study("whole-orders", "--data", berkeley, "--out", tmp_path, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["images"], found["labels"], found["contradicted_labels"]) == (6, 12, 0)
    assert found["length"] == found["pairs"] == found["least_length"] == 0
    assert len((tmp_path / "whole-orders.csv").read_text().splitlines()) == 13
    assert (
        "contradicted: 0.00 % of boundary length" in study("whole-orders", "--data", berkeley, "--out", tmp_path).stdout
    )
