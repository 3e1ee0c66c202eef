"""``hyperacuity card``: results to share. Make a card from a run, show cards, and check them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.evaluate import options_of
from hyperacuity.cli.options import Data, Json, Split, Workers
from hyperacuity.cli.output import print_line
from hyperacuity.console import folder_name, printable
from hyperacuity.errors import HyperacuityError, UsageError
from hyperacuity.outputs import output_path

if TYPE_CHECKING:
    from hyperacuity.cards import Card

Cards = Annotated[list[Path], Argument(metavar="CARD…", help="Cards.")]


def make(
    run: Annotated[Path, Argument(metavar="RUN", help="A run folder, written by a benchmark with --run.")],
    system: Annotated[str | None, Option(metavar="NAME", help="Which system (default: the only one).")] = None,
    about: Annotated[
        Path | None,
        Option(metavar="FILE", help="A TOML file: title, authors, year, link, licence, description, bibtex."),
    ] = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="The card (default: NAME.card).")] = None,
    signature: Annotated[
        str | None, Option(metavar="TEXT", help="Which protocol, if the run has several: its line, or a part of it.")
    ] = None,
    people: Annotated[
        bool, Option("--people", help="The annotators, each against the others, instead of a system.")
    ] = False,
    data_set: Annotated[
        str | None, Option(metavar="NAME", help="Name of the data set (default: as in the run).")
    ] = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Put a system's result on a card: one small file with its tallies, which anyone can check, score and test against.

    A card holds the counts of every image, the signature, digests of each truth, who built the system and how. Truths are read
    again for their digests, and must not have changed since the run. Compare with a card: [bold]--against FILE.card[/bold].

    Example: [bold]hyperacuity card runs/mine --system mine --about about.toml[/bold]

    Example: [bold]hyperacuity card show mine.card[/bold]

    Example: [bold]hyperacuity card check mine.card[/bold]
    """
    from hyperacuity.cards import SUFFIX, read_card, write_card
    from hyperacuity.cards.files import MARK
    from hyperacuity.cards.making import card_of_run, read_about

    if people and system is not None:
        raise UsageError(
            "--people makes the card of the annotators, so --system has no meaning: leave one of the two out"
        )
    provenance = None if about is None else read_about(about)
    card = card_of_run(
        run, system, signature=signature, about=provenance, data=data_set or "", people=people, workers=workers
    )
    path = out or Path(f"{folder_name(card.system)}{SUFFIX}")
    if path.is_dir():
        raise UsageError(f"--out {path}: is a folder, expected the name of a file")
    output_path(path, mark=MARK)
    write_card(card, path)
    written = read_card(path)
    size = path.stat().st_size
    if json:
        summary = {"card": path, "system": written.system, "signature": str(written.signature), "bytes": size}
        common.print_json(
            summary | {"images": len(written.tallies), "data": written.fingerprint, "digest": written.digest}
        )
    else:
        print_line(
            f"{path}: {written.system}, {len(written.tallies)} images, {size / 1000:.0f} KB, {written.digest[:16]}"
        )


def show(
    cards: Cards,
    image: Annotated[str | None, Option(metavar="NAME", help="Print the tally of this image instead.")] = None,
    json: Json = False,
) -> None:
    """Show cards: system, data, protocol, and the scores computed from the tallies.

    Example: [bold]hyperacuity card show mine.card[/bold]

    Example: [bold]hyperacuity card show mine.card --image 100007[/bold]
    """
    from hyperacuity.cards import read_card
    from hyperacuity.cards.checking import as_json, images_of

    by_path: dict[Path, Card] = {}
    failures = []
    for path in cards:
        try:
            card = read_card(path)
            card.check()
            by_path[path] = card
        except HyperacuityError as error:
            failures.append((str(path), str(error).removeprefix(f"{path}: ")))
    status = common.report_failures(failures)
    if image is not None:
        chosen = images_of(list(by_path.values()), image)
        if json:
            common.print_json({"image": image, "tallies": {card.system: tally.arrays for card, tally in chosen}})
        else:
            for card, tally in chosen:
                print_line(f"{card.system}, {image}: truths {', '.join(card.truths[image])}")
                for name, array in tally.arrays.items():
                    print_line(f"  {name} {array.dtype} {'×'.join(map(str, array.shape))}: {array.tolist()}")
    elif json:
        common.print_json({"cards": [{"file": path, **as_json(card)} for path, card in by_path.items()]})
    else:
        for n, (path, card) in enumerate(by_path.items()):
            if n:
                print_line("")
            _print_card(path, card)
    raise typer.Exit(status)


def _print_card(path: Path, card: Card) -> None:
    from hyperacuity.cards.checking import describe_card
    from hyperacuity.evaluation.result_cards import show_scores

    for heading, line in describe_card(card, path):
        print_line(f"{heading:<10}{line}")
    print_line("")
    show_scores(card, common.results)


def check(
    cards: Cards,
    maps: Annotated[
        Path | None, Option(metavar="DIR", help="The system's maps: count some images again and compare.")
    ] = None,
    truth: Annotated[
        str | None, Option(metavar="TRUTH", help="The truths for these maps, as for the benchmark.")
    ] = None,
    data: Data = None,
    split: Split = None,
    sample: Annotated[int, Option(min=1, help="How many images are counted again.")] = 10,
    seed: Annotated[int, Option(min=0, help="Which images these are.")] = 0,
    option: Annotated[
        list[str] | None, Option(metavar="NAME=VALUE", help="How files are read; may be repeated.")
    ] = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Check cards: is every byte intact, do the tallies give scores; with maps and truths, are the counts right?

    Every card is checked and every problem listed; exit status 1 if there is any.

    Example: [bold]hyperacuity card check cards/*.card[/bold]

    Example: [bold]hyperacuity card check mine.card --maps maps/mine --truth bsds500[/bold]
    """
    from hyperacuity.cards.checking import check_card

    if (maps is None) != (truth is None):
        raise UsageError("to count images again, give both --maps and --truth")
    if maps is not None and len(cards) > 1:
        raise UsageError(f"--maps are those of one system, but there are {len(cards)} cards: check them one by one")
    options = {**options_of(option or []), "data": data, "split": split}
    options = {name: value for name, value in options.items() if value is not None}
    how: Any = {"maps": maps, "truth": truth, "sample": sample, "seed": seed, "workers": workers}
    checked = [check_card(path, **how, **options) for path in cards]
    for one in checked:
        for problem in one.problems:
            common.messages.print(f"[red]wrong:[/] {escape(printable(problem))}")
    if json:
        common.print_json({"cards": [_as_json(one) for one in checked]})
    else:
        for one in checked:
            if one.card is not None and not one.problems:
                print_line(f"{one.path}: {_sound(one.card)}{_counted(one.counted)}")
    raise typer.Exit(1 if any(one.problems for one in checked) else 0)


def _sound(card: Card) -> str:
    judged = card.task.criteria(card.protocol)
    if card.people and card.task.collect_people is not None:
        numbers = f"F {card.score.point.f:.4f}"
    else:
        numbers = ", ".join(f"{name} {card.numbers[name]:.4f}" for name in judged.usual)
    return f"sound: {card.system}, {len(card.tallies)} images, {numbers}"


def _counted(images: Any) -> str:
    return f"; counted again and equal: {', '.join(images)}" if images else ""


def _as_json(one: Any) -> dict[str, Any]:
    record: dict[str, Any] = {"file": one.path, "sound": not one.problems, "problems": one.problems}
    if one.card is not None:
        record |= {"system": one.card.system, "digest": one.card.digest, "data": one.card.fingerprint}
        record |= {"counted": {image: not reason for image, reason in one.counted.items()}}
    return record
