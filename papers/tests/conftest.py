"""A small world laid out as BSDS500 is."""

from __future__ import annotations

import shutil

import pytest

from hyperacuity.data.scenes import make_scene, write_scene


@pytest.fixture(scope="session")
def bsds(tmp_path_factory):
    """One scene in each of the parts train, val and test."""
    made, folder = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("data") / "BSDS500"
    for seed, part in enumerate(("train", "val", "test"), 1):
        write_scene(made, make_scene(seed, size=(120, 80), leaves=6))
        for kind in ("images", "groundTruth"):
            (folder / kind / part).mkdir(parents=True)
            for file in (made / kind).glob(f"scene-{seed:04d}.*"):
                shutil.copy(file, folder / kind / part)
    return folder
