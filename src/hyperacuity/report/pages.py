"""A report as a folder that opens from disk, or as one HTML file: nothing in it is fetched from anywhere else.

The front page is ``index.html``; of several tasks, each has a page of its own beside it. Script, style and charts library lie in
``assets``. What the viewer shows of an image is loaded when the image is opened, as a script in ``data`` that hands over one
object (a page opened from disk may load scripts, but may not fetch files).
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hyperacuity import __version__
from hyperacuity.errors import UsageError
from hyperacuity.machine import cache_base
from hyperacuity.outputs import (
    adopt_outputs,
    check_output,
    output_folder,
    output_path,
    remove_outputs,
    write_bytes,
    write_output,
)
from hyperacuity.report import theme
from hyperacuity.report.front import cards, conclusion, conclusion_targets, title_of
from hyperacuity.report.parts import Payload, as_json, contents_of, fixed, linked, parts_of, reproduction
from hyperacuity.report.payloads import make_payloads
from hyperacuity.report.sheets import make_sheet
from hyperacuity.report.sheets.sheet import Each, Sheet, protocol_differences, systems_of
from hyperacuity.run import Cell
from hyperacuity.run.fingerprint import describe_changes, with_changes
from hyperacuity.run.gather import Grid, gather
from hyperacuity.run.many import each
from hyperacuity.tally import Signature

if TYPE_CHECKING:
    from jinja2 import Environment

A = TypeVar("A")
B = TypeVar("B")


def write_report(
    run_folders: Sequence[Path],
    out: Path,
    *,
    single_file: bool = False,
    viewer: bool = True,
    pictures: Path | None = None,
    title: str = "",
    signatures: Sequence[Signature] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Path:
    """Write the report of one or more runs; returns the path of its front page.

    Systems that were run under the same protocol share a leaderboard, even from different folders. Files that have moved since
    are missing from the viewer only: scores need nothing but the run. A folder that a report was written to before is
    written over; ``UsageError`` if it holds anything else.

    Parameters
    ----------
    run_folders
        What ``--run`` named, or :func:`~hyperacuity.run.open_store` wrote.
    out
        Folder of the report, or with ``single_file`` the HTML file (``report.html`` in it, if it is a folder).
    viewer
        Whether images can be opened; without, the report is small and made at once.
    pictures
        Folder of the photographs, for runs that do not name them; files are paired with images by their stem.
    title
        Heading of the page.
    signatures
        Those of the protocols to show; by default all that the runs hold.
    """
    page_path(out, single_file=single_file)  # before hours of work go into it
    how: Any = {"workers": workers, "progress": progress}
    sheets = make_sheets(run_folders, pictures=pictures, signatures=signatures, **how)
    return write_pages(sheets, out, single_file=single_file, viewer=viewer, title=title, **how)


def make_sheets(
    run_folders: Sequence[Path],
    *,
    pictures: Path | None = None,
    signatures: Sequence[Signature] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> list[Sheet]:
    """Make a sheet per protocol of runs: the input of pages, figures and tables.

    ``signatures`` chooses among the protocols of the runs.
    """
    theme.require()
    map_each = mapper(workers, progress=progress)
    grids = [grid for grid in gather(run_folders) if signatures is None or grid.signature in signatures]
    sheets = []
    for grid in grids:
        sheet = make_sheet(with_changes(pictured(grid, pictures), map_each), map_each)
        changes = describe_changes(sheet.grid)  # files that are no longer those that were evaluated
        sheets.append(replace(sheet, notes=(changes, *sheet.notes)) if changes else sheet)
    return with_distinct_titles(sheets)


def with_distinct_titles(sheets: Sequence[Sheet]) -> list[Sheet]:
    """The sheets with what their protocols differ in behind titles that several have."""
    titled = []
    for sheet in sheets:
        twins = [other.grid.signature for other in sheets if other.title == sheet.title and other is not sheet]
        more = protocol_differences(sheet.grid.signature, twins)
        titled.append(replace(sheet, title=f"{sheet.title} · {more}") if more else sheet)
    return titled


def write_pages(
    sheets: Sequence[Sheet],
    out: Path,
    *,
    single_file: bool = False,
    viewer: bool = True,
    title: str = "",
    workers: int | None = None,
    progress: bool = True,
) -> Path:
    """Write sheets as a page; see :func:`write_report`."""
    page = page_path(out, single_file=single_file)
    if not single_file:
        _clear(page.parent)
        for name, text in _assets().items():
            write_output(page.parent / "assets" / name, text.encode())
    folder = None if single_file else page.parent / "data"
    payloads = make_payloads(sheets, folder, mapper(workers, progress=progress)) if viewer else {}
    _write(sheets, payloads, page, title or title_of(sheets), inline=single_file)
    return page


def page_path(out: Path, *, single_file: bool) -> Path:
    """Path of the page. ``UsageError`` where it cannot be written, or would overwrite something else."""
    page = out / "index.html"
    if single_file:
        page = out if out.suffix.lower() in (".html", ".htm") else out / "report.html"
    elif out.is_dir() and any(path.name != RUN for path in out.iterdir()) and not _is_ours(out / "index.html"):
        raise UsageError(f"{out} holds something else than a report: name a new or an empty folder")
    if single_file:
        return output_path(page, mark=MARK.encode())
    output_folder(page.parent)
    return page


RUN = "run"
"""Folder in which a report may keep the run that it shows."""

MARK = '<meta name="generator" content="hyperacuity report">'


def _is_ours(page: Path) -> bool:
    return page.is_file() and MARK in page.read_text(encoding="utf-8", errors="replace")[:2000]


def _clear(folder: Path) -> None:
    """Remove what an earlier report wrote, so that none of its pages and images linger; other files stay."""
    pages = [page.name for page in folder.glob("*.html") if _is_ours(page)]
    ours = (*pages, "data/*.js", "data/*.webp", *(f"assets/{name}" for name in _assets()))
    adopt_outputs(folder, "index.html", *ours)
    remove_outputs(folder, *ours)
    for name in ("data", "assets"):
        output_folder(folder / name)


def mapper(workers: int | None = None, *, progress: bool = True) -> Each:
    """Map functions over items in threads, with a bar on a terminal."""

    def map_each(title: str, function: Callable[[A], B], items: Iterable[A]) -> list[B]:
        return list(each(function, items, workers, title, progress=progress))

    return map_each


def pictured(grid: Grid, folder: Path | None) -> Grid:
    """The grid with photographs for cells that name none: from a folder, or else from ``images`` beside the truths' folder."""

    def with_picture(cell: Cell) -> Cell:
        if cell.picture is not None or (folder is None and not cell.truths):
            return cell
        folders = _photographs(cell.truths[0]) if folder is None else [folder]
        return replace(cell, picture=next(filter(None, (_by_stem(one).get(cell.image) for one in folders)), None))

    return replace(grid, complete=with_picture)


def _photographs(truth: Path) -> list[Path]:
    """Folders of photographs: ``images`` next to the folder of a truth, or ``images/test`` where that folder is ``…/test``."""
    home = truth.parent
    folders = [home.parent / "images", home.parent.parent / "images" / home.name]
    return [folder for folder in folders if folder.is_dir()]


@functools.lru_cache(maxsize=8)
def _by_stem(folder: Path) -> dict[str, Path]:
    from hyperacuity.data.datasets.pairing import files_in, stem_of

    return {stem_of(path): path for path in files_in(folder, required=False)}


def _write(sheets: Sequence[Sheet], payloads: Mapping[str, Payload], page: Path, title: str, *, inline: bool) -> None:
    """Write the front page, and of several sheets a page each; in one file, they are sections of which one is shown."""
    with theme.one_page(systems_of(sheets)):
        parts = parts_of(sheets, payloads, several_files=not inline and len(sheets) > 1)
        common = {
            "title": title,
            "version": __version__,
            "parts": parts,
            "inline": inline,
            "cards": cards(parts) if len(parts) > 1 else [],
            "conclusion": conclusion(sheets),
            "conclusion_targets": conclusion_targets(parts),
            "reproduction": reproduction(sheets),
            "contents": contents_of(parts),
        }
    several = len(parts) > 1
    documents: dict[str, list[dict[str, Any]]] = {page.name: parts if inline or not several else []}
    documents |= {part["file"]: [part] for part in parts if part["file"]}
    for name, shown in documents.items():
        html = _html(common, shown, payloads, front=several and name == page.name)
        content = html.encode("utf-8", "backslashreplace")
        if inline:
            check_output(page, mark=MARK.encode())
            write_bytes(page, content)
        else:
            write_output(page.parent / name, content)


def _html(
    common: Mapping[str, Any], shown: Sequence[dict[str, Any]], payloads: Mapping[str, Payload], *, front: bool
) -> str:
    """A document that shows these parts, and the front page where it is asked for."""
    from markupsafe import Markup

    inline = common["inline"]
    facts = [part["facts"] if part in shown else None for part in common["parts"]]
    template = templates().get_template("page.html.j2")
    return template.render(
        dict(common)
        | {
            "shown": shown,
            "front": front,
            "assets": {name: Markup(inline_text(text)) for name, text in _assets().items()} if inline else {},  # noqa: S704 (ours)
            "payloads": {key: Markup(text) for key, (text, _) in payloads.items()} if inline else {},  # noqa: S704
            "facts": Markup(as_json(facts)),  # noqa: S704 (JSON in which < is escaped)
            "contents": Markup(as_json(common["contents"])),  # noqa: S704
            "mark": Markup(MARK),  # noqa: S704 (ours)
        }
    )


@functools.cache
def templates() -> Environment:
    """The templates of reports, with the filters that they use."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("hyperacuity.report")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": fixed, "linked": linked}
    return environment


def inline_text(text: str) -> str:
    """Script or style that may stand inside a page."""
    return text.replace("</script", "<\\/script").replace("</style", "<\\/style").replace("<!--", "<\\!--")


SHARED = ("shared", "charts", "tables")
"""The parts of every page's script, in their order."""

SCRIPTS = (*SHARED, "page", "images", "readout", "viewer", "search", "report")
"""The parts of a report's script; they share one scope."""


def _charts_library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script. Putting it together takes two seconds, so it is kept beside the kernels."""
    from importlib.metadata import version

    import altair as alt
    import vl_convert

    wanted = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
    kept = cache_base().with_name("charts") / f"vega-{wanted}-by-{version('vl-convert-python')}.js"
    try:
        return kept.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=wanted)
    with contextlib.suppress(OSError, UsageError):  # where nothing can be kept, the next process does it again
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(kept, script.encode())
    return script


@functools.cache
def shared_assets() -> dict[str, str]:
    """Files that pages of reports and boards share, by name: the charts' library, a script, a style."""
    return {"vega.js": _charts_library(), "page.js": script_of(SHARED), "house.css": template("house.css")}


def _assets() -> dict[str, str]:
    """The report's own: its script and style hold what is shared."""
    shared = shared_assets()
    script = f"var hyperacuity = {script_of(SCRIPTS, 'return { put };')}"
    return {
        "vega.js": shared["vega.js"],
        "report.js": script,
        "report.css": shared["house.css"] + template("report.css"),
    }


def script_of(parts: Sequence[str], last: str = "") -> str:
    body = "".join(template(f"{name}.js") for name in parts)
    return f'(() => {{\n"use strict";\n{body}\n{last}\n}})();\n'


def template(name: str) -> str:
    from importlib.resources import files

    return (files("hyperacuity.report") / "templates" / name).read_text(encoding="utf-8")
