"""``hyperacuity detect --with ownership,depth-order``: depth order from one image, as files the verb ordering takes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import read_order, write_png
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import depth_order, detector, orderer, ownership
from hyperacuity.errors import UsageError


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
    done = detect(picture, "--with", "depth-order", "--lambda", "0.05,0.5,50", "--out", tmp_path)
    assert done.exit_code == 0, done.stderr
    counts = [
        len(np.unique(read_order(tmp_path / f"depth-order(lam={lam})" / "a.pfm"))) for lam in ("0.05", "0.5", "50.0")
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def test_the_default_lambda_has_the_plain_name():
    assert str(orderer("depth-order(lam=0.1)")) == "depth-order"
    assert str(orderer("ownership(curvature='absolute')")) == "ownership(curvature='absolute')"


@pytest.mark.parametrize("words", [["--lambda", "fine"], ["--lambda", ""]])
def test_a_lambda_that_is_no_number_is_a_wrong_call(words, picture, tmp_path):
    done = detect(picture, "--with", "depth-order", "--out", tmp_path, *words)
    assert done.exit_code == 2
    assert "expected numbers" in done.stderr


def test_orderers_are_not_detectors():
    with pytest.raises(UsageError, match="there is no detector ownership"):
        detector("ownership")
    with pytest.raises(UsageError, match="there are ownership, depth-order"):
        orderer("canny")
