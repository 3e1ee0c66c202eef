"""The page about time: as one HTML file that needs no server, or with addresses that a server answers."""

from __future__ import annotations

import base64
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperacuity import __version__
from hyperacuity.cards.against import CardLike, card_entries
from hyperacuity.data import read_image
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.outputs import output_path, write_bytes
from hyperacuity.report import theme
from hyperacuity.report.over_time.facts import state_of, tests_of
from hyperacuity.report.over_time.series import Order
from hyperacuity.report.over_time.timelines import WatchedRuns
from hyperacuity.report.pages import SHARED, inline_text, mapper, script_of, shared_assets, template, templates
from hyperacuity.report.parts import as_json
from hyperacuity.report.pictures.layers import thumbnail

MOST_PICTURES = 400
"""Thumbnails in a page without a server: some 4 KB each."""

MARK = b'<meta name="generator" content="hyperacuity watch">'
"""First lines of every page."""


def write_over_time(
    run_folders: Sequence[Path],
    out: Path,
    *,
    order: Order = "name",
    against: CardLike | Sequence[CardLike] = (),
    pictures: Path | None = None,
    human: bool = False,
    title: str = "",
    progress: bool = True,
) -> Path:
    """Write the scores of systems over time, such as the checkpoints of a network, as one HTML file; returns its path.

    Names that differ only in their number are a series. Runs under different protocols stand on curves of their own.

    Parameters
    ----------
    run_folders
        What ``--run`` named, or :func:`~hyperacuity.run.open_store` wrote. ``UsageError`` for one that holds no run.
    out
        The file.
    order
        ``name``: by the numbers in the names; ``time``: by when each was run.
    against
        Cards of systems to stand beside.
    pictures
        Folder of the photographs, for runs that do not name them.
    human
        Whether people are scored against each other too, where a benchmark does that.
    title
        Heading of the page.
    """
    page_file(out)
    runs = WatchedRuns(run_folders, order=order, against=card_entries(against), pictures=pictures, human=human)
    read_now(runs, progress=progress)
    return write_page(runs, out, title=title)


def read_now(runs: WatchedRuns, *, workers: int | None = None, progress: bool = True) -> None:
    """Read runs that have to be there: ``UsageError`` for one that cannot be read."""
    theme.require()
    each = mapper(workers, progress=progress)
    runs.refresh(each)
    if runs.problems:
        raise UsageError(runs.problems[0])
    runs.score_people(each)


def page_file(out: Path) -> Path:
    """The file, after a check that it can be written to."""
    if out.is_dir() or out.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{option('out', out)}: expected the name of a file that ends in .html")
    return output_path(out, mark=MARK)


def write_page(runs: WatchedRuns, out: Path, *, title: str = "") -> Path:
    """Write what runs hold as one file."""
    state = state_of(runs)
    for said, timeline in zip(state["timelines"], runs.timelines, strict=True):
        if timeline.columns:
            said["tests"] = tests_of(runs, timeline)
            said["thumbnails"] = _thumbnails(runs.picture_paths(timeline), timeline.images)
    html = page_html(title or title_of(runs), state, served=False)
    write_bytes(page_file(out), html.encode("utf-8", "backslashreplace"))
    return out


def _thumbnails(paths: Mapping[str, Path], images: Sequence[str]) -> dict[int, str]:
    """Small pictures as addresses that hold them, by the index of the image."""
    pictures: dict[int, str] = {}
    for n, image in enumerate(images):
        small = small_picture(paths[image]) if image in paths and len(pictures) < MOST_PICTURES else b""
        if small:
            pictures[n] = f"data:image/webp;base64,{base64.b64encode(small).decode()}"
    return pictures


def small_picture(path: Path) -> bytes:
    """The thumbnail of a photograph; empty if it cannot be read."""
    try:
        return thumbnail(read_image(path))
    except InputError:
        return b""


def title_of(runs: WatchedRuns) -> str:
    """Title of the page: the names of the runs."""
    return ", ".join(folder.label for folder in runs.folders)


def page_html(title: str, state: Mapping[str, Any], *, served: bool) -> str:
    """The page with what it shows first; ``served``, it loads script and style, and looks again."""
    from markupsafe import Markup

    return (
        templates()
        .get_template("watch.html.j2")
        .render(
            title=title,
            served=served,
            version=__version__,
            state=Markup(as_json(state)),  # noqa: S704 (JSON in which < is escaped)
            assets={} if served else {name: Markup(inline_text(text)) for name, text in assets().items()},  # noqa: S704 (ours)
        )
    )


@functools.cache
def assets() -> dict[str, str]:
    """Script, style and charts library, by the names of files."""
    shared = shared_assets()
    return {
        "vega.js": shared["vega.js"],
        "watch.js": script_of((*SHARED, "watch-images", "watch")),
        "watch.css": shared["house.css"] + template("watch.css"),
    }
