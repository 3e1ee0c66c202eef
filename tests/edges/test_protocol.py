"""A data set of edge maps: what is tallied per image, and what is collected."""

from __future__ import annotations

import numpy as np
import pytest

from hyperacuity.edges import sweep
from hyperacuity.edges.benchmark import EdgeTally, Protocol, collect, tally, wins
from hyperacuity.errors import InputError, UsageError

FEW = Protocol(names=("pm", "psi", "hausdorff"))
TRUTH = np.zeros((12, 12), bool)
TRUTH[:, 5] = True


def thin(strengths: list[float]) -> np.ndarray:
    """The truth at the first strength and one column of errors per further one."""
    soft = np.zeros((12, 12), np.float32)
    for column, strength in zip((5, 7, 10), strengths, strict=False):
        soft[:, column] = strength
    return soft


def test_the_signature_tells_protocols_apart() -> None:
    every = {
        p.signature
        for p in (Protocol(), FEW, Protocol(thresholds=11), Protocol(thin="structured"), Protocol(norm="none"))
    }
    assert len(every) == 5
    assert Protocol(names=("sk(k=2.0)",)) == Protocol(names=("sk",))


def test_a_soft_map_is_divided_by_its_largest_value_by_default() -> None:
    halved = tally(thin([0.5, 0.2]), [TRUTH], FEW)
    assert halved.threshold == pytest.approx([0.41] * 3)
    assert tally(thin([0.5, 0.2]), [TRUTH], Protocol(FEW.names, norm="none")).threshold == pytest.approx([0.21] * 3)
    np.testing.assert_array_equal(halved.scores, sweep(TRUTH, thin([1, 0.4]), FEW.names).scores)


def test_a_binary_map_is_scored_as_it_is_and_has_no_threshold() -> None:
    once = tally(thin([0.5, 0.5]), [TRUTH], FEW)
    assert once.minimum.tolist() == [0.5, pytest.approx(12 / 144 * np.sqrt(12 * 4)), 2]
    assert once.swept.tolist() == [0, 0, 0]
    assert (once.scores == once.minimum[:, None]).all()
    assert np.isnan(collect({"a": once}).threshold).all()


def test_of_several_annotators_the_mean_score_counts() -> None:
    other = np.roll(TRUTH, 2, axis=1)
    both = tally(thin([1, 0.5]), [TRUTH, other], FEW)
    apart = [sweep(t, thin([1, 0.5]), FEW.names).scores for t in (TRUTH, other)]
    np.testing.assert_allclose(both.scores, np.mean(apart, axis=0))
    np.testing.assert_allclose(both.minimum, np.mean(apart, axis=0).min(axis=1))
    with pytest.raises(InputError, match="at least one annotator"):
        tally(thin([1]), [], FEW)


def test_means_are_over_images_and_lie_within_their_interval() -> None:
    tallies = {str(n): tally(thin([1, 0.5, 0.3 + n / 20])[:, : 9 + n], [TRUTH[:, : 9 + n]], FEW) for n in range(3)}
    tallies["bad"] = tally(thin([0.2, 1]), [TRUTH], FEW)
    score = collect(tallies)
    np.testing.assert_allclose(score.minimum, np.mean([t.minimum for t in tallies.values()], axis=0))
    np.testing.assert_allclose(score.threshold, np.mean([t.threshold for t in tallies.values()], axis=0))
    np.testing.assert_allclose(score.curves, np.mean([t.scores for t in tallies.values()], axis=0))
    assert (score.interval[:, 0] <= score.minimum).all()
    assert (score.minimum <= score.interval[:, 1]).all()
    np.testing.assert_array_equal(score.interval, collect(tallies).interval)


def test_an_image_without_a_score_is_left_out_of_the_mean() -> None:
    empty = np.zeros_like(TRUTH)
    with_truth, without = tally(thin([1, 0.5]), [TRUTH], FEW), tally(thin([1, 0.5]), [empty], FEW)
    score = collect({"a": with_truth, "b": without})
    assert score.minimum[1] == with_truth.minimum[1]
    assert score.minimum[0] == (with_truth.minimum[0] + 1) / 2


def test_wins_are_counted_on_shared_images_and_ties_are_shared() -> None:
    perfect, good, bad = (tally(thin(s), [TRUTH], FEW) for s in ([1, 0.5], [1, 0.9], [0.2, 1]))
    won = wins({"x": {"1": perfect, "2": bad, "3": bad}, "y": {"1": good, "2": perfect}})
    assert won["x"].tolist() == [0.5] * 3
    assert won["y"].tolist() == [1.5] * 3
    assert wins({"x": {"1": good}, "y": {}})["x"].tolist() == [0] * 3


def test_tallies_survive_the_store() -> None:
    one = tally(thin([1, 0.5]), [TRUTH], FEW)
    assert EdgeTally.unpack(one.pack(), one.protocol) == one


def test_a_wrong_protocol_is_refused() -> None:
    with pytest.raises(UsageError, match="no measure"):
        Protocol(names=("nonsense",))
    with pytest.raises(UsageError, match="thresholds"):
        Protocol(thresholds=0)
    with pytest.raises(UsageError, match="no image was evaluated"):
        collect({})
