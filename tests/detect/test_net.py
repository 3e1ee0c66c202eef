"""The network: that it runs the same everywhere and every time, and sees what is plain to see."""

from __future__ import annotations

import hashlib
import sys

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra see is not installed")

from hyperacuity.boundary import collect, tally
from hyperacuity.data import read_boundary_truths, read_image, read_soft
from hyperacuity.detect import detector, orderer
from hyperacuity.detect.net import network, sight
from hyperacuity.detect.net.network import across_ridges, look, net
from hyperacuity.errors import InputError, UsageError
from hyperacuity.ordering import neighbours, order_of_pairs, ordering
from hyperacuity.regions import hierarchy


def photograph(size: tuple[int, int] = (60, 80)) -> np.ndarray:
    """A bright disc on a dark, speckled ground."""
    height, width = size
    y, x = np.mgrid[:height, :width]
    disc = np.hypot(y - height / 2, x - width / 2) < min(size) / 3
    noise = np.random.default_rng(0).normal(0, 6, (*size, 3))
    return np.clip(np.where(disc[..., None], (210, 180, 120), (60, 80, 70)) + noise, 0, 255).astype(np.uint8)


class TestLook:
    def test_same_bytes_in_same_map_out(self):
        first, second = look(photograph()), look(photograph())
        assert np.array_equal(first.boundaries, second.boundaries)
        assert np.array_equal(first.field, second.field)

    def test_threads_change_nothing(self):
        first, second = (look(photograph(), setting="best", threads=n) for n in (1, 3))
        assert np.array_equal(first.boundaries, second.boundaries)
        assert np.array_equal(first.field, second.field)

    def test_shapes_and_range(self):
        seen = look(photograph((33, 47)))
        assert seen.boundaries.shape == (33, 47)
        assert seen.field.shape == (33, 47, 2)
        assert seen.boundaries.dtype == seen.field.dtype == np.float32
        assert 0 <= seen.boundaries.min() < seen.boundaries.max() <= 1

    @pytest.mark.parametrize("kind", ["uint16", "float"])
    def test_depth_of_the_file_does_not_matter(self, kind):
        image = photograph()
        other = image.astype(np.uint16) * 257 if kind == "uint16" else image / np.float32(255)
        np.testing.assert_allclose(look(other).boundaries, look(image).boundaries, atol=1e-5)

    def test_grey_is_colour_with_equal_channels(self):
        grey = photograph()[..., 0]
        assert np.array_equal(look(grey).boundaries, look(np.stack([grey] * 3, 2)).boundaries)

    def test_best_sees_a_mirrored_photograph_mirrored(self):
        image = photograph((64, 96))
        plain, mirrored = look(image, setting="best"), look(image[:, ::-1], setting="best")
        np.testing.assert_allclose(mirrored.boundaries[:, ::-1], plain.boundaries, atol=1e-4)
        np.testing.assert_allclose(mirrored.field[:, ::-1] * (-1, 1), plain.field, atol=1e-3)

    def test_large_photographs_are_reduced(self, monkeypatch):
        sizes = []
        answers = network._answers
        monkeypatch.setattr(network, "LARGEST", 2000)
        monkeypatch.setattr(
            network, "_answers", lambda *a, **k: (sizes.append(a[1][0].size * a[2] ** 2), answers(*a, **k))[1]
        )
        assert look(photograph(), setting="best").boundaries.shape == (60, 80)
        assert max(sizes) == pytest.approx(2000)
        assert len({round(size) for size in sizes}) == 3

    @pytest.mark.parametrize("size", [(1, 1), (3, 3), (1, 50), (200, 2)])
    def test_tiny_photographs(self, size):
        seen = look(np.full(size, 128, np.uint8), setting="best")
        assert seen.boundaries.shape == size
        assert np.isfinite(seen.field).all()

    def test_a_disc_is_outlined_and_owns_its_outline(self):
        image = photograph((120, 160))
        seen = look(image, setting="best")
        y, x = np.mgrid[:120, :160]
        far = np.abs(np.hypot(y - 60, x - 80) - 40)
        assert seen.boundaries[far < 1].mean() > 0.5
        assert seen.boundaries[(far > 8)].mean() < 0.1
        inwards = np.stack([80 - x, 60 - y], axis=2) / np.maximum(np.hypot(80 - x, 60 - y), 1)[..., None]
        assert ((seen.field * inwards).sum(axis=2)[far < 1] > 0).mean() > 0.9

    def test_settings_are_refused_by_name(self):
        with pytest.raises(UsageError, match="setting is 'slow', expected one of fast, best"):
            look(photograph(), setting="slow")  # type: ignore[arg-type]


class TestFile:
    def test_the_shipped_file_is_small_and_its_checksum_known(self):
        data = network.SHIPPED.read_bytes()
        assert len(data) <= 8_000_000
        assert hashlib.sha256(data).hexdigest() == network.card()["sha256"]

    def test_a_damaged_file_is_refused(self, tmp_path, monkeypatch):
        damaged = bytearray(network.SHIPPED.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        (tmp_path / "net.onnx").write_bytes(damaged)
        monkeypatch.setattr(network, "SHIPPED", tmp_path / "net.onnx")
        with pytest.raises(InputError, match=r"net\.onnx: is damaged"):
            look(photograph())

    def test_what_is_no_network_is_refused(self, tmp_path):
        (tmp_path / "photo.onnx").write_bytes(b"not a network")
        with pytest.raises(InputError, match=r"photo\.onnx: holds no network that can be run"):
            look(photograph(), model=tmp_path / "photo.onnx")
        with pytest.raises(InputError, match=r"missing\.onnx: cannot be read"):
            look(photograph(), model=tmp_path / "missing.onnx")

    def test_without_onnxruntime_the_extra_is_named(self, monkeypatch):
        network._session.cache_clear()
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        with pytest.raises(UsageError, match=r"needs onnxruntime: pip install .*onnxruntime"):
            look(photograph())


class TestDetector:
    def test_net_is_absolute_and_thin(self):
        seen = detector("net")(photograph())
        assert np.array_equal(seen.soft, seen.strength)
        assert 0 < np.count_nonzero(seen.thin) < np.count_nonzero(seen.strength > 0.05)
        assert np.array_equal(seen.strength, net(photograph()).strength)

    def test_hierarchy_has_the_heights_of_the_map(self):
        tree = detector("net").hierarchy(photograph())
        assert tree.heights.max() <= look(photograph()).boundaries.max() + 1e-6

    def test_direction_is_across_ridges(self):
        y, x = np.mgrid[-20:21, -20:21]
        for angle in np.deg2rad([-60, -30, 0, 20, 45, 75]):
            ridge = np.exp(-((x * np.cos(angle) + y * np.sin(angle)) ** 2) / 8).astype(np.float32)
            found = across_ridges(ridge)[20, 20]
            assert abs((found - angle + np.pi / 2) % np.pi - np.pi / 2) < 0.02

    def test_photographs_are_seen_better_than_by_the_contours_of_gpb(self, shared_data):
        bench = shared_data / "bsds-bench"
        scores = {}
        for name in ("net", "gpb"):
            tallies = {}
            for path in sorted((bench / "images").glob("*.jpg")):
                truths = read_boundary_truths([bench / "groundTruth" / f"{path.stem}.mat"])
                gpb = read_soft(bench / "ucm2" / f"{path.stem}.mat")
                tallies[path.stem] = tally(net(read_image(path)).thin if name == "net" else gpb, truths)
            scores[name] = collect(tallies).ods.f
        assert scores["net"] > scores["gpb"] + 0.03


class TestOrder:
    def test_the_disc_is_in_front(self):
        image = photograph((120, 160))
        seen = sight.see(image)
        assert seen.order[60, 80] > seen.order[5, 5]
        assert seen.ucm2.shape == (241, 321)
        assert len(np.unique(seen.regions(0.5))) == 2
        sides, disc = seen.sides(0.5), seen.regions(0.5) == seen.regions(0.5)[60, 80]
        assert (sides[disc & ~np.isnan(sides)] > 0).mean() > 0.9
        assert (sides[~disc & ~np.isnan(sides)] < 0).mean() > 0.9
        again = orderer("depth-net")(image)
        assert np.array_equal(again, seen.order)

    def test_given_regions_get_one_depth_each(self):
        image = photograph((120, 160))
        y, x = np.mgrid[:120, :160]
        labels = (np.hypot(y - 60, x - 80) < 40).astype(np.int32)
        for cues in ("joined", "network"):
            order = orderer(f"depth-net(cues='{cues}')")(image, labels)
            assert len(np.unique(order)) == 2
            assert order[60, 80] > order[0, 0]

    def test_a_level_leaves_the_depths_of_its_regions(self):
        image = photograph((120, 160))
        order = orderer("depth-net(level=0.5)")(image)
        labels = orderer("depth-net(level=0.5)").regions(image, order)
        assert len(np.unique(order)) == len(np.unique(labels)) == 2
        front = order_of_pairs(ordering(order), neighbours(labels))
        assert np.abs(front).tolist() == [1]

    def test_a_given_hierarchy_is_ordered(self):
        image = photograph((60, 80))
        tree = hierarchy(look(image).boundaries)
        order = orderer("depth-net")(image, tree=tree)
        assert order.shape == (60, 80)
        with pytest.raises(UsageError, match="one or the other"):
            sight.depth_net(image, np.zeros((60, 80), int), tree)

    def test_unknown_cues_are_refused(self):
        with pytest.raises(UsageError, match="cues is 'all', expected joined or network"):
            sight.depth_net(photograph(), cues="all")

    def test_a_plain_picture_is_one_region_and_level(self):
        seen = sight.see(np.full((40, 50, 3), 128, np.uint8))
        assert len(np.unique(seen.regions())) == 1
        assert np.ptp(seen.order) < 0.1
