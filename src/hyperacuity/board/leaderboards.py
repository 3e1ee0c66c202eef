"""One leaderboard for each protocol and set of truths: scores, intervals, tests, groups and Pareto sets, from tallies alone.

Every system is resampled once, with the same draws as every other one, and all intervals and tests read those samples.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity import tasks
from hyperacuity.board.names import counted, hashed, labels_of, short
from hyperacuity.board.submissions import CardProblem, Submission
from hyperacuity.cards import Card
from hyperacuity.columns import Column, Value
from hyperacuity.compare import clusters
from hyperacuity.compare.verdict import Verdict, pairs_of, resamples_for, verdicts_of
from hyperacuity.console import printable
from hyperacuity.errors import InputError
from hyperacuity.evaluation.export import ScoreRow
from hyperacuity.evaluation.score_tables import columns_of as declared_columns
from hyperacuity.evaluation.score_tables import ranked
from hyperacuity.report.pages import mapper
from hyperacuity.report.sheets.sheet import Each, leader
from hyperacuity.resampling import Bootstrap, blocks_of, percentile_interval
from hyperacuity.tally import Signature
from hyperacuity.tasks import Criteria, Task

Floats = NDArray[np.float64]

RESAMPLES = 1000
"""Resamples of the intervals, as everywhere in the package."""

MOST_COLUMNS = 8

MOST_NAMED = 3
"""Images that a sentence on what keeps two leaderboards apart names."""


@dataclass(frozen=True, eq=False)
class Scoring:
    """Scores of a card's tallies: values and intervals by criterion, and by the main one, on each image and every resample.

    ``alone`` is by the images in the order of their names. ``samples`` has the score on the whole data set first. ``further`` are
    values of :func:`further_columns`.
    """

    overall: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    alone: Floats
    samples: Floats
    further: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Contender:
    """A system on a leaderboard: its card, its line (whose ``system`` is what the board calls it), and its numbers.

    Systems of one ``group`` cannot be told apart from the group's first one; groups count from 1, and 0 is where nothing could be
    tested.
    """

    submission: Submission
    line: ScoreRow
    group: int
    scoring: Scoring

    @property
    def card(self) -> Card:
        """The card."""
        return self.submission.card

    @property
    def id(self) -> str:
        """The start of the card's digest."""
        return self.submission.id

    @property
    def label(self) -> str:
        """Name of the system on the board."""
        return self.line.system


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The systems of one protocol and one set of truths, the best first."""

    title: str
    signature: Signature
    fingerprint: str
    columns: tuple[Column, ...]
    contenders: tuple[Contender, ...]
    images: tuple[str, ...]
    further: tuple[Column, ...] = ()
    """Columns that are shown, but by which nobody is judged."""

    @property
    def task(self) -> Task[Any, Any, Any]:
        """The benchmark."""
        return tasks.task(self.signature.task)

    @property
    def id(self) -> str:
        """The name of its pages' files, the same in every board that has it."""
        task = self.signature.task if self.signature.task.isalnum() and self.signature.task.isascii() else "task"
        return f"{task}-{hashed(str(self.signature), self.fingerprint)}"

    @property
    def protocol(self) -> str:
        """The signature, fit to be shown: that of a forged card may have anything in it."""
        return printable(str(self.signature))

    @property
    def main(self) -> Column:
        """The score by which systems are ranked."""
        return self.columns[0]

    @property
    def lines(self) -> tuple[ScoreRow, ...]:
        """The lines of the table."""
        return tuple(one.line for one in self.contenders)

    @property
    def truths(self) -> Mapping[str, tuple[str, ...]]:
        """The digests of the truths, by image."""
        return self.contenders[0].card.truths

    @property
    def tests(self) -> int:
        """Number of systems that were tested against the best."""
        return sum(line.verdict is not None for line in self.lines)

    @property
    def sentence(self) -> str:
        """Sentence on who leads, by how much, and whether it may be chance."""
        return leader(self.lines, self.main)

    @cached_property
    def image_scores(self) -> Floats:
        """The main score of each system (rows, the best first) on each image alone."""
        return np.stack([one.scoring.alone for one in self.contenders])


def make_leaderboards(
    submissions: Sequence[Submission], map_each: Each | None = None
) -> tuple[list[Leaderboard], list[CardProblem]]:
    """All leaderboards of these cards, and the cards that stand on none: of people, or with tallies that cannot be scored."""
    each = map_each or mapper(progress=False)
    together: dict[tuple[str, str], list[Submission]] = {}
    people = [one for one in submissions if one.card.people]
    for one in (one for one in submissions if not one.card.people):
        together.setdefault((str(one.card.signature), one.card.fingerprint), []).append(one)
    resamples = {key: resamples_for(len(several) - 1) for key, several in together.items()}
    work = [(one, resamples[key]) for key, several in together.items() for one in several]
    scored = dict(zip((one for one, _ in work), each("scores", _attempted, work), strict=True))
    problems = [CardProblem(one.path, str(of)) for one, of in scored.items() if isinstance(of, InputError)]
    apart = "is of people, who are no row among systems, and is left out"
    problems += [CardProblem(one.path, f"{one.path}: {apart}", fatal=False) for one in people]
    boards = []
    for several in together.values():
        if sound := {one: of for one in several if isinstance(of := scored[one], Scoring)}:
            boards.append(_leaderboard(sound))
    order = {name: number for number, name in enumerate(tasks.names())}
    boards.sort(key=lambda board: (order[board.signature.task], -len(board.contenders), -len(board.images), board.id))
    return with_distinct_titles(boards), problems


def _attempted(work: tuple[Submission, int]) -> Scoring | InputError:
    one, resamples = work
    try:
        return scoring_of(one.card, resamples)
    except InputError as error:
        return InputError(f"{one.path}: {error}")


def scoring_of(card: Card, resamples: int = RESAMPLES) -> Scoring:
    """Score a card. ``InputError`` for tallies that the task cannot make sense of.

    Intervals and tests go by the images' names, as everywhere, whatever the order of the files.
    """
    try:
        with np.errstate(all="ignore"):
            return _scoring(card, max(resamples, RESAMPLES))
    except Exception as error:  # a forged tally may say anything, and must not take the others with it
        raise InputError(f"its tallies cannot be scored ({error})") from error


def _scoring(card: Card, resamples: int) -> Scoring:
    known: Criteria = card.task.criteria(card.protocol)
    every = [card.tallies[image] for image in sorted(card.tallies)]
    whole, main = known.overall(every), known.names.index(known.usual[0])
    drawn = known.resampled(every, blocks_of(Bootstrap(len(every), resamples)))
    shown = {name: known.names.index(name) for name in known.usual[:MOST_COLUMNS]}
    return Scoring(
        {name: float(whole[n]) for name, n in shown.items()},
        {name: percentile_interval(drawn[:RESAMPLES, n]) for name, n in shown.items()},
        known.alone(every)[:, main],
        np.concatenate([whole[main : main + 1], drawn[:, main]]),
        _further(card),
    )


def _further(card: Card) -> dict[str, Value]:
    """The values of the columns that no criterion gives."""
    columns, numbers = further_columns(card), declared_columns(card.task, card.protocol).numbers
    if not columns:
        return {}
    score = card.task.collect(dict(card.tallies), resamples=0)
    known = {} if numbers is None else numbers(score, card.system)
    values = {
        column.key: known.get(column.key, math.nan) if column.value is None else column.value(score)
        for column in columns
    }
    return {key: short(value) if isinstance(value, str) else float(value) for key, value in values.items()}


def _leaderboard(scored: Mapping[Submission, Scoring]) -> Leaderboard:
    first = next(iter(scored)).card
    columns = columns_of(first)
    main = columns[0]
    labels = labels_of([one.card.system for one in scored], [one.id for one in scored])
    by_label = dict(zip(labels, scored.items(), strict=True))
    images = tuple(sorted(first.tallies))
    count = 1 + resamples_for(len(scored) - 1)  # cards that cannot be scored do not count

    def tested(pairs: Sequence[tuple[str, str]]) -> tuple[Verdict, ...]:
        def both(one: str, other: str) -> tuple[Floats, Floats, int]:
            first, second = (by_label[label][1].samples[:count, None] for label in (one, other))
            return first, second, len(images)

        return verdicts_of(pairs, both, [main.key], [main.better], [main.key])[main.key]

    unranked = [
        ScoreRow(label, {**of.further, **of.overall}, of.intervals, images=len(images), expected=one.card.expected)
        for label, (one, of) in by_label.items()
    ]
    lines = ranked(columns, unranked, lambda order: tested(pairs_of(order, False)))
    groups = _groups([line.system for line in lines], tested) if len(images) > 1 else [0] * len(lines)
    return Leaderboard(
        _title(first.task.title, (one.card for one in scored)),
        first.signature,
        first.fingerprint,
        columns,
        tuple(
            Contender(by_label[line.system][0], line, group, by_label[line.system][1])
            for line, group in zip(lines, groups, strict=True)
        ),
        images,
        further_columns(first),
    )


def _groups(order: Sequence[str], tested: Any) -> list[int]:
    """The group of each system, the best first: who is significantly worse (Holm) than a group's first opens the next one."""
    place = {system: n for n, system in enumerate(order)}
    better = np.zeros((len(order), len(order)), bool)
    for n in range(len(order)):
        for verdict in tested(pairs_of(order[n:], False)):
            better[n, place[verdict.second]] = verdict.significant and verdict.difference > 0
    return [int(group) for group in clusters(range(len(order)), better, against="best")]


def columns_of(card: Card) -> tuple[Column, ...]:
    """The scores that a task is judged by, the main one first, called as reports call them."""
    known: Criteria = card.task.criteria(card.protocol)
    senses = dict(zip(known.names, known.senses, strict=True))
    # A number that a report does not judge by is another one, in per cent perhaps.
    declared = declared_columns(card.task, card.protocol).scores
    called = {one.key: one for one in declared if one.better == senses.get(one.key)}
    return tuple(
        called.get(name, Column(name, short(name, 40), better=senses[name])) for name in known.usual[:MOST_COLUMNS]
    )


def further_columns(card: Card) -> tuple[Column, ...]:
    """The columns that a task declares besides its criteria."""
    known: Criteria = card.task.criteria(card.protocol)
    declared = declared_columns(card.task, card.protocol).scores
    return tuple(column for column in declared if column.key not in known.names)[:MOST_COLUMNS]


def reasons(one: Leaderboard, other: Leaderboard) -> list[str]:
    """List what keeps two leaderboards of one task apart, a sentence each: parts of the signature, then images and truths."""
    sentences = [*one.signature.differences(other.signature), *truths_apart(one.truths, other.truths)]
    return [printable(sentence) for sentence in sentences]


def truths_apart(one: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]]) -> list[str]:
    """List differences between two sets of truths, by their digests; empty when they are equal.

    >>> truths_apart({"a": ["1"], "b": ["2"]}, {"a": ["9"], "c": ["3"]})
    ['1 image is in one only (b)', '1 image is in the other only (c)', '1 image has other truths (a)']
    """
    changed = [image for image in one if image in other and tuple(one[image]) != tuple(other[image])]
    found = []
    for images, be, have in (
        ([image for image in one if image not in other], "in one only", ""),
        ([image for image in other if image not in one], "in the other only", ""),
        (changed, "", "other truths"),
    ):
        verb = ("is " if len(images) == 1 else "are ") + be if be else ("has " if len(images) == 1 else "have ") + have
        if images:
            found.append(f"{counted(len(images), 'image')} {verb} ({_named(images)})")
    return found


def _named(images: Sequence[str]) -> str:
    first = ", ".join(short(image, 40) for image in sorted(images)[:MOST_NAMED])
    return first if len(images) <= MOST_NAMED else f"{first} and {len(images) - MOST_NAMED} more"


def _title(task: str, cards: Iterable[Card]) -> str:
    """The task and, where cards name it, the data set."""
    named = Counter(short(card.made.data, 40) for card in cards if card.made.data.strip())
    return f"{task} · {min(named, key=lambda name: (-named[name], name))}" if named else task


def with_distinct_titles(boards: Sequence[Leaderboard]) -> list[Leaderboard]:
    """The leaderboards, with what tells them apart behind titles that several have."""

    def parts(board: Leaderboard) -> dict[str, str]:
        signature = {**dict(board.signature.parts), "v": str(board.signature.version)}
        return {**signature, "": counted(len(board.images), "image"), "truths": board.fingerprint[:6]}

    titled = []
    for board in boards:
        twins = [parts(other) for other in boards if other.title == board.title and other is not board]
        own = parts(board)
        # Truths are named only where nothing else tells two boards apart: they say little to a reader.
        keys = dict.fromkeys(key for one in (own, *twins) for key in one if key != "truths")
        differing = [key for key in keys if any(twin.get(key) != own.get(key) for twin in twins)]
        if any(all(twin.get(key) == own.get(key) for key in differing) for twin in twins):
            differing.append("truths")
        more = ", ".join(f"{key} {own[key]}".strip() if key in own else f"without {key}" for key in differing)
        titled.append(replace(board, title=f"{board.title} · {short(more, 80)}") if more else board)
    return titled
