"""Kernels compiled before they are needed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import hyperacuity as ha
from hyperacuity import tasks
from hyperacuity.errors import UsageError
from hyperacuity.evaluation import warming
from hyperacuity.evaluation.warming import steps, warm_all, warm_up


def variants():
    """How many variants of kernels there are, by argument types, in this process."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("hyperacuity.kernels.")]
    return {
        f"{module.__name__}.{name}": len(value.signatures)
        for module in modules
        for name, value in vars(module).items()
        if hasattr(value, "signatures")
    }


def test_what_was_warmed_up_is_not_compiled_again():
    warm_up("disparity")
    warm_up("boundary")
    before = variants()
    assert sum(before.values()) > 20
    true = np.tile(np.arange(40, dtype=np.float32) % 7 + 1, (30, 1))
    ha.evaluate("disparity", [true + 1], [true], progress=False).score()
    lines = true == 3
    ha.evaluate("boundary", [lines * np.float32(0.5)], [[lines, lines]], human=True, progress=False).score()
    assert variants() == before


def test_every_benchmark_has_a_step():
    assert set(tasks.BUILT_IN) <= steps().keys()


@pytest.mark.parametrize("name", tasks.BUILT_IN)
def test_the_examples_of_a_benchmark_have_a_score(name):
    """Each is a prediction and truths as the benchmark takes them."""
    for prediction, truths, options in tasks.task(name).examples(warming._scene()):
        result = ha.evaluate(name, [prediction], [truths], progress=False, **options)
        assert not result.failures
        judged = result.task.criteria(result.protocol)
        assert np.isfinite(judged.overall(list(result.tallies().values()))).any()


def test_what_is_not_there_is_refused_before_anything_is_compiled(monkeypatch):
    monkeypatch.setattr(warming, "warm_up", lambda name: pytest.fail("compiled"))
    with pytest.raises(UsageError, match="nothing to warm up called 'edge'; there are sweep"):
        warm_all(["edges", "edge"], workers=1)
