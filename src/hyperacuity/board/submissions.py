"""The cards of a board: read, told apart, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperacuity.board.names import ID_LETTERS, short
from hyperacuity.cards import SUFFIX, Card, canonical_name, parsed
from hyperacuity.cards.digests import contradictions
from hyperacuity.cards.files import card_bytes
from hyperacuity.errors import InputError, UsageError
from hyperacuity.report.pages import mapper
from hyperacuity.report.sheets.sheet import Each


@dataclass(frozen=True, eq=False)
class Submission:
    """A card, the file it was read from, and its bytes. ``id`` is the start of its digest, which its addresses are made of."""

    path: Path
    data: bytes
    card: Card

    @property
    def id(self) -> str:
        """The start of the card's digest."""
        return self.card.digest[:ID_LETTERS]


@dataclass(frozen=True)
class CardProblem:
    """Problem of a file. ``fatal``: the card cannot stand on a board; else it can, but somebody should know."""

    path: Path
    sentence: str
    fatal: bool = True


def card_files(named: Iterable[Path]) -> list[Path]:
    """Files as they are named, and the cards in folders, in the order of their names. ``UsageError`` for a folder without any."""
    files: list[Path] = []
    for path in named:
        inside = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
        if not inside:
            raise UsageError(f"{path}: there is no file *{SUFFIX} in this folder")
        files += inside
    return files


def read_submissions(paths: Iterable[Path], map_each: Each | None = None) -> tuple[list[Submission], list[CardProblem]]:
    """The cards in the order of their names, whatever that of the paths, and what is wrong.

    A file that is not a card, or is damaged, is a problem; so is a card that stands in two files, of which the first is taken.
    Cards whose counts of a truth contradict those of most others are refused (:func:`~hyperacuity.cards.digests.contradictions`).
    Two cards of one name for the same task and truths are told apart by their digests, and are a problem that is not fatal.
    """
    several = list(dict.fromkeys(paths))
    each = map_each or mapper(progress=False)
    cards: list[Submission] = []
    problems: list[CardProblem] = []
    known: dict[str, Submission] = {}
    for path, one in zip(several, each("cards", _attempted, several), strict=True):
        if isinstance(one, InputError):
            problems.append(CardProblem(path, str(one)))
        elif (twin := known.get(one.id)) is not None:
            same = one.card.digest == twin.card.digest
            sentence = f"{one.path}: is the same card as {twin.path}; one of them is enough"
            if not same:
                sentence = f"{one.path}: its digest starts as that of {twin.path}, {one.id}, so they would share a page"
            problems.append(CardProblem(path, sentence, fatal=not same))
        else:
            known[one.id] = one
            cards.append(one)
    cards.sort(key=lambda one: (one.card.system, one.card.digest))
    wrong = contradictions([one.card for one in cards])
    problems += [CardProblem(cards[n].path, f"{cards[n].path}: {sentence}") for n, sentence in wrong.items()]
    sound = [one for n, one in enumerate(cards) if n not in wrong]
    return sound, problems + _clashes(sound)


def read_submission(path: Path) -> Submission:
    """Read a card and keep its bytes. ``InputError`` as :func:`hyperacuity.cards.read_card` has it."""
    data = card_bytes(path)
    return Submission(path, data, parsed(data, str(path)))


def _attempted(path: Path) -> Submission | InputError:
    try:
        return read_submission(path)
    except InputError as error:
        return error


def _clashes(found: Sequence[Submission]) -> list[CardProblem]:
    """Cards that have the name of another one on the same leaderboard."""
    first: dict[tuple[str, str, str, bool], Submission] = {}
    problems = []
    for one in found:
        card = one.card
        twin = first.setdefault((str(card.signature), card.fingerprint, canonical_name(card.system), card.people), one)
        if twin is not one:
            sentence = f"{one.path}: has the name {short(card.system)!r}, as {twin.path} does, on the same leaderboard"
            problems.append(CardProblem(one.path, f"{sentence}; give each a name of its own", fatal=False))
    return problems
