"""Options and printing of commands that write files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer import Option

from hyperacuity.cli import common
from hyperacuity.console import printable
from hyperacuity.errors import UsageError
from hyperacuity.outputs import output_path

Out = Annotated[Path, Option("--out", help="Folder to write to; created if missing.")]
Model = Annotated[Path, Option("--out", metavar="FILE", help="The model, as JSON.")]
Weak = Annotated[str, Option(help="Consensus: pixels near other labels are left out (ignore) or negative.")]
Seed = Annotated[int, Option(min=0, help="Seed of the pixels that are learned from.")]
Reserved = Annotated[
    bool, Option("--allow-reserved", help="Also learn from BSDS500's images that are reserved for measuring.")
]
Figures = Annotated[bool, Option("--figures/--no-figures", help="Draw the figures.")]


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, left: Sequence[int] = (0,)) -> None:
    """Print a table; columns are aligned right, except those whose index is in ``left``."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="left" if index in left else "right")
    for row in rows:
        table.add_row(*(escape(printable(cell)) for cell in row))
    common.results.print(table)


def print_line(text: str) -> None:
    """Print lines of text as they are, without markup."""
    common.results.print("\n".join(map(printable, text.split("\n"))), markup=False)


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "map"), plural(2, "map")
    ('1 map', '2 maps')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def figure_folder(path: Path, *, figures: bool = True) -> Path:
    """Create a folder for figures; fails at once if the packages that draw are missing."""
    if figures:
        from hyperacuity.report import theme

        theme.require()
    return common.output_folder(path)


def finish(
    summary: Mapping[str, Any], show: Callable[[], None], *, json: bool, failures: Iterable[tuple[str, str]] = ()
) -> NoReturn:
    """Print the summary as JSON or by ``show``, report failures, and exit."""
    status = common.report_failures(failures)
    if json:
        common.print_json(summary)
    else:
        show()
    raise typer.Exit(status)


def model_file(path: Path) -> Path:
    """Check a path to write a model to; creates its folder if missing."""
    if path.is_dir():
        raise UsageError(f"--out {path}: is a folder, expected the name of a file")
    return output_path(path)
