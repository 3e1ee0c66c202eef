"""Evaluation results: scores by system, read from tallies a system at a time."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperacuity.cards import About, Card
from hyperacuity.cards.against import CompatibleCards, as_json
from hyperacuity.cards.digests import TruthDigests
from hyperacuity.columns import Scored
from hyperacuity.errors import InputError, UsageError
from hyperacuity.evaluation.export import ScoreTable, csv_table, latex_table, markdown_table, print_table
from hyperacuity.kinds import Cell, Inputs
from hyperacuity.kinds.base import some
from hyperacuity.run.jobs import Failure, TaskJob
from hyperacuity.run.store import BySystem
from hyperacuity.tally import Signature, plain

if TYPE_CHECKING:
    from rich.console import Console

    from hyperacuity.compare import Ranking, Verdict

Tallies = dict[str, Any]
"""The tallies of a system, by image."""


class Result:
    """Scores of one task under one protocol.

    Made by :func:`hyperacuity.evaluate`. Tallies stay where they are, in a run folder or a temporary file, and are read when a
    score is asked for, one system's at a time; scores are kept.
    """

    def __init__(
        self,
        job: TaskJob,
        sweeps: Mapping[str, Mapping[str, str]],
        tallies_of: Callable[[str], Tallies],
        *,
        failures: Sequence[Failure] = (),
        inputs: Inputs | None = None,
        truths: Mapping[str, Sequence[Any]] | None = None,
        expected: int | None = None,
        run: Path | None = None,
        workers: int | None = None,
        human: bool = False,
        all_pairs: bool = False,
        compatible: CompatibleCards | None = None,
        digests: Mapping[str, TruthDigests] | None = None,
    ) -> None:
        self.made = job
        """As it was evaluated; ``job`` has the protocol that cards stand under too."""
        self.failures = list(failures)
        self.cards: dict[str, Card] = {}
        """The rows that are not evaluated here, by name."""
        people = None
        if compatible is not None:
            if compatible.cards and (first := next((label for of in sweeps.values() for label in of.values()), None)):
                impossible = compatible.contradictions(tallies_of(first))
                self.failures += [Failure(name, image, reason) for name, (image, reason) in impossible.items()]
                compatible = compatible.without(impossible)
            job, tallies_of = compatible.job(job), compatible.tallies_of(tallies_of)
            self.cards, people = dict(compatible.cards), compatible.people
        self.job, self.inputs, self.run = job, inputs, run
        self.task, self.protocol = job.task, job.protocol
        self.human, self.all_pairs = human or people is not None, all_pairs
        self.people_card = None if human else people
        self.digests = dict(digests or {})
        """Of truths in memory, by image."""
        self._sweeps = {**sweeps, **{name: {"": name} for name in self.cards}}
        self._tallies_of, self._truths, self.workers = tallies_of, truths or {}, workers
        self._scores: dict[str, Any] = {}
        self._expected = expected
        self._images: dict[str, None] = {}

    @property
    def signature(self) -> Signature:
        """The protocol, with how files were read, as it stands beside every score."""
        return self.protocol.signature

    def expected(self, system: str) -> int | None:
        """The number of images that the truth has for a system; None where nobody knows."""
        if system in self.cards:
            here = [self.expected(other) for other in self._sweeps if other not in self.cards]
            known = [number for number in (self.cards[system].expected, *here) if number is not None]
            return max(known, default=None)
        if self.inputs is None:
            return self._expected
        return max(self.inputs.expected(label) for label in self._sweeps[system].values())

    @property
    def unpaired(self) -> list[Path]:
        """The files that had no partner."""
        return [] if self.inputs is None else self.inputs.unpaired

    @property
    def gaps(self) -> list[str]:
        """Sentences on what systems lack and which predictions have no truth."""
        return [] if self.inputs is None else self.inputs.gaps()

    @property
    def cells(self) -> Iterable[Cell]:
        """The files that were evaluated, cell by cell; nothing where they were in memory."""
        return self.inputs or ()

    @property
    def systems(self) -> list[str]:
        """The names of the systems, also of those without a score."""
        return list(self._sweeps)

    @property
    def scores(self) -> dict[str, Any]:
        """The score of every system that has one."""
        for system in self._sweeps:
            self._score(system)
        return {system: self._scores[system] for system in self._sweeps if self._scores[system] is not None}

    def score(self, system: str | None = None) -> Any:
        """The score of a system; of the only one, if there is one only. ``UsageError`` for a system without a score."""
        if system is None:
            if len(self._sweeps) != 1:
                raise UsageError(f"there are {len(self._sweeps)} systems: name one of {', '.join(self._sweeps)}")
            (system,) = self._sweeps
        if system not in self._sweeps:
            raise UsageError(f"there is no system {system!r}; there are {', '.join(self._sweeps)}")
        found = self._score(system)
        if found is None:
            reason = next((failure.reason for failure in self.failures if failure.system == system), "it has no image")
            raise UsageError(f"{system} has no score: {reason}")
        return found

    def _score(self, system: str) -> Any:
        if system not in self._scores:
            points = {value: self.tallies(label) for value, label in self._sweeps[system].items()}
            done = {value: tallies for value, tallies in points.items() if tallies}
            self._scores[system] = self._collected(done)
        return self._scores[system]

    def _collected(self, points: Mapping[str, Tallies]) -> Any:
        if not points:
            return None
        if list(points) == [""]:
            return self.task.collect(points[""])
        collect = self.task.collect_sweep
        return collect(points) if collect is not None and set.intersection(*map(set, points.values())) else None

    def tallies(self, system: str | None = None) -> Tallies:
        """The tallies of a system by image; they are read again at each call."""
        found = self._tallies_of(system if system is not None else self.systems[0])
        self._images.update(dict.fromkeys(found))
        return found

    @property
    def images(self) -> list[str]:
        """The images that some system has a tally of."""
        for system in self._sweeps:
            self._score(system)
        return list(self._images)

    @cached_property
    def verdicts(self) -> dict[str, tuple[Verdict, ...]]:
        """By criterion, whether the best system by the first one is better than the others, or that may be chance.

        All pairs are tested where the result was asked for them. A system with a parameter is taken at its best value.
        """
        from hyperacuity.compare.verdict import verdicts

        judged = self.task.criteria(self.protocol)
        main = judged.names.index(judged.usual[0])
        labels = {system: self.chosen(system) for system in self.scores}
        main_score = {}
        for system, label in labels.items():
            tallies = list(self.tallies(label).values())
            main_score[system] = float(judged.rescore(tallies, np.ones((1, len(tallies)), np.int64))[0, main])
        worse = -1 if judged.senses[main] == "max" else 1
        order = sorted(labels, key=lambda system: (math.isnan(main_score[system]), worse * main_score[system]))
        return verdicts(order, lambda system: self.tallies(labels[system]), judged, all_pairs=self.all_pairs)

    def chosen(self, system: str) -> str:
        """The name of a system's tallies at the value of the parameter that its score is of."""
        points, score = self._sweeps[system], self.scores[system]
        return points[""] if "" in points else points[score.parameters[score.chosen]]

    def chosen_tallies(self, system: str) -> Tallies:
        """The tallies that the score of a system is of: of one with a parameter, those at its best value."""
        return self.tallies(self.chosen(system))

    @property
    def by_system(self) -> Mapping[str, Tallies]:
        """The tallies of the systems that have a score, each read when it is asked for and held by nobody."""
        return BySystem(self.scores, self.tallies)

    @cached_property
    def people(self) -> Any:
        """The score of annotators, each held against the others; None where no image has two, or it cannot be said."""
        if self.people_card is not None:
            return self.people_card.score
        if self.task.people is None:
            return None
        tallies = self.people_tallies
        cells = [] if self.inputs is None else list(self.inputs.images())
        with ThreadPoolExecutor(self.workers) as pool:
            tallies |= dict(zip((cell.image for cell in cells), pool.map(self.job.people, cells), strict=True))
        return self.job.collect_people(tallies)

    @property
    def people_tallies(self) -> Tallies:
        """The tallies of annotators in memory, each held against the others, of the images that have several."""
        several = {image: drawn for image, drawn in self._truths.items() if len(drawn) > 1}
        held = self.task.people
        return {} if held is None else {image: held(drawn, self.made.protocol) for image, drawn in several.items()}

    @cached_property
    def notes(self) -> list[str]:
        """Sentences that a reader of the scores has to know: that maps look thick, for example."""
        from hyperacuity.evaluation.score_tables import columns_of
        from hyperacuity.evaluation.suppression import suppression_notes

        scored = Scored(self.protocol, self.scores, first_truth=self.first_truth)
        return [*columns_of(self.task, self.protocol).notes(scored), *suppression_notes(self)]

    def first_truth(self) -> Any:
        """The first truth of the first image; None where none can be read."""
        try:
            return self.job.kind.truths(next(iter(self.inputs or ())))[0]
        except (InputError, StopIteration):
            return None

    def json(self) -> dict[str, Any]:
        """All that was found as plain values, as the command prints it with ``--json``."""
        failed = [{"system": f.system, "image": f.image, "reason": f.reason} for f in self.failures]
        from hyperacuity.evaluation.score_tables import result_dict

        found: dict[str, Any] = plain(result_dict(self))
        expected = {system: self.expected(system) for system in self.systems}
        drawn = {} if self.inputs is None else self.inputs.annotators()
        unpaired = [str(path) for path in self.unpaired]
        against = {"against": as_json(self.cards)} if self.cards else {}
        return found | {"expected": expected, "failed": failed, "unpaired": unpaired, "annotators": drawn} | against

    def table(self, console: Console | None = None) -> None:
        """Print what the command prints; nothing where no system has a score."""
        from hyperacuity.console import wide_console
        from hyperacuity.evaluation.score_tables import of_result

        if self.scores:
            target = console or wide_console()
            print_table(of_result(self, complete=False), target)
            if self.inputs is not None and (told := describe_annotators(self.inputs.annotators())):
                target.print(told, markup=False)
            for name, card in self.cards.items():
                target.print(f"{name}: from a card, {card.digest[:16] or 'in memory'}", markup=False)

    def score_table(self) -> ScoreTable:
        """The scores as columns and rows, with intervals and tests; people have a row where they were asked for."""
        from hyperacuity.evaluation.score_tables import of_result

        return of_result(self)

    def latex(self) -> str:
        r"""A table for a paper (``\usepackage{booktabs}``) with the signature in its caption; see :meth:`score_table`."""
        return latex_table(self.score_table())

    def markdown(self) -> str:
        """The table for pages."""
        return markdown_table(self.score_table())

    def csv(self) -> str:
        """One row per system, with everything that is known of it in full precision."""
        return csv_table(self.score_table())

    def __str__(self) -> str:
        from hyperacuity.console import wide_console

        text = io.StringIO()
        self.table(wide_console(text))
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    def report(self, out: str | Path, *, progress: bool = True, **options: Any) -> Path:
        """Write a page about the run, as ``hyperacuity report`` does; returns its front page. Needs ``run=``."""
        if self.run is None:
            raise UsageError("a report needs a run folder, which keeps what it shows: evaluate(…, run=FOLDER)")
        from hyperacuity.report.pages import write_report  # the room above: a hand-over, nothing is built on it

        return write_report([self.run], Path(out), progress=progress, **options)

    def card(
        self, system: str | None = None, *, about: About | None = None, data: str = "", people: bool = False
    ) -> Card:
        """A system's result as a card (:mod:`hyperacuity.cards`), to be written by :func:`hyperacuity.cards.write_card`.

        Of a system with a parameter, it is of the best value. With ``people``, the card is of the annotators, each held against
        the others. ``data`` is what the data set is called, where the evaluation does not know. ``UsageError`` where there is
        nothing to put on a card.
        """
        from hyperacuity.evaluation.result_cards import card_of_result

        return card_of_result(self, system, about=about, data=data, people=people)

    def compare(self, **options: Any) -> Ranking:
        """Rank the systems by Pareto dominance and average rank (:func:`hyperacuity.compare.compare`)."""
        from hyperacuity.compare import compare
        from hyperacuity.compare.criteria import table_of

        judged = self.task.criteria(self.protocol)
        labels = [label for points in self._sweeps.values() for label in points.values()]
        table = table_of(BySystem(labels, self.tallies)).select(criteria=judged.usual)
        return compare(table, **{"vector": judged.vector, **options})


def describe_annotators(counts: Mapping[str, int]) -> str:
    """The number of annotators of each image, the usual number first; few images that have another number are named.

    >>> describe_annotators({"a": 5, "b": 5, "c": 4}), describe_annotators({"a": 5, "b": 5}), describe_annotators({})
    ('annotators per image: 5; 4 of c', 'annotators per image: 5', '')
    """
    if not counts:
        return ""
    images: dict[int, list[str]] = {}
    for image, count in counts.items():
        images.setdefault(count, []).append(image)
    (usual, _), *others = sorted(images.items(), key=lambda item: (-len(item[1]), item[0]))
    return f"annotators per image: {usual}" + "".join(f"; {count} of {some(names)}" for count, names in others)
