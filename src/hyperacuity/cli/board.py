"""``hyperacuity board``: leaderboards of cards as a static site; ``board check`` for the repository that keeps the cards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Exports, Folder, Json, Workers, grouped
from hyperacuity.console import printable
from hyperacuity.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hyperacuity.board import CheckedCard

CARDS = "Cards, or folders of them."


@grouped
def board(
    cards: Annotated[list[Path], Argument(metavar="CARD…", help=CARDS)],
    out: Annotated[Path, Folder(help="Write the site here.")],
    title: Annotated[str, Option(help="Heading of the front page.")] = "",
    workers: Workers = None,
    json: Annotated[
        bool, Option("--json", help="Print one JSON object: what board.json says, and what failed.")
    ] = False,
    *,
    exports: Exports,
) -> None:
    """Build a site from cards: a leaderboard per protocol, with intervals, significance groups, and pages per system and image.

    The site opens from disk with no network and can be put on any web server. A card joins the leaderboard with its protocol
    and truths; scores of different ones are never ranked together. Cards that cannot be read are named, and the site is built
    from the others (exit status 1). Tables for papers hold one leaderboard after the other.

    Example: [bold]hyperacuity board cards/*.card --out site[/bold]

    Example: [bold]hyperacuity board cards --out site --title "Boundaries of our lab"[/bold]
    """
    from hyperacuity.board import card_files, write_board
    from hyperacuity.board.facts import board_facts, table_of

    prints = exports.prints(json)
    progress = common.messages.is_terminal
    written = write_board(card_files(cards), out, title=title, workers=workers, progress=progress)
    for problem in written.problems:
        if not problem.fatal:
            common.warn(problem.sentence)
    failed = [problem for problem in written.problems if problem.fatal]
    status = common.report_failures((str(one.path), one.sentence.removeprefix(f"{one.path}: ")) for one in failed)
    common.export((table_of(leaderboard) for leaderboard in written.boards), exports)
    if json:
        problems = [{"card": one.path, "reason": one.sentence, "fatal": one.fatal} for one in written.problems]
        common.print_json({"page": written.page, **board_facts(written.boards), "problems": problems})
    elif not prints:
        for leaderboard in written.boards:
            common.results.print(printable(f"{leaderboard.title}: {leaderboard.sentence}"), markup=False)
        common.messages.print(f"open {written.page}", markup=False)
    raise typer.Exit(status)


def check(
    cards: Annotated[list[Path] | None, Argument(metavar="CARD…", help=CARDS)] = None,
    site: Annotated[Path | None, Folder(help="A site: recompute its numbers from the cards that it offers.")] = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Check cards and sites: intact cards, recomputed scores, no card twice, no two systems of one name on a leaderboard.

    With --site, every number in board.json is recomputed from the cards that the site offers. Every problem is listed;
    exit status 1 if there is any.

    Example: [bold]hyperacuity board check cards/*.card[/bold]

    Example: [bold]hyperacuity board check --site site[/bold]
    """
    if not cards and site is None:
        raise UsageError("nothing to check: name cards, or a site (--site DIR)")
    from hyperacuity.board import card_files, check_cards, check_site
    from hyperacuity.report.pages import mapper

    each = mapper(workers, progress=common.messages.is_terminal)
    checks = check_cards(card_files(cards), each) if cards else []
    problems = [f"{one.path}: {problem}" for one in checks for problem in one.problems]
    wrong_site = [] if site is None else check_site(site, each)
    for problem in [*problems, *wrong_site]:
        common.messages.print(f"[red]wrong:[/] {escape(printable(problem))}")
    if json:
        rows = [{"card": one.path, **{k: v for k, v in vars(one).items() if k != "path"}} for one in checks]
        common.print_json({"sound": not (problems or wrong_site), "cards": rows, "site": wrong_site})
    else:
        _show(checks)
        if site is not None and not wrong_site:
            common.results.print(f"{site}: every number is what its cards give", markup=False)
    raise typer.Exit(1 if problems or wrong_site else 0)


def _show(checks: Sequence[CheckedCard]) -> None:
    from hyperacuity.evaluation.export import new_table

    if not checks:
        return
    table = new_table("card", "system", "task", right=("images", "score", "sound"))
    for one in checks:
        cells = (str(one.path), one.system or "–", one.task or "–", str(one.images or "–"), one.score or "–")
        table.add_row(*(escape(printable(cell)) for cell in cells), "yes" if one.sound else "no")
    common.results.print(table)
    common.results.print(f"{sum(one.sound for one in checks)} of {len(checks)} sound", markup=False)
