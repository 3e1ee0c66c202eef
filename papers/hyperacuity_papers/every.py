"""``hyperacuity study all``: every paper's study in one go, and the ledger of claims and results."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hyperacuity.cli import common, output
from hyperacuity.cli.options import Folder, Json, Workers
from hyperacuity.cli.output import Figures, Out, finish, print_line, print_table
from hyperacuity.errors import HyperacuityError
from hyperacuity_papers.common.ledger import write_ledger

if TYPE_CHECKING:
    from hyperacuity.run.many import Failures
    from hyperacuity_papers.common.book import KeptRows
    from hyperacuity_papers.common.claims import Claim, LedgerRow, PaperFindings

PAPERS = ("palou2014", "maire2016", "cabezas2011", "hou2013", "abdulrahman2017")

STRICT = ("palou2014", "maire2016", "hou2013")
"""Studies that stop where a folder is named that lacks their data, unless scenes may stand in."""

SEEING = ("palou2014", "maire2016")
"""Studies of the same photographs, which share what systems see in them."""


@dataclass(frozen=True)
class PaperStudy:
    """A paper: what conducts its study, and what it claims."""

    name: str
    title: str
    conduct: Callable[..., PaperFindings]
    claims: Sequence[Claim[Any]]


def paper(name: str) -> PaperStudy:
    """The paper of this name; imported when it is asked for."""
    from hyperacuity_papers.common.claims import read_claims

    told = read_claims(name)
    conduct = import_module(f"hyperacuity_papers.{name}.command").conduct
    return PaperStudy(name, told.title, partial(conduct, stand_in=True) if name in STRICT else conduct, told.claims)


def study_all(
    out: Out,
    data: Annotated[Path | None, Folder(help="Folder of the data sets.")] = None,
    checkout: Annotated[
        Path | None, Folder(help="Also write the tables into the pages of this checkout of the sources.")
    ] = None,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run the studies of all five papers, and compare each paper's claims with the results.

    Every equation, algorithm, table, figure and claim has a row with a verdict: holds, fails, or not comparable and why. The
    ledger is OUT/papers.md and papers.csv; each paper's tables and figures are in OUT/PAPER. Where data are missing the studies
    run on scenes; what was left out is listed, and rows that need data say so. A second run goes on where the first was stopped.

    Example: [bold]hyperacuity study all --out papers[/bold]

    Example: [bold]hyperacuity study all --data datasets --out papers[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity.outputs import write_bytes, write_output
    from hyperacuity.run.many import write_csv
    from hyperacuity_papers.common import book, page

    pages = page.checkout_pages(checkout) if checkout else {}
    key = book.ledger_key(data, figures=figures)
    papers = [paper(name) for name in PAPERS]
    results: dict[str, KeptRows] = {}
    failures: list[tuple[str, str]] = []
    for one in papers:
        place = common.output_folder(folder / one.name)
        try:
            shared = {"sights": folder / "sights"} if one.name in SEEING else {}
            results[one.name], failed = _rows_of(one, place, key, data=data, figures=figures, workers=workers, **shared)
            failures += [(f"{one.name}: {item}", reason) for item, reason in failed]
        except HyperacuityError as error:
            failures.append((one.name, str(error)))
    rows = {name: of.rows for name, of in results.items()}
    notes, of_papers = _notes(data), {name: of.notes for name, of in results.items()}
    text = page.ledger_page(rows, {one.name: one.title for one in papers}, notes, of_papers)
    write_output(folder / "papers.md", text.encode())
    tables = {name: page.paper_table(of, of_papers[name]) for name, of in rows.items()}
    tables[""] = page.summary_table(rows, notes)
    for name in pages.keys() & tables:
        write_bytes(pages[name], page.written_below(pages[name].read_text(encoding="utf-8"), tables[name]).encode())
    if rows:
        write_csv(folder / "papers.csv", [{"paper": name, **vars(row)} for name, of in rows.items() for row in of])
    notes += [f"{name}: {note}" for name, of in of_papers.items() for note in of]
    told = {"papers": {name: [vars(row) for row in of] for name, of in rows.items()}, "notes": notes, "out": folder}
    finish(told, lambda: _show(rows, notes, folder), json=json, failures=failures)


def _rows_of(one: PaperStudy, folder: Path, key: str, **options: Any) -> tuple[KeptRows, Failures]:
    """Return a paper's rows and failures: the rows cached in its folder, or else those of its study, which is run.

    Rows of a study with failures are not cached, so that the next run tries again.
    """
    from hyperacuity_papers.common import book

    if (before := book.kept_rows(folder, key)) is not None:
        common.messages.print(f"{one.name}: kept from before ({before.seconds:.0f} s)", markup=False)
        return before, []
    common.messages.print(f"[bold]{one.name}[/]: {one.title}")
    began = time.monotonic()
    study = one.conduct(folder, **options)
    rows = write_ledger(folder, one.claims, study)
    results = book.KeptRows(rows, list(study.notes), time.monotonic() - began)
    if not study.failures:
        book.keep(folder, key, results)
    common.messages.print(f"{one.name}: {len(rows)} rows in {results.seconds:.0f} s", markup=False)
    return results, list(study.failures)


def _notes(data: Path | None) -> list[str]:
    """Name the data on which the studies ran, and what was left out."""
    from hyperacuity_papers.common.book import data_at_hand

    folders = data_at_hand(data)
    here = [name for name, where in folders.items() if where is not None]
    gone = [name for name, where in folders.items() if where is None]
    notes = [f"Data: {', '.join([*here, 'scenes made for the purpose'])}."]
    if gone:
        notes.append(f"Left out, for want of data: what needs {', '.join(gone)} (see [Data sets](datasets.md)).")
    return notes


def _show(rows: dict[str, list[LedgerRow]], notes: Sequence[str], folder: Path) -> None:
    from hyperacuity_papers.common.page import VERDICTS, summary_rows

    failing = [
        (name, row.where, row.says, row.because) for name, of in rows.items() for row in of if row.verdict == "fails"
    ]
    if failing:
        print_table(("fails", "", "what the paper says", "found here"), failing, left=(0, 1, 2, 3))
        print_line("")
    print_table(("paper", *VERDICTS, "with a number of ours"), summary_rows(rows))
    print_line("".join(f"\n{note}" for note in notes))
    print_line(f"\n{folder / 'papers.md'}")
