"""What the commands share: where output goes, how JSON is written, how errors and failures are shown."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.markup import escape
from typer.core import TyperGroup

from hyperacuity.console import output_folder as output_folder
from hyperacuity.console import wide_console
from hyperacuity.errors import HyperacuityError, UsageError

if TYPE_CHECKING:
    from hyperacuity.evaluation import Result
    from hyperacuity.tally import Signature


WORDS = "hyperacuity.words"
"""Where a context keeps the words of the call."""

MOST_NAMED = 5
"""How many files without a partner are named one by one."""

messages = wide_console(stderr=True, columns=10_000)
"""Standard error: progress, warnings, what failed. In a log, each sentence is one line."""

results = wide_console()
"""Standard output: tables for people. Never used together with ``--json``."""


class Commands(TyperGroup):
    """The commands; known errors become one line on standard error and the right exit status.

    A command may have several words. ``detect train pb`` goes before ``detect`` with two pictures, whose folders can be written
    ``./train`` and ``./pb``.
    """

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command with the most words that the call begins with."""
        ctx.meta[WORDS] = list(args)
        for words in range(max(name.count(" ") + 1 for name in self.commands), 1, -1):
            name = " ".join(args[:words])
            if name in self.commands:
                return name, self.commands[name], args[words:]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # typer's own context is a click one
        """Run the command that was called."""
        try:
            _listen()
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except HyperacuityError as error:
            messages.print(f"[bold red]error:[/] {escape(str(error))}")
            raise typer.Exit(2 if isinstance(error, UsageError) else 1) from error
        except KeyboardInterrupt as error:
            words = ctx.meta.get(WORDS, [])
            lost = self._could_keep(words) and not any(word.partition("=")[0] in ("--run", "--out") for word in words)
            messages.print(
                "stopped; nothing is kept without --run DIR" if lost else "stopped; what was finished is kept"
            )
            raise typer.Exit(130) from error

    def _could_keep(self, words: list[str]) -> bool:
        """Whether the command that was called has an option ``--run``."""
        command = next((self.commands[word] for word in words if word in self.commands), None)
        return command is not None and any("--run" in parameter.opts for parameter in command.params)


class _Messages(logging.Handler):
    """What the package logs, as messages."""

    def emit(self, record: logging.LogRecord) -> None:
        messages.print(escape(record.getMessage()))


def _listen() -> None:
    """Show what the package logs from level INFO on; several calls are as good as one."""
    logger = logging.getLogger("hyperacuity")
    logger.setLevel(logging.INFO)
    if not any(isinstance(handler, _Messages) for handler in logger.handlers):
        logger.addHandler(_Messages())


def _show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """Warnings about data are for the user; others, about code, go where Python sends them."""
    if category.__name__ == "DataWarning":  # by name: importing it would load numpy before it is needed
        warn(str(message))
    else:
        messages.print(escape(warnings.formatwarning(message, category, *place[:2])), end="")


def print_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to standard output. NaN and infinity, which JSON lacks, become ``null``.

    Letters beyond ASCII are escaped: programs read them all the same, whatever encoding the terminal has.
    """
    from hyperacuity.tally import plain

    line = json.dumps(plain(value), allow_nan=False)  # first as a whole: half an object is worse than none
    sys.stdout.write(line + "\n")


def warn(sentence: str) -> None:
    """One line about what is legal but probably wrong."""
    messages.print(f"[yellow]warning:[/] {escape(sentence)}")


def tell_failures(failures: Iterable[tuple[str, str]]) -> int:
    """Name what failed, (item, reason) each, on standard error; the exit status that follows from it (0 or 1)."""
    failed = list(failures)
    for item, reason in failed:
        messages.print(f"[red]failed:[/] {escape(item)}: {escape(reason)}")
    return 1 if failed else 0


def warn_unpaired(paths: Sequence[Path]) -> None:
    """Name the files without a partner; of many, how many there are and the first of them."""
    if len(paths) > MOST_NAMED:
        first = ", ".join(path.name for path in paths[:MOST_NAMED])
        warn(f"{len(paths)} files have no partner and are left out: {first}, … (--json lists them all)")
        return
    for path in paths:
        warn(f"{path} has no partner and is left out")


def evaluated(task: str, prediction: Path, truth: str, system: Sequence[str] | None, **options: Any) -> Result:
    """Evaluate the system PRED and those of ``--system``, and warn about files without a partner."""
    from hyperacuity.evaluation import evaluate
    from hyperacuity.evaluation.inputs import name_of, named_systems

    first = name_of(named_systems({"": prediction})[""])
    systems = {first: prediction}
    for name, folder in systems_of(system or []).items():
        if name in systems:
            raise UsageError(f"--system {name}: the name is taken by {systems[name]}; give another one, NAME={folder}")
        systems[name] = folder
    result = evaluate(task, systems, truth, **options)
    warn_unpaired(result.unpaired)
    return result


def show(*results_: Result | None, json: bool, more: Mapping[str, Any] | None = None) -> NoReturn:
    """Print results, name what failed, and exit. Only the first is the object of ``--json``, with ``more`` in it."""
    known = [result for result in results_ if result is not None]
    failures = [failure for result in known for failure in result.failures]
    status = tell_failures((f"{f.system}: {f.image}", f.reason) for f in failures)
    if json:
        failed = [{"system": f.system, "image": f.image, "reason": f.reason} for f in failures]
        print_json(known[0].json() | dict(more or {}) | {"failed": failed})
    else:
        for result in known:
            result.table(results)
    raise typer.Exit(status)


def write_page(out: Path, run: Path, signatures: Sequence[Signature], workers: int | None) -> None:
    """A page of what a run holds under these signatures."""
    from hyperacuity.report.pages import make_sheets, write_pages

    shown = messages.is_terminal
    sheets = make_sheets([run], workers=workers, progress=shown, signatures=signatures)
    page = write_pages(sheets, out, workers=workers, progress=shown)
    messages.print(f"open {page}", markup=False)


def systems_of(options: Sequence[str]) -> dict[str, Path]:
    """The ``--system NAME=DIR`` options, in the order given; a plain ``DIR`` is named after its folder."""
    from hyperacuity.data.remote import is_folder

    systems: dict[str, Path] = {}
    for option in options:
        name, found, folder = option.partition("=")
        if not found or is_folder(Path(option)):  # a folder may have "=" in its own name
            name, folder = Path(option).resolve().name, option
        if not name:
            raise UsageError(f"--system {option}: the name is empty")
        if name in systems:
            raise UsageError(f"--system {option}: the name {name} is taken twice")
        if not is_folder(Path(folder)):
            raise UsageError(f"--system {option}: there is no folder {folder}")
        systems[name] = Path(folder)
    return systems
