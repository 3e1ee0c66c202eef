"""``hyperacuity detect --with ownership,depth-order``: depth order from one image, as files for the command ordering."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import read_image, read_order, write_labels, write_png
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import depth_cues, depth_order, detector, orderer, ownership, region_tree
from hyperacuity.detect.depth.orderers import LEVEL
from hyperacuity.errors import UsageError
from hyperacuity.ordering import neighbours
from hyperacuity.train.figure_ground import read_labelled


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("photos") / "a.png"
    write_png(path, make_scene(4, size=(96, 64), leaves=6).image)
    return path


def detect(*words):
    return CliRunner().invoke(app, ["detect", *map(str, words)])


def test_order_maps_are_written_beside_edge_maps(picture, tmp_path):
    done = detect(picture, "--with", "ownership,depth-order,canny", "--out", tmp_path, "--json")
    assert done.exit_code == 0, done.stderr
    assert set(json.loads(done.stdout)["detectors"]) == {"ownership", "depth-order", "canny"}
    image = make_scene(4, size=(96, 64), leaves=6).image
    assert np.array_equal(read_order(tmp_path / "ownership" / "a.pfm"), ownership(image))
    assert np.array_equal(read_order(tmp_path / "depth-order" / "a.pfm"), depth_order(image))
    assert (tmp_path / "canny" / "a.png").exists()


def test_each_lambda_is_a_system_and_larger_means_fewer_regions(picture, tmp_path):
    done = detect(picture, "--with", "depth-order", "--lambda", "0.05,0.4,50", "--out", tmp_path)
    assert done.exit_code == 0, done.stderr
    counts = [
        len(np.unique(read_order(tmp_path / f"depth-order(lam={lam})" / "a.pfm"))) for lam in ("0.05", "0.4", "50.0")
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def test_the_default_lambda_has_the_plain_name():
    assert str(orderer("depth-order(lam=7)")) == "depth-order"
    assert str(orderer("ownership(curvature='absolute')")) == "ownership(curvature='absolute')"


def test_an_orderer_names_its_own_regions():
    image = make_scene(4, size=(96, 64), leaves=6).image
    of_gradient = region_tree(image).at(LEVEL)
    for name in ("depth-cues", "ownership", "depth-cues(cues='tjc')"):
        assert np.array_equal(orderer(name).regions(image), of_gradient)
    order = depth_order(image)
    found = orderer("depth-order").regions(image)
    assert np.array_equal(found, orderer("depth-order").regions(image, order))
    beside = neighbours(found)
    assert all(np.unique(order[found == region]).size == 1 for region in range(found.max() + 1))
    flat = order.ravel()
    assert (flat[beside.here] != flat[beside.there]).all(), "neighbouring pieces differ"


@pytest.mark.parametrize("words", [["--lambda", "fine"], ["--lambda", ""]])
def test_a_lambda_that_is_no_number_is_a_wrong_call(words, picture, tmp_path):
    done = detect(picture, "--with", "depth-order", "--out", tmp_path, *words)
    assert done.exit_code == 2
    assert "expected numbers" in done.stderr


def test_orderers_are_not_detectors():
    with pytest.raises(UsageError, match="there is no detector ownership"):
        detector("ownership")
    with pytest.raises(UsageError, match="there are ownership, depth-order, depth-cues, ae"):
        orderer("canny")


class TestDepthCues:
    def test_each_set_of_cues_is_a_system(self, picture, tmp_path):
        found = {}
        for cues, folder in (("all", "depth-cues"), ("tjc", "depth-cues(cues='tjc')")):
            done = detect(picture, "--with", "depth-cues", "--cues", cues, "--out", tmp_path)
            assert done.exit_code == 0, done.stderr
            found[cues] = read_order(tmp_path / folder / "a.pfm")
            assert np.array_equal(found[cues], depth_cues(read_image(picture), cues=cues))
        assert not np.array_equal(found["all"], found["tjc"])

    def test_given_regions_are_ordered(self, picture, tmp_path):
        scene = make_scene(4, size=(96, 64), leaves=6)
        (tmp_path / "regions").mkdir()
        write_labels(tmp_path / "regions" / "a.png", scene.labels)
        done = detect(picture, "--with", "depth-cues", "--segmentation", tmp_path / "regions", "--out", tmp_path)
        assert done.exit_code == 0, done.stderr
        order = read_order(tmp_path / "depth-cues" / "a.pfm")
        assert np.array_equal(order, depth_cues(scene.image, scene.labels))
        for region in np.unique(scene.labels):
            assert len(np.unique(order[scene.labels == region])) == 1

    def test_regions_are_for_those_who_take_them(self, picture, tmp_path):
        done = detect(picture, "--with", "ownership", "--segmentation", tmp_path, "--out", tmp_path)
        assert done.exit_code == 2
        assert "--segmentation is for depth-cues" in done.stderr
        with pytest.raises(UsageError, match="makes regions itself"):
            orderer("depth-order")(np.zeros((4, 4)), np.zeros((4, 4), int))

    def test_a_picture_without_regions_fails_by_name(self, picture, tmp_path):
        write_labels(tmp_path / "b.png", np.zeros((4, 4), np.int32))
        done = detect(picture, "--with", "depth-cues", "--segmentation", tmp_path, "--out", tmp_path / "out")
        assert done.exit_code == 1
        assert "has no file of its name in the folder of --segmentation" in done.stderr

    def test_unknown_cues_are_a_wrong_call(self, picture, tmp_path):
        done = detect(picture, "--with", "depth-cues", "--cues", "smell", "--out", tmp_path)
        assert done.exit_code == 2
        assert "there are no cues 'smell'; there are all, tjc" in done.stderr

    def test_it_can_be_learned_from_other_pictures(self, picture, tmp_path):
        world = tmp_path / "world"
        made = CliRunner().invoke(app, ["scenes", str(world), "--count", "2", "--size", "96x64", "--leaves", "6"])
        assert made.exit_code == 0, made.stderr
        words = ["--images", world / "images", "--order", world / "order", "--segmentation", world / "labels"]
        done = detect("train", "depth-cues", *words, "--out", tmp_path / "my.json", "--json")
        assert done.exit_code == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["images"] == 2
        assert set(found["effects"]) == {"all", "tjc"}
        written = json.loads((tmp_path / "my.json").read_text(encoding="utf-8"))["sets"]["tjc"]["cues"]
        assert {cue: one["weight"] for cue, one in written.items()} == pytest.approx(found["effects"]["tjc"], abs=1e-4)
        name = f"depth-cues(model='{tmp_path / 'my.json'}')"
        assert detect(picture, "--with", name, "--out", tmp_path).exit_code == 0
        order = read_order(tmp_path / "depth-cues(model='my.json')" / "a.pfm")
        assert np.array_equal(order, depth_cues(read_image(picture), model=str(tmp_path / "my.json")))
        assert not np.array_equal(order, depth_cues(read_image(picture)))

    def test_learning_needs_pictures_order_and_regions(self, picture, tmp_path):
        done = detect("train", "depth-cues", "--images", picture.parent, "--out", tmp_path / "my.json")
        assert done.exit_code == 2
        assert "belong together" in done.stderr

    def test_held_out_photographs_of_berkeley(self, shared_data):
        """The bars were set before anything was learned: B-ACC 0.80 and R-ACC 0.74 on the 50 images never used.

        All 50 take a minute: with HYPERACUITY_THOROUGH=1. Otherwise ten of them must beat ownership alone (.755 / .694).
        """
        thorough = bool(os.environ.get("HYPERACUITY_THOROUGH"))
        photographs = list(read_labelled(shared_data, held_out=True))[:: 1 if thorough else 5]

        def sums(one):
            beside = neighbours(one.people[0].segmentation)
            order = depth_cues(read_image(one.photograph), beside.labels)
            depth = np.zeros(beside.labels.max() + 1)
            depth[beside.labels] = order
            said = np.sign(depth[beside.first] - depth[beside.second])
            counts = np.zeros((2, 2))
            for front in one.front(beside):
                known = np.abs(front) == 1
                right = known & (said == front)
                counts += [[beside.cracks[right].sum(), right.sum()], [beside.cracks[known].sum(), known.sum()]]
            return counts

        with ThreadPoolExecutor(2) as pool:
            right, asked = np.sum(list(pool.map(sums, photographs)), axis=0)
        bacc, racc = right / asked
        assert bacc >= (0.80 if thorough else 0.755)
        assert racc >= (0.74 if thorough else 0.694)
