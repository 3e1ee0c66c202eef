"""A report as a folder that opens from disk, or as one HTML file: nothing in it is fetched from anywhere else.

The page is ``index.html``; its script, style and charts library lie in ``assets``. What the viewer shows of an image is loaded
when the image is opened, as a script in ``data`` that hands over one object (a page opened from disk may load scripts, but may
not fetch files).
"""

from __future__ import annotations

import base64
import functools
import json
import math
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from hyperacuity import __version__
from hyperacuity.console import output_folder
from hyperacuity.data.files import write_bytes
from hyperacuity.errors import HyperacuityError, InputError, UsageError
from hyperacuity.report import theme
from hyperacuity.report.sheets import make_sheet
from hyperacuity.report.sheets.sheet import Each, Sheet, systems_of
from hyperacuity.report.sheets.viewer import Viewer, picture_of
from hyperacuity.run import Cell
from hyperacuity.run.changes import changes_told, with_changes
from hyperacuity.run.gather import Grid, gather
from hyperacuity.studies.running import each
from hyperacuity.tally import Signature, plain

A = TypeVar("A")
B = TypeVar("B")

MOST_NAMED = 4
"""Sheets up to which a page is called after all of them."""


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
    """What runs have to say, a sheet per protocol: the input of pages, figures and tables.

    ``signatures`` chooses among the protocols of the runs.
    """
    theme.require()
    map_each = mapper(workers, progress=progress)
    grids = [grid for grid in gather(run_folders) if signatures is None or grid.signature in signatures]
    looked_at = [with_changes(_pictured(grid, pictures), map_each) for grid in grids]
    return told_apart([_warned(make_sheet(grid, map_each)) for grid in looked_at])


def _warned(sheet: Sheet) -> Sheet:
    """The sheet with a note that files have changed since they were evaluated, where they have."""
    told = changes_told(sheet.grid)
    return replace(sheet, notes=(told, *sheet.notes)) if told else sheet


def told_apart(sheets: Sequence[Sheet]) -> list[Sheet]:
    """The sheets with what their protocols differ in behind titles that several have."""
    found = []
    for sheet in sheets:
        parts = dict(sheet.grid.signature.parts) | {"v": str(sheet.grid.signature.version)}
        twins = [other.grid.signature for other in sheets if other.title == sheet.title and other is not sheet]
        others = [dict(twin.parts) | {"v": str(twin.version)} for twin in twins]
        differing = [key for key in parts if any(other.get(key) != parts[key] for other in others)]
        more = ", ".join(f"{key} {parts[key]}" for key in differing) or ("another protocol" if twins else "")
        found.append(replace(sheet, title=f"{sheet.title} · {more}") if more else sheet)
    return found


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
        for name, text in assets().items():
            write_bytes(page.parent / "assets" / name, text.encode())
    folder = None if single_file else page.parent / "data"
    payloads = _payloads(sheets, folder, mapper(workers, progress=progress)) if viewer else {}
    html = _html(sheets, payloads, title or _title(sheets), inline=single_file)
    write_bytes(page, html.encode("utf-8", "backslashreplace"))
    return page


Payload = tuple[str, str]
"""What the viewer needs of an image, as JSON (empty where it was written to a file), and the address of its thumbnail."""


def page_path(out: Path, *, single_file: bool) -> Path:
    """Where the page goes. ``UsageError`` where it cannot be written, or would overwrite something else."""
    page = out / "index.html"
    if single_file:
        page = out if out.suffix.lower() in (".html", ".htm") else out / "report.html"
    elif out.is_dir() and any(path.name != RUN for path in out.iterdir()) and not _is_report(out):
        raise UsageError(f"{out} holds something else than a report: name a new or an empty folder")
    output_folder(page.parent)
    return page


RUN = "run"
"""Where a report may keep the run that it shows."""

MARK = '<meta name="generator" content="hyperacuity report">'


def _is_report(folder: Path) -> bool:
    page = folder / "index.html"
    return page.is_file() and MARK in page.read_text(encoding="utf-8", errors="replace")[:2000]


def _clear(folder: Path) -> None:
    """Take away what an earlier report left, so that none of its images linger."""
    for name in ("data", "assets"):
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
        (folder / name).mkdir()


def mapper(workers: int | None = None, *, progress: bool = True) -> Each:
    """Map functions over items in threads, with a bar on a terminal."""

    def map_each(title: str, function: Callable[[A], B], items: Iterable[A]) -> list[B]:
        return list(each(function, items, workers, title, progress=progress))

    return map_each


def _pictured(grid: Grid, folder: Path | None) -> Grid:
    """The grid with photographs for cells that name none: from a folder, or else from ``images`` beside the truths' folder."""

    def with_picture(cell: Cell) -> Cell:
        if cell.picture is not None:
            return cell
        folders = _photographs(cell.truths[0]) if folder is None else [folder]
        return replace(cell, picture=next(filter(None, (_by_stem(one).get(cell.image) for one in folders)), None))

    return replace(grid, complete=with_picture)


def _photographs(truth: Path) -> list[Path]:
    """Where photographs may lie: ``images`` beside the folder of a truth, or ``images/test`` where that folder is ``…/test``."""
    home = truth.parent
    folders = [home.parent / "images", home.parent.parent / "images" / home.name]
    return [folder for folder in folders if folder.is_dir()]


@functools.lru_cache(maxsize=8)
def _by_stem(folder: Path) -> dict[str, Path]:
    from hyperacuity.data.datasets.pairing import files_in, stem_of

    return {stem_of(path): path for path in files_in(folder, required=False)}


def _payloads(sheets: Sequence[Sheet], folder: Path | None, map_each: Each) -> dict[str, Payload]:
    """What the viewer shows, by key ``s0-0``: sheet and image, both by number; written to ``folder`` as it is made."""
    made: dict[str, Payload] = {}
    for number, sheet in enumerate(sheets):
        if sheet.viewer is None:
            continue
        keys = {f"s{number}-{index}": image for index, image in enumerate(sheet.grid.images)}
        payload_of = functools.partial(_payload, sheet.grid, sheet.viewer, folder)
        payloads = map_each(f"pictures of {sheet.title.lower()}", payload_of, keys.items())
        made |= dict(zip(keys, payloads, strict=True))
    return made


def _payload(grid: Grid, viewer: Viewer, folder: Path | None, item: tuple[str, str]) -> Payload:
    from hyperacuity.data import read_image
    from hyperacuity.report.pictures.layers import thumbnail

    key, image = item
    cells = grid.cells_of(image)
    picture = picture_of(cells)
    small = b""
    try:
        small = thumbnail(read_image(picture)) if picture is not None else b""
    except InputError:
        cells = {system: replace(cell, picture=None) for system, cell in cells.items()}
    try:
        pictures = viewer.pictures(image, cells)
    except HyperacuityError as error:
        pictures = {"missing": str(error)}
    text = script_json(pictures)
    if folder is None:
        return text, f"data:image/webp;base64,{base64.b64encode(small).decode()}" if small else ""
    write_bytes(folder / f"{key}.js", f"hyperacuity.put({script_json(key)},{text});\n".encode())
    if small:
        write_bytes(folder / f"{key}.webp", small)
    return "", f"data/{key}.webp" if small else ""


def _html(sheets: Sequence[Sheet], payloads: Mapping[str, Payload], title: str, *, inline: bool) -> str:
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    loader = PackageLoader("hyperacuity.report")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number_text
    with theme.one_page(systems_of(sheets)):
        parts = [_part(number, sheet, payloads) for number, sheet in enumerate(sheets)]
    return environment.get_template("index.html.j2").render(
        title=title,
        version=__version__,
        parts=parts,
        inline=inline,
        assets={name: Markup(_safe(text)) for name, text in assets().items()} if inline else {},  # noqa: S704 (ours)
        payloads={key: Markup(text) for key, (text, _) in payloads.items()} if inline else {},  # noqa: S704
        facts=Markup(script_json([part["facts"] for part in parts])),  # noqa: S704 (JSON in which < is escaped)
        mark=Markup(MARK),  # noqa: S704 (ours)
    )


def _part(number: int, sheet: Sheet, payloads: Mapping[str, Payload]) -> dict[str, Any]:
    """A sheet as the template wants it."""
    systems = [line.system for line in sheet.lines]
    keys = {f"s{number}-{index}": image for index, image in enumerate(sheet.grid.images)}
    images = [_image(key, image, sheet, payloads) for key, image in keys.items()]
    viewer = sheet.viewer
    facts = {
        "systems": systems,
        "charts": [{"spec": figure.draw(True).to_dict(), "fluid": figure.fluid} for figure in sheet.figures],
        "layers": [] if viewer is None else [[layer.key, layer.title, layer.note] for layer in viewer.layers],
        "legend": [] if viewer is None else [list(entry) for entry in viewer.legend],
        "note": "" if viewer is None else viewer.note,
        "better": sheet.image_score.better if sheet.image_score else "max",
        "images": [
            {"name": one["name"], "key": one["key"], "scores": [_rounded(one["scores"].get(s)) for s in systems]}
            for one in images
        ],
    }
    spans = [value for line in sheet.lines for value in (*line.interval, line.values[sheet.main.key])]
    known = [value for value in spans if not math.isnan(value)]
    return {
        "id": f"s{number}",
        "sheet": sheet,
        "styles": theme.systems(systems),
        "paths": theme.MARKERS,
        "span": (min(known), max(known)) if known else (0.0, 1.0),
        "images": images,
        "stacked": _is_wide(sheet),
        "tests": sum(line.verdict is not None for line in sheet.lines),
        "uneven": len({line.coverage for line in sheet.lines}) > 1 or any(line.failed for line in sheet.lines),
        "facts": facts,
    }


def _is_wide(sheet: Sheet) -> bool:
    """Whether the leaderboard needs the whole width, or leaves room for a chart beside it."""
    beside = bool(sheet.figures) and sheet.figures[0].fluid
    longest = max((len(line.system) for line in sheet.lines), default=0)
    return not beside or len(sheet.columns) > 5 or len(sheet.lines) > 8 or longest > 12


def _image(key: str, image: str, sheet: Sheet, payloads: Mapping[str, Payload]) -> dict[str, Any]:
    _, thumbnail = payloads.get(key, ("", ""))
    scores = sheet.image_scores.get(image, {})
    known = [score for score in scores.values() if not math.isnan(score)]
    return {
        "name": image,
        "key": key if key in payloads else "",
        "thumbnail": thumbnail,
        "scores": scores,
        "least": min(known) if known else math.nan,
        "most": max(known) if known else math.nan,
    }


def _title(sheets: Sequence[Sheet]) -> str:
    """The titles of the sheets as one; of many, the first two."""
    first, *others = dict.fromkeys(sheet.title.partition(" · ")[0] for sheet in sheets)
    names = [first, *(other.lower() for other in others)]
    if len(names) > MOST_NAMED:
        names = [*names[:2], f"{len(names) - 2} more"]
    *middle, last = names
    return f"{', '.join(middle)} and {last}" if middle else last


def number_text(value: float | None, digits: int = 3) -> str:
    """Fixed decimals, so that columns align; a dash for what does not exist."""
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def _rounded(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 4)


def script_json(value: Any) -> str:
    """JSON that may stand inside a script of a page: nothing in it can end the script."""
    return json.dumps(plain(value), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _safe(text: str) -> str:
    """Script or style that may stand inside a page."""
    return text.replace("</script", "<\\/script").replace("</style", "<\\/style").replace("<!--", "<\\!--")


@functools.cache
def assets() -> dict[str, str]:
    """The style and scripts of pages by the names of their files: the charts' library, what every page does, the report's own."""
    from importlib.resources import files

    import altair as alt
    import vl_convert

    folder = files("hyperacuity.report") / "templates"
    wanted = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
    return {
        "vega.js": vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=wanted),
        "page.js": (folder / "page.js").read_text(encoding="utf-8"),
        "report.js": (folder / "report.js").read_text(encoding="utf-8"),
        "report.css": (folder / "report.css").read_text(encoding="utf-8"),
    }
