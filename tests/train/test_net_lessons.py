"""The pictures a network learns from, out of files: which of them, and what is kept out. Needs no PyTorch."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from hyperacuity.data.datasets.bsds import reserved
from hyperacuity.data.scenes import make_scene, write_scene
from hyperacuity.errors import InputError, UsageError
from hyperacuity.train.net_lessons import Curriculum, bsds500_curriculum, folder_curriculum, held_out, with_scenes

RESERVED = "100098"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    for seed in (1, 2):
        write_scene(folder, make_scene(seed, size=(96, 64), leaves=6))
    return folder


@pytest.fixture(scope="module")
def bsds(made, tmp_path_factory):
    """A small world laid out as BSDS500 is; one of its three training images has a reserved name."""
    folder = tmp_path_factory.mktemp("data") / "BSDS500"
    places = {("train", "scene-0001"): "b", ("train", "scene-0002"): RESERVED, ("val", "scene-0002"): "a"}
    for kind, suffix in (("images", "png"), ("groundTruth", "mat")):
        for (part, source), name in places.items():
            (folder / kind / part).mkdir(parents=True, exist_ok=True)
            shutil.copy(made / kind / f"{source}.{suffix}", folder / kind / part / f"{name}.{suffix}")
    return folder


def names_of(sources):
    return [one.name for one in sources]


def test_reserved_images_are_left_out_unless_allowed(bsds):
    found = bsds500_curriculum(bsds)
    assert (names_of(found.photographs), found.left_out) == (["b", "a"], 1)
    allowed = bsds500_curriculum(bsds, allow_reserved=True)
    assert (names_of(allowed.photographs), allowed.left_out) == ([RESERVED, "b", "a"], 0), "by name within each part"


def test_the_shipped_network_learned_from_200_images_half_of_them_with_owners(shared_data):
    found = bsds500_curriculum(shared_data)
    names = set(names_of(found.photographs))
    assert (len(names), found.left_out) == (200, 100)
    assert not names & reserved()
    first = found.photographs[0].load()
    assert first.lesson.has_owners
    assert len(first.drawn) > 1


def test_own_folders_are_read_and_reserved_names_in_them_are_refused(made, tmp_path):
    parts = [made / part for part in ("images", "groundTruth", "ownership", "labels")]
    found = folder_curriculum(*parts)
    one = found.photographs[0].load()
    scene = make_scene(1, size=(96, 64), leaves=6)
    assert np.array_equal(one.lesson.image, scene.image)
    assert one.lesson.has_owners
    assert len(one.drawn) == 5
    for part in ("images", "groundTruth"):
        shutil.copytree(made / part, tmp_path / part)
        for path in list((tmp_path / part).glob("scene-0001.*")):
            path.rename(path.with_name(f"{RESERVED}{path.suffix}"))
    with pytest.raises(UsageError, match=rf"reserved for measuring \({RESERVED}\)"):
        folder_curriculum(tmp_path / "images", tmp_path / "groundTruth")
    allowed = folder_curriculum(tmp_path / "images", tmp_path / "groundTruth", allow_reserved=True)
    assert RESERVED in names_of(allowed.photographs)


def test_depths_are_not_owners(made):
    found = folder_curriculum(made / "images", made / "groundTruth", made / "order")
    with pytest.raises(InputError, match=r"expected \+1 for figure"):
        found.photographs[0].load()


def test_labels_of_another_size_are_refused_by_name(made, tmp_path):
    np.save(tmp_path / "scene-0001.npy", np.zeros((10, 10), bool))
    found = folder_curriculum(made / "images", tmp_path)
    with pytest.raises(InputError, match="scene-0001"):
        found.photographs[0].load()


def test_scenes_have_exact_owners_that_count_fully():
    found = with_scenes(Curriculum(), 2, size=(96, 64))
    one = found.scenes[0].load()
    assert one.lesson.has_owners
    assert one.lesson.sure.max() == 255
    assert np.array_equal(one.drawn[0], make_scene(10_000, size=(96, 64)).boundaries)


class TestHolding:
    def test_every_tenth_by_name_whatever_the_order(self):
        names = [f"{n:02d}" for n in range(25)]
        assert held_out(names[::-1], 0.1) == {"09", "19"}
        assert held_out(names, 0) == frozenset()

    @pytest.mark.parametrize("share", [-0.1, 0.6, float("nan")])
    def test_other_shares_are_wrong_calls(self, share):
        with pytest.raises(UsageError, match=r"share from 0 to 0\.5"):
            held_out(["a"], share)

    def test_photographs_are_held_out_before_scenes(self, bsds):
        found = with_scenes(bsds500_curriculum(bsds), 2).holding(0.5)
        assert (names_of(found.photographs), names_of(found.held)) == (["a"], ["b"])
        assert len(found.scenes) == 2
        alone = with_scenes(Curriculum(), 4).holding(0.5)
        assert names_of(alone.held) == ["scene-10001", "scene-10003"]
        assert names_of(alone.scenes) == ["scene-10000", "scene-10002"]

    def test_nothing_to_learn_from_is_a_wrong_call(self):
        with pytest.raises(UsageError, match="no picture to learn from"):
            Curriculum().holding(0.1)

    def test_what_is_written_into_the_file_tells_pictures_apart(self, bsds):
        one, other = (
            bsds500_curriculum(bsds, allow_reserved=allowed).holding(0).as_dict() for allowed in (False, True)
        )
        assert (one["photographs"], one["reserved_left_out"], one["held_out"]) == (2, 1, 0)
        assert one["names_sha256"] != other["names_sha256"]
