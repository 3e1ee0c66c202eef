"""The path options of every command, and a trial: does a command leave other people's files alone?"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.outputs import LIST

INPUTS = {
    *(
        "about",
        "candidates",
        "cards",
        "classes",
        "consent",
        "data",
        "hierarchy",
        "labels",
        "maps",
        "mask",
        "model",
        "order",
    ),
    *(
        "owners",
        "prediction",
        "regions",
        "runs",
        "segmentation",
        "site",
        "sources",
        "start",
        "system",
        "truth",
        "truths",
    ),
}
"""Options and arguments that are read, whatever the command."""

MINE = b"three years of work"
NOTES = "notes.txt"


def path_options(command: Any = None, name: str = "") -> Iterator[tuple[str, str]]:
    """Every command with every option or argument that names a file or a folder."""
    command = command or typer.main.get_command(app)
    if hasattr(command, "commands"):
        for part, inner in command.commands.items():
            yield from path_options(inner, f"{name} {part}".strip())
        return
    for one in inspect.signature(command.callback, eval_str=True).parameters.values():
        metavars = [getattr(part, "metavar", None) or "" for part in getattr(one.annotation, "__metadata__", ())]
        if _has_path(one.annotation) or any("DIR" in metavar or "FILE" in metavar for metavar in metavars):
            yield name, one.name


def _has_path(kind: Any) -> bool:
    return kind is Path or any(_has_path(part) for part in typing.get_args(kind))


def try_command(call: str, folder: Path, *, slow: bool = False) -> None:
    """Run a call that writes to ``{out}``: into new folders, twice, then where somebody's files have the names of its own.

    Then one file of each kind in each folder is in the way in turn, and the command says so; of a ``slow`` one, a file of each
    output.
    """
    clean = folder / "clean"
    for expected in (0, 2 if call.startswith("run salvage ") else 0):  # which wants a folder without a run
        done = run(call, clean)
        assert done.exit_code == expected, (call, done.output, done.stderr)
    written = sorted(path.relative_to(clean) for path in clean.rglob("*") if path.is_file() and path.name != LIST)
    assert written, f"{call} writes nothing"
    everything = folder / "everything"
    refuse(call, everything, dict.fromkeys(written, MINE))
    kinds: dict[object, Path] = {}
    for path in written:
        kinds.setdefault(path.parts[0] if slow else (path.parent, path.suffix.replace(".svg", ".pdf")), path)
    for number, path in enumerate(kinds.values()):
        refuse(call, folder / str(number), {path: MINE})
    beside = folder / "beside"
    mine = {parent / NOTES: MINE for path in written for parent in path.parents}
    put(beside, mine)
    for _ in range(1 if slow else 2):
        done = run(call, beside)
        assert done.exit_code in (0, 1, 2), (call, done.output, done.stderr)
        assert_untouched(call, beside, mine)


def refuse(call: str, out: Path, mine: dict[Path, bytes]) -> None:
    """A call fails with a sentence, and leaves these files as they are."""
    put(out, mine)
    done = run(call, out)
    if {path.name for path in mine} != {"run.lock"}:  # which is locked, and needs no words in it
        assert done.exit_code in (1, 2), (call, list(mine)[:3], done.output)
        assert "error:" in done.stderr or "failed:" in done.stderr, (call, done.stderr)
    assert_untouched(call, out, mine)


def run(call: str, out: Path) -> Any:
    """The result of a call in this process; anything but an exit is raised."""
    done = CliRunner().invoke(app, [word.replace("{out}", str(out)) for word in call.split()])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def put(out: Path, mine: dict[Path, bytes]) -> None:
    """Write somebody's files."""
    for path, data in mine.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(data)


def assert_untouched(call: str, out: Path, mine: dict[Path, bytes]) -> None:
    """Each file holds what it held."""
    for path, data in mine.items():
        found = (out / path).read_bytes() if (out / path).is_file() else b"nothing"
        assert found == data, f"{call} touched {path}"
