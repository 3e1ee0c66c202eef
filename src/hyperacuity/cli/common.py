"""Output, JSON, errors and failures, shared by all commands."""

from __future__ import annotations

import json
import logging
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from hyperacuity.console import printable, wide_console
from hyperacuity.errors import OPTION, HyperacuityError, UsageError, value_of
from hyperacuity.outputs import output_folder as output_folder

if TYPE_CHECKING:
    from hyperacuity.cli.options import Computing, Evaluation, Exports
    from hyperacuity.evaluation import Result
    from hyperacuity.evaluation.export import ScoreTable


WORDS = "hyperacuity.words"
"""Key of a context under which it keeps the words of the call."""

STDOUT = "-"
"""File name that stands for standard output."""

SPELLED = {
    "form": "--as",
    "lambdas": "--lambda",
    "masks": "--mask",
    "names": "--with",
    "nms_of": "--nms",
    "systems": "--system",
}
"""Options with another name than Python's."""

MOST_ALIKE = 3
"""Number of similar warnings or failures that are printed before the others are only counted."""


def with_dashes(sentence: str) -> str:
    """Rewrite the options in a sentence as the command line writes them (see :mod:`hyperacuity.errors`).

    >>> with_dashes("`split='test'` is for known data sets; use `value_range=(0, 255)` or `force=True`, and `masks={'sky': DIR}`")
    '--split test is for known data sets; use --value-range 0,255 or --force, and --mask sky=DIR'
    """
    return OPTION.sub(lambda named: " ".join(_words(named[1], value_of(named[2]))), sentence)


def _words(name: str, value: Any) -> list[str]:
    dashed = SPELLED.get(name, f"--{name.replace('_', '-')}")
    if value is True or value == "":
        return [dashed]
    if isinstance(value, Mapping):
        return [dashed, *(f"{key}={of}" for key, of in value.items())]
    if isinstance(value, tuple | list):
        return [dashed, ",".join(map(str, value))]
    if str(value)[:1] in ("{", "("):  # a placeholder
        return [dashed, re.sub(r"[{}()'\"]", "", str(value)).replace(": ", "=").replace(", ", ",")]
    return [dashed, f"'{value}'" if any(mark in str(value) for mark in "*?[") else str(value)]  # not for the shell


class _Dashed(Console):
    """A console on which options have their dashes."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(with_dashes(one) if isinstance(one, str) else one for one in objects), **options)


messages = wide_console(stderr=True, columns=10_000, kind=_Dashed)
"""Standard error: progress, warnings, what failed. In a log, each sentence is one line."""

results = wide_console(kind=_Dashed)
"""Standard output: tables for people. Never used together with ``--json``."""


class Commands(TyperGroup):
    """The commands; expected errors become one line on standard error and the right exit status.

    A command may have several words. ``detect train pb`` takes precedence over ``detect`` with two folders, which
    can be written ``./train`` and ``./pb``. Other packages' commands (:mod:`hyperacuity.cli.plugins`) are listed, and loaded when
    called.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """List this package's commands, then those of other packages."""
        from hyperacuity.cli import plugins

        return [*super().list_commands(ctx), *plugins.listed(self.commands)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name, of another package without loading it."""
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        from hyperacuity.cli import plugins

        return plugins.summary(cmd_name) if cmd_name in plugins.offered() else None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command with the most words that the call begins with."""
        ctx.meta[WORDS] = list(args)
        for words in range(max(name.count(" ") + 1 for name in self.commands or ("",)), 1, -1):
            name = " ".join(args[:words])
            if name in self.commands:
                return name, self.commands[name], args[words:]
        if args and args[0] not in self.commands:
            from hyperacuity.cli import plugins

            if args[0] in plugins.offered():
                return args[0], plugins.loaded(args[0]), args[1:]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # typer's context is a click one
        """Run the command that was called."""
        try:
            _listen()
            with warnings.catch_warnings():
                shown = _Warnings()
                warnings.showwarning = shown.show
                try:
                    return super().invoke(ctx)
                finally:
                    shown.close()
        except HyperacuityError as error:
            messages.print(f"[bold red]error:[/] {escape(printable(str(error)))}")
            raise typer.Exit(2 if isinstance(error, UsageError) else 1) from error
        except (KeyboardInterrupt, MemoryError) as error:
            words = ctx.meta.get(WORDS, [])
            lost = self._has_run_option(words) and not any(
                word.partition("=")[0] in ("--run", "--out") for word in words
            )
            memory = isinstance(error, MemoryError)
            what = "[bold red]error:[/] out of memory" if memory else "stopped"
            messages.print(f"{what}; {'nothing is saved without --run DIR' if lost else 'finished work is saved'}")
            raise typer.Exit(1 if memory else 130) from error

    def _has_run_option(self, words: list[str]) -> bool:
        """True if the command that was called has an option ``--run``."""
        command = next((self.commands[word] for word in words if word in self.commands), None)
        return command is not None and any("--run" in parameter.opts for parameter in command.params)


class _Messages(logging.Handler):
    """Handler that prints what the package logs."""

    def emit(self, record: logging.LogRecord) -> None:
        messages.print(escape(printable(record.getMessage())))
        if record.exc_info:
            for line in logging.Formatter().formatException(record.exc_info).splitlines():
                messages.print(printable(line), markup=False)


def _listen() -> None:
    """Show what the package logs from level INFO on; calling it again changes nothing."""
    logger = logging.getLogger("hyperacuity")
    logger.setLevel(logging.INFO)
    if not any(isinstance(handler, _Messages) for handler in logger.handlers):
        logger.addHandler(_Messages())


class _Warnings:
    """Show warnings about data, the first few of each kind; those about code go where Python sends them."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.shown: set[str] = set()

    def show(self, message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        """Print one warning."""
        if category.__name__ == "DataWarning":  # by name: importing it would load numpy before it is needed
            kind = _kind(str(message))
            if str(message) not in self.shown:  # a file may be read twice
                self.shown.add(str(message))
                self.seen[kind] += 1
                if self.seen[kind] <= MOST_ALIKE:
                    warn(str(message))
            return
        messages.print(escape(warnings.formatwarning(message, category, *place[:2])), end="")

    def close(self) -> None:
        """Say how many warnings were not printed."""
        if more := sum(max(0, times - MOST_ALIKE) for times in self.seen.values()):
            warn(f"and {more} more like these")


def print_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to standard output. NaN and infinity, which JSON lacks, become ``null``.

    Letters beyond ASCII are escaped, so that the terminal's encoding does not matter.
    """
    from hyperacuity.tally import plain

    fields = plain(value)
    if "failed" in fields:
        fields["failed"] = _all_dashed(fields["failed"])
    line = json.dumps(fields, allow_nan=False)  # all of it first: half an object is worse than none
    sys.stdout.write(line + "\n")


def _all_dashed(value: Any) -> Any:
    """Rewrite the options in reasons of failures, however nested, as the command line writes them."""
    if isinstance(value, dict):
        return {key: _all_dashed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_all_dashed(one) for one in value]
    return with_dashes(value) if isinstance(value, str) else value


def warn(sentence: str) -> None:
    """Print a warning about something legal but probably wrong."""
    messages.print(f"[yellow]warning:[/] {escape(printable(sentence))}")


def report_failures(failures: Iterable[tuple[str, str]]) -> int:
    """Print what failed, (item, reason) each, on standard error; returns the exit status (0 or 1).

    If many failed for the same reason, only the first few are printed.
    """
    failed = list(failures)
    alike = Counter(_kind(reason) for _, reason in failed)
    seen: Counter[str] = Counter()
    for item, reason in failed:
        kind = _kind(reason)
        seen[kind] += 1
        if seen[kind] <= MOST_ALIKE or alike[kind] == MOST_ALIKE + 1:
            messages.print(f"[red]failed:[/] {escape(printable(item))}: {escape(printable(reason))}")
        elif seen[kind] == MOST_ALIKE + 1:
            messages.print(f"[red]failed:[/] and {alike[kind] - MOST_ALIKE} more like it (--json lists them all)")
    return 1 if failed else 0


def _kind(sentence: str) -> str:
    """A message without file names and numbers, to group equal ones."""
    return re.sub(r"\d+", "", sentence.partition(": ")[2] or sentence)


def report_unpaired(evaluated: Sequence[Result], *, list_all: bool = False) -> None:
    """Report files without a partner: their number and the first few, or all."""
    if list_all:
        for path in dict.fromkeys(path for result in evaluated for path in result.unpaired):
            messages.print(f"no partner: {printable(str(path))}", markup=False)
        return
    gaps = list(dict.fromkeys(gap for result in evaluated for gap in result.gaps))
    for gap in gaps[:MOST_ALIKE]:
        warn(f"{gap}; --list-unpaired")
    if len(gaps) > MOST_ALIKE:
        warn(f"and so for {len(gaps) - MOST_ALIKE} more systems; --list-unpaired")


def evaluated(task: str, prediction: Path, truth: str, how: Evaluation, **options: Any) -> Result:
    """Evaluate the system PRED and those of ``--system``, and warn about files without a partner."""
    from hyperacuity.evaluation import evaluate
    from hyperacuity.kinds.finding import name_of, named_systems

    how.prints(how.json)  # before hours of work go into it
    first = name_of(named_systems({"": prediction})[""])
    systems = {first: prediction}
    for name, folder in systems_of(how.system or []).items():
        if name in systems:
            raise UsageError(f"--system {name}: the name is taken by {systems[name]}; give another one, NAME={folder}")
        systems[name] = folder
    result = evaluate(task, systems, truth, **how.options(), **options)
    report_unpaired([result], list_all=how.list_unpaired)
    return result


def show(*results_: Result | None, how: Computing, more: Mapping[str, Any] | None = None) -> NoReturn:
    """Print results, write their tables, name what failed, and exit.

    ``--json`` prints only the first, with ``more`` in it.
    """
    present = [result for result in results_ if result is not None]
    failures = [failure for result in present for failure in result.failures]
    status = report_failures((f"{f.system}: {f.image}", f.reason) for f in failures)
    export((result.score_table() for result in present if result.scores), how)
    if how.json:
        failed = [{"system": f.system, "image": f.image, "reason": f.reason} for f in failures]
        print_json(present[0].json() | dict(more or {}) | {"failed": failed})
    elif not how.prints(how.json):
        for n, result in enumerate(present):
            if n:
                results.print()
            result.table(results)
    raise typer.Exit(status)


def export(tables: Iterable[ScoreTable], how: Exports) -> None:
    """Write all tables to each file asked for; computes nothing if there are no files."""
    if not how.files:
        return
    from hyperacuity.evaluation.export import exported

    several = list(tables)
    for kind, path in how.files.items():
        text = "\n".join(exported(table, kind) for table in several)
        if str(path) == STDOUT:
            sys.stdout.write(text)
        else:
            write_text(path, text)


def write_text(path: Path, text: str) -> None:
    """Write a file; ``UsageError`` if that fails or would overwrite a file that is not ours."""
    from hyperacuity.outputs import write_output

    write_output(path, text.encode())


def systems_of(options: Sequence[str]) -> dict[str, Path]:
    """The ``--system NAME=DIR`` options, in the order given; a plain ``DIR`` is named after its folder."""
    from hyperacuity.data.remote import is_folder

    systems: dict[str, Path] = {}
    for option in options:
        name, equals, folder = option.partition("=")
        if not equals or is_folder(Path(option)):  # a folder's name may contain "="
            name, folder = Path(option).resolve().name, option
        if not name:
            raise UsageError(f"--system {option}: the name is empty")
        if name in systems:
            raise UsageError(f"--system {option}: the name {name} is taken twice")
        if not is_folder(Path(folder)):
            raise UsageError(f"--system {option}: there is no folder {folder}")
        systems[name] = Path(folder)
    return systems
