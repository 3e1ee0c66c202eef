"""Values for the templates of a page: each sheet's part, links, contents, and how to reproduce it all."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hyperacuity.report import theme
from hyperacuity.report.sheets.sheet import Sheet, file_names, span_of
from hyperacuity.tally import plain

if TYPE_CHECKING:
    from markupsafe import Markup

Payload = tuple[str, str]
"""Data of the viewer for an image, as JSON (empty where it was written to a file), and the address of its thumbnail."""


def parts_of(sheets: Sequence[Sheet], payloads: Mapping[str, Payload], *, several_files: bool) -> list[dict[str, Any]]:
    """The sheets as the templates want them; with ``several_files``, each has a page of its own."""
    files = [f"{name}.html" for name in file_names(sheets)] if several_files else [""] * len(sheets)
    return [
        _part(number, sheet, payloads, file) for number, (sheet, file) in enumerate(zip(sheets, files, strict=True))
    ]


def _part(number: int, sheet: Sheet, payloads: Mapping[str, Payload], file: str) -> dict[str, Any]:
    systems = [line.system for line in sheet.lines]
    keys = {f"s{number}-{index}": image for index, image in enumerate(sheet.grid.images)}
    images = [_image(key, image, sheet, payloads) for key, image in keys.items()]
    return {
        "id": f"s{number}",
        "file": file,
        "sheet": sheet,
        "styles": theme.systems(systems),
        "paths": theme.MARKERS,
        "span": span_of(value for line in sheet.lines for value in (*line.interval, line.number(sheet.main.key))),
        "images": images,
        "stacked": _is_wide(sheet),
        "tests": sum(line.verdict is not None for line in sheet.lines),
        "uneven": len({line.coverage for line in sheet.lines}) > 1 or any(line.failed for line in sheet.lines),
        "facts": _facts(sheet, systems, images),
        "targets": _targets(number, sheet, images),
    }


def _facts(sheet: Sheet, systems: Sequence[str], images: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Data of a sheet for the page's script."""
    viewer = sheet.viewer
    return {
        "systems": systems,
        # To validate the charts would take longer than to draw them; the tests do.
        "charts": [
            {"spec": figure.draw(True).to_dict(validate=False), "fluid": figure.fluid} for figure in sheet.figures
        ],
        "layers": [] if viewer is None else [[layer.key, layer.title, layer.note] for layer in viewer.layers],
        "legend": [] if viewer is None else [list(entry) for entry in viewer.legend],
        "note": "" if viewer is None else viewer.note,
        "better": sheet.image_score.better if sheet.image_score else "max",
        "images": [
            {"name": one["name"], "key": one["key"], "scores": [theme.rounded(one["scores"].get(s)) for s in systems]}
            for one in images
        ],
    }


def _is_wide(sheet: Sheet) -> bool:
    """True if the leaderboard needs the whole width, without a chart next to it."""
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


def _targets(number: int, sheet: Sheet, images: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Link targets of names in a sheet's sentences: a system's line, an image in the viewer."""
    shown = {image["name"]: f"#{image['key']}" for image in images if image["key"]}
    lines = {line.system: f"#s{number}-system-{place}" for place, line in enumerate(sheet.lines)}
    return shown | lines


def linked(sentence: str, targets: Mapping[str, str], file: str = "") -> Markup:
    """A sentence in which the names that it holds are links; ``file`` is the page of what they name.

    Names that could be an ordinary word or number of the sentence, such as ``a`` and ``12``, stay text.

    >>> str(linked("hk beats sf5 & hk-2.", {"hk": "#s0-system-0", "sf5": "#s0-system-1"}))
    '<a href="#s0-system-0">hk</a> beats <a href="#s0-system-1">sf5</a> &amp; hk-2.'
    """
    from markupsafe import Markup, escape

    names = [name for name in targets if name in sentence and len(name) > 1 and not re.fullmatch(r"[\d.]{1,3}", name)]
    if not names:
        return escape(sentence)
    any_name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pieces = re.split(rf"(?<![\w-])({any_name})(?![\w-])", sentence)
    link = Markup('<a href="{}">{}</a>')
    return Markup("").join(
        link.format(file + targets[piece], piece) if place % 2 else escape(piece) for place, piece in enumerate(pieces)
    )


def contents_of(parts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Entries of the search box: the systems and images of every part, and where they are."""
    return [
        {
            "title": part["sheet"].title,
            "file": part["file"],
            "systems": part["facts"]["systems"],
            "images": [image["name"] for image in part["images"]],
            "viewer": any(image["key"] for image in part["images"]),
        }
        for part in parts
    ]


SETTING = {"folder": "Folder", "versions": "Versions", "machine": "Machine"}
"""Facts that runs usually have in common."""


def reproduction(sheets: Sequence[Sheet]) -> dict[str, Any]:
    """Commands to reproduce the report, what they have in common, and each run with fingerprints of data and code."""
    runs: dict[tuple[str, str], dict[str, Any]] = {}
    for sheet in sheets:
        for origin in sheet.grid.origins:
            about = origin.about
            key = (str(origin.folder), str(about.get("command", "")))
            run = runs.setdefault(key, {"folder": origin.folder, "about": about, "parts": []})
            run["parts"].append((sheet.title, origin.fingerprint, about.get("code")))
    abouts = [run["about"] for run in runs.values()]
    shared = {
        title: _in_words(abouts[0].get(key))
        for key, title in SETTING.items()
        if abouts and all(about.get(key) == abouts[0].get(key) for about in abouts)
    }
    lines: list[str] = []
    folder = ""
    for about in abouts:
        if str(about.get("folder", "")) != folder:
            folder = str(about.get("folder", ""))
            lines.append(f"cd {shlex.quote(folder)}")
        lines.append(str(about.get("command", "")))
    differing = [(key, title) for key, title in SETTING.items() if title not in shared]
    for run in runs.values():
        run["own"] = {title: _in_words(run["about"].get(key)) for key, title in differing}
    return {"commands": "\n".join(dict.fromkeys(lines)), "shared": shared, "runs": list(runs.values())}


def _in_words(value: Any) -> str:
    """A value of a run's metadata in words."""
    return ", ".join(f"{name} {number}" for name, number in value.items()) if isinstance(value, Mapping) else str(value)


def fixed(value: float | None, digits: int = 3) -> str:
    """Fixed decimals, so that columns align; a dash for what does not exist."""
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def as_json(value: Any) -> str:
    """JSON that may stand inside a script of a page: nothing in it can end the script."""
    return json.dumps(plain(value), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
