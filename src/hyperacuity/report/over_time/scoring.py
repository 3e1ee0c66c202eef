"""The score of a point: on the data set, with its interval, and on each image alone; and whether two points differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from hyperacuity.columns import Column
from hyperacuity.compare.verdict import Verdict, resamples_for, verdicts_of
from hyperacuity.evaluation.score_tables import columns_of
from hyperacuity.report.sheets.sheet import NAN
from hyperacuity.resampling import Bootstrap, blocks_of, percentile_interval
from hyperacuity.run.gather import Grid
from hyperacuity.tally import BaseProtocol, Scores
from hyperacuity.tasks import Criteria, Task

MOST_COLUMNS = 6
MOST_SAMPLES = 400
"""Points whose resampled scores are kept for tests; each takes some 8 KB for a score of the task."""


@dataclass(frozen=True)
class PointScore:
    """A point's scores by column, the interval of the main one, and the main one on each image alone.

    ``chance`` is what guessing reaches; NaN where that is not known.
    """

    values: Mapping[str, float]
    interval: tuple[float, float]
    images: Mapping[str, float]
    chance: float = NAN


def shown_columns(task: Task[Any, Any, Any], protocol: BaseProtocol) -> tuple[Column, ...]:
    """The scores that are followed, the one that counts most first: those of the task's table that can be resampled."""
    judged = task.criteria(protocol)
    known = [column for column in columns_of(task, protocol).scores if column.key in judged.names and column.better]
    usual = [Column(name, name, judged.senses[judged.names.index(name)]) for name in judged.usual]
    return tuple(known or usual)[:MOST_COLUMNS]


def point_score(grid: Grid, system: str, columns: Sequence[Column]) -> PointScore:
    """The scores of a system; the same numbers as in a report's leaderboard. All are NaN where it has no tally."""
    tallies = grid.tallies()[system]
    if not tallies:
        return PointScore({column.key: NAN for column in columns}, (NAN, NAN), {})
    return score_of(grid.task, grid.protocol, tallies, columns)


def score_of(
    task: Task[Any, Any, Any], protocol: BaseProtocol, tallies: Mapping[str, Any], columns: Sequence[Column]
) -> PointScore:
    """Score tallies by image, of which there is at least one."""
    judged, every = task.criteria(protocol), [tallies[image] for image in sorted(tallies)]
    overall, main = judged.overall(every), judged.names.index(columns[0].key)
    drawn = judged.resampled(every, blocks_of(Bootstrap(len(every))))
    alone = judged.alone(every)[:, main].tolist()
    return PointScore(
        {column.key: float(overall[judged.names.index(column.key)]) for column in columns},
        percentile_interval(drawn[:, main]),
        dict(zip(sorted(tallies), alone, strict=True)),
        NAN if task.chance is None else task.chance(columns[0].key, tallies),
    )


class PointTests:
    """Paired tests of any two points on the images that both have, as :func:`hyperacuity.compare.verdicts` makes them.

    A point's resampled scores are kept, so that its tests against many others cost one resampling of each.
    """

    def __init__(self, judged: Criteria, main: str) -> None:
        self._judged, self._main = judged, main
        self._samples: dict[tuple[Any, ...], Scores] = {}

    def test(self, first: ComparedPoint, second: ComparedPoint) -> Verdict | None:
        """Test how much better the first is than the second; None with fewer than two images."""
        shared = tuple(sorted(first.images.keys() & second.images.keys()))
        if len(shared) < 2:
            return None

        def both(one: str, other: str) -> tuple[Scores, Scores, int]:
            return self._scored(first, shared), self._scored(second, shared), len(shared)

        pair = [(first.name, second.name)]
        try:
            found = verdicts_of(pair, both, self._judged.names, self._judged.senses, [self._main])[self._main]
        except KeyError:  # the run has been asked for other images since its scores were read
            return None
        return found[0] if found and not math.isnan(found[0].p) else None

    def _scored(self, point: ComparedPoint, images: tuple[str, ...]) -> Scores:
        key = (point.key, images)
        if key not in self._samples:
            tallies = point.tallies()
            column = [tallies[image] for image in images]
            blocks = blocks_of(Bootstrap(len(images), resamples_for(1)))
            weights = chain([np.ones((1, len(images)), np.int64)], blocks)
            while len(self._samples) >= MOST_SAMPLES:
                del self._samples[next(iter(self._samples))]
            self._samples[key] = np.concatenate([self._judged.rescore(column, block) for block in weights])
        return self._samples[key]


@dataclass(frozen=True)
class ComparedPoint:
    """A point to test: what it is called, a key that changes with its tallies, its images, and what reads its tallies."""

    name: str
    key: tuple[Any, ...]
    images: Mapping[str, float]
    tallies: Callable[[], Mapping[str, Any]]
