"""Options that several commands share, so that they are called and explained alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Systems = Annotated[
    list[str] | None, typer.Option(metavar="NAME=DIR", help="A further system on the same truth; may be repeated.")
]
Human = Annotated[
    bool, typer.Option("--human", help="Also score each annotator against the others: how well do people do?")
]
AllPairs = Annotated[
    bool, typer.Option("--all-pairs", help="Test all pairs of systems instead of each against the best.")
]
Data = Annotated[Path | None, typer.Option(metavar="DIR", help="Where a known data set lies.")]
Split = Annotated[str | None, typer.Option(help="Part of a known data set: train, val or test.")]
Run = Annotated[Path | None, typer.Option(metavar="DIR", help="Keep what is computed here, and resume what is there.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Threads (default: one per processor).")]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Evaluate on a Dask cluster: tcp://host:8786, or local:4 for four processes here."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
