"""The end of every paper's study: the paper's claims next to our results, written and printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hyperacuity.cli.output import print_line, print_table

if TYPE_CHECKING:
    from hyperacuity_papers.common.claims import Claim, LedgerRow, Study


def write_ledger(folder: Path, claims: Sequence[Claim[Study]], study: Study) -> list[LedgerRow]:
    """Find our side of a paper's claims, and write ledger.csv."""
    from hyperacuity.run.many import write_csv
    from hyperacuity_papers.common.claims import entries

    rows = entries(claims, study)
    write_csv(folder / "ledger.csv", [vars(row) for row in rows])
    return rows


def print_ledger(rows: Sequence[LedgerRow]) -> None:
    """A line per claim, the reason of each failure below, and how many hold."""
    from hyperacuity_papers.common.page import counted

    cells = [(row.where, row.says, row.theirs or "–", row.ours or "–", row.verdict) for row in rows]
    print_table(("where", "what the paper says", "theirs", "ours", ""), cells, left=(0, 1, 2, 3, 4))
    for row in rows:
        if row.because and row.verdict != "holds":
            print_line(f"{row.where}, {row.verdict}: {row.because}")
    print_line(", ".join(f"{count} {verdict}" for verdict, count in counted(rows).items() if count))
