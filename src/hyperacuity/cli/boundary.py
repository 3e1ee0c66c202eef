"""``hyperacuity boundary``: the Berkeley boundary benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Cluster, Data, Human, Json, Run, Split, Systems, Workers
from hyperacuity.errors import UsageError
from hyperacuity.evaluate.inputs import evaluate, systems_and_truths, told_apart

FEW_IMAGES = 10

if TYPE_CHECKING:
    from hyperacuity.boundary import BoundaryScore, BoundaryTally, HumanScore, Point, Protocol, Suppression
    from hyperacuity.run import Cell


def boundary(
    prediction: Annotated[
        Path,
        typer.Argument(
            metavar="PRED", help="Folder of soft boundary maps (png, npy, mat …), or one.", show_default=False
        ),
    ],
    truth: Annotated[
        str,
        typer.Argument(metavar="TRUTH", help="Folder of truths, one truth, or a known data set such as bsds500."),
    ],
    system: Systems = None,
    protocol: Annotated[
        str,
        typer.Option(metavar="NAME", help="bsds, nyud (tolerance 0.011), crisp (no thinning), biped (suppression)."),
    ] = "bsds",
    tolerance: Annotated[
        float | None,
        typer.Option(help="Fraction of the image diagonal (default: the protocol's).", show_default=False),
    ] = None,
    nms: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Suppress non-maxima first: structured, structured-s0-r2, structured-s1-r1-8bit (smoothing, radius, "
            "rounding), or none (default: the protocol's).",
            show_default=False,
        ),
    ] = None,
    thin: Annotated[
        bool | None,
        typer.Option(
            "--thin/--no-thin", help="Thin every thresholded map (default: the protocol's).", show_default=False
        ),
    ] = None,
    thresholds: Annotated[
        str, typer.Option(metavar="N", help="How many thresholds between 0 and 1, or the thresholds: 0.2,0.5,0.8.")
    ] = "99",
    segmentations: Annotated[
        bool, typer.Option("--segmentations", help="Predictions are stacks of segmentations, a level each (segs).")
    ] = False,
    precision: Annotated[
        str,
        typer.Option(help="any: a pixel that any annotator drew is right (Berkeley); mean: the mean over annotators."),
    ] = "any",
    human: Human = False,
    data: Data = None,
    split: Split = None,
    run: Run = None,
    berkeley: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write eval_bdry*.txt as Berkeley's benchmark does.", show_default=False),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    json: Json = False,
) -> None:
    """Score soft boundary maps against human boundaries: ODS, OIS, AP and R50 with Berkeley's rules.

    Pixels are matched one to one within the tolerance, exactly: as many pairs as possible, then the least distance. ODS is the
    best F at one threshold for all images, OIS with a threshold for each; intervals are 95 % bootstrap over images.

    Example: [bold]hyperacuity boundary maps/canny truth --system hk=maps/hk[/bold]

    Example: [bold]hyperacuity boundary maps/ucm bsds500 --split test --human[/bold]
    """
    from hyperacuity.boundary import collect, compare_systems

    agreed = _protocol(
        protocol, tolerance, nms, thin, "levels" if segmentations else _thresholds(thresholds), precision
    )
    inputs = systems_and_truths(prediction, truth, system or [], data=data, split=split)
    folder = None if berkeley is None else common.output_folder(berkeley)
    job = BoundaryJob(agreed, inputs.inverted)
    outcome = evaluate(job, inputs, run=run, workers=workers, cluster=cluster)
    done = {name: tallies for name, tallies in outcome.tallies.items() if tallies}
    scores = {name: collect(tallies, agreed) for name, tallies in done.items()}
    names = list(done)
    paired = {
        f"{first} − {second}": compare_systems(done[first], done[second], agreed)
        for place, first in enumerate(names)
        for second in names[place + 1 :]
        if done[first].keys() & done[second].keys()
    }
    people = _people(inputs.cells, job, workers) if human else None
    if folder is not None:
        _write_berkeley(scores, folder)
    status = common.tell_failures((f"{f.system}: {f.image}", f.reason) for f in outcome.failures)
    if json:
        failed = [{"system": f.system, "image": f.image, "reason": f.reason} for f in outcome.failures]
        summary = _summary(job.signature, scores, people, paired)
        common.print_json(summary | {"failed": failed, "unpaired": inputs.unpaired})
    elif scores:
        _print(scores, people, paired, job.signature, _tolerance_note(inputs.cells, agreed))
    raise typer.Exit(status)


@dataclass(frozen=True)
class BoundaryJob:
    """One prediction and its truths, read and tallied."""

    protocol: Protocol
    inverted: bool = False

    @property
    def signature(self) -> str:
        """The protocol's; truths read the other way round are told apart, since their files are the same."""
        return told_apart(self.protocol.signature, self.inverted)

    @property
    def tally_type(self) -> type[BoundaryTally]:
        """What :meth:`evaluate` returns."""
        from hyperacuity.boundary import BoundaryTally

        return BoundaryTally

    def evaluate(self, cell: Cell) -> BoundaryTally:
        """Count one image."""
        from hyperacuity.boundary import tally
        from hyperacuity.data import read_boundary_truths, read_segmentations, read_soft

        truths = read_boundary_truths(cell.truths, inverted=self.inverted)
        if self.protocol.thresholds == "levels":
            return tally(read_segmentations([cell.prediction]), truths, self.protocol)
        return tally(read_soft(cell.prediction), truths, self.protocol)


def _protocol(
    name: str,
    tolerance: float | None,
    nms: str | None,
    thin: bool | None,
    thresholds: int | tuple[float, ...] | str,
    precision: str,
) -> Protocol:
    from hyperacuity.boundary import protocol

    changes: dict[str, object] = {"thresholds": thresholds, "precision": precision}
    if tolerance is not None:
        changes["tolerance"] = tolerance
    if nms is not None:
        changes["nms"] = _suppression(nms)
    if thin is not None:
        changes["thin"] = thin
    return protocol(name, **changes)


def _thresholds(text: str) -> int | tuple[float, ...]:
    """A number of thresholds, or a list of them."""
    try:
        return int(text) if text.strip().isdigit() else tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"--thresholds {text}: expected a number such as 99, or a list such as 0.2,0.5") from error


def _suppression(text: str) -> Suppression | None:
    """The suppression that a name stands for: ``none``, ``structured``, ``structured-s0-r2``, ``structured-s1-r1-8bit``."""
    import re

    from hyperacuity.boundary import Suppression

    if text == "none":
        return None
    found = re.fullmatch(r"structured(?:-s(\d))?(?:-r(\d))?(-8bit)?", text)
    if found is None:
        raise UsageError(
            f"--nms {text}: expected none, structured, or such as structured-s0-r2 or structured-s1-r1-8bit"
        )
    smooth, radius, rounded = found.groups()
    return Suppression(int(smooth or 1), int(radius or 1), rounded is not None)


def _people(cells: list[Cell], job: BoundaryJob, workers: int | None) -> HumanScore:
    """Each annotator against the others, over the images that have two or more."""
    from concurrent.futures import ThreadPoolExecutor

    from hyperacuity.boundary import collect_humans, tally_humans
    from hyperacuity.data import read_boundary_truths
    from hyperacuity.errors import InputError

    def one(truths: tuple[Path, ...]) -> BoundaryTally | None:
        try:
            return tally_humans(read_boundary_truths(truths, inverted=job.inverted), job.protocol)
        except InputError:
            return None  # an image with one annotator; a broken file has failed its own cell already

    with ThreadPoolExecutor(workers) as pool:
        tallies = list(pool.map(one, {cell.truths: None for cell in cells}))
    return collect_humans([tally for tally in tallies if tally is not None], job.protocol)


def _write_berkeley(scores: Mapping[str, BoundaryScore], folder: Path) -> None:
    from hyperacuity.boundary import write_berkeley

    for name, score in scores.items():
        place = folder if len(scores) == 1 else common.output_folder(folder / name.replace("/", "_"))
        write_berkeley(score, place)


def _tolerance_note(cells: list[Cell], protocol: Protocol) -> str:
    """The tolerance as a fraction and, for the size of the first image, in pixels."""
    from hyperacuity.boundary import tolerance_in_pixels
    from hyperacuity.data import read_boundary_truths
    from hyperacuity.errors import InputError
    from hyperacuity.maps import size_of

    note = f"tolerance {protocol.tolerance:g} of the diagonal"
    try:
        first = read_boundary_truths(cells[0].truths)[0]
    except InputError:
        return note
    return f"{note} = {tolerance_in_pixels(first.shape, protocol.tolerance):.2f} px at {size_of(first)}"


def _summary(
    signature: str, scores: Mapping[str, BoundaryScore], people: HumanScore | None, paired: Mapping[str, Any]
) -> dict[str, Any]:
    def point(of: Point) -> dict[str, Any]:
        return {"recall": of.recall, "precision": of.precision, "f": of.f, "ci": of.interval}

    systems = {
        name: {
            "images": len(score.images),
            "ods": {"threshold": score.ods.threshold, **point(score.ods)},
            "ois": point(score.ois),
            "ap": score.ap,
            "r50": score.r50,
            "curve": {
                "threshold": score.curve.threshold,
                "recall": score.curve.recall,
                "precision": score.curve.precision,
                "f": score.curve.f,
            },
            "per_image": {
                image: {"threshold": own.threshold, "recall": own.recall, "precision": own.precision, "f": own.f}
                for image, own in zip(score.images, score.per_image, strict=True)
            },
        }
        for name, score in scores.items()
    }
    images = len({image for score in scores.values() for image in score.images})
    summary: dict[str, Any] = {"signature": signature, "images": images, "systems": systems}
    if paired:
        summary["paired"] = {
            pair: {kind: vars(result) for kind, result in results.items()} for pair, results in paired.items()
        }
    if people is not None:
        own = people.point
        summary["human"] = {
            "images": people.images,
            "recall": own.recall,
            "precision": own.precision,
            "f": own.f,
        }
    return summary


def _print(
    scores: Mapping[str, BoundaryScore],
    people: HumanScore | None,
    paired: Mapping[str, Any],
    signature: str,
    tolerance: str,
) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("system")
    versus = ("behind the best", "p") if len(scores) > 1 else ()
    for heading in ("images", "ODS", "95 % interval", "threshold", "OIS", "95 % interval", "AP", "R50", *versus):
        table.add_column(heading, justify="right")
    ranked = sorted(scores.items(), key=lambda item: -item[1].ods.f)
    for name, score in ranked:
        ods, ois = score.ods, score.ois
        table.add_row(
            escape(name),
            str(len(score.images)),
            f"{ods.f:.4f}",
            f"{ods.interval[0]:.3f} – {ods.interval[1]:.3f}",
            f"{ods.threshold:.3f}",
            f"{ois.f:.4f}",
            f"{ois.interval[0]:.3f} – {ois.interval[1]:.3f}",
            f"{score.ap:.4f}",
            "–" if score.r50 != score.r50 else f"{score.r50:.4f}",
            *_behind(ranked[0][0], name, paired),
        )
    if people is not None and people.images:
        table.add_row("people", str(people.images), f"{people.point.f:.4f}")
    common.results.print(table)
    if len(scores) > 1:
        common.results.print("\np: paired bootstrap of ODS over the images; from 0.05 on the difference may be chance")
    if min(len(score.images) for score in scores.values()) < FEW_IMAGES:
        common.results.print(f"\nfewer than {FEW_IMAGES} images: intervals and p-values say little")
    common.results.print(f"\n{tolerance}\n{signature}", markup=False)


def _behind(best: str, name: str, paired: Mapping[str, Any]) -> list[str]:
    """How far a system's ODS is behind the best one's, and the p-value of that."""
    result = paired.get(f"{best} − {name}") or paired.get(f"{name} − {best}")
    return [] if result is None else [f"{abs(result['ods'].difference):.4f}", f"{result['ods'].p_value:.3f}"]
