"""How output and strength go together, counted by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.audit import AuditProtocol, tally_audit
from hyperacuity.audit.benchmark import OUTPUT_LEVELS
from hyperacuity.boundary import Protocol, match
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import detector
from hyperacuity.kernels.thinning import thin


def level_by_level(soft, truths, protocol):
    """Every level's map thinned and matched from scratch."""
    level = np.minimum((soft * np.float32(OUTPUT_LEVELS)).astype(int), OUTPUT_LEVELS - 1)
    marked = soft >= np.float32(protocol.levels[0])
    table = np.zeros((OUTPUT_LEVELS, len(truths) + 1), int)
    for k in range(OUTPUT_LEVELS):
        detected = (level >= k) & marked
        detected = thin(detected) if protocol.thin else detected
        drawn_by = np.zeros(soft.shape, int)
        for truth in truths:
            drawn_by.flat[match(detected, truth, protocol.tolerance).detected] += 1
        table[k] = np.bincount(drawn_by[detected & (level == k)], minlength=len(truths) + 1)
    return table


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.booleans())
def test_random_maps(seed, people, thinned):
    generator = np.random.default_rng(seed)
    soft = np.where(generator.random((14, 17)) < 0.4, generator.random((14, 17)), 0).astype(np.float32)
    truths = list(generator.random((people, 14, 17)) < 0.2)
    benchmark = Protocol(tolerance=0.1, thin=thinned)
    found = tally_audit(soft, truths, AuditProtocol(benchmark, strengths=(0, 1), repeats=1), image="a").output
    assert (found == level_by_level(soft, truths, benchmark)).all()


@pytest.mark.parametrize("name", ["sobel", "hk"])
def test_a_scene(name):
    scene = make_scene(3, size=(160, 120), leaves=8)
    truths = [one.boundaries for one in scene.annotators]
    soft = detector(name)(scene.image).thin
    found = tally_audit(soft, truths, AuditProtocol(strengths=(0, 1), repeats=1), image="a").output
    assert (found == level_by_level(soft, truths, Protocol())).all()
    assert found[:, 1:].sum() > 100
