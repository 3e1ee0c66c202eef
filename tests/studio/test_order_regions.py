"""The regions that are ordered: where they come from, and what cannot be used."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import read_labels, read_order, write_mat
from hyperacuity.data.scenes import make_scene, write_scene
from hyperacuity.errors import UsageError
from hyperacuity.ordering.orderings import consecutive
from hyperacuity.regions import hierarchy
from hyperacuity.studio.items import item_id
from hyperacuity.studio.order.regions import _anchors, find_inputs, load_image, regions_at


def place(region, at, tie=False):
    return {"kind": "place", "region": region, "at": at, "tie": tie}


def relate(a, b, relation="front"):
    return {"kind": "relate", "a": a, "b": b, "relation": relation}


class TestRegions:
    def test_the_page_is_told_what_the_segmentation_says(self, open_page, squares):
        client = open_page()
        told = client.get("/regions/0").json()
        assert (told["width"], told["height"], told["areas"]) == (32, 24, [256, 256, 128, 128])
        assert told["pairs"] == [[0, 1, 16], [0, 2, 16], [1, 3, 16], [2, 3, 8]]
        assert [squares[row, column] for row, column in told["anchors"]] == [0, 1, 2, 3]
        labels = client.get("/labels/0").content
        assert np.array_equal(np.frombuffer(labels, "<u2").reshape(24, 32), squares)

    def test_void_pixels_are_in_no_region(self, world, open_page, squares):
        (world / "labels" / "squares.png").unlink()
        np.save(world / "labels" / "squares.npy", np.where(squares == 3, -1, squares.astype(np.int32)))
        client = open_page()
        assert np.frombuffer(client.get("/labels/0").content, "<u2")[-1] == 65535
        client.do(relate(0, 1), {"kind": "done", "anyway": True})
        assert np.isnan(read_order(world / "out/order/Ada/squares.npy")[-1, -1])

    def test_without_segmentations_there_are_levels_to_choose(self, world, open_page):
        scene = make_scene(1, size=(96, 64), leaves=6, annotators=1)
        Image.fromarray(scene.image).save(world / "images" / "squares.png")
        client = open_page(hierarchy=True)
        sheet = client.sheet()
        heights, counts = zip(*sheet["levels"], strict=True)
        assert list(heights) == sorted(heights, reverse=True)
        assert list(counts) == sorted(counts)
        assert counts[sheet["level"]] <= 16
        for level in (0, len(counts) - 1):
            told = client.get(f"/regions/{level}").json()
            assert len(told["areas"]) == counts[level]
        told = client.do({"kind": "level", "level": 3, "start_over": False}, relate(0, 1))
        refused = client.act(3, kind="level", level=2, start_over=False)
        assert refused.status_code == 422
        assert "means starting over" in refused.json()["error"]
        assert client.do({"kind": "level", "level": 2, "start_over": True})["pairs"] == []
        told = client.do({"kind": "undo"}, {"kind": "done", "anyway": True})
        assert (told["level"], told["pairs"]) == (3, [[0, 1, 1]])
        kept = json.loads((world / "out/provenance/Ada/squares.json").read_text())
        assert (kept["segmentation"], kept["level"]) == ("hierarchy", heights[3])
        inputs = find_inputs(world / "images", None)
        image = load_image(inputs, inputs.items[item_id("squares")])
        written = read_labels(world / "out/labels/Ada/squares.npy")
        assert np.array_equal(written - 1, regions_at(image, 3).labels)

    def test_a_hierarchy_can_be_given_too(self, world, open_page):
        strength = np.zeros((24, 32))
        strength[:, 16], strength[16, :] = 0.8, 0.4
        (world / "labels" / "squares.png").unlink()
        write_mat(world / "labels" / "squares.mat", ucm2=hierarchy(strength).ucm2())
        assert open_page().sheet()["levels"][0][1] == 2

    def test_a_picture_of_one_tone_is_one_region(self, world, open_page):
        Image.fromarray(np.full((40, 40), 90, np.uint8)).save(world / "images" / "squares.png")
        client = open_page(hierarchy=True)
        assert client.sheet()["levels"] == [[1.0, 1]]
        assert client.do(place(0, 1))["coverage"] == {"regions": 1, "boundary": 1, "pairs": 1}

    def test_labels_are_compressed(self, open_page):
        response = open_page().get("/labels/0")
        assert response.headers["content-encoding"] == "gzip"
        assert int(response.headers["content-length"]) < 32 * 24 < len(response.content)


@given(
    labels=arrays(np.int32, st.tuples(st.integers(1, 12), st.integers(1, 12)), elements=st.integers(-1, 5)),
    max_pixels=st.sampled_from([4, 20, 1000]),
)
@settings(max_examples=80, deadline=None)
def test_the_anchor_of_a_region_lies_in_it(labels, max_pixels):
    labels = consecutive(labels)
    count = int(labels.max()) + 1
    if count:
        assert labels[tuple(_anchors(labels, count, max_pixels=max_pixels).T)].tolist() == list(range(count))


class TestBadFiles:
    def test_what_is_broken_fails_by_name_and_the_rest_goes_on(self, world, open_page, squares):
        (world / "images" / "broken.png").write_bytes(b"no picture")
        shutil.copy(world / "labels" / "squares.png", world / "labels" / "broken.png")
        shutil.copy(world / "images" / "squares.png", world / "images" / "small.png")
        Image.fromarray(squares[:5]).save(world / "labels" / "small.png")
        shutil.copy(world / "images" / "squares.png", world / "images" / "alone.png")
        client = open_page()
        text = client.client.get("/").text
        assert text.count("Cannot be used") == 3
        assert str(world) not in text
        assert "has no segmentation" in client.get("/sheet", item="alone").json()["error"]
        refused = client.get("/sheet", item="small")
        assert refused.status_code == 422
        assert "32×5" in refused.json()["error"]
        assert "32×24" in refused.json()["error"]
        assert str(world) not in refused.text
        assert client.sheet()["version"] == 0

    def test_an_image_that_breaks_later_is_named(self, world, open_page):
        client = open_page()
        (world / "images" / "squares.png").write_bytes(b"gone")
        refused = client.get("/sheet")
        assert refused.status_code == 422
        assert refused.json()["error"].startswith("squares: ")

    def test_too_many_regions_are_not_for_hands(self, world, open_page):
        (world / "labels" / "squares.png").unlink()
        np.save(world / "labels" / "squares.npy", np.arange(24 * 32 * 4).reshape(48, 64).astype(np.int32))
        Image.fromarray(np.zeros((48, 64), np.uint8)).save(world / "images" / "squares.png")
        with pytest.raises(UsageError, match="has 3072 regions, expected at most 1000"):
            open_page()

    def test_the_segmentation_that_is_asked_for_must_exist(self, world):
        with pytest.raises(UsageError, match="number 2 was asked for"):
            find_inputs(world / "images", world / "labels", annotator=2)

    def test_a_wrong_call_says_so(self, world):
        result = CliRunner().invoke(app, ["studio", "order", f"{world}/nowhere", "--out", f"{world}/out"])
        assert result.exit_code == 2
        assert "cannot be read as a folder" in result.stderr


def test_a_scene_folder_can_be_ordered_as_it_is(tmp_path):
    write_scene(tmp_path, make_scene(3, size=(96, 64), leaves=6, annotators=2))
    for folder, number in (("labels", 1), ("groundTruth", 2)):
        inputs = find_inputs(tmp_path / "images", tmp_path / folder, annotator=number)
        assert (len(inputs.items), inputs.failed) == (1, {})
