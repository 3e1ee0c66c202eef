"""Cards as a static site: no server, opened from disk or put anywhere; nothing in it is fetched from anywhere else.

====================  ===============================================================================
``index.html``        a leaderboard each in a sentence, and why they are not one
``boards/ID.html``    a leaderboard; ``ID-images.html`` its images, the hardest first
``systems/ID.html``   a system, by its card's digest
``images/ID.html``    an image
``cards/ID.card``     the cards themselves
``submit.html``       how to submit a result
``board.json``        everything as JSON (:mod:`hyperacuity.board.facts`); ``board.bib`` as BibTeX
====================  ===============================================================================

Files are named after digests. So an address stays as long as the card does, and no name of a system can lead out of the folder.
The same cards give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from hyperacuity import __version__
from hyperacuity.board import bibtex, facts, pages
from hyperacuity.board.facts import table_of
from hyperacuity.board.leaderboards import Leaderboard, make_leaderboards
from hyperacuity.board.submissions import CardProblem, Submission, read_submissions
from hyperacuity.console import printable
from hyperacuity.errors import UsageError
from hyperacuity.evaluation.export import Kind, exported
from hyperacuity.outputs import adopt_outputs, output_folder, remove_outputs, write_output
from hyperacuity.report import theme
from hyperacuity.report.pages import mapper, shared_assets
from hyperacuity.report.parts import as_json, fixed
from hyperacuity.report.sheets import sheet_of
from hyperacuity.report.sheets.engine import criteria_figures
from hyperacuity.report.sheets.sheet import Each, Figure

MARK = '<meta name="generator" content="hyperacuity board">'

TABLES: dict[Kind, str] = {"csv": "csv", "latex": "tex", "markdown": "md"}
"""The tables of a leaderboard, and how their files end."""

FOLDERS = {
    "assets": ("*.js", "*.css"),
    "boards": ("*.html", "*.json", "*.csv", "*.tex", "*.md"),
    "cards": ("*.card",),
    "images": ("*.html",),
    "systems": ("*.html",),
}
"""The folders of a site, and the files that are written to each."""

Page = tuple[str, bytes]
"""A file of the site, by its path in it."""


@dataclass(frozen=True)
class WrittenBoard:
    """A written site: the front page, the leaderboards, and what is wrong with cards, fatal (left out) or not."""

    page: Path
    boards: tuple[Leaderboard, ...]
    problems: tuple[CardProblem, ...]


def write_board(
    cards: Sequence[Path], out: Path, *, title: str = "", workers: int | None = None, progress: bool = True
) -> WrittenBoard:
    """Write the site of these cards.

    A folder that a board was written to before is written over; ``UsageError`` if it holds anything else, and where no card can
    be shown. Cards that cannot be read or scored are left out and named.
    """
    theme.require()
    site_folder(out)
    each = mapper(workers, progress=progress)
    submissions, problems = read_submissions(cards, each)
    boards, unscored = make_leaderboards(submissions, each)
    problems += unscored
    if not boards:
        first = f": {problems[0].sentence}" if problems else ""
        raise UsageError(f"there is no card to show{first}")
    _clear(out)
    shown = [one.submission for board in boards for one in board.contenders]
    files = _files(boards, shown, title, mapper(1, progress=progress))
    count = sum(len(board.images) + 2 * len(board.contenders) + 3 for board in boards) + 4 + len(_assets())
    console = Console(stderr=True)
    quiet = not (progress and console.is_terminal)
    for path, data in track(files, "pages", count, console=console, transient=True, disable=quiet):
        write_output(out / path, data)
    return WrittenBoard(out / "index.html", tuple(boards), tuple(problems))


def site_folder(out: Path) -> Path:
    """The folder of a site, created if missing. ``UsageError`` where it holds something else, or cannot be written to."""
    page = out / "index.html"
    if out.is_dir() and any(out.iterdir()):
        head = page.read_text(encoding="utf-8", errors="replace")[:2000] if page.is_file() else ""
        if MARK not in head:
            raise UsageError(f"{out} holds something else than a board: name a new or an empty folder")
    return output_folder(out)


def _clear(out: Path) -> None:
    """Remove what an earlier board wrote, so that none of its pages linger; other files stay."""
    for folder in (out / name for name in FOLDERS):
        if folder.is_symlink():
            raise UsageError(f"{folder}: expected a folder of the board")
        output_folder(folder)
    ours = [f"{name}/{pattern}" for name, patterns in FOLDERS.items() for pattern in patterns]
    adopt_outputs(out, "index.html", "submit.html", "board.json", "board.bib", *ours)
    remove_outputs(out, *ours)


def _files(boards: Sequence[Leaderboard], shown: Sequence[Submission], title: str, each: Each) -> Iterator[Page]:
    """Every file of the site; first the one by which a board is recognised, should the rest fail."""
    render = _renderer(title or "Leaderboards")
    yield render("index.html", **pages.index(boards))
    yield render("submit.html", **pages.submit(boards))
    for name, text in _assets().items():
        yield f"assets/{name}", text.encode()
    for submission in shown:
        yield f"cards/{submission.id}.card", submission.data
    yield "board.json", facts.as_json(facts.board_facts(boards))
    entries = {one.id: bibtex.entry_of(one.card, one.id[:6]) for one in shown}
    yield "board.bib", bibtex.library(entries.values()).encode("utf-8", "backslashreplace")
    drawn = each("charts", _charts, boards)
    for board, charts in zip(boards, drawn, strict=True):
        yield f"boards/{board.id}.json", facts.as_json(facts.image_facts(board))
        for kind, ending in TABLES.items():
            yield f"boards/{board.id}.{ending}", exported(table_of(board), kind).encode("utf-8", "backslashreplace")
        with theme.one_page(one.label for one in board.contenders):
            yield render(f"boards/{board.id}.html", "leaderboard", **pages.leaderboard(board, boards), **charts)
            yield render(f"boards/{board.id}-images.html", "images", **pages.images(board))
        for one in board.contenders:
            of_system = pages.system(board, one, boards)
            yield render(f"systems/{one.id}.html", "system", **of_system, bibtex=entries[one.id])
        for path, content in pages.every_image(board):
            yield render(path, "image", **content)


def _charts(board: Leaderboard) -> dict[str, Any]:
    """The charts of a leaderboard: what the page says of them, and what draws them."""
    from markupsafe import Markup

    figures, charts, undrawn = [], [], ""
    with theme.one_page(one.label for one in board.contenders):
        try:
            for figure in _figures_of(board):
                charts.append({"spec": figure.draw(True).to_dict(), "fluid": figure.fluid})
                figures.append(figure)
        except Exception as error:  # forged tallies may give scores and yet no curve
            undrawn = f"Not all charts can be drawn from these cards ({printable(str(error))})."
    shown = [{"systems": [one.label for one in board.contenders], "charts": charts}]
    return {"figures": figures, "undrawn": undrawn, "facts": Markup(as_json(shown))}  # noqa: S704 (JSON in which < is escaped)


def _figures_of(board: Leaderboard) -> list[Figure]:
    """The charts of the best systems."""
    best = board.contenders[: pages.MOST_CURVES]
    tallies = {one.label: one.card.tallies for one in best}
    found: list[Figure] = []
    if draw := sheet_of(board.signature.task).curves:
        found += draw({label: board.task.collect(dict(of), resamples=0) for label, of in tallies.items()})
    return [*found, *criteria_figures(board.columns, [one.line for one in best], tallies)]


def _renderer(title: str) -> Any:
    """Make what fills a template: ``render(path, kind, **content)`` gives a file. Everything that cards say is escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader("hyperacuity.board"), PackageLoader("hyperacuity.report")]
        ),  # headings are shared
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["number"] = fixed
    environment.filters["along"] = pages.along
    environment.globals.update(board_title=title, version=__version__, mark=Markup(MARK), markers=theme.MARKERS)  # noqa: S704

    def render(path: str, kind: str = "", **content: Any) -> Page:
        template = environment.get_template(f"{kind or Path(path).stem}.html.j2")
        html = template.render(root="../" * path.count("/"), path=path, **content)
        return path, html.encode("utf-8", "backslashreplace")

    return render


def _assets() -> dict[str, str]:
    from importlib.resources import files

    style = (files("hyperacuity.board") / "templates" / "board.css").read_text(encoding="utf-8")
    return {**shared_assets(), "board.css": style}
