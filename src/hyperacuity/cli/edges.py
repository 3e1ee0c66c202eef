"""``hyperacuity edges``: score edge maps with the dissimilarity measures, soft ones at their best threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Cluster, Data, Json, Run, Systems, Workers
from hyperacuity.evaluate.inputs import evaluate, systems_and_truths, told_apart

if TYPE_CHECKING:
    from hyperacuity.edges.benchmark import EdgeScore, EdgeTally, Protocol
    from hyperacuity.run import Cell


def edges(
    prediction: Annotated[
        Path, typer.Argument(metavar="PRED", help="Edge map, or folder of edge maps.", show_default=False)
    ],
    truth: Annotated[
        str,
        typer.Argument(metavar="TRUTH", help="Truth, folder of truths, or a known data set such as rug or uded."),
    ],
    system: Systems = None,
    names: Annotated[
        str | None,
        typer.Option(
            "--measures", help="Measures, with commas: psi,sk(k=1),baddeley. [default: all]", show_default=False
        ),
    ] = None,
    thresholds: Annotated[int, typer.Option(min=1, help="How many thresholds from 0 to 1.")] = 101,
    thin: Annotated[
        bool, typer.Option("--thin", help="Thin soft maps first. Without it they must be thin already.")
    ] = False,
    inverted: Annotated[bool, typer.Option("--inverted", help="In the truth, 0 is the edge.")] = False,
    data: Data = None,
    run: Run = None,
    workers: Workers = None,
    cluster: Cluster = None,
    json: Json = False,
) -> None:
    """Score edge maps against the truth with up to 23 dissimilarity measures; 0 is perfect.

    A soft map is taken at every threshold, and its lowest score counts, as in Abdulrahman et al. (2017). A binary map is
    scored as it is. The table gives each measure's mean minimum over the images with a 95 % bootstrap interval, the mean
    threshold that reaches it, and on how many images each system is best.

    Example: [bold]hyperacuity edges maps/canny truth --measures "psi,sk(k=1)"[/bold]
    """
    from hyperacuity.edges.benchmark import Protocol, collect, wins
    from hyperacuity.edges.names import PAPER, measures

    protocol = Protocol(
        names=PAPER if names is None else tuple(str(m) for m in measures(names)),
        thresholds=thresholds,
        thin="structured" if thin else "none",
    )
    paired = systems_and_truths(prediction, truth, system or [], data=data)
    job = EdgesJob(protocol, inverted or paired.inverted)
    outcome = evaluate(job, paired, run=run, workers=workers, cluster=cluster)
    done = {name: tallies for name, tallies in outcome.tallies.items() if tallies}
    scores = {name: collect(tallies, protocol) for name, tallies in done.items()}
    won = wins(done, protocol) if len(done) > 1 else {}
    status = common.tell_failures((f"{f.system}: {f.image}", f.reason) for f in outcome.failures)
    if json:
        failed = [{"system": f.system, "image": f.image, "reason": f.reason} for f in outcome.failures]
        common.print_json(_summary(job.signature, scores, won) | {"failed": failed, "unpaired": paired.unpaired})
    elif scores:
        common.results.print(_table(scores, won))
        images = ", ".join(f"{name} {score.images}" for name, score in scores.items())
        common.results.print(f"\nimages: {images}\n{job.signature}", markup=False)
    raise typer.Exit(status)


@dataclass(frozen=True)
class EdgesJob:
    """One prediction and its truths, read and tallied."""

    protocol: Protocol
    inverted: bool = False

    @property
    def signature(self) -> str:
        """The protocol's; truths read the other way round are told apart, since their files are the same."""
        return told_apart(self.protocol.signature, self.inverted)

    @property
    def tally_type(self) -> type[EdgeTally]:
        """What :meth:`evaluate` returns."""
        from hyperacuity.edges.benchmark import EdgeTally

        return EdgeTally

    def evaluate(self, cell: Cell) -> EdgeTally:
        """Score one edge map."""
        from hyperacuity.data import read_boundary_truths, read_soft
        from hyperacuity.edges.benchmark import tally

        truths = read_boundary_truths(cell.truths, inverted=self.inverted)
        return tally(read_soft(cell.prediction), truths, self.protocol)


def _summary(signature: str, scores: Mapping[str, EdgeScore], won: Mapping[str, Any]) -> dict[str, Any]:
    systems = {}
    for system, score in scores.items():
        measures = {}
        for m, name in enumerate(score.protocol.names):
            measures[name] = {
                "minimum": float(score.minimum[m]),
                "interval": score.interval[m].tolist(),
                "threshold": float(score.threshold[m]),
            }
            if system in won:
                measures[name]["wins"] = float(won[system][m])
        systems[system] = {"images": score.images, "measures": measures}
    return {"signature": signature, "systems": systems}


def _table(scores: Mapping[str, EdgeScore], won: Mapping[str, Any]) -> Any:
    """One line per measure and system; the lowest minimum of each measure is marked with a star."""
    from rich.table import Table

    table = Table("measure", "", "system", box=None, pad_edge=False)
    for heading in ("minimum", "", "95 % interval", "threshold", *(["wins"] if won else [])):
        table.add_column(heading, justify="left" if not heading else "right")
    first = next(iter(scores.values()))
    from hyperacuity.edges.names import measure

    for m, name in enumerate(first.protocol.names):
        lowest = min(float(score.minimum[m]) for score in scores.values())
        for n, (system, score) in enumerate(scores.items()):
            best = len(scores) > 1 and float(score.minimum[m]) == lowest
            low, high = score.interval[m]
            table.add_row(
                *((name, measure(name).symbol) if n == 0 else ("", "")),
                system,
                _number(score.minimum[m]),
                "*" if best else "",
                f"{_number(low)} – {_number(high)}",
                _number(score.threshold[m], 2),
                *([f"{won[system][m]:.1f}"] if won else []),
                style="bold" if best else None,
                end_section=n == len(scores) - 1,
            )
    return table


def _number(value: float, digits: int = 4) -> str:
    """Fixed decimals, so that columns align; a dash for what does not exist."""
    return "–" if value != value else f"{value:.{digits}f}"  # only NaN is unlike itself
