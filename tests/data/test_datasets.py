"""Where data sets are looked for, and how each is laid out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hyperacuity.data import (
    find_data,
    load_dataset,
    read_boundary_truths,
    read_disparity,
    read_edges,
    read_image,
    read_labels,
    read_mask,
    read_order,
)
from hyperacuity.data.datasets import layouts as datasets
from hyperacuity.data.scenes import make_scene, write_scenes
from hyperacuity.errors import InputError, UsageError


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder of one's own, and no data in the environment."""
    monkeypatch.delenv("HYPERACUITY_DATA", raising=False)
    monkeypatch.setattr(datasets, "user_cache_path", lambda name: tmp_path / "cache" / name)
    return tmp_path / "cache" / "hyperacuity"


def lay_out(folder: Path, *files: str) -> Path:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def samples(name: str, folder: Path, **options) -> dict:
    return {sample.name: sample for sample in load_dataset(name, folder, **options).samples}


def relative(folder: Path, *paths: Path | None) -> list[str | None]:
    return [path and path.relative_to(folder).as_posix() for path in paths]


def test_the_explicit_folder_comes_first_then_the_environment_then_the_cache(cache, tmp_path, monkeypatch):
    lay_out(cache / "uded", "imgs/a.png", "gt/a.png")
    assert find_data("uded") == cache / "uded"
    named = lay_out(tmp_path / "named", "uded/imgs/a.png")
    monkeypatch.setenv("HYPERACUITY_DATA", str(named))
    assert find_data("uded") == named / "uded"
    explicit = lay_out(tmp_path / "mine", "imgs/a.png")
    assert find_data("uded", explicit) == explicit


def test_missing_data_are_reported_with_the_folders_searched(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERACUITY_DATA", str(tmp_path))
    with pytest.raises(UsageError) as caught:
        find_data("bsds500")
    assert f"is not in {tmp_path} and {cache}" in str(caught.value)
    assert "docs/datasets.md" in str(caught.value)
    lay_out(cache / "bsds500", "groundTruth/test/1.mat")
    with pytest.raises(UsageError, match="the data set bsds500 is not in"):
        find_data("bsds500", tmp_path)  # the explicit place is the only one
    with pytest.raises(UsageError, match="there is no folder"):
        find_data("bsds500", tmp_path / "nowhere")
    with pytest.raises(UsageError, match="there is no data set bsds501, expected one of bsds500, bsds300"):
        find_data("bsds501")


def test_bsds500_has_three_parts(tmp_path):
    for part in ("train", "val", "test"):
        lay_out(tmp_path, f"images/{part}/{part}1.jpg", f"groundTruth/{part}/{part}1.mat", f"images/{part}/Thumbs.db")
    found = samples("bsds500", tmp_path)
    assert list(found) == ["test1"]
    assert relative(tmp_path, found["test1"].image, *found["test1"].truths) == [
        "images/test/test1.jpg",
        "groundTruth/test/test1.mat",
    ]
    assert list(samples("bsds500", tmp_path, split="train")) == ["train1"]
    assert list(samples("bsds300", tmp_path)) == ["val1"]  # BSDS300's test set became BSDS500's val
    with pytest.raises(UsageError, match="bsds500 has the parts test, train, val, not dev"):
        load_dataset("bsds500", tmp_path, split="dev")
    with pytest.raises(UsageError, match="uded has no parts, not dev"):
        load_dataset("uded", tmp_path, split="dev")


def test_bsds300_as_distributed_has_a_folder_per_annotator(tmp_path):
    lay_out(tmp_path, "images/test/3.jpg", "images/test/5.jpg", "human/color/1102/3.seg", "human/color/1105/3.seg")
    (sample,) = samples("bsds300", tmp_path).values()
    assert relative(tmp_path, *sample.truths) == ["human/color/1102/3.seg", "human/color/1105/3.seg"]


def test_middlebury_v2_knows_scale_and_masks(tmp_path):
    names = ("imL.png", "imR.png", "groundtruth.png", "nonocc.png", "all.png", "disc.png")
    lay_out(tmp_path, *(f"teddy/{name}" for name in names))
    (tmp_path / "teddy" / "info.txt").write_text("5\n59\n")
    lay_out(tmp_path, "venus/im2.ppm", "venus/im6.ppm", "venus/disp2.pgm", "notes/readme.txt")
    found = samples("middlebury-v2", tmp_path)
    assert set(found["teddy"].extras) == {"right", "nonocc", "all", "disc"}
    assert found["teddy"].scale == 5
    assert found["venus"].scale == 8
    assert relative(tmp_path, found["venus"].image, found["venus"].extras["right"]) == [
        "venus/im2.ppm",
        "venus/im6.ppm",
    ]
    for text in ("", "four", "-1", "inf"):
        (tmp_path / "teddy" / "info.txt").write_text(text)
        with pytest.raises(InputError, match=r"info\.txt"):
            samples("middlebury-v2", tmp_path)


def test_middlebury_2014_and_its_evaluation_kit_are_known(tmp_path):
    lay_out(tmp_path, "Bike/im0.png", "Bike/im1.png", "Bike/disp0.pfm", "Bike/calib.txt", "Empty/im0.png")
    lay_out(tmp_path, "trainingQ/Jade/im0.png", "trainingQ/Jade/disp0GT.pfm", "trainingQ/Jade/mask0nocc.png")
    found = samples("middlebury-2014", tmp_path)
    assert list(found) == ["Bike", "Jade"]
    assert relative(tmp_path, *found["Jade"].truths, found["Jade"].extras["nonocc"]) == [
        "trainingQ/Jade/disp0GT.pfm",
        "trainingQ/Jade/mask0nocc.png",
    ]
    assert set(found["Bike"].extras) == {"right", "calibration"}


def test_eth3d_truths_may_lie_in_a_folder_of_their_own(tmp_path):
    lay_out(tmp_path, "eth3d/two_view_training/forest/im0.png", "eth3d/two_view_training_gt/forest/disp0GT.pfm")
    (sample,) = samples("eth3d", tmp_path).values()
    assert relative(tmp_path, *sample.truths) == ["eth3d/two_view_training_gt/forest/disp0GT.pfm"]


def test_kitti_of_both_years_is_known(tmp_path):
    frame = "000003_10.png"
    lay_out(
        tmp_path / "kitti-2012",
        *(f"training/{part}/{frame}" for part in ("disp_occ", "disp_noc", "image_0", "image_1")),
    )
    parts = ("disp_occ_0", "disp_noc_0", "image_2", "image_3", "obj_map")
    lay_out(tmp_path / "kitti-2015", *(f"training/{part}/{frame}" for part in parts))
    older, newer = samples("kitti-2012", tmp_path)["000003_10"], samples("kitti-2015", tmp_path)["000003_10"]
    assert set(older.extras) == {"right", "noc"}
    assert set(newer.extras) == {"right", "noc", "objects"}
    assert relative(tmp_path / "kitti-2015" / "training", newer.image, *newer.truths) == [
        f"image_2/{frame}",
        f"disp_occ_0/{frame}",
    ]
    assert older.scale == newer.scale == 256


def test_rug_is_inverted_and_its_truths_have_an_ending(tmp_path):
    lay_out(tmp_path, "goat_2.pgm", "gt/goat_2_gt_binary.pgm")
    dataset = load_dataset("rug", tmp_path)
    assert dataset.inverted
    assert [(sample.name, sample.image) for sample in dataset.samples] == [("goat_2", tmp_path / "goat_2.pgm")]


def test_scenes_are_a_data_set_like_any_other(tmp_path):
    write_scenes(tmp_path, [1], size=(96, 64))
    (sample,) = load_dataset("scenes", tmp_path).samples
    roles = "right labels boundaries order ownership disparity nonocc all disc"
    assert set(sample.extras) == set(roles.split())
    scene = make_scene(1, size=(96, 64))
    assert np.array_equal(read_image(sample.image), scene.image)
    assert np.array_equal(read_image(sample.extras["right"]), scene.right)
    for edges, annotation in zip(read_boundary_truths(sample.truths), scene.annotators, strict=True):
        assert np.array_equal(edges, annotation.boundaries)
    assert np.array_equal(read_labels(sample.extras["labels"]), scene.labels)
    assert np.array_equal(read_edges(sample.extras["boundaries"]), scene.boundaries)
    assert np.array_equal(read_order(sample.extras["order"]), scene.order)
    assert np.array_equal(read_disparity(sample.extras["disparity"]), scene.disparity)
    for mask, expected in scene.masks.items():
        assert np.array_equal(read_mask(sample.extras[mask]), expected)


def test_a_data_set_without_a_sample_is_a_wrong_call(tmp_path):
    lay_out(tmp_path, "imgs/a.png")
    with pytest.raises(UsageError, match="no sample of uded"):
        load_dataset("uded", tmp_path)


def test_figure_ground_is_found_as_folder_or_archive(tmp_path):
    archive = lay_out(tmp_path / "packed", "bsds-fg-dev.tar.xz") / "bsds-fg-dev.tar.xz"
    assert find_data("bsds-fg", tmp_path / "packed") == archive
    folder = lay_out(tmp_path / "open", "fg/1103/1-2.fg")
    assert find_data("bsds-fg", folder) == folder
    with pytest.raises(UsageError, match="figure_ground"):
        load_dataset("bsds-fg", folder)
