"""The ledger as Markdown: one page, and the tables in the pages of a checkout."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from hyperacuity.errors import UsageError
from hyperacuity_papers.common.claims import LedgerRow, Verdict

MARK = "<!-- written by hyperacuity study all; do not edit below -->"
"""The line of a page below which the ledger is written."""

FILE = re.compile(r"\.(png|csv)\b")
HEADINGS = ("where", "what the paper says", "theirs", "ours", "", "command")
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
MARKS: Mapping[Verdict, str] = {"holds": "holds", "fails": "**fails**", "not comparable": "n/c", "not run": "not run"}


def counted(rows: Sequence[LedgerRow]) -> dict[Verdict, int]:
    """Count the rows of each verdict."""
    counts = Counter(row.verdict for row in rows)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def measured(rows: Sequence[LedgerRow]) -> float:
    """The share of rows that have a number of ours, be it within a text; 1 of no rows."""
    return sum(has_number(row.ours) for row in rows) / len(rows) if rows else 1.0


def has_number(text: str) -> bool:
    """Return True if a text has a number; the digits of a file's name do not count.

    >>> has_number("fg 0.338"), has_number("as drawn"), has_number("figure1.png: as drawn")
    (True, False, False)
    """
    return any(any(map(str.isdigit, word)) for word in text.split() if not FILE.search(word))


def summary_rows(papers: Mapping[str, Sequence[LedgerRow]]) -> list[list[str]]:
    """Count the verdicts of each paper, a row each, and those of all papers."""
    every = [row for rows in papers.values() for row in rows]
    return [
        [name, *(str(count) for count in counted(rows).values()), f"{100 * measured(rows):.0f} %"]
        for name, rows in {**papers, "all": every}.items()
    ]


def ledger_page(
    papers: Mapping[str, Sequence[LedgerRow]],
    titles: Mapping[str, str],
    notes: Sequence[str] = (),
    of_papers: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The ledger in Markdown.

    ``notes`` are sentences about the run: on what data, and what was left out; ``of_papers`` are those of each paper's study.
    """
    parts = [
        "# The five papers, theirs beside ours",
        "Written by `hyperacuity study all`; no row is filled in by hand. *holds*: found here as the paper says. **fails**: not "
        "found here; that is a finding. *n/c*: not comparable, for the reason below our number. An equation is tried on a small "
        "example that was worked out by hand from the paper.",
        summary_table(papers, notes),
    ]
    for name, rows in papers.items():
        parts += [f"## {titles[name]}", paper_table(rows, (of_papers or {}).get(name, ()))]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary_table(papers: Mapping[str, Sequence[LedgerRow]], notes: Sequence[str] = ()) -> str:
    """Format what was run, and how many rows of each paper have which verdict."""
    table = _table(("paper", *VERDICTS, "with a number of ours"), summary_rows(papers))
    return "\n\n".join(filter(None, [_listed(notes), table]))


def paper_table(rows: Sequence[LedgerRow], notes: Sequence[str] = ()) -> str:
    """Format a paper's rows below the notes of its study."""
    return "\n\n".join(filter(None, [_listed(notes), _table(HEADINGS, [_cells(row) for row in rows])]))


def checkout_pages(checkout: Path) -> dict[str, Path]:
    """Find the pages of a checkout that show the ledger: that of each paper by its name, and the summary under ``""``.

    ``UsageError`` where the folder is no checkout.
    """
    folder = checkout / "papers" / "hyperacuity_papers"
    pages = {"": checkout / "docs" / "papers.md"} | {path.parent.name: path for path in folder.glob("*/README.md")}
    for page in pages.values():
        if not page.is_file() or MARK not in page.read_text(encoding="utf-8"):
            raise UsageError(f"{page}: expected a page with the line {MARK}")
    return pages


def written_below(page: str, text: str) -> str:
    """Replace what stands below the mark of a page.

    >>> print(written_below(f"# Page\\n\\n{MARK}\\n\\nold", "new"))
    # Page
    <BLANKLINE>
    <!-- written by hyperacuity study all; do not edit below -->
    <BLANKLINE>
    new
    <BLANKLINE>
    """
    return f"{page.partition(MARK)[0]}{MARK}\n\n{text}\n"


def _listed(notes: Sequence[str]) -> str:
    return "\n".join(f"- {note}" for note in notes)


def _cells(row: LedgerRow) -> list[str]:
    reason = f"<br>*{row.because}*" if row.because else ""
    return [
        row.where,
        row.says,
        row.theirs or "–",
        f"{row.ours or '–'}{reason}",
        MARKS[row.verdict],
        f"`{row.command}`",
    ]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in line) + " |" for line in lines
    )
