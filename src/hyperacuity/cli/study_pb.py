"""``hyperacuity study pb``: learn ``pb`` from all labels and from those that everyone drew, and test both on both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.detect_train import TRUTHS, Course, bsds500_lessons, each, evenly, learn
from hyperacuity.cli.options import Json, Workers
from hyperacuity.errors import InputError, UsageError
from hyperacuity.evaluation.audit_inputs import AuditJob
from hyperacuity.evaluation.inputs import Inputs, evaluate

if TYPE_CHECKING:
    from hyperacuity.audit import SystemAudit
    from hyperacuity.data import Sample
    from hyperacuity.detect.pb_detector import PbModel


def pb(
    out: Annotated[Path, typer.Option("--out", help="Folder to write to; made if need be.", show_default=False)],
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="Where BSDS500 lies.", show_default=False)] = None,
    truth: Annotated[
        str | None, typer.Option(help="Learn from these labels only: all or consensus.", show_default=False)
    ] = None,
    train: Annotated[
        int | None, typer.Option(min=1, help="Learn from so many images, evenly chosen.", show_default=False)
    ] = None,
    test: Annotated[
        int | None, typer.Option(min=0, help="Test on so many images, evenly chosen; 0: none.", show_default=False)
    ] = None,
    weak: Annotated[
        str, typer.Option(help="Pixels near labels that not everyone drew: ignore or negative.")
    ] = "ignore",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the pixels that are learned from.")] = 0,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Learn the detector pb from BSDS500's training images, from all labels and from consensus labels, and test on both.

    Fig. 8 of Hou, Yuille & Koch (2013). Writes pb-all.json and pb-consensus.json, as hyperacuity detect train pb does, and the
    maps of the test images.

    Example: [bold]hyperacuity study pb --data datasets --out pb[/bold]
    """  # fmt: skip
    from hyperacuity.audit import AuditProtocol, collect_audit
    from hyperacuity.data import load_dataset
    from hyperacuity.detect.pb_detector import load_model

    if truth is not None and truth not in TRUTHS:
        raise UsageError(f"--truth {truth}: expected all or consensus")
    course = Course(seed=seed, weak=weak)
    folder = common.output_folder(out)
    lessons, source = bsds500_lessons(data, train)
    learned = learn(lessons, TRUTHS if truth is None else (truth,), course, source, workers)
    # Tested is what was written, rounded as it is.
    models = {name: load_model(one.model.save(folder / f"pb-{name}.json")) for name, one in learned.items()}
    audits: dict[str, SystemAudit] = {}
    failures: list[Any] = []
    if test != 0:
        samples = evenly(load_dataset("bsds500", data, split="test").samples, test)
        protocol = AuditProtocol(strengths=(0, 1), repeats=1, seed=seed)
        cells = _detect(samples, models, folder / "maps", workers)
        outcome = evaluate(AuditJob(protocol), Inputs({}, cells, False, []), run=None, workers=workers)
        failures = outcome.failures
        audits = {name: collect_audit(found, protocol) for name, found in outcome.tallies.items() if found}
    status = common.tell_failures((f"{f.system}: {f.image}", f.reason) for f in failures)
    if json:
        common.print_json(
            {"models": {name: one.told() for name, one in learned.items()}, "scores": _scores(audits), "out": folder}
        )
    else:
        _print(audits, folder)
    raise typer.Exit(status)


def _detect(samples: Sequence[Sample], models: Mapping[str, PbModel], folder: Path, workers: int | None) -> list[Any]:
    from hyperacuity.data import read_image, write_soft
    from hyperacuity.detect.pb_detector import detect_from, gradients
    from hyperacuity.run import Cell

    for name in models:
        common.output_folder(folder / f"pb-{name}")

    def work(sample: Sample) -> list[Cell]:
        if sample.image is None:
            raise InputError(f"{sample.name}: its photograph is missing")
        image = read_image(sample.image)
        cues = gradients(image, next(iter(models.values())).textons)  # the same for all: so are the textons
        cells = []
        for name, model in models.items():
            path = folder / f"pb-{name}" / f"{sample.name}.png"
            write_soft(path, detect_from(cues, model.weights).thin, bits=16)
            cells.append(Cell(f"pb, {name} labels", sample.name, path, sample.truths))
        return cells

    found = each(work, samples, workers, "detecting")
    return [cells[place] for place in range(len(models)) for cells in found]


def _scores(audits: Mapping[str, SystemAudit]) -> dict[str, Any]:
    return {
        name: {
            "all": audit.all.ods.f,
            "ci": audit.all.ods.interval,
            "consensus": audit.consensus.ods.f,
            "consensus_ci": audit.consensus.ods.interval,
            "partial": {kind: f for kind, (f, _) in audit.partial_f.items()},
            "images": len(audit.all.images),
        }
        for name, audit in audits.items()
    }


def _print(audits: Mapping[str, SystemAudit], folder: Path) -> None:
    from rich.markup import escape
    from rich.table import Table

    if audits:
        table = Table(box=None, pad_edge=False)
        table.add_column("learned from")
        for heading in ("images", "F all", "95 % interval", "F consensus", "95 % interval", "F part, halfplane"):
            table.add_column(heading, justify="right")
        for name, audit in audits.items():
            cells = [str(len(audit.all.images))]
            for of in (audit.all.ods, audit.consensus.ods):
                cells += [f"{of.f:.4f}", f"{of.interval[0]:.3f} – {of.interval[1]:.3f}"]
            table.add_row(escape(name), *cells, f"{audit.partial_f['halfplane'][0]:.4f}")
        common.results.print(table)
    common.results.print(f"\nmodels and maps: {folder}", markup=False)
