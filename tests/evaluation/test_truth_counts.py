"""Counts of the truth do not depend on the system, whatever it predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hyperacuity as ha
from hyperacuity.ordering import occlusion_map
from hyperacuity.tasks import names

from .conftest import inputs

WITHOUT = {"edges", "strength"}
"""Scores alone, and no system at all."""


def noise(task: str, like: Any, seed: int) -> Any:
    """A prediction of the right kind in which nothing is right."""
    random = np.random.default_rng(seed)
    if task == "occlusion":
        return occlusion_map(random.random(like.soft.shape), random.uniform(0, 360, like.soft.shape))
    array = np.asarray(like)
    if task in ("ordering", "dbe", "whdr", "regions", "masks"):
        coarse = random.integers(1, 6, tuple(-(-n // 8) for n in array.shape))
        blocks = np.kron(coarse, np.ones((8, 8), coarse.dtype))[: array.shape[0], : array.shape[1]]
        return blocks.astype(array.dtype)
    scale = 6 if task in ("disparity", "views") else 1
    return (random.random(array.shape) * scale).astype(np.float32)


@pytest.mark.parametrize("task", [name for name in names() if name not in WITHOUT])
def test_counts_of_the_truth_are_the_same_for_every_system(task):
    prediction, truths, extras = inputs(task)
    counted = []
    for one in (prediction, noise(task, prediction, 1), noise(task, prediction, 2)):
        judge = ha.Evaluator(task)
        judge.update(one, truths, **extras)
        (tally,) = judge.tallies.values()
        counted.append({name: np.asarray(array).tolist() for name, array in tally.truth_counts().items()})
    assert counted[0] == counted[1] == counted[2]
    assert all(counted[0].values())
