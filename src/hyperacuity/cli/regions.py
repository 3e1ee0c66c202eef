"""``hyperacuity regions``: score hierarchies and segmentations by covering, Rand index and variation of information."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Cluster, Data, Json, Run, Systems, Workers
from hyperacuity.evaluate.inputs import evaluate, systems_and_truths

if TYPE_CHECKING:
    from hyperacuity.maps import LabelMap
    from hyperacuity.regions.benchmark import LevelSummary, Protocol, RegionScore, RegionTally
    from hyperacuity.regions.levels import Levels
    from hyperacuity.run import Cell


class Form(StrEnum):
    """What the files of a prediction hold."""

    AUTO = "auto"
    UCM = "ucm"
    SEGMENTATIONS = "segmentations"
    SOFT = "soft"


def regions(
    prediction: Annotated[
        Path,
        typer.Argument(metavar="PRED", help="Folder of ucm2 or segmentation files, or one file.", show_default=False),
    ],
    truth: Annotated[
        str,
        typer.Argument(metavar="TRUTH", help="Folder of annotators' segmentations, one file, or bsds500."),
    ],
    system: Systems = None,
    levels: Annotated[int, typer.Option(min=1, help="At how many levels a hierarchy is cut.")] = 99,
    form: Annotated[
        Form,
        typer.Option(
            "--as",
            help="What predictions hold; soft: boundary maps, of which hierarchies are made. auto: ucm2 or labels.",
        ),
    ] = Form.AUTO,
    data: Data = None,
    run: Run = None,
    berkeley: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write Berkeley's eval_cover*.txt and eval_RI_VOI*.txt.", show_default=False),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    json: Json = False,
) -> None:
    """Score segmentations: covering, probabilistic Rand index (PRI), variation of information (VI), as in BSDS500.

    ODS takes the one level that is best for all images, OIS each image's best level, best each region's best level.

    Predictions are ultrametric contour maps (MAT files with ucm2), cells of segmentations (segs), or label maps.

    Example: [bold]hyperacuity regions gpb/ucm2 BSDS500/groundTruth/test --berkeley eval[/bold]
    """
    from hyperacuity.regions.benchmark import Protocol, collect

    protocol = Protocol(levels)
    paired = systems_and_truths(prediction, truth, system or [], data=data)
    folder = None if berkeley is None else common.output_folder(berkeley)
    job = RegionsJob(protocol, form)
    outcome = evaluate(job, paired, run=run, workers=workers, cluster=cluster)
    done = {name: tallies for name, tallies in outcome.tallies.items() if tallies}
    scores = {name: collect(tallies, protocol) for name, tallies in done.items()}
    if folder is not None:
        _write_berkeley(folder, done, protocol)
    status = common.tell_failures((f"{f.system}: {f.image}", f.reason) for f in outcome.failures)
    if json:
        failed = [{"system": f.system, "image": f.image, "reason": f.reason} for f in outcome.failures]
        summary = _summary(job.signature, scores)
        common.print_json(summary | {"failed": failed, "unpaired": paired.unpaired})
    elif scores:
        common.results.print(_table(scores))
        images = ", ".join(f"{name} {score.images}" for name, score in scores.items())
        common.results.print(f"\nimages: {images}\n{job.signature}", markup=False)
    raise typer.Exit(status)


@dataclass(frozen=True)
class RegionsJob:
    """One prediction and its truths, read and tallied."""

    protocol: Protocol
    form: Form = Form.AUTO

    @property
    def signature(self) -> str:
        """The protocol's; hierarchies that were made here of soft maps are told apart."""
        head, _, version = self.protocol.signature.rpartition("|")
        return f"{head}|from:soft|{version}" if self.form is Form.SOFT else self.protocol.signature

    @property
    def tally_type(self) -> type[RegionTally]:
        """What :meth:`evaluate` returns."""
        from hyperacuity.regions.benchmark import RegionTally

        return RegionTally

    def evaluate(self, cell: Cell) -> RegionTally:
        """Score one hierarchy or stack of segmentations."""
        from hyperacuity.data import read_segmentations
        from hyperacuity.regions.benchmark import tally

        return tally(self._read(cell.prediction), read_segmentations(cell.truths), self.protocol)

    def _read(self, path: Path) -> Levels | list[LabelMap]:
        from hyperacuity.data import holds_ucm, read_segmentations, read_soft, read_ucm
        from hyperacuity.regions import hierarchy, ucm_levels

        if self.form is Form.SOFT:
            return hierarchy(read_soft(path)).levels(self.protocol.thresholds)
        if self.form is Form.UCM or (self.form is Form.AUTO and holds_ucm(path)):
            return ucm_levels(read_ucm(path), self.protocol.thresholds)
        return read_segmentations([path])


def _write_berkeley(folder: Path, done: Mapping[str, Mapping[str, RegionTally]], protocol: Protocol) -> None:
    """The benchmark's text files; those of several systems in a folder each."""
    from hyperacuity.regions.berkeley import berkeley_files

    for name, tallies in done.items():
        place = folder if len(done) == 1 else common.output_folder(folder / name)
        for file, text in berkeley_files(tallies, protocol).items():
            (place / file).write_text(text, encoding="ascii")


def _summary(signature: str, scores: Mapping[str, RegionScore]) -> dict[str, Any]:
    systems = {
        name: {
            "images": score.images,
            "covering": _as_json(score.covering) | {"best": score.best},
            "pri": _as_json(score.pri),
            "vi": _as_json(score.vi),
        }
        for name, score in scores.items()
    }
    images = max((score.images for score in scores.values()), default=0)
    return {"signature": signature, "images": images, "systems": systems}


def _as_json(summary: LevelSummary) -> dict[str, Any]:
    return {"ods": summary.ods, "ois": summary.ois, "level": summary.level, "interval": summary.interval}


def _table(scores: Mapping[str, RegionScore]) -> Any:
    """One line per system and measure."""
    from rich.table import Table

    table = Table("system", "measure", box=None, pad_edge=False)
    for heading in ("ODS", "95 % interval", "level", "OIS", "best"):
        table.add_column(heading, justify="right")
    for name, score in scores.items():
        rows = (
            ("covering ↑", score.covering, f"{score.best:.4f}"),
            ("PRI ↑", score.pri, ""),
            ("VI ↓", score.vi, ""),
        )
        for n, (measure, found, best) in enumerate(rows):
            table.add_row(
                "" if n else name,
                measure,
                f"{found.ods:.4f}",
                f"{found.interval[0]:.4f} – {found.interval[1]:.4f}",
                f"{found.level:.2f}",
                f"{found.ois:.4f}",
                best,
                end_section=n == 2,
            )
    return table
