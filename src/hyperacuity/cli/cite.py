"""``hyperacuity cite``: the papers behind a benchmark, as BibTeX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument


def cite(
    what: Annotated[
        list[str],
        Argument(metavar="WHAT…", help="Run folders, benchmarks (boundary), protocols (nyud), or signatures."),
    ],
) -> None:
    """Print the references of benchmarks and protocols as BibTeX, each once.

    Example: [bold]hyperacuity cite runs/boundary[/bold]

    Example: [bold]hyperacuity cite boundary "masks davis2017" > references.bib[/bold]
    """
    from hyperacuity.evaluation.references import bibtex, keys_of, keys_of_run

    keys = [key for one in what for key in (keys_of_run(Path(one)) if Path(one).is_dir() else keys_of(one))]
    typer.echo(bibtex(keys), nl=False)
