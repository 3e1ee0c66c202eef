"""Fuzz the readers of one format with Atheris: ``python fuzz/fuzz_readers.py FORMAT [options of libFuzzer] [corpus …]``.

``python fuzz/run.py`` runs all formats within limits and tells what came of it.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["hyperacuity.data", "zipfile", "tarfile", "PIL"]):
    from fuzz_targets import SEEDS, target

import numpy as np

from hyperacuity.kernels.thinning import thin


def main() -> None:
    """Fuzz until libFuzzer's options say enough."""
    name = sys.argv.pop(1)
    run = target(name)
    # Kernels are loaded before a clock runs.
    thin(np.eye(3, dtype=bool))
    for seed in SEEDS[name]:
        run(seed)
    atheris.Setup(sys.argv, run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
