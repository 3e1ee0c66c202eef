"""Small cards whose scores can be worked out by hand: tallies of one threshold, recall and precision chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hyperacuity.board import write_board
from hyperacuity.boundary import BoundaryTally, Protocol
from hyperacuity.cards import About, Card, Made, digest_of, write_card

IMAGES = [f"image-{n}" for n in range(8)]


def tally_of(found: Sequence[int], detected: int = 100, protocol: Protocol | None = None) -> BoundaryTally:
    """Of 100 true pixels, so many found at each threshold, by as many of ``detected`` pixels."""
    of = np.array(found)
    full = np.full(len(of), detected)
    return BoundaryTally(
        of, np.full(len(of), 100), of, full, full, full, protocol=protocol or Protocol(thresholds=len(of))
    )


def card_of(
    system: str,
    found: Sequence[int],
    *,
    images: Sequence[str] = IMAGES,
    thresholds: int = 3,
    truth: str = "",
    about: About | None = None,
    made: Made | None = None,
) -> Card:
    """A system that finds so many of 100 pixels of each image at the first threshold, and 10 fewer at each of the others."""
    protocol = Protocol(thresholds=thresholds)
    tallies = {
        image: tally_of([max(n - 10 * step, 0) for step in range(thresholds)], protocol=protocol)
        for image, n in zip(images, found, strict=True)
    }
    truths = {image: (digest_of(image + truth),) for image in images}
    about = about or About(f"About {system}", ("Ada Lovelace", "Jörg Müller"), 2011, "https://example.org/a?b=1&c=2")
    return Card(
        system, tallies, truths, about, made or Made("toys", f"hyperacuity boundary {system} toys", "1.0", "2026-01-01")
    )


@pytest.fixture(scope="session")
def make_card() -> Callable[..., Card]:
    return card_of


@pytest.fixture(scope="session")
def keep(tmp_path_factory) -> Callable[..., list[Path]]:
    """Write cards into a folder of their own; the paths of their files."""

    def kept(*cards: Card) -> list[Path]:
        folder = tmp_path_factory.mktemp("cards")
        paths = [folder / f"{number}.card" for number in range(len(cards))]
        for card, path in zip(cards, paths, strict=True):
            write_card(card, path)
        return paths

    return kept


WORSE = np.array([0, 1, 0, 2, 0, 1, 0, 2])
GOOD, FAIR = [80, 82, 78, 84, 76, 88, 70, 90], [81, 81, 79, 82, 77, 87, 71, 89]


def toy_cards() -> list[Card]:
    """Two systems that cannot be told apart, and two that are worse; one under other thresholds, one against other truths."""
    return [
        card_of("good", GOOD),
        card_of("fair", FAIR),
        card_of("poor", [n - 30 for n in GOOD]),
        card_of("poorer", (np.array(GOOD) - 33 - WORSE).tolist()),
        card_of("good", GOOD, thresholds=5),
        card_of("other", GOOD, truth="drawn again"),
        card_of("fewer", GOOD[1:], images=IMAGES[1:]),
    ]


@pytest.fixture(scope="session")
def toys(keep) -> list[Path]:
    return keep(*toy_cards())


@pytest.fixture(scope="session")
def site(toys, tmp_path_factory) -> Path:
    """The board of the toys."""
    return write_board(toys, tmp_path_factory.mktemp("site") / "site", progress=False).page.parent


NASTY = (
    "</script><script>boom()</script>",
    "<img src=x onerror=boom()>",
    "\"' onmouseover='boom()' autofocus onfocus='boom()' {{ 7*7 }} ${boom()}",
    "../../../../etc/passwd",
    "javascript:boom()//" + "x" * 3000,
)


@pytest.fixture(scope="session")
def nasty_site(keep, tmp_path_factory) -> Path:
    """A board whose cards say the worst wherever they can say anything."""
    images = [f"{name} {n}" for n, name in enumerate(NASTY)]
    cards = []
    for number, name in enumerate(NASTY):
        link = f"https://example.org/?{number}&onerror=boom()#javascript:boom()"
        about = About(name, (name, name), 2000, link, name, f"{name}\n\n{name}", f"@misc{{{name}}}")
        made = Made(name, name, name, name)
        found = [60 + 5 * number - n for n in range(len(images))]
        cards.append(card_of(name, found, images=images, about=about, made=made))
    cards.append(replace(cards[0], system=NASTY[1]))  # a name that is taken
    return write_board(keep(*cards), tmp_path_factory.mktemp("nasty") / "site", progress=False).page.parent
