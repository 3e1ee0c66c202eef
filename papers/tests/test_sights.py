"""What is seen in a photograph is found once: for the figures of a study, and for the study that comes next."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import orderer
from hyperacuity.detect.cached import ImageCache
from hyperacuity.detect.depth import ownership
from hyperacuity.detect.net import sight
from hyperacuity_papers.common.depth_pictures import scene_pictures
from hyperacuity_papers.common.sights import kept_sights, read_sights, remember_sights
from hyperacuity_papers.maire2016 import study as maire2016
from hyperacuity_papers.palou2014 import depth_views
from hyperacuity_papers.palou2014.depth_views import SystemViews

IMAGE = make_scene(3, size=(96, 64), leaves=4).image
NETWORK = find_spec("onnxruntime") is not None


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    store = kept_sights(tmp_path_factory.mktemp("sights"))
    SystemViews(IMAGE, store).keep()
    return store


def never(*_, **__):
    pytest.fail("it was looked at again")


def forget(monkeypatch):
    for module in (ownership, sight):
        monkeypatch.setattr(module, "_last", ImageCache(4))


def test_what_was_kept_is_what_would_be_found(kept, monkeypatch):
    fresh = SystemViews(IMAGE)
    expected = [fresh.ownership, fresh.tree.ucm2(), fresh.pruned(0.2).labels]
    expected += [fresh.network.order, fresh.network.regions()] if fresh.network else []
    for name in ("look", "detector", "ownership_by_readings"):
        monkeypatch.setattr(depth_views, name, never)
    views = SystemViews(IMAGE, kept)
    found = [views.ownership, views.tree.ucm2(), views.pruned(0.2).labels]
    found += [views.network.order, views.network.regions()] if views.network else []
    assert len(found) == (5 if NETWORK else 3)
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, other)
        assert mine.dtype == other.dtype


def test_another_picture_has_no_sights_and_neither_has_a_study_without_a_folder(kept):
    assert read_sights(kept, IMAGE[::-1]) is None
    assert read_sights(kept_sights(None), IMAGE) is None
    assert read_sights(kept, IMAGE) is not None


@pytest.mark.parametrize("name", ["ownership", "depth-cues", *(["depth-net"] if NETWORK else [])])
def test_systems_are_told_what_is_known_and_say_the_same(kept, monkeypatch, name):
    labels = None if name == "ownership" else make_scene(3, size=(96, 64), leaves=4).labels
    given = () if labels is None else (labels,)
    forget(monkeypatch)
    expected = orderer(name)(IMAGE, *given)
    forget(monkeypatch)
    remember_sights(kept, IMAGE)
    monkeypatch.setattr(ownership, "probability_of_ownership", never)
    monkeypatch.setattr(sight, "look", never)
    np.testing.assert_array_equal(orderer(name)(IMAGE, *given), expected)


def test_the_study_that_comes_next_does_not_look_again(tmp_path, monkeypatch):
    monkeypatch.setattr(maire2016, "SCENES", [3])
    monkeypatch.setattr(maire2016, "SIZE", (96, 64))
    (picture,) = scene_pictures([3], (96, 64))
    sights = tmp_path / "sights"
    SystemViews(picture.load()[0], kept_sights(sights)).keep()
    system = {"ownership": orderer("ownership")}
    forget(monkeypatch)
    alone = maire2016.maire2016(tmp_path / "alone", count=0, systems=system, workers=1)
    forget(monkeypatch)
    monkeypatch.setattr(ownership, "probability_of_ownership", never)
    after = maire2016.maire2016(tmp_path / "after", count=0, systems=system, sights=sights, workers=1)
    assert after.as_dict() == alone.as_dict()
