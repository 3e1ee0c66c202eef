"""``hyperacuity evaluate``: score systems by any benchmark, including those of plug-ins."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Evaluation, Human, Pred, Truth, grouped
from hyperacuity.errors import UsageError


@grouped
def evaluate(
    task: Annotated[str, Argument(metavar="TASK", help="Name of the benchmark.")],
    prediction: Annotated[Path, Pred(help="Folder of predictions, or one file.")],
    truth: Annotated[str, Truth(help="Folder of truths, one file, or a data set by name.")],
    option: Annotated[
        list[str] | None,
        Option(metavar="NAME=VALUE", help="An option of the protocol or of reading files; may be repeated."),
    ] = None,
    human: Human = False,
    *,
    how: Evaluation,
) -> None:
    """Score systems by any benchmark, including those you add. Most also have a dedicated command with more options.

    Example: [bold]hyperacuity evaluate exact maps/mine truth --option threshold=0.4[/bold]

    Example: [bold]hyperacuity evaluate boundary maps/mine truth --option protocol=nyud[/bold]
    """
    options = options_of(option or []) | {"human": human}
    common.show(common.evaluated(task, prediction, truth, how, **options), how=how)


def options_of(given: Sequence[str]) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` options: numbers, true and false, words, and lists of these with commas."""
    options: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier() or name in options:
            raise UsageError(f"--option {text}: expected NAME=VALUE, and every name once")
        words = tuple(_value(word.strip()) for word in value.split(",") if word.strip())
        options[name] = words if "," in value else _value(value)
    return options


def _value(word: str) -> Any:
    try:
        return ast.literal_eval(word.title() if word in ("true", "false") else word)
    except (ValueError, SyntaxError):
        return word
