"""Options that several commands share, so that they have the same names and help.

A parameter whose type is a dataclass of options adds all of them (:func:`grouped`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from typer import Argument, Option

import hyperacuity
from hyperacuity.cli.common import STDOUT
from hyperacuity.errors import UsageError
from hyperacuity.outputs import output_path
from hyperacuity.syntax import field_texts

Kind = Literal["csv", "latex", "markdown"]


def protocol_help(file: str, kind: str = "Protocol") -> dict[str, str]:
    """Help for options that set a protocol's fields: the first paragraph of each field's description, read from its source.

    >>> protocol_help("regions/benchmark.py")
    {'levels': 'Number of levels at which a hierarchy is cut.'}
    """
    texts = field_texts(Path(hyperacuity.__file__).parent / file, kind)
    return {name: " ".join(text.partition("\n\n")[0].replace("``", "").split()) for name, text in texts.items()}


def or_default(text: str, default: str = "the protocol's") -> str:
    """A help text that also states the default."""
    return f"{text.removesuffix('.')} (default: {default})."


Folder = partial(Option, metavar="DIR")
Named = partial(Option, metavar="NAME=DIR")
Pred = partial(Argument, metavar="PRED")
Truth = partial(Argument, metavar="TRUTH")

Data = Annotated[Path | None, Folder(help="Folder of the data set.")]
Split = Annotated[str | None, Option(help="Part of the data set: train, val or test.")]
Human = Annotated[bool, Option("--human", help="Also score each annotator against the others (human performance).")]
Json = Annotated[bool, Option("--json", help="Print one JSON object instead of a table.")]
InvertTruth = Annotated[bool, Option("--invert-truth", help="In the truth, 0 is the edge.")]
ZeroUnknown = Annotated[bool, Option("--zero-unknown", help="In the maps, 0 means unknown.")]
Against = Annotated[
    list[str] | None,
    Option(
        metavar="CARD",
        help="Compare with a card: a file, or a built-in one by name (all: every one); may be repeated.",
    ),
]
Workers = Annotated[int | None, Option(min=1, help="Threads (default: one per processor).")]


@dataclass(frozen=True)
class Systems:
    """Further systems, and which pairs are tested."""

    system: Annotated[list[str] | None, Named(help="A further system on the same truth; may be repeated.")] = None
    all_pairs: Annotated[bool, Option("--all-pairs", help="Test all pairs of systems, not only with the best.")] = False


Exported = partial(Option, metavar="FILE")


@dataclass(frozen=True)
class Exports:
    """Files to write the table to; ``-`` is standard output."""

    latex: Annotated[Path | None, Exported(help="Write the table for a paper (booktabs); - prints it.")] = None
    markdown: Annotated[Path | None, Exported(help="Write the table as Markdown; - prints it.")] = None
    csv: Annotated[Path | None, Exported(help="Write all numbers in full precision, a row per system; - prints.")] = (
        None
    )

    @property
    def files(self) -> dict[Kind, Path]:
        """The files asked for, by kind."""
        every: dict[Kind, Path | None] = {"latex": self.latex, "markdown": self.markdown, "csv": self.csv}
        return {kind: path for kind, path in every.items() if path is not None}

    def prints(self, json: bool) -> bool:
        """True if standard output is taken by a file ``-``; first checks that all can be written to (``UsageError``)."""
        printed = [f"--{kind} -" for kind, path in self.files.items() if str(path) == STDOUT] + ["--json"] * json
        if len(printed) > 1:
            raise UsageError(f"{' and '.join(printed)} all write to standard output: choose one")
        for kind, path in self.files.items():
            if path.is_dir():
                raise UsageError(f"--{kind} {path}: is a folder, expected the name of a file")
            if str(path) != STDOUT:
                output_path(path)
        return bool(printed) and not json


@dataclass(frozen=True)
class Computing(Exports):
    """Options for input files, computing, and printing results."""

    data: Data = None
    glob: Annotated[str, Option(metavar="PATTERN", help="Only predictions whose names match, such as '*.png'.")] = "*"
    list_unpaired: Annotated[bool, Option("--list-unpaired", help="Name every file that has no partner.")] = False
    strict: Annotated[bool, Option("--strict", help="Fail if a file has no partner.")] = False
    run: Annotated[Path | None, Folder(help="Save results here, and resume from those already there.")] = None
    against: Against = None
    workers: Workers = None
    cluster: Annotated[
        str | None, Option(metavar="ADDRESS", help="On Dask: tcp://host:8786, or local:4 for 4 processes.")
    ] = None
    json: Json = False

    def options(self) -> dict[str, Any]:
        """Options for :func:`hyperacuity.evaluate`."""
        printing = {"system", "list_unpaired", "json", *(part.name for part in fields(Exports))}
        return {name: value for name, value in vars(self).items() if name not in printing}


@dataclass(frozen=True)
class Evaluation(Computing, Systems):
    """Options shared by all benchmarks."""


@dataclass(frozen=True)
class SoftFiles:
    """Options for soft maps with unusual values."""

    invert_prediction: Annotated[bool, Option("--invert-prediction", help="In the maps, 0 is the edge.")] = False
    value_range: Annotated[
        str | None, Option(metavar="RANGE", help="Range of the maps' values: the largest (255), or both ends (-1,1).")
    ] = None
    force: Annotated[bool, Option("--force", help="Accept files that are almost surely a mistake.")] = False

    def options(self) -> dict[str, Any]:
        """Options for :func:`hyperacuity.evaluate`."""
        return {**vars(self), "value_range": None if self.value_range is None else _ends(self.value_range)}


@dataclass(frozen=True)
class MapFiles(SoftFiles):
    """Options for soft maps and human edges."""

    invert_truth: InvertTruth = False


def numbers(option: str, text: str, expected: str) -> tuple[float, ...]:
    """Parse a list of numbers with commas."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{option} {text}: expected {expected}") from None


def thresholds_of(text: str) -> int | tuple[float, ...]:
    """Parse ``--thresholds``: their number, or a list of them."""
    if text.strip().isdecimal() and len(text) < 10:
        return int(text)
    return numbers("--thresholds", text, "a number such as 99, or a list such as 0.2,0.5")


def _ends(text: str) -> tuple[float, float]:
    """Both ends of a range; one number is the upper end."""
    expected = "the largest value (255), or both ends (-1,1)"
    low, high = (0.0, *numbers("--value-range", text, expected))[-2:]
    if text.count(",") > 1 or not low < high < float("inf"):
        raise UsageError(f"--value-range {text}: expected {expected}")
    return low, high


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the dataclasses among a command's parameters by the options that they hold."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(command).parameters.values():
        group = groups.get(one.name)
        parts = [one] if group is None else inspect.signature(group).parameters.values()
        kinds = hints if group is None else get_type_hints(group, include_extras=True)
        parameters += [part.replace(annotation=kinds[part.name], kind=part.KEYWORD_ONLY) for part in parts]

    @wraps(command)
    def called(**given: Any) -> None:
        built = {
            name: kind(**{part.name: given.pop(part.name) for part in fields(kind)}) for name, kind in groups.items()
        }
        command(**given, **built)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer asks for
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called
