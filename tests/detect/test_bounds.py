"""No picture takes more memory than it may: long and thin ones, large ones, and several at a time."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import hyperacuity as ha
from hyperacuity import machine
from hyperacuity.data import write_png
from hyperacuity.detect import detector, orderer
from hyperacuity.detect.net import network
from hyperacuity.detect.stereo import matcher_named
from hyperacuity.errors import InputError
from hyperacuity.machine import MemoryBudget
from hyperacuity.systems.seeing import Seeing, see_pictures


class Recorder:
    """In place of onnxruntime's session: sees nothing, and remembers what it was given and how many asked at once."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.shapes: list[tuple[int, int]] = []
        self.seconds, self.active, self.most, self._guard = seconds, 0, 0, threading.Lock()

    def run(self, _, given):
        height, width = given["photograph"].shape[2:]
        with self._guard:
            self.shapes.append((height, width))
            self.active += 1
            self.most = max(self.most, self.active)
        time.sleep(self.seconds)
        with self._guard:
            self.active -= 1
        return [np.zeros((1, n, height, width), np.float32) for n in (1, 2)]


@pytest.fixture
def allow(monkeypatch):
    """A function that sets how many bytes may be used."""

    def set_limit(count: int) -> MemoryBudget:
        budget = MemoryBudget(count)
        monkeypatch.setattr(machine, "budget", budget)
        return budget

    return set_limit


class TestTheNetwork:
    @pytest.mark.parametrize("shape", [(1, 200_000), (200_000, 1), (3, 60_000), (30, 60_000)])
    @pytest.mark.parametrize("setting", ["fast", "best"])
    def test_the_padded_area_has_a_bound(self, shape, setting):
        recorder = Recorder()
        seen = network.look_through(recorder, np.zeros(shape, np.uint8), setting=setting)
        assert seen.boundaries.shape == shape
        assert max(map(math.prod, recorder.shapes)) <= network.LARGEST_PADDED
        assert max(map(math.prod, recorder.shapes)) > network.LARGEST_PADDED / 4  # and is made use of

    @pytest.mark.parametrize(
        (
            "shape",
            "expected",
        ),  # doubled up to 2 megapixels, 12 pixels added on both sides, rounded up to a multiple of 32
        [((321, 481), (672, 992)), ((1, 1), (32, 32)), ((1, 1000), (32, 2048)), ((100, 20_000), (128, 20_032))],
    )
    def test_usual_photographs_are_enlarged_as_ever(self, shape, expected):
        recorder = Recorder()
        network.look_through(recorder, np.zeros(shape, np.uint8), setting="best")
        assert recorder.shapes[-1] == expected

    def test_an_error_of_onnxruntime_is_one_sentence(self):
        class Failing:
            def run(self, *_):
                raise RuntimeError("[ONNXRuntimeError] : 6 : bad_alloc\nat line 7")

        with pytest.raises(InputError, match="resize it, or look at fewer at a time") as refused:
            network.look_through(Failing(), np.zeros((20, 30), np.uint8))
        assert "96×64 pixels of a photograph of 30×20" in str(refused.value)
        assert "\n" not in str(refused.value)

    def test_photographs_seen_at_a_time_share_the_memory(self, tmp_path, monkeypatch, allow):
        pictures = [tmp_path / f"{name}.png" for name in "abcd"]
        for path in pictures:
            write_png(path, np.zeros((200, 300), np.uint8))
        most = {}
        one = network.memory_of(320 * 448)  # fast: √2 times as large, framed
        for limit in (one, 100 * one):
            recorder = Recorder(0.1)
            monkeypatch.setattr(network, "load", lambda _, recorder=recorder: recorder)
            budget = allow(limit)
            seen, failed = see_pictures(pictures, tmp_path / f"seen{limit}", Seeing("fast"), workers=4)
            assert (len(seen), failed, budget.taken) == (4, [], 0)
            most[limit] = recorder.most
        assert most[one] == 1
        assert most[100 * one] > 1

    def test_a_photograph_that_is_too_large_for_the_memory_fails_by_name(self, tmp_path, monkeypatch, allow):
        write_png(tmp_path / "a.png", np.zeros((300, 400), np.uint8))
        monkeypatch.setattr(network, "load", lambda _: Recorder())
        allow(20 << 20)
        _, failed = see_pictures([tmp_path / "a.png"], tmp_path / "seen", Seeing("fast"))
        assert [name for name, _ in failed] == [str(tmp_path / "a.png")]
        assert (
            "of 400×300 pixels takes 0.3 GiB of memory, more than the 0.0 that are allowed: resize it" in failed[0][1]
        )

    def test_a_long_thin_picture_is_seen(self, tmp_path):
        pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install '.[see]'")
        write_png(tmp_path / "thin.png", np.zeros((1, 30_000), np.uint8))
        seen = ha.see(tmp_path / "thin.png", setting="fast")
        assert seen.order.shape == (1, 30_000)


SYSTEMS = ["masks", "sobel", "canny", "sf1", "sf5", "agk", "hk", "pb", "gpb", "gpb-ucm"]
ORDERERS = ["ownership", "depth-order", "depth-cues", "ae", "ucm-tj"]


class TestDetectors:
    @pytest.mark.parametrize("name", SYSTEMS + ORDERERS)
    def test_an_image_beyond_the_memory_is_refused_before_any_is_taken(self, name, allow):
        budget = allow(1 << 26)
        image = np.zeros((1300, 1100), np.uint8)
        with pytest.raises(
            InputError, match=r"of 1100×1300 pixels takes 0\.\d GiB .* resize it, or set HYPERACUITY_MEMORY=1"
        ):
            (orderer(name) if name in ORDERERS else detector(name))(image)
        assert budget.taken == 0

    def test_the_regions_of_a_detector_count_too(self, allow):
        budget = allow(100 * 700 * 700)  # enough for canny
        image = np.zeros((700, 700), np.uint8)
        detector("canny")(image)
        with pytest.raises(InputError, match="making regions of 700×700 pixels takes"):
            detector("canny").hierarchy(image)
        assert budget.taken == 0

    @pytest.mark.parametrize("name", ["pb", "gpb", "gpb-ucm", "ae"])
    def test_discs_as_wide_as_a_thin_picture_is_long_count(self, name, allow):
        allow(1 << 30)
        with pytest.raises(InputError, match="of 200000×1 pixels takes"):
            (orderer(name) if name == "ae" else detector(name))(np.zeros((1, 200_000), np.uint8))

    def test_a_system_that_calls_another_does_not_wait_for_itself(self, allow):
        budget = allow(400 * 600 * 600)  # what depth-order takes, and the detector within it takes some too
        began = time.monotonic()
        orderer("depth-order")(np.zeros((600, 600), np.uint8))
        assert time.monotonic() - began < machine.PATIENCE / 2
        assert budget.taken == 0

    def test_systems_in_threads_take_turns(self, allow, monkeypatch):
        budget = allow(2 * 80 * 600 * 600)
        taken = []
        given = MemoryBudget.lend

        def lend(self, count, what):
            given(self, count, what)
            taken.append(self.taken)

        monkeypatch.setattr(MemoryBudget, "lend", lend)
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(detector("canny"), [np.zeros((600, 600), np.uint8)] * 6))
        assert len(taken) == 6
        assert max(taken) <= budget.limit
        assert budget.taken == 0


class TestStereo:
    @pytest.mark.parametrize("name", ["adaptive-weights", "cost-filter", "dp", "sgm", "bp"])
    def test_volumes_beyond_the_memory_are_refused(self, name, allow):
        allow(1 << 26)
        pair = [np.zeros((500, 700), np.uint8)] * 2
        with pytest.raises(
            InputError, match=r"matching by 64 disparities in pictures of 700×500 pixels takes 0\.\d GiB"
        ):
            matcher_named(name)(*pair, 64)
