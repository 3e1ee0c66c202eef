"""Every file of the third-party data reads with the facts that are known of it."""

from __future__ import annotations

import warnings
from itertools import islice

import cv2
import numpy as np
import pytest
import scipy.io

from hyperacuity.data import (
    figure_ground,
    load_dataset,
    pair_folders,
    read_boundary_truths,
    read_disparity,
    read_edges,
    read_image,
    read_mask,
    read_segmentations,
    read_soft,
    read_table,
    read_ucm,
)
from hyperacuity.data.formats.berkeley import boundaries_of

pytestmark = pytest.mark.filterwarnings("error::hyperacuity.data.DataWarning")  # nothing here is doubtful


@pytest.mark.parametrize(("split", "count"), [("train", 200), ("val", 100), ("test", 200)])
def test_bsds500_has_4_to_9_annotators_per_picture(shared_data, split, count):
    dataset = load_dataset("bsds500", shared_data, split=split)
    assert len(dataset.samples) == count
    for sample in dataset.samples[::10]:
        height, width = read_image(sample.image).shape[:2]
        assert sorted((height, width)) == [321, 481]
        segmentations, boundaries = read_segmentations(sample.truths), read_boundary_truths(sample.truths)
        assert 4 <= len(segmentations) == len(boundaries) <= 9
        assert segmentations[0].shape == boundaries[0].shape == (height, width)
        stored = scipy.io.loadmat(sample.truths[0])["groundTruth"][0]
        for labels, edges, annotator in zip(segmentations, boundaries, stored, strict=True):
            assert np.array_equal(labels, annotator[0, 0]["Segmentation"])
            assert np.array_equal(edges, annotator[0, 0]["Boundaries"] > 0)


def test_stored_boundaries_are_those_of_the_stored_segmentations(shared_data):
    for sample in load_dataset("bsds500", shared_data).samples[::20]:
        for labels, edges in zip(read_segmentations(sample.truths), read_boundary_truths(sample.truths), strict=True):
            assert np.array_equal(boundaries_of(labels), edges)


def test_bsds300_is_train_and_val_of_bsds500(shared_data):
    assert len(load_dataset("bsds300", shared_data, split="train").samples) == 200
    assert len(load_dataset("bsds300", shared_data).samples) == 100


def test_contour_maps_of_gpb_ucm_are_read_as_scipy_reads_them(shared_data):
    pairing = pair_folders(shared_data / "bsds500/ucm2/test", shared_data / "bsds500/groundTruth/test")
    assert len(pairing.pairs) == 200
    assert pairing.unpaired_predictions == pairing.unpaired_truths == ()
    for pair in pairing.pairs[::10]:
        ucm2 = scipy.io.loadmat(pair.prediction)["ucm2"].astype(np.float32)
        assert np.array_equal(read_soft(pair.prediction), ucm2[2::2, 2::2])
        assert np.array_equal(read_ucm(pair.prediction), ucm2)


def test_the_self_test_of_the_benchmark_is_read_in_all_its_forms(shared_data):
    folder = shared_data / "bsds-bench"
    names = sorted(path.stem for path in (folder / "png").iterdir())
    assert names == ["2018", "3063", "5096", "6046", "8068"]
    for name in names:
        size = read_image(folder / "images" / f"{name}.jpg").shape[:2]
        soft = cv2.imread(str(folder / "png" / f"{name}.png"), cv2.IMREAD_UNCHANGED)
        assert soft.shape == size
        assert np.array_equal(read_soft(folder / "png" / f"{name}.png"), soft / np.float32(255))
        ucm2 = scipy.io.loadmat(folder / "ucm2" / f"{name}.mat")["ucm2"]
        assert np.array_equal(read_soft(folder / "ucm2" / f"{name}.mat"), ucm2[2::2, 2::2].astype(np.float32))
        levels = scipy.io.loadmat(folder / "segs" / f"{name}.mat")["segs"].ravel()
        for labels, stored in zip(read_segmentations([folder / "segs" / f"{name}.mat"]), levels, strict=True):
            assert labels.shape == size
            assert np.array_equal(labels, stored)
        people = scipy.io.loadmat(folder / "groundTruth" / f"{name}.mat")["groundTruth"].ravel()
        for edges, stored in zip(read_boundary_truths([folder / "groundTruth" / f"{name}.mat"]), people, strict=True):
            assert np.array_equal(edges, stored[0, 0]["Boundaries"] > 0)


def test_figure_ground_labels_lie_within_a_pixel_of_the_boundary(shared_data):
    subjects: dict[str, set[str]] = {}
    for label in figure_ground(shared_data / "bsds-fg-dev.tar.xz"):
        subjects.setdefault(label.image, set()).add(label.subject)
        if len(subjects) % 10 == 0:
            known = np.isfinite(label.order)
            assert set(np.unique(label.order[known])) <= {-1, 1}
            labels, around = label.segmentation.astype(np.uint16), np.ones((3, 3), np.uint8)
            assert (cv2.dilate(labels, around) != cv2.erode(labels, around))[known].all()
            assert {tuple(row) for row in label.contours} <= {(1, -1), (-1, 1), (0, 0)}
            assert (label.segmentation >= 0).all()
    assert len(subjects) == 150
    assert {len(found) for found in subjects.values()} == {2}
    train = {sample.name for sample in load_dataset("bsds500", shared_data, split="train").samples}
    assert set(subjects) <= train


def test_middlebury_v2_has_four_scenes_with_scale_and_masks(shared_data):
    dataset = load_dataset("middlebury-v2", shared_data)
    facts = {"tsukuba": (16, 15), "venus": (8, 19), "teddy": (4, 59), "cones": (4, 59)}
    assert {sample.name: sample.scale for sample in dataset.samples} == {
        name: scale for name, (scale, _) in facts.items()
    }
    for sample in dataset.samples:
        disparity = read_disparity(sample.truths[0], scale=sample.scale)
        assert np.nanmin(disparity) > 0
        assert np.nanmax(disparity) <= facts[sample.name][1] + 1  # the largest disparity, in whole pixels
        assert read_image(sample.image).shape == (*disparity.shape, 3)
        assert read_image(sample.extras["right"]).shape == (*disparity.shape, 3)
        everything, nonocc, disc = (read_mask(sample.extras[mask]) for mask in ("all", "nonocc", "disc"))
        assert everything.shape == disparity.shape
        assert not (nonocc & ~everything).any()
        assert not (disc & ~nonocc).any()
        assert disc.mean() < nonocc.mean() < everything.mean() <= 1


def test_kitti_is_16_bit_with_0_unknown(shared_data):
    (sample,) = load_dataset("kitti-2012", shared_data).samples
    for path in (sample.truths[0], sample.extras["estimate"]):
        levels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        expected = np.where(levels == 0, np.nan, levels / 256)
        assert np.array_equal(read_disparity(path), expected.astype(np.float32), equal_nan=True)


def test_eth3d_is_a_little_endian_pfm_with_infinite_unknowns(shared_data):
    (sample,) = load_dataset("eth3d", shared_data).samples
    disparity = read_disparity(sample.truths[0])
    stored = cv2.imread(str(sample.truths[0]), cv2.IMREAD_UNCHANGED)
    assert disparity.shape == (490, 941) == read_image(sample.image).shape[:2]
    assert np.array_equal(np.isnan(disparity), np.isinf(stored))
    assert np.array_equal(disparity[np.isfinite(disparity)], stored[np.isfinite(stored)])


def test_in_rug_0_is_the_contour(shared_data):
    dataset = load_dataset("rug", shared_data)
    assert len(dataset.samples) == 10
    for sample in dataset.samples:
        assert read_image(sample.image).shape == (512, 512)
        edges = read_edges(sample.truths[0], inverted=dataset.inverted)
        assert 0.005 < edges.mean() < 0.15
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_boundary_truths(dataset.samples[0].truths)
    assert "inverted?" in str(caught[0].message)
    pairing = pair_folders(shared_data / "rug", shared_data / "rug" / "gt")
    assert len(pairing.pairs) == 10
    assert pairing.unpaired_truths == ()


def test_in_uded_255_is_the_edge(shared_data):
    dataset = load_dataset("uded", shared_data)
    assert len(dataset.samples) == 10
    for sample in dataset.samples:
        edges = read_edges(sample.truths[0], inverted=dataset.inverted)
        assert np.array_equal(edges, cv2.imread(str(sample.truths[0]), cv2.IMREAD_GRAYSCALE) == 255)
        assert read_image(sample.image).shape == (*edges.shape, 3)
        assert 0.005 < edges.mean() < 0.2


def test_the_server_s_table_has_ten_rows(shared_data):
    table = read_table(shared_data / "middlebury-v2" / "server-table-10.csv")
    assert table.values.shape == (10, 14)
    assert np.isfinite(table.values).all()
    assert table.names[:3] == ("GC+DP", "BM+DP (2 iterations)", "BM+DP (1 iteration)")
    assert table.column("cones_disc")[-1] == 30.4


def test_figure_ground_can_be_read_in_part(shared_data):
    labels = list(islice(figure_ground(shared_data / "bsds-fg-dev.tar.xz", images=["65132"]), 5))
    assert [(label.image, label.subject) for label in labels] == [("65132", "101"), ("65132", "106")]
