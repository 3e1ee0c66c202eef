"""Disparity errors: the spec's worked example, numpy as an oracle, and the arithmetic of two servers on real data."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hyperacuity.data import load_dataset, read_disparity, read_mask
from hyperacuity.disparity import (
    DisparityTally,
    Protocol,
    bad,
    bias,
    collect,
    d1,
    density,
    epe,
    measured,
    quantile,
    rms,
    tally,
)
from hyperacuity.errors import InputError, UsageError
from hyperacuity.tally import Signature

TRUE = [[5, 5, 5, 9], [5, 5, math.inf, 9]]
ESTIMATE = [[5, 6, 6.5, 7], [5, math.nan, 4, 9]]

DISPARITIES = st.one_of(st.integers(0, 40).map(lambda quarter: quarter / 4), st.just(math.nan))
PAIRS = array_shapes(min_dims=2, max_dims=2, max_side=8).flatmap(
    lambda shape: st.tuples(*[arrays(np.float32, shape, elements=st.floats(0, 20, width=16))] * 2, arrays(bool, shape))
)


class TestWorkedExample:
    @pytest.mark.parametrize(("delta", "expected"), [(1, 3 / 7), (0.5, 4 / 7), (2, 1 / 7), (2.1, 1 / 7)])
    def test_a_missing_estimate_is_bad_and_an_error_of_delta_is_not(self, delta, expected):
        assert bad(TRUE, ESTIMATE, delta) == pytest.approx(expected)

    def test_a_missing_estimate_may_be_skipped(self):
        assert bad(TRUE, ESTIMATE, 1, invalid="skip") == pytest.approx(1 / 3)
        assert density(TRUE, ESTIMATE) == pytest.approx(6 / 7)

    def test_the_other_measures_are_of_what_was_estimated(self):
        assert epe(TRUE, ESTIMATE) == pytest.approx((1 + 1.5 + 2) / 6)
        assert rms(TRUE, ESTIMATE) == pytest.approx(math.sqrt((1 + 2.25 + 4) / 6))
        assert bias(TRUE, ESTIMATE) == pytest.approx((1 + 1.5 - 2) / 6)
        assert quantile(TRUE, ESTIMATE, 50) == 0
        assert quantile(TRUE, ESTIMATE, 51) == 1
        assert quantile(TRUE, ESTIMATE, 100) == 2

    def test_only_masked_pixels_count(self):
        mask = np.zeros((2, 4), dtype=bool)
        mask[0, 2:] = True
        assert bad(TRUE, ESTIMATE, 1, mask=mask) == 1
        assert epe(TRUE, ESTIMATE, mask=mask) == 1.75

    def test_kittis_outliers_are_large_and_relative(self):
        assert d1([[100, 100, 50, 10]], [[104, 106, 47, 6.9]]) == 0.5
        assert d1([[100, 100]], [[106, np.nan]]) == 1
        assert d1([[100, 100]], [[104, np.nan]], invalid="skip") == 0


class TestAgainstNumpy:
    @settings(deadline=None, max_examples=80)
    @given(PAIRS)
    def test_every_measure(self, maps):
        truth, estimate, mask = maps
        sizes = np.abs(truth.astype(float) - estimate)[mask]
        if not mask.any():
            assert math.isnan(bad(truth, estimate, mask=mask))
            assert math.isnan(epe(truth, estimate, mask=mask))
            return
        assert bad(truth, estimate, 1, mask=mask) == pytest.approx((sizes > 1).mean())
        assert epe(truth, estimate, mask=mask) == pytest.approx(sizes.mean())
        assert rms(truth, estimate, mask=mask) == pytest.approx(math.sqrt((sizes**2).mean()))
        for percent in (50, 90, 99):
            expected = np.quantile(sizes, percent / 100, method="inverted_cdf")
            assert quantile(truth, estimate, percent, mask=mask) == pytest.approx(expected, rel=1e-6)

    @settings(deadline=None, max_examples=40)
    @given(PAIRS)
    def test_a_larger_tolerance_never_finds_more(self, maps):
        truth, estimate, _ = maps
        found = [bad(truth, estimate, delta) for delta in (0, 0.25, 1, 2, 4)]
        assert found == sorted(found, reverse=True)

    @settings(deadline=None, max_examples=40)
    @given(arrays(np.float32, (5, 7), elements=DISPARITIES).filter(lambda d: not np.isnan(d).all()))
    def test_a_map_against_itself_has_no_error(self, disparity):
        assert bad(disparity, disparity, 0) == epe(disparity, disparity) == rms(disparity, disparity) == 0
        assert density(disparity, disparity) == 1


class TestEdgeCases:
    def test_an_estimate_of_nothing_is_all_bad(self):
        nothing = np.full((2, 4), np.nan)
        assert bad(TRUE, nothing) == 1
        assert math.isnan(bad(TRUE, nothing, invalid="skip"))
        assert math.isnan(epe(TRUE, nothing))
        assert math.isnan(quantile(TRUE, nothing, 50))
        assert density(TRUE, nothing) == 0

    def test_sizes_must_agree(self):
        with pytest.raises(InputError, match="estimate is 3×2 but truth is 4×2"):
            bad(TRUE, np.zeros((2, 3)))
        with pytest.raises(InputError, match="mask is 2×2 but truth is 4×2"):
            bad(TRUE, ESTIMATE, mask=np.ones((2, 2)))

    def test_a_truth_of_nothing_is_refused(self):
        with pytest.raises(InputError, match="truth: no pixel has a known value"):
            bad(np.full((2, 2), np.nan), np.zeros((2, 2)))

    def test_an_unknown_rule_is_refused(self):
        with pytest.raises(UsageError, match="expected bad or skip"):
            bad(TRUE, ESTIMATE, invalid="ignore")


class TestBenchmark:
    def example(self, **options):
        protocol = Protocol(regions=("all", "left", "none"), **options)
        masks = {"all": np.ones((2, 4), bool), "left": np.tile([True, True, False, False], (2, 1))}
        return protocol, tally(ESTIMATE, TRUE, protocol, masks=masks)

    def test_scores_are_those_of_the_plain_functions_in_percent(self):
        protocol, errors = self.example()
        values = dict(zip(protocol.measures, measured(errors)[0], strict=True))
        assert values["bad(1)"] == pytest.approx(100 * bad(TRUE, ESTIMATE))
        assert values["bad(0.5)"] == pytest.approx(100 * bad(TRUE, ESTIMATE, 0.5))
        assert values["epe"] == epe(TRUE, ESTIMATE)
        assert values["rms"] == rms(TRUE, ESTIMATE)
        assert values["bias"] == bias(TRUE, ESTIMATE)
        assert values["a90"] == quantile(TRUE, ESTIMATE, 90)
        assert values["d1"] == pytest.approx(100 * d1(TRUE, ESTIMATE))
        assert values["density"] == pytest.approx(100 * density(TRUE, ESTIMATE))

    def test_a_region_without_a_mask_has_no_score(self):
        _, errors = self.example()
        assert np.isnan(measured(errors)[2]).all()

    def test_skipping_is_part_of_the_signature_and_of_the_score(self):
        protocol, errors = self.example(invalid="skip")
        assert ("invalid", "skip") in protocol.signature.parts
        assert measured(errors)[0, 1] == pytest.approx(100 / 3)

    def test_a_data_set_is_the_mean_of_its_images(self):
        protocol = Protocol(deltas=(1,), regions=("all",))
        small = tally([[0, 5]], [[0, 0]], protocol, masks={"all": np.ones((1, 2), bool)})
        large = tally(np.zeros((10, 10)), np.zeros((10, 10)), protocol, masks={"all": np.ones((10, 10), bool)})
        score = collect({"small": small, "large": large})
        assert score.value("bad(1)", "all") == 25
        assert score.values[:, 0, 0].tolist() == [50, 0]
        with pytest.raises(UsageError, match="no image was evaluated"):
            collect({})

    def test_tallies_add_and_travel(self):
        _, errors = self.example()
        both = errors + errors
        assert np.allclose(measured(both), measured(errors), equal_nan=True)
        assert DisparityTally.unpack(errors.pack(), errors.protocol) == errors

    def test_a_protocol_comes_back_from_json_and_its_signature_from_its_line(self):
        protocol = Protocol(deltas=(0.25, 3), regions=("all", "mine"), invalid="skip")
        assert Protocol.from_dict(json.loads(json.dumps(protocol.to_dict()))) == protocol
        assert Signature.parse(str(protocol.signature)) == protocol.signature
        for line in ("disparity", "disparity|delta", "disparity|delta:1", "disparity|delta:1|v:x"):
            with pytest.raises(InputError, match="no signature"):
                Signature.parse(line)
        with pytest.raises(InputError, match="another version"):
            Protocol.from_dict({"deltas": (1.0,), "masks": "guessed"})

    @pytest.mark.parametrize(
        "options",
        [
            {"deltas": ()},
            {"deltas": (-1,)},
            {"deltas": (1, 1)},
            {"regions": ()},
            {"regions": ("a", "a")},
            {"invalid": "x"},
        ],
    )
    def test_invalid_options_are_refused(self, options):
        with pytest.raises(UsageError):
            Protocol(**options)


class TestRealData:
    def test_kittis_example(self, shared_data):
        truth = read_disparity(shared_data / "kitti" / "disp_gt.png")
        estimate = read_disparity(shared_data / "kitti" / "disp_est.png")
        assert round(100 * bad(truth, estimate, 3), 3) == 7.894
        both = (truth > 0) & (estimate > 0)
        error = np.abs(truth - estimate)
        outlier = ~(estimate > 0) | ((error > 3) & (error > 0.05 * truth))
        assert d1(truth, estimate) == pytest.approx(outlier[truth > 0].mean())
        assert epe(truth, estimate) == pytest.approx(error[both].astype(float).mean())

    def test_middleburys_arithmetic(self, shared_data):
        """Shift the truth by what is just right and just wrong: only pixels whose mask is 255 count, and > δ is bad."""
        for sample in load_dataset("middlebury-v2", shared_data).samples:
            truth = read_disparity(sample.truths[0], scale=sample.scale)
            masks = {name: read_mask(sample.extras[name]) for name in ("nonocc", "all", "disc")}
            estimate = truth + np.where(np.arange(truth.shape[1]) % 2, 1, 1 + 1 / sample.scale).astype(np.float32)
            protocol = Protocol(deltas=(1,))
            score = collect({"image": tally(estimate, truth, protocol, masks=masks)})
            for name, mask in masks.items():
                counted = mask & ~np.isnan(truth)
                assert score.value("bad(1)", name) == pytest.approx(100 * counted[:, ::2].sum() / counted.sum())
