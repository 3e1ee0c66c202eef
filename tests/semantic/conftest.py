"""A small world of two classes, as arrays and as the folders that people have."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hyperacuity.data import write_png
from hyperacuity.semantic import masks2edges


@pytest.fixture(scope="session")
def small():
    """Two images with labels 0 to 2, objects, and soft maps of both classes: right, weak inside, and noisy outside."""
    images = {}
    for n, name in enumerate(("goat", "bear")):
        labels = np.zeros((40, 60), np.int32)
        labels[6 + n : 30, 5:25] = 1
        labels[6 + n : 30, 25:40] = 1 + n  # in bear, class 2 touches class 1
        objects = np.where(np.arange(60) < 15, 1, 2) * (labels > 0)
        edges = masks2edges(labels, [1, 2], radius=1, thin=True)
        soft = np.where(edges, np.float32(0.8), np.float32(0))
        soft[:, 15, 8:35] = 0.6  # a line through the objects
        soft[:, 36, 3:50] = 0.4  # and one below them
        images[name] = SimpleNamespace(labels=labels, objects=objects, soft=np.round(soft * 255).astype(np.uint8))
    return images


def write_folders(small, folder):
    """The same as files: maps in folders of classes, labels with instances, and stacks."""
    for name, image in small.items():
        for c, plane in enumerate(image.soft, 1):
            place = folder / "maps" / f"class_{c:03d}"
            place.mkdir(parents=True, exist_ok=True)
            write_png(place / f"{name}.png", plane)
        for kind, array in (("labels", image.labels), ("instances", image.objects)):
            (folder / "truth" / kind).mkdir(parents=True, exist_ok=True)
            write_png(folder / "truth" / kind / f"{name}.png", array.astype(np.uint8))
        (folder / "stacks").mkdir(exist_ok=True)
        np.save(folder / "stacks" / f"{name}.npy", np.moveaxis(image.soft, 0, -1))
    return folder


@pytest.fixture
def folders(small, tmp_path):
    """Those files."""
    return write_folders(small, tmp_path)
