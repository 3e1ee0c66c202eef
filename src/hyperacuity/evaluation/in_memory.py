"""Evaluate arrays: which prediction belongs to which truth, and the tallies of all, counted in threads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from hyperacuity.cards.against import CardEntry, compatible_cards
from hyperacuity.cards.digests import TruthDigests, digests_of_arrays
from hyperacuity.errors import HyperacuityError, InputError, UsageError
from hyperacuity.evaluation.evaluator import Evaluator
from hyperacuity.evaluation.result import Result
from hyperacuity.kinds import Kind, kind_of
from hyperacuity.kinds.arrays import annotators
from hyperacuity.machine import processors
from hyperacuity.maps import soft_map
from hyperacuity.run import Failure
from hyperacuity.run.jobs import TaskJob
from hyperacuity.tasks import Task

ALONE = "prediction"
"""The name of a system without one."""

Predictions = Mapping[str, Any] | Iterable[Any]


def sorted_arrays(kind: Kind, predictions: Any, truths: Any) -> tuple[dict[str, Predictions], dict[str, Any]]:
    """The predictions of each system and the truths by image.

    A mapping of predictions holds images where its names are those of truths, and systems otherwise. Without names, images are
    numbered from 1. A bare map is one image, and the truths are all its own.
    """
    if isinstance(predictions, str | os.PathLike):
        raise UsageError("the predictions are files, but the others are in memory: expected both alike")
    images = isinstance(predictions, Mapping) and isinstance(truths, Mapping) and predictions.keys() <= truths.keys()
    systems = dict(predictions) if isinstance(predictions, Mapping) and not images else {ALONE: predictions}
    if isinstance(truths, Mapping):
        labels = {str(image): of for image, of in truths.items()}
    elif kind.prediction_is and all(kind.is_one_image(given) for given in systems.values()):
        labels = {"1": truths}
    else:
        given = [truths] if kind.is_one_image(truths) else truths
        labels = {str(number): one for number, one in enumerate(given, 1)}
    sorted_systems: dict[str, Predictions] = {}
    for name, given in systems.items():
        if isinstance(given, str | os.PathLike):
            raise UsageError(f"{name} is a path, but the truths are in memory: expected both alike")
        if not kind.prediction_is and given is None:
            given = dict.fromkeys(labels)
        elif kind.is_one_image(given):
            given = [given]
        if kind.prediction_is and isinstance(truths, Mapping) != isinstance(given, Mapping):
            one, other = ("names", "no names") if isinstance(given, Mapping) else ("no names", "names")
            raise UsageError(f"{name}: its images have {one} but the truths {other}: expected both alike")
        sorted_systems[str(name)] = given
    return sorted_systems, labels


def evaluate_arrays(
    task: Task[Any, Any, Any],
    protocol: Any,
    systems: Mapping[str, Predictions],
    truths: Mapping[str, Any],
    *,
    workers: int | None = None,
    human: bool = False,
    all_pairs: bool = False,
    against: Sequence[CardEntry] = (),
) -> Result:
    """Count every image of every system. An array that cannot be right fails alone."""
    asked = protocol
    protocol = protocol.completed(list(systems), lambda system: _first_maps(system, systems[system]))
    own = {system: protocol.for_system(system) for system in systems}
    judges = {system: _Judge(task.name, own[system], workers=workers or processors()) for system in systems}
    for system, predictions in systems.items():
        for image, prediction in _paired(system, predictions, truths):
            try:
                judges[system].update(prediction, truths[image], name=image)
            except InputError as error:
                judges[system].failures[image] = str(error)
    counted = {system: judge.tallies for system, judge in judges.items()}
    made = next((one.protocol for tallies in counted.values() for one in tallies.values()), protocol)
    if any(one is not protocol for one in own.values()):
        made = protocol
        counted = {s: {image: replace(one, protocol=made) for image, one in of.items()} for s, of in counted.items()}
    job = TaskJob(task, made, kind_of(task))
    digests = _digests(job, truths)

    def truths_of(images: list[str]) -> dict[str, TruthDigests]:
        return {image: digests[image] for image in images if image in digests}

    return Result(
        job,
        {system: {"": system} for system in counted},
        lambda system: dict(counted[system]),
        failures=[Failure(system, *one) for system, judge in judges.items() for one in judge.failures.items()],
        truths={image: annotators(of, "truths") for image, of in truths.items()} if human and task.people else None,
        expected=len(truths),
        workers=workers,
        human=human,
        all_pairs=all_pairs,
        compatible=compatible_cards(against, job, counted, truths, truths_of, asked=asked),
        digests=digests,
    )


def _digests(job: TaskJob, truths: Mapping[str, Any]) -> dict[str, TruthDigests]:
    """Digests of truths for cards, taken now: the arrays are the caller's, who may change them."""
    found = {}
    for image, of in truths.items():
        with suppress(HyperacuityError, TypeError):  # such a truth has no tally either
            found[image] = digests_of_arrays(job, of)
    return found


def _first_maps(system: str, predictions: Predictions) -> list[Any]:
    """The first predictions of a system, to decide by; what can be gone through only once cannot be looked at before."""
    if isinstance(predictions, Iterator):
        raise UsageError(f"{system}: what is treated by what its maps look like needs a list of maps, not an iterator")
    first = list(predictions.values() if isinstance(predictions, Mapping) else predictions)[:10]
    return [soft_map(np.squeeze(np.asarray(one))) for one in first]


class _Judge(Evaluator):
    """An evaluator that goes on after images that cannot be counted, and says why they could not."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.failures: dict[str, str] = {}

    def _failed(self, key: str, error: InputError) -> None:
        self.failures[key] = str(error)


def _paired(system: str, predictions: Predictions, truths: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The images of a system. Those without names must be as many as the truths."""
    if isinstance(predictions, Mapping):
        for image, prediction in predictions.items():
            if str(image) not in truths:
                raise UsageError(f"{system}: there is no truth of image {image}, but of {', '.join(truths)}")
            yield str(image), prediction
        return
    count = 0
    for count, prediction in enumerate(predictions, 1):
        if count <= len(truths):
            yield str(count), prediction
    if count != len(truths):
        raise UsageError(
            f"{system}: there are {count} predictions but truths of {len(truths)} images: expected as many; "
            "truths of several annotators are lists of maps"
        )
