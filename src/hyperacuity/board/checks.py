"""For the repository that keeps the cards: is every card sound, and does a site show what its cards give?"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperacuity.board.facts import SCHEMA, board_facts, image_facts
from hyperacuity.board.leaderboards import columns_of, make_leaderboards, scoring_of
from hyperacuity.board.names import short
from hyperacuity.board.submissions import Submission, read_submissions
from hyperacuity.cards import SUFFIX
from hyperacuity.errors import InputError, UsageError
from hyperacuity.report.pages import mapper
from hyperacuity.report.sheets.sheet import Each
from hyperacuity.small_files import read_json

MOST_DIFFERENCES = 20
"""Differences that are named."""

LARGEST_JSON = 200_000_000


@dataclass(frozen=True)
class CheckedCard:
    """A checked file: whose card it is, the main score recomputed from its tallies, and what is wrong, if any."""

    path: Path
    system: str = ""
    task: str = ""
    images: int = 0
    score: str = ""
    problems: tuple[str, ...] = field(default=())

    @property
    def sound(self) -> bool:
        """True if nothing is wrong."""
        return not self.problems


def check_cards(paths: Sequence[Path], map_each: Each | None = None) -> list[CheckedCard]:
    """Read every card, recompute its scores from its tallies, and look for duplicates and clashing names; in the order given."""
    each = map_each or mapper(progress=False)
    submissions, problems = read_submissions(paths, each)
    by_path = {check.path: check for check in each("scores", _checked, submissions)}
    for problem in problems:
        known = by_path.get(problem.path, CheckedCard(problem.path))
        sentence = problem.sentence.removeprefix(f"{problem.path}: ")
        by_path[problem.path] = replace(known, problems=(*known.problems, sentence))
    return [by_path[path] for path in dict.fromkeys(paths)]


def _checked(one: Submission) -> CheckedCard:
    card = one.card
    about: Any = {"system": short(card.system), "task": card.signature.task, "images": len(card.tallies)}
    try:
        if card.people:
            card.check()
            return CheckedCard(one.path, **about, score="people")
        scoring, main = scoring_of(card), columns_of(card)[0]
    except InputError as error:
        return CheckedCard(one.path, **about, problems=(str(error),))
    score = scoring.overall[main.key]
    missing = math.isnan(score)
    problems = (f"its tallies give no {main.title}: nothing in them can be scored",) if missing else ()
    return CheckedCard(one.path, **about, score=f"{main.title} {main.as_text(score)}", problems=problems)


def check_site(site: Path, map_each: Each | None = None) -> list[str]:
    """Recompute everything that a site says from the cards it offers; a sentence for each difference, none where all is well.

    ``UsageError`` where there is no board.
    """
    try:
        said = read_json(site / "board.json", "numbers of a board", most=LARGEST_JSON)
    except InputError as error:
        raise UsageError(str(error)) from error
    if said.get("schema") != SCHEMA:
        raise UsageError(f"{site / 'board.json'}: expected the schema {SCHEMA!r}")
    each = map_each or mapper(progress=False)
    submissions, problems = read_submissions(sorted((site / "cards").glob(f"*{SUFFIX}")), each)
    wrong = [problem.sentence for problem in problems if problem.fatal]
    wrong += [f"{one.path}: is not named after its digest, {one.id}" for one in submissions if one.path.stem != one.id]
    boards, unscored = make_leaderboards(submissions, each)
    wrong += [problem.sentence for problem in unscored]
    wrong += _first(differences(said, board_facts(boards), "board.json"))
    for board in boards:
        name = f"boards/{board.id}.json"
        try:
            said = read_json(site / name, "images of a board", most=LARGEST_JSON)
            wrong += _first(differences(said, image_facts(board), name))
        except InputError as error:
            wrong.append(str(error))
    return wrong


def differences(said: Any, computed: Any, where: str, at: str = "") -> Iterator[str]:
    """List where two values of JSON differ, a sentence each; numbers may differ by their last digits. ``at`` is their place.

    >>> list(differences({"a": [1, 0.5]}, {"a": [1, 0.25]}, "x.json"))
    ['x.json: a[1] is 0.5, recomputed 0.25']
    """
    if isinstance(said, dict) and isinstance(computed, dict):
        for key in dict.fromkeys((*computed, *said)):
            inner = f"{at}.{key}" if at else str(key)
            if key not in said or key not in computed:
                yield f"{where}: {short(inner)} is {'missing' if key not in said else 'nothing that the cards give'}"
            else:
                yield from differences(said[key], computed[key], where, inner)
    elif isinstance(said, list) and isinstance(computed, list):
        if len(said) != len(computed):
            yield f"{where}: {short(at)} has {len(said)} entries, recomputed {len(computed)}"
        for number, (one, other) in enumerate(zip(said, computed, strict=False)):
            yield from differences(one, other, where, f"{at}[{number}]")
    elif not _equal(said, computed):
        yield f"{where}: {short(at)} is {short(json.dumps(said))}, recomputed {short(json.dumps(computed))}"


def _equal(said: Any, computed: Any) -> bool:
    numbers = (int, float)
    if isinstance(said, numbers) and isinstance(computed, numbers) and not isinstance(said, bool):
        return math.isclose(said, computed, rel_tol=1e-9, abs_tol=1e-12)
    return type(said) is type(computed) and bool(said == computed)


def _first(sentences: Iterable[str]) -> list[str]:
    every = list(sentences)
    more = len(every) - MOST_DIFFERENCES
    return every if more <= 0 else [*every[:MOST_DIFFERENCES], f"and {more} more differences"]
