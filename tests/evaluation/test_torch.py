"""Tensors, and the metric of torchmetrics: batches, ranks and checkpoints give the numbers of one process."""

from __future__ import annotations

import io
import pickle
import socket
import subprocess
import sys

import pytest

import hyperacuity as ha
from hyperacuity.errors import InputError, UsageError

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[torch]'")
pytest.importorskip("torchmetrics", reason="needs torchmetrics: pip install '.[torch]'")

from torchmetrics import MetricCollection  # noqa: E402

from hyperacuity.evaluation.torch import TorchMetric  # noqa: E402

RANK = """
import sys
import torch
import torch.distributed as dist
from hyperacuity.evaluation.torch import TorchMetric

rank, port, shares = int(sys.argv[1]), sys.argv[2], eval(sys.argv[3])
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
batches = torch.load(sys.argv[4])
metric = TorchMetric("boundary", thresholds=9 if len(sys.argv) < 6 else 9 + rank)
for n in shares[rank]:
    metric.update(*batches[n], name=[f"{n}-{k}" for k in range(len(batches[n][0]))])
if len(sys.argv) < 6:
    found = {name: float(value) for name, value in metric.compute().items()}
    with metric.sync_context():
        score = metric.evaluator().score(seed=3)
    print(sorted(found.items()), score.ods.interval, len(metric.evaluator().tallies))
else:
    try:
        metric.compute()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
dist.destroy_process_group()
"""


def batches(count=3, size=2):
    generator = torch.Generator().manual_seed(1)
    found = []
    for _ in range(count):
        truth = torch.rand(size, 24, 32, generator=generator) > 0.9
        soft = (truth * 0.5 + torch.rand(size, 24, 32, generator=generator) / 2)[:, None]
        found.append((soft, truth))
    return found


def judged(seen, **options):
    judge = ha.Evaluator("boundary", thresholds=9, **options)
    for soft, truth in seen:
        judge.update(soft, truth)
    return judge


def plain(numbers):
    return {name: float(value) for name, value in numbers.items()}


class TestTensors:
    @pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
    def test_of_any_type_are_their_numbers(self, kind):
        soft, truth = batches(1)[0]
        soft = soft.to(getattr(torch, kind)).requires_grad_() * 1
        assert soft.requires_grad
        judge, by_hand = judged([(soft, truth)]), judged([(soft.detach().float().numpy(), truth.numpy())])
        assert judge.tallies == by_hand.tallies

    def test_ragged_truths_are_lists(self):
        soft, truth = batches(1)[0]
        judge = judged([(soft, [[truth[0], truth[1]], truth[1]])])
        assert [int(one.truth[0]) for one in judge.tallies.values()] == [int(truth.sum()), int(truth[1].sum())]

    def test_logits_are_refused(self):
        with pytest.raises(InputError, match="apply a sigmoid first if these are logits"):
            judged([(torch.randn(1, 1, 24, 32) * 5, torch.zeros(1, 24, 32))])

    def test_of_any_device(self):
        device = next((name for name in ("cuda", "mps", "xpu") if getattr(torch, name).is_available()), None)
        if device is None:
            pytest.skip("needs a graphics processor")
        soft, truth = batches(1)[0]
        assert judged([(soft.to(device), truth.to(device))]).tallies == judged([(soft, truth)]).tallies


class TestMetric:
    def test_the_numbers_are_those_of_an_evaluator(self):
        metric = TorchMetric("boundary", thresholds=9, workers=2)
        for soft, truth in batches():
            metric.update(soft, truth)
        judge = judged(batches())
        assert plain(metric.compute()) == judge.numbers()
        assert metric.evaluator().tallies == judge.tallies
        assert metric.evaluator().signature == judge.signature
        assert {value.dtype for value in metric.compute().values()} == {torch.float64}

    def test_forward_gives_the_batch_and_keeps_the_whole(self):
        metric = TorchMetric("boundary", thresholds=9)
        for soft, truth in batches():
            assert plain(metric(soft, truth)) == judged([(soft, truth)]).numbers()
        assert plain(metric.compute()) == judged(batches()).numbers()

    def test_reset_forgets(self):
        metric = TorchMetric("boundary", thresholds=9)
        metric.update(*batches()[0])
        metric.reset()
        with pytest.raises(UsageError, match="no image was evaluated"), pytest.warns(UserWarning, match="before"):
            metric.compute()

    def test_a_batch_that_is_refused_leaves_nothing_behind(self):
        metric = TorchMetric("boundary", thresholds=9)
        soft, truth = batches()[0]
        with pytest.raises(InputError, match=r"image 1 of 2: prediction: values run from .* divide by 255"):
            metric.update(soft * 255, truth)
        metric.update(soft, truth)
        assert plain(metric.compute()) == judged(batches(1)).numbers()

    def test_it_works_in_a_collection(self):
        metrics = MetricCollection(
            {
                "nine": TorchMetric("boundary", thresholds=9),
                "same": TorchMetric("boundary", thresholds=9),
                "edges": TorchMetric("edges", names=("pm",)),
            },
            prefix="val/",
        )
        edges = ha.Evaluator("edges", names=("pm",))
        for soft, truth in batches():
            metrics.update(soft, truth)
            edges.update(soft, truth)
        found = plain(metrics.compute())
        assert [value for name, value in found.items() if name.endswith("pm")] == [edges.numbers()["pm"]]
        ods = [value for name, value in found.items() if name.endswith("ods")]
        assert ods == [judged(batches()).numbers()["ods"]] * len(ods)
        metrics.reset()
        metrics.update(*batches()[0])
        again = plain(metrics.compute())
        assert {again[name] for name in again if name.endswith("ods")} == {judged(batches(1)).numbers()["ods"]}

    def test_the_state_goes_into_a_checkpoint_and_into_another_process(self):
        metric = TorchMetric("boundary", thresholds=9)
        assert metric.state_dict() == {}
        metric.persistent(True)
        first, *others = batches()
        metric.update(*first)
        file = io.BytesIO()
        torch.save(metric.state_dict(), file)
        file.seek(0)
        restored = TorchMetric("boundary", thresholds=9)
        restored.persistent(True)
        restored.load_state_dict(torch.load(file, weights_only=True))
        for each in (restored, pickle.loads(pickle.dumps(metric)), metric.clone()):  # noqa: S301
            for soft, truth in others:
                each.update(soft, truth)
            assert plain(each.compute()) == judged(batches()).numbers()
        other = TorchMetric("boundary", thresholds=19)
        other.load_state_dict(metric.state_dict())
        with pytest.raises(UsageError, match="thr is 19 in one and 9 in the other"):
            other.evaluator()

    def test_shares_are_merged(self):
        one, other = TorchMetric("boundary", thresholds=9), TorchMetric("boundary", thresholds=9)
        first, *others = batches()
        one.update(*first)
        for soft, truth in others:
            other.update(soft, truth)
        one.merge_state(other)
        assert plain(one.compute()) == pytest.approx(judged(batches()).numbers(), abs=0)

    def test_extras_and_options_of_metrics(self):
        metric = TorchMetric("disparity", deltas=(1.0,), dist_sync_on_step=False)
        truth = torch.full((2, 8, 9), 3.0)
        masks = {"all": torch.ones(2, 8, 9, dtype=torch.bool)}
        metric.update(truth + 2, truth, masks=masks)
        assert metric.compute()["bad(1) all"] == 100
        with pytest.raises(ValueError, match="thresold"):
            TorchMetric("boundary", thresold=9)


def ranks(tmp_path, shares, *more):
    """What two processes print, which share their counts over the loopback device."""
    torch.save(batches(), tmp_path / "batches.pt")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    calls = [
        [sys.executable, "-c", RANK, str(rank), str(port), repr(shares), str(tmp_path / "batches.pt"), *more]
        for rank in range(2)
    ]
    running = [subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for call in calls]
    outputs = [process.communicate(timeout=300) for process in running]
    assert [process.returncode for process in running] == [0, 0], outputs
    return [out.strip() for out, _ in outputs]


@pytest.mark.parametrize("shares", [[[0, 1], [2]], [[0, 1, 2], []], [[0, 2], [1, 2]]], ids=["uneven", "empty", "both"])
def test_two_ranks_give_the_numbers_of_one_process(tmp_path, shares):
    judge = ha.Evaluator("boundary", thresholds=9)
    order = dict.fromkeys(n for share in shares for n in share)
    for n in order:
        judge.update(*batches()[n], name=[f"{n}-{k}" for k in range(2)])
    told = f"{sorted(judge.numbers().items())} {judge.score(seed=3).ods.interval}"
    assert ranks(tmp_path, shares) == [f"{told} {2 * len(share)}" for share in shares]


def test_ranks_of_different_protocols_are_refused(tmp_path):
    for line in ranks(tmp_path, [[0], [1]], "apart"):
        assert line.startswith("UsageError: ranks or states of different protocols cannot be joined: thr is")
