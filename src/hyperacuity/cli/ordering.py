"""``hyperacuity ordering``: depth order and figure/ground, by Palou & Salembier's and Maire's measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Cluster, Data, Human, Json, Run, Systems, Workers
from hyperacuity.errors import InputError, UsageError
from hyperacuity.evaluate.inputs import Inputs, evaluate, named_predictions
from hyperacuity.evaluate.ordering_inputs import (
    LabelledContours,
    OrderingInputs,
    best_level,
    find_inputs,
    read_regions,
)

if TYPE_CHECKING:
    from hyperacuity.ordering import Consistency, Ordering, OrderingScore, OrderingTally, Protocol
    from hyperacuity.run import Cell


class Farther(StrEnum):
    """Whose maps count depth, larger = farther."""

    NONE = "none"
    PRED = "pred"
    TRUTH = "truth"
    BOTH = "both"


def ordering(
    prediction: Annotated[
        Path,
        typer.Argument(
            metavar="PRED",
            help="Folder of order maps or .fg files, or one; a folder of such folders is a sweep over a parameter.",
            show_default=False,
        ),
    ],
    truth: Annotated[
        str,
        typer.Argument(
            metavar="TRUTH",
            help="Order maps, figure/ground labels (folder or archive), a folder of scenes, or bsds-fg.",
        ),
    ],
    regions: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Segmentations to ask about who is in front (default: the truth's own). Label maps, .seg, or ucm2.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        str, typer.Option(help="Level at which ucm2 regions are cut; best: that of the best boundary F.")
    ] = "best",
    transfer: Annotated[
        bool, typer.Option("--transfer", help="Bring predictions onto the regions for LDC and GDC too.")
    ] = False,
    system: Systems = None,
    farther: Annotated[
        Farther, typer.Option(help="Whose maps are depth maps, in which larger is farther.")
    ] = Farther.NONE,
    radius: Annotated[float, typer.Option(min=0, help="How far apart contours may be, in pixels.")] = 3.0,
    angle: Annotated[float, typer.Option(min=0, max=180, help="How far apart directions may be, in degrees.")] = 15.0,
    cost: Annotated[
        str, typer.Option(help="What matching minimises: distance (the paper), or distance+angle.")
    ] = "distance",
    annotators: Annotated[str, typer.Option(help="Several annotators' contours: bsds, sum or best.")] = "bsds",
    tie: Annotated[str, typer.Option(help="A predicted tie in R-ACC and B-ACC: wrong, half or skip.")] = "wrong",
    mean: Annotated[bool, typer.Option("--mean", help="Mean over images instead of counts of all images.")] = False,
    human: Human = False,
    data: Data = None,
    run: Run = None,
    charts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write charts (SVG) of all systems here.", show_default=False)
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a picture of every image here.", show_default=False)
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    json: Json = False,
) -> None:
    """Score depth orders: local and global depth consistency (LDC, GDC), the over-random index, R-ACC and B-ACC.

    F max counts detections, F min only those in the right order; ORI is 0 for an order by chance and 1 for a right one.

    Order maps have larger = nearer (see --farther). Labelled contours (.fg) order neighbours only, so they have no GDC.

    Example: [bold]hyperacuity ordering depth scenes --system po=maps/po[/bold]

    Example: [bold]hyperacuity ordering depth bsds-fg --regions ucm2 --human --tie half[/bold]
    """
    from hyperacuity.ordering import Protocol, collect_sweep

    protocol = Protocol(
        radius=radius,
        angle=angle,
        cost=_choice(cost),
        annotators=_choice(annotators),
        question_tie=_choice(tie),
        aggregate="mean" if mean else "pooled",
    )
    if transfer and regions is None:
        raise UsageError("--transfer brings predictions onto regions, so give them: --regions DIR")
    found = find_inputs(named_predictions(prediction, system or []), truth, regions, data=data)
    if charts is not None:
        from hyperacuity.report import theme

        theme.require()
    folders = [None if folder is None else common.output_folder(folder) for folder in (charts, pictures)]
    job = OrderingJob(protocol, found.labelled, farther.value, transfer=transfer)
    job = _calibrated(job, found.cells, level)
    outcome = evaluate(job, Inputs({}, found.cells, False, found.unpaired), run=run, workers=workers, cluster=cluster)
    scores: dict[str, OrderingScore] = {}
    for name, points in found.sweeps.items():
        done = {value: outcome.tallies[label] for value, label in points.items() if outcome.tallies.get(label)}
        if done and set.intersection(*(set(tallies) for tallies in done.values())):
            scores[name] = collect_sweep(done, protocol)
    people = _people(found.cells, job) if human else None
    if human and people is None:
        common.warn("no image has two annotators, so nothing can be said about people")
    if folders[0] is not None and scores:
        _draw_charts(folders[0], scores, people, job.signature)
    if folders[1] is not None:
        _draw_pictures(folders[1], found, job)
    status = common.tell_failures((f"{f.system}: {f.image}", f.reason) for f in outcome.failures)
    images = len({image for tallies in outcome.tallies.values() for image in tallies})
    if json:
        failed = [{"system": f.system, "image": f.image, "reason": f.reason} for f in outcome.failures]
        summary = _summary(job.signature, images, scores)
        if human:
            summary["human"] = None if people is None else _told(people)
        common.print_json(summary | {"failed": failed, "unpaired": found.unpaired})
    elif scores:
        _print(scores, people, images, job.signature)
    raise typer.Exit(status)


@dataclass(frozen=True)
class OrderingJob:
    """One prediction, its truths and the regions to ask about, read and tallied."""

    protocol: Protocol
    labelled: LabelledContours | None = None
    farther: str = "none"
    level: float | None = None
    given: bool = False
    transfer: bool = False

    @property
    def signature(self) -> str:
        """The protocol's; other readings of the same files are told apart."""
        head, _, version = self.protocol.signature.rpartition("|")
        asked = "given" if self.given else "truth"
        if self.level is not None:
            asked += f",level{self.level:.4g}"
        if self.transfer:
            asked += ",transfer"
        flipped = "" if self.farther == "none" else f"|farther:{self.farther}"
        return f"{head}|regions:{asked}{flipped}|{version}"

    @property
    def tally_type(self) -> type[OrderingTally]:
        """What :meth:`evaluate` returns."""
        from hyperacuity.ordering import OrderingTally

        return OrderingTally

    def evaluate(self, cell: Cell) -> OrderingTally:
        """Count one image."""
        from hyperacuity.data.files import warn
        from hyperacuity.ordering import Partition, tally

        prediction = self.prediction(cell)
        if isinstance(prediction, Partition) and not self.transfer and 4 * prediction.regions > prediction.labels.size:
            # Without the file's name, so that a folder of such maps is told of once.
            warn(
                "an order map has nearly as many regions as pixels: as contours and regions they mean little. "
                "Bring dense orders onto segmentations with --regions DIR --transfer"
            )
        regions = [labels for path in cell.extras for labels in read_regions(path, self.level)]
        return tally(prediction, self.truths(cell), self.protocol, regions=regions, on_regions=self.transfer)

    def prediction(self, cell: Cell) -> Ordering:
        """The system's ordering."""
        return _read(cell.prediction, self.farther in ("pred", "both"))

    def truths(self, cell: Cell) -> list[Ordering]:
        """Every annotator's ordering."""
        if self.labelled is not None:
            return self.labelled.of(cell.image)
        return [_read(path, self.farther in ("truth", "both")) for path in cell.truths]


def _read(path: Path, farther: bool) -> Ordering:
    from hyperacuity.data import read_order
    from hyperacuity.ordering import ordering

    return ordering(read_order(path, larger="farther" if farther else "nearer"), name=str(path))


def _choice(text: str) -> Any:
    """A choice as the protocol takes it, which checks it."""
    return text


def _calibrated(job: OrderingJob, cells: list[Cell], level: str) -> OrderingJob:
    """The job with the level at which hierarchies are cut, where there are any."""
    from dataclasses import replace

    by_image: dict[str, Cell] = {cell.image: cell for cell in cells if cell.extras}
    if not by_image:
        return job
    job = replace(job, given=True)
    hierarchies = {image: cell for image, cell in by_image.items() if _is_hierarchy(cell.extras[0])}
    if not hierarchies:
        return job
    if level != "best":
        try:
            cut = float(level)
        except ValueError as error:
            raise UsageError(f"--level {level}: expected best or a number between 0 and 1") from error
        return replace(job, level=cut)
    cut = best_level((cell.extras[0], job.truths(cell)) for cell in hierarchies.values() if _readable(job, cell))
    common.messages.print(f"regions are cut at level {cut:.3f}, where their contours have the best boundary F")
    return replace(job, level=round(cut, 4))


def _is_hierarchy(path: Path) -> bool:
    from hyperacuity.data import holds_ucm

    try:
        return holds_ucm(path)
    except InputError:
        return False  # fails its own cell, by name


def _readable(job: OrderingJob, cell: Cell) -> bool:
    from hyperacuity.data import read_soft

    try:
        return read_soft(cell.extras[0]).size > 0 and bool(job.truths(cell))
    except InputError:
        return False


def _people(cells: list[Cell], job: OrderingJob) -> OrderingScore | None:
    """Each annotator against the others, over the images that have two or more; None where no image has."""
    from hyperacuity.ordering import collect, tally_humans

    tallies = {}
    for image, cell in {cell.image: cell for cell in cells}.items():
        try:
            truths = job.truths(cell)
        except InputError:
            continue  # has failed its own cell
        if len(truths) > 1:
            tallies[image] = tally_humans(truths, job.protocol)
    return collect(tallies, job.protocol) if tallies else None


def _draw_charts(
    folder: Path, scores: Mapping[str, OrderingScore], people: OrderingScore | None, signature: str
) -> None:
    from hyperacuity.report import theme
    from hyperacuity.report.charts.ordering import accuracy_chart, figure_ground_chart, prc_chart

    theme.save(prc_chart(scores, "ldc", human=people), folder / "ldc.svg", signature=signature)
    if any(score.gdc is not None for score in scores.values()):
        theme.save(prc_chart(scores, "gdc", human=people), folder / "gdc.svg", signature=signature)
    theme.save(figure_ground_chart(scores, human=people), folder / "figure-ground.svg", signature=signature)
    if any(value == value for score in scores.values() for value in score.accuracy.values()):
        theme.save(accuracy_chart(scores, human=people), folder / "accuracy.svg", signature=signature)


def _draw_pictures(folder: Path, found: OrderingInputs, job: OrderingJob) -> None:
    from hyperacuity.data import write_png
    from hyperacuity.report.pictures.ordering import picture_sheet

    for cell in found.cells:
        try:
            regions = [labels for path in cell.extras for labels in read_regions(path, job.level)]
            sheet = picture_sheet(
                job.prediction(cell), job.truths(cell)[0], job.protocol, regions[0] if regions else None
            )
        except InputError:
            continue  # has failed its own cell
        place = common.output_folder(folder / cell.system)
        write_png(place / f"{cell.image}.png", sheet)


def _summary(signature: str, images: int, scores: Mapping[str, OrderingScore]) -> dict[str, Any]:
    return {
        "signature": signature,
        "images": images,
        "systems": {name: _told(score) for name, score in scores.items()},
    }


def _told(score: OrderingScore) -> dict[str, Any]:
    intervals: dict[str, Any] = {name: list(ends) for name, ends in score.intervals.items()}
    for name, found in (("ldc", score.ldc), ("gdc", score.gdc)):
        if found is not None:
            intervals[name] = {part: list(ends) for part, ends in found.intervals.items()}
    return {
        "ldc": _consistency(score.ldc, score.parameters),
        "gdc": _consistency(score.gdc, score.parameters),
        **score.accuracy,
        "images": score.images,
        "parameter": score.parameters[score.chosen] or None,
        "intervals": intervals,
        "reasons": dict(score.reasons),
    }


def _consistency(found: Consistency | None, parameters: tuple[str, ...]) -> dict[str, Any] | None:
    if found is None or found.best.index < 0:
        return None
    best, outcomes = found.best, found.outcomes
    return {
        "fmax": best.fmax,
        "fmin": best.fmin,
        "ori": best.ori,
        "fg": best.fg,
        "parameter": parameters[best.index] or None,
        "curve": {
            "parameter": list(parameters),
            "precision": {"0": outcomes.precision(0), "1": outcomes.precision(1)},
            "recall": {"0": outcomes.recall(0), "1": outcomes.recall(1)},
            "fg": outcomes.accuracy,
        },
    }


def _print(scores: Mapping[str, OrderingScore], people: OrderingScore | None, images: int, signature: str) -> None:
    from rich.markup import escape
    from rich.table import Table

    swept = any(len(score.parameters) > 1 for score in scores.values())
    table = Table(box=None, pad_edge=False)
    table.add_column("system")
    parts = ("LDC F max", "F min", "ORI", "fg", "GDC F max", "F min", "ORI", "R-ACC", "B-ACC", "B-ACC-50", "B-ACC-25")
    for heading in (*(["at"] if swept else []), *parts):
        table.add_column(heading, justify="right")
    rows = {**scores, **({} if people is None else {"people": people})}
    for name, score in rows.items():
        table.add_row(
            escape(name),
            *([escape(score.parameters[score.chosen])] if swept else []),
            *(_number(v) for v in _values(score)),
        )
    common.results.print(table)
    reasons = {reason: None for score in rows.values() for reason in score.reasons.values()}
    for reason in reasons:
        common.results.print(f"–: {reason}", markup=False)
    common.results.print(f"\nimages: {images}\n{signature}", markup=False)


def _values(score: OrderingScore) -> list[float]:
    values: list[float] = []
    for found, names in ((score.ldc, ("fmax", "fmin", "ori", "fg")), (score.gdc, ("fmax", "fmin", "ori"))):
        values += [float("nan") if found is None else getattr(found.best, name) for name in names]
    return [*values, *score.accuracy.values()]


def _number(value: float) -> str:
    """Three decimals; a dash for what does not exist."""
    return "–" if value != value else f"{value:.3f}"  # only NaN is unlike itself
