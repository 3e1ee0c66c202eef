"""Charts as files for a paper: PDF, SVG and PNG of one column's width, the signature in small type below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hyperacuity.errors import UsageError
from hyperacuity.report import theme
from hyperacuity.report.sheets.sheet import Sheet

KINDS = ("pdf", "svg", "png")


def write_figures(sheets: Sequence[Sheet], folder: Path) -> list[Path]:
    """Write every chart of the sheets, each as PDF, SVG and PNG; returns the files' paths.

    Files are named after the task and the chart. A second protocol of the same task adds its number: ``boundary-2-…``.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from error
    paths = []
    seen: dict[str, int] = {}
    for sheet in sheets:
        seen[sheet.grid.task] = seen.get(sheet.grid.task, 0) + 1
        number = seen[sheet.grid.task]
        task = sheet.grid.task if number == 1 else f"{sheet.grid.task}-{number}"
        paths += [
            theme.save(figure.draw(False), folder / f"{task}-{figure.name}.{kind}", signature=sheet.grid.signature)
            for figure in sheet.figures
            for kind in KINDS
        ]
    return paths
