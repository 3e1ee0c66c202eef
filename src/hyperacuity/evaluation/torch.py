"""An :class:`~hyperacuity.Evaluator` as a metric of torchmetrics, which Lightning logs and ranks share.

Needs PyTorch and torchmetrics: ``pip install '.[torch]'`` in a checkout. Nothing else in the package imports this module.
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import fields
from typing import Any

import torch
from torchmetrics import Metric

from hyperacuity.errors import UsageError
from hyperacuity.evaluation.evaluator import GIVE_NAMES, Evaluator
from hyperacuity.tally import Signature

SIZE = 8
"""Bytes that say how long a header is."""


class TorchMetric(Metric):
    """A benchmark as a metric: ``update(prediction, truths)``, then ``compute()`` gives its numbers by name.

    What is counted are images, not batches, so that the numbers are those of the whole set, whatever the batches and ranks.

    Parameters
    ----------
    task, protocol, workers
        As in :class:`~hyperacuity.Evaluator`; ``update`` waits for its batch, whose images are counted in ``workers`` threads.
    options
        Options of the protocol (``thresholds=19``), and those that every metric takes (``dist_sync_on_step=True``).
    """

    full_state_update = False
    is_differentiable = False

    def __init__(self, task: str, protocol: Any = None, *, workers: int | None = None, **options: Any) -> None:
        known = [part.name for part in fields(Evaluator(task).task.protocol)]
        changes = {name: options.pop(name) for name in known if name in options}
        super().__init__(**options)
        self.judge = Evaluator(task, protocol, workers=workers, **changes)
        # Tallies as bytes, update after update: ranks join theirs by putting them one behind the other.
        self.packed: list[torch.Tensor] | torch.Tensor
        self.add_state("packed", default=[], dist_reduce_fx="cat")

    def update(self, prediction: Any, truths: Any, name: Any = None, **extras: Any) -> None:
        """Count one image, or a batch of them; see :meth:`hyperacuity.Evaluator.update`."""
        try:
            self.judge.update(prediction, truths, name=name, **extras)
            packed = _pack(self.judge, named=name is not None)
        finally:
            self.judge.reset()
        block = torch.frombuffer(bytearray(packed), dtype=torch.uint8).to(self.device)
        if isinstance(self.packed, list):
            self.packed.append(block)
        else:  # a state that was loaded from where it had been joined
            self.packed = torch.cat([self.packed, block])

    def compute(self) -> dict[str, torch.Tensor]:
        """The numbers that the benchmark compares systems by. ``UsageError`` before the first image."""
        kind = torch.float32 if self.device.type == "mps" else torch.float64
        return {name: torch.tensor(value, dtype=kind, device=self.device) for name, value in self.numbers().items()}

    def numbers(self) -> dict[str, float]:
        """The numbers of this rank alone, as plain numbers."""
        return self.evaluator().numbers()

    def evaluator(self) -> Evaluator:
        """An evaluator of this rank's counts, for its ``score()`` with intervals; of all ranks' within ``sync_context()``."""
        whole = Evaluator(self.judge.task.name, self.judge.protocol)
        seen: dict[str, str] = {}
        for block in self.packed if isinstance(self.packed, list) else [self.packed]:
            _unpack(bytes(block.to("cpu", torch.uint8).numpy()), whole, seen)
        return whole

    def _sync_dist(self, *args: Any, **options: Any) -> None:
        if not len(self.packed):  # a rank without an image would offer numbers of another type
            self.packed = [torch.empty(0, dtype=torch.uint8, device=self.device)]
        super()._sync_dist(*args, **options)


def _pack(judge: Evaluator, *, named: bool) -> bytes:
    """Pack the counts of an evaluator: the length of the header, the header, the packed tallies."""
    tallies = judge.tallies
    bodies = [tally.pack() for tally in tallies.values()]
    header = {
        "process": f"{uuid.getnode():x}-{os.getpid()}",
        "digests": [judge.digests.get(name, "") for name in tallies],
        "signature": str(judge.protocol.signature),
        "protocol": next(iter(tallies.values())).protocol.to_dict(),
        "names": list(tallies) if named else [None] * len(tallies),
        "sizes": [len(body) for body in bodies],
    }
    line = json.dumps(header).encode()
    return b"".join([len(line).to_bytes(SIZE, "little"), line, *bodies])


def _unpack(data: bytes, judge: Evaluator, seen: dict[str, str]) -> None:
    """Add what was packed, one update after the other.

    ``seen`` has the process that judged each image without a name. ``UsageError`` for counts under another protocol, and for an
    image that two processes judged.
    """
    at = 0
    while at < len(data):
        start = at + SIZE
        at = start + int.from_bytes(data[at:start], "little")
        header = json.loads(data[start:at])
        expected = judge.protocol.signature
        if apart := expected.differences(Signature.parse(header["signature"])):
            raise UsageError(f"ranks or states of different protocols cannot be joined: {'; '.join(apart)}")
        made = judge.task.protocol.from_dict(header["protocol"])
        for digest in filter(None, header.get("digests", ())):
            if seen.setdefault(digest, header["process"]) != header["process"]:
                raise UsageError(f"ranks share an image, which would count twice: {GIVE_NAMES}")
        for name, size in zip(header["names"], header["sizes"], strict=True):
            judge.add(judge.task.tally_type.unpack(data[at : at + size], made), name=name)
            at += size
