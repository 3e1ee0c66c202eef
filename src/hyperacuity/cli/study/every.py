"""``hyperacuity study all``: every paper's study in one go, and the ledger of theirs beside ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from hyperacuity.cli import common, output
from hyperacuity.cli.options import Folder, Json, Workers
from hyperacuity.cli.output import Figures, Out, finish, print_line, print_table
from hyperacuity.cli.study.ledger import write_ledger
from hyperacuity.errors import HyperacuityError

if TYPE_CHECKING:
    from hyperacuity.studies.ledger import Claim, LedgerRow
    from hyperacuity.studies.running import Failures

PAPERS = ("palou2014", "maire2016", "cabezas2011", "hou2013", "abdulrahman2017")


@dataclass(frozen=True)
class PaperStudy:
    """A paper: what conducts its study, and what it claims."""

    name: str
    title: str
    conduct: Callable[..., Any]
    claims: Sequence[Claim[Any]]


def paper(name: str) -> PaperStudy:
    """The paper of this name; imported when it is asked for."""
    ledger = import_module(f"hyperacuity.studies.ledger.{name}")
    return PaperStudy(name, ledger.TITLE, import_module(f"hyperacuity.cli.study.{name}").conduct, ledger.CLAIMS)


def study_all(
    out: Out,
    data: Annotated[Path | None, Folder(help="Folder of the data sets.")] = None,
    page: Annotated[
        Path | None, Option(metavar="FILE", help="Also write the ledger here (default: only OUT/papers.md).")
    ] = None,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run the studies of all five papers, and write what each paper says beside what is found here.

    Every equation, algorithm, table, figure and claim has a row with a verdict: holds, fails, or not comparable and why. The
    ledger is OUT/papers.md and papers.csv; each paper's tables and figures are in OUT/PAPER. Without data the studies run on
    scenes, and rows that need data say so. A second run goes on where the first was stopped.

    Example: [bold]hyperacuity study all --out papers[/bold]

    Example: [bold]hyperacuity study all --data datasets --out papers[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity.data.files import write_bytes
    from hyperacuity.studies.ledger import book
    from hyperacuity.studies.ledger.page import ledger_page
    from hyperacuity.studies.running import write_csv

    key = book.ledger_key(data, figures=figures)
    papers = [paper(name) for name in PAPERS]
    rows: dict[str, list[LedgerRow]] = {}
    failures: list[tuple[str, str]] = []
    for one in papers:
        place = common.output_folder(folder / one.name)
        try:
            rows[one.name], failed = _rows_of(one, place, key, data=data, figures=figures, workers=workers)
            failures += [(f"{one.name}: {item}", reason) for item, reason in failed]
        except HyperacuityError as error:
            failures.append((one.name, str(error)))
    text = ledger_page(rows, {one.name: one.title for one in papers}, _notes(data))
    for path in (folder / "papers.md", *([page] if page else [])):
        write_bytes(path, text.encode())
    if rows:
        write_csv(folder / "papers.csv", [{"paper": name, **vars(row)} for name, of in rows.items() for row in of])
    found = {"papers": {name: [vars(row) for row in of] for name, of in rows.items()}, "out": folder}
    finish(found, lambda: _show(rows, folder), json=json, failures=failures)


def _rows_of(one: PaperStudy, folder: Path, key: str, **options: Any) -> tuple[list[LedgerRow], Failures]:
    """A paper's rows, and what failed: the rows kept in its folder, or else of its study, which is conducted.

    Rows of a study in which something failed are not kept, so that the next run tries again.
    """
    from hyperacuity.studies.ledger import book

    if (before := book.kept_rows(folder, key)) is not None:
        rows, seconds = before
        common.messages.print(f"{one.name}: kept from before ({seconds:.0f} s)", markup=False)
        return rows, []
    common.messages.print(f"[bold]{one.name}[/]: {one.title}")
    began = time.monotonic()
    study = one.conduct(folder, **options)
    rows, failures = write_ledger(folder, one.claims, study), list(getattr(study, "failures", []))
    seconds = time.monotonic() - began
    if not failures:
        book.keep(folder, key, rows, seconds)
    common.messages.print(f"{one.name}: {len(rows)} rows in {seconds:.0f} s", markup=False)
    return rows, failures


def _notes(data: Path | None) -> list[str]:
    """On what data the studies ran, and what was left out."""
    from hyperacuity.studies.ledger.book import data_at_hand

    found = data_at_hand(data)
    here = [name for name, where in found.items() if where is not None]
    gone = [name for name, where in found.items() if where is None]
    notes = [f"Data: {', '.join([*here, 'scenes made for the purpose'])}."]
    if gone:
        notes.append(f"Left out, for want of data: what needs {', '.join(gone)} (see [Data sets](datasets.md)).")
    return notes


def _show(rows: dict[str, list[LedgerRow]], folder: Path) -> None:
    from hyperacuity.studies.ledger.page import VERDICTS, summary_rows

    failing = [
        (name, row.where, row.says, row.because) for name, of in rows.items() for row in of if row.verdict == "fails"
    ]
    if failing:
        print_table(("fails", "", "what the paper says", "found here"), failing, left=(0, 1, 2, 3))
        print_line("")
    print_table(("paper", *VERDICTS, "with a number of ours"), summary_rows(rows))
    print_line(f"\n{folder / 'papers.md'}")
