"""A result as a card, and a card as a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from rich.console import Console

from hyperacuity import __version__
from hyperacuity.cards import PEOPLE, About, Card, Made
from hyperacuity.cards.against import usual_reading
from hyperacuity.cards.digests import TruthDigests, digests_of_cells
from hyperacuity.cards.making import card_of, card_of_run, people_tallies, refuse_no_people
from hyperacuity.evaluation.result import Result
from hyperacuity.kinds import kind_of
from hyperacuity.run.jobs import TaskJob


def card_of_result(
    result: Result, system: str | None = None, *, about: About | None = None, data: str = "", people: bool = False
) -> Card:
    """The card of a system of a result, whose tallies were counted in this process or are kept by its run."""
    if system in result.cards:
        return result.cards[system]
    if people:
        return _people_of_result(result, about, data)
    evaluated = [name for name in result.systems if name not in result.cards]
    if system is None and len(evaluated) == 1:
        (system,) = evaluated
    result.score(system)  # says what is wrong with the name
    assert system is not None  # noqa: S101  # or it would have said so
    label, job = result.chosen(system), result.made
    if result.run is not None:
        chosen = str(job.protocol.signature)
        return card_of_run(result.run, label, signature=chosen, about=about, data=data, workers=result.workers)
    tallies = {image: replace(tally, protocol=job.protocol) for image, tally in result.tallies(label).items()}
    if result.inputs is None:
        truths: Mapping[str, TruthDigests] = result.digests
    else:
        cells = [cell for cell in result.inputs.of(label) if cell.image in tallies]
        truths = digests_of_cells(job, cells, workers=result.workers)
    made, expected = _made_here(result, data), result.expected(system)
    return card_of(_read_as_files(job, result), label, tallies, truths, about=about, made=made, expected=expected)


def _people_of_result(result: Result, about: About | None, data: str) -> Card:
    if result.people_card is not None:
        return result.people_card
    refuse_no_people(result.made)
    if result.run is not None:
        chosen = str(result.made.protocol.signature)
        return card_of_run(result.run, signature=chosen, about=about, data=data, people=True, workers=result.workers)
    if result.inputs is None:
        tallies, truths = result.people_tallies, result.digests
    else:
        cells = list(result.inputs.images())
        tallies = people_tallies(result.made, cells, result.workers)
        truths = digests_of_cells(result.made, cells, workers=result.workers)
    job = _read_as_files(result.made, result)
    return card_of(job, PEOPLE, tallies, truths, about=about, made=_made_here(result, data), people=True)


def _read_as_files(job: TaskJob, result: Result) -> TaskJob:
    """The job as it would be of files: arrays do not say that they were read as they are."""
    said = dict(job.protocol.reading)
    if result.inputs is not None or all(key in said for key in usual_reading(job)):
        return job
    return replace(job, protocol=replace(job.protocol, reading=tuple({**usual_reading(job), **said}.items())))


def _made_here(result: Result, data: str) -> Made:
    named = data or ("" if result.inputs is None else result.inputs.data)
    return Made(data=named, version=__version__, date=datetime.now(UTC).date().isoformat())


def result_of_card(card: Card) -> Result:
    """A card as a result of one system, which prints and tells its scores like any other."""
    job = TaskJob(card.task, card.protocol, kind_of(card.task))
    return Result(job, {card.system: {"": card.system}}, lambda _: dict(card.tallies), expected=card.expected)


def show_scores(card: Card, console: Console) -> None:
    """Print the scores of a card as its benchmark's command does. ``InputError`` where the tallies give none."""
    if card.people and card.task.collect_people is not None:
        point = card.score.point
        console.print(f"F {point.f:.4f}, recall {point.recall:.4f}, precision {point.precision:.4f}")
    else:
        card.guarded(result_of_card(card).table, console)
