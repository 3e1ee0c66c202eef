"""Systems give the same to the last bit on processors for which libraries choose other code."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys

import pytest
from numpy._core import _multiarray_umath as numpy_code

LOOK = """
import hashlib, json
import numpy as np
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect.registry import detector, detectors, orderer, orderers

def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]

scene = make_scene(3, size=(120, 80), leaves=12)
found = {}
for name in detectors():
    if name != "net":  # whose library says itself that it adds in another order on another processor
        seen = detector(name)(scene.image)
        found[name] = [digest(seen.strength), digest(seen.thin)]
        if name in ("pb", "gpb-ucm"):
            tree = detector(name).hierarchy(scene.image)
            found[f"hierarchy of {name}"] = [digest(tree.heights), digest(tree.labels)]
for name in orderers():
    if name != "depth-net":
        found[name] = digest(orderer(name)(scene.image))
print(json.dumps(found))
"""


def looked(**environment: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOOK], env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="of processors of this family")
def test_what_is_seen_does_not_depend_on_the_processor():
    """The matrix library's code for a processor of 2004, on two threads, and numpy's for one without AVX-512."""
    wide = [name for name in numpy_code.__cpu_dispatch__ if name.startswith(("AVX512", "X86_V4"))]
    plain = looked(OPENBLAS_NUM_THREADS="1")
    assert (
        looked(OPENBLAS_CORETYPE="Prescott", OPENBLAS_NUM_THREADS="2", NPY_DISABLE_CPU_FEATURES=" ".join(wide)) == plain
    )
    assert len(plain) > 12
