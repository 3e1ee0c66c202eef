"""``hyperacuity study risk``: what the answers to forced-choice trials say about a data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Json
from hyperacuity.errors import InputError

if TYPE_CHECKING:
    from hyperacuity.audit.risk import Risk, RiskScore


def risk(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder with trials.csv and key.csv, as hyperacuity audit --trials writes them."
        ),
    ],
    answers: Annotated[
        Path | None,
        typer.Option(help="Table of answers: subject, trial, choice (default: DIR/answers.csv).", show_default=False),
    ] = None,
    figures: Annotated[Path | None, typer.Option(metavar="DIR", help="Write a chart here.", show_default=False)] = None,
    within: Annotated[
        float | None,
        typer.Option(
            metavar="WIDTH", help="Also tell how many trials an interval of ± WIDTH takes.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Tell how often people found a system's false alarm stronger than a human label: the risk of the data set.

    Each trial is decided by majority; intervals are Wilson's, 95 %. At 0.5, false alarms cannot be told from labels.

    Example: [bold]hyperacuity study risk trials --answers answers.csv[/bold]

    Example: [bold]hyperacuity study risk trials --within 0.05[/bold]
    """
    from hyperacuity.audit.risk import read_answers
    from hyperacuity.audit.risk import risk as risk_of
    from hyperacuity.audit.trials import read_trials

    table = answers or folder / "answers.csv"
    score = risk_of(read_trials(folder), read_answers(table))
    if not score.risks:
        raise InputError(f"{table}: holds no answer, so that nothing can be said about risk")
    needed = {} if within is None else _needed(score, within)
    if figures is not None:
        from hyperacuity.report import theme

        theme.require()
        from hyperacuity.report.charts.audit import risk_chart

        place = common.output_folder(figures)
        for suffix in ("svg", "png"):
            theme.save(risk_chart(score), place / f"risk.{suffix}", signature="risk|vote:majority|interval:wilson|v:1")
    if json:
        common.print_json(_summary(score) | ({} if within is None else {"needed": needed}))
    else:
        _print(score)
        if within is not None:
            told = ", ".join(f"{mode} {count}" for mode, count in needed.items())
            common.results.print(f"trials of a system that ± {within:g} takes: {told}", markup=False)


def _needed(score: RiskScore, within: float) -> dict[str, int]:
    """How many trials of one system make an interval that narrow, by mode, if its risk is the mean one found."""
    from hyperacuity.audit.risk import trials_needed

    found = {mode: one.risk for mode, one in score.mean.items()}
    return {mode: trials_needed(within, share=0.5 if risk != risk else risk) for mode, risk in found.items()}


def _summary(score: RiskScore) -> dict[str, Any]:
    def told(one: Risk) -> dict[str, Any]:
        return {"risk": one.risk, "ci": one.interval, "trials": one.trials, "ties": one.ties}

    modes: dict[str, Any] = {
        mode: {
            "systems": {name: told(one) for name, one in systems.items()},
            "mean": told(score.mean[mode]),
            "alpha": score.alpha[mode],
        }
        for mode, systems in score.risks.items()
    }
    return {**modes, "subjects": score.subjects, "seconds": score.seconds}


def _print(score: RiskScore) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("mode")
    table.add_column("system")
    for heading in ("risk", "95 % interval", "trials", "ties"):
        table.add_column(heading, justify="right")
    for mode, systems in score.risks.items():
        for name, one in [*systems.items(), ("mean", score.mean[mode])]:
            low, high = one.interval
            share = "–" if one.risk != one.risk else f"{one.risk:.3f}"
            table.add_row(mode, escape(name), share, f"{low:.3f} – {high:.3f}", str(one.trials), str(one.ties))
    common.results.print(table)
    agreement = ", ".join(f"{mode} {alpha:.2f}" for mode, alpha in score.alpha.items())
    common.results.print(
        f"\n{score.subjects} subjects; agreement beyond chance (Krippendorff's α): {agreement}", markup=False
    )
