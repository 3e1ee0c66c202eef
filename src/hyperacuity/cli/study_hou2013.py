"""``hyperacuity study hou2013``: Hou, Yuille & Koch (2013), Beyond F-measures, run again on the Berkeley data sets."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.audit import Result, summary, write_figures
from hyperacuity.cli.detect import folder_names
from hyperacuity.cli.detect_train import each
from hyperacuity.cli.options import Json, Workers
from hyperacuity.errors import InputError, UsageError
from hyperacuity.evaluate.audit_inputs import Audited, AuditJob, StrengthJob
from hyperacuity.evaluate.inputs import Inputs, evaluate

if TYPE_CHECKING:
    from hyperacuity.audit import LabelScore, SystemAudit
    from hyperacuity.data import Sample
    from hyperacuity.run import Cell

UCM = "gPb-ucm"

PUBLISHED = {
    "pb": 0.65,
    "ucm": 0.67,
    "mincover": 0.65,
    "bel": 0.66,
    "gpb": 0.70,
    "xren": 0.67,
    "nmx": 0.71,
    "ccut": 0.45,
    "scg": 0.71,
}
"""F of the paper's Table 1, on the test set of BSDS300; the text says 0.6482 of pB and 0.7143 of SCG."""

PARTS = ("BSDS300 test", "new 200")


@dataclass(frozen=True)
class Row:
    """A number of the paper and what it is here. A paper that has it in a figure only, or data that do not allow it: None."""

    quantity: str
    paper: float | None
    here: float | None
    note: str = ""


def hou2013(
    out: Annotated[Path, typer.Option("--out", help="Folder to write to; made if need be.", show_default=False)],
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="Where BSDS500 lies.", show_default=False)] = None,
    detectors: Annotated[str, typer.Option("--with", help="Our detectors, with commas.")] = "pb,hk,sf5,canny,sobel",
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DIR",
            help="A further system on the 200 new images; may be repeated (default: gPb-ucm from BSDS500/ucm2/test).",
            show_default=False,
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="Only the first images of each part.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the partial labels.")] = 0,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw the figures.")] = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run the paper "Boundary detection benchmarking: beyond F-measures" again: its numbers beside those found here.

    Writes hou2013.csv (the table), maps of our detectors, figures, and a run that can be taken up again.

    Example: [bold]hyperacuity study hou2013 --data datasets --out hou2013[/bold]
    """
    from hyperacuity.audit import AuditProtocol, collect_audit, collect_strengths, ranking_changes, rankings
    from hyperacuity.audit.findings import findings

    if figures:
        from hyperacuity.report import theme

        theme.require()
    folder = common.output_folder(out)
    parts = _parts(data, count)
    label_job = StrengthJob(0.0075)
    protocol = AuditProtocol(seed=seed)
    job = AuditJob(protocol)
    run = folder / "run"
    labels: dict[str, LabelScore] = {}
    failures: list[Any] = []
    for name in ("BSDS300", "new 200"):
        outcome = evaluate(label_job, _grid(_label_cells(parts[name])), run=run, workers=workers)
        failures += outcome.failures
        if not outcome.tallies["labels"]:
            raise InputError(f"no image of {name} could be read")
        labels[name] = collect_strengths(outcome.tallies["labels"])
    ucm = _ucm_folder(data) if not system else None
    further = common.named_systems(system or []) | ({UCM: ucm} if ucm is not None else {})
    cells: dict[str, list[Cell]] = {}
    for name in PARTS:
        maps = _detect(parts[name], detectors, folder / "maps" / name.replace(" ", "-").lower(), workers)
        failures += maps.failures
        cells[name] = maps.cells
    cells["new 200"] = [*_further_cells(further, parts["new 200"]), *cells["new 200"]]
    audits: dict[str, dict[str, SystemAudit]] = {}
    tallies: dict[str, Any] = {}
    for name, grid in cells.items():
        audited = evaluate(job, _grid(grid), run=run, workers=workers)
        failures += audited.failures
        tallies[name] = {system: found for system, found in audited.tallies.items() if found}
        audits[name] = {system: collect_audit(found, protocol) for system, found in tallies[name].items()}
    new = audits["new 200"]
    changes = ranking_changes(new, tallies["new 200"])
    result = Result(
        protocol.signature, labels["new 200"], new, rankings(new), changes, findings(labels["new 200"], new, changes)
    )
    if figures:
        shown = Audited(_grid(_label_cells(parts["new 200"])), _grid(cells["new 200"]), inverted=False)
        write_figures(folder, result, shown)
    table = paper_table(labels, audits)
    _write_csv(folder / "hou2013.csv", table)
    status = common.tell_failures((f"{f.system}: {f.image}", f.reason) for f in failures)
    if json:
        common.print_json({"table": [vars(row) for row in table], "new 200": summary(result), "out": folder})
    else:
        _print(table, result)
    raise typer.Exit(status)


def paper_table(labels: Mapping[str, LabelScore], audits: Mapping[str, Mapping[str, SystemAudit]]) -> list[Row]:
    """Every number of the paper that the data allow, beside what it is here."""
    old, new = labels["BSDS300"], labels["new 200"]
    systems = audits["new 200"]
    rows = [
        Row("BSDS300: images", 300, len(old.images)),
        Row("BSDS300: boundary maps", 1667, sum(old.annotators), "BSDS500's files of the same images hold fewer"),
        Row(
            "BSDS300: orphan share of boundaries, %",
            29.40,
            100 * old.boundaries.orphan,
            "31.39 in the paper's section 3",
        ),
        Row("BSDS300: consensus share of boundaries, %", 28.99, 100 * old.boundaries.consensus),
        Row("200 new images: orphan share of boundaries, %", 30.58, 100 * new.boundaries.orphan),
        Row("200 new images: consensus share of boundaries, %", 30.15, 100 * new.boundaries.consensus),
    ]
    for name, audit in systems.items():
        rows += _scores_of(name, audit, audits["BSDS300 test"].get(name))
    rows += _drops(audits["BSDS300 test"], "BSDS300's test set")
    rows += _drops(systems, "200 new images")
    behind = _mean([a.consensus.ods.f - a.partial_f["halfplane"][0] for a in systems.values()])
    rows.append(Row("F on consensus minus F on partial labels (halfplane): mean", None, behind, '"no better"'))
    rows += _old_against_new(audits["BSDS300 test"], systems)
    needs = "needs people: hyperacuity audit --trials, then hyperacuity study risk"
    return [*rows, Row("mean risk, hard", 0.5017, None, needs), Row("mean risk, easy", 0.1082, None, needs)]


def _scores_of(name: str, audit: SystemAudit, old: SystemAudit | None) -> Iterator[Row]:
    """The numbers of one system: under each truth on the new images, and on BSDS300's test set where it was run."""
    known, note = _published(name)
    if old is not None:
        yield Row(f"{name}: F on BSDS300's test set, all labels", known, old.all.ods.f, note.rstrip("; "))
        yield Row(f"{name}: F on BSDS300's test set, consensus labels", None, old.consensus.ods.f)
        known, note = None, ""
    elif known is not None:
        note += "on BSDS300's test set"
    yield Row(f"{name}: F on the 200 new images, all labels", known, audit.all.ods.f, note)
    yield Row(f"{name}: F on the 200 new images, consensus labels", None, audit.consensus.ods.f)
    for kind, (mean, _) in audit.partial_f.items():
        yield Row(f"{name}: F on the 200 new images, partial labels ({kind})", None, mean)
    behind = audit.consensus.ods.f - audit.partial_f["halfplane"][0]
    says = "below 0 in the paper" if name == "pb" else ""
    yield Row(f"{name}: F on consensus minus F on partial labels (halfplane)", None, behind, says)
    yield Row(f"{name}: rank correlation of output and strength", None, audit.output.spearman, '"rather weak"')


def _published(name: str) -> tuple[float | None, str]:
    """The paper's F of a system, and what to know about it."""
    if name == UCM:
        return PUBLISHED["gpb"], "gPB in the paper, before the ucm; "
    return PUBLISHED.get(name.lower()), "the authors' own in the paper; " if name == "pb" else ""


def _drops(audits: Mapping[str, SystemAudit], where: str) -> Iterator[Row]:
    """What precision and recall lose when only consensus labels count (Fig. 4)."""
    many = f"on BSDS300's test set in the paper, mean of 9 systems; of {len(audits)} here"
    for measure, paper in (("precision", 28.7), ("recall", 9.0)):
        ends = [(getattr(a.all.ods, measure), getattr(a.consensus.ods, measure)) for a in audits.values()]
        share = _mean([100 * (first - last) / first for first, last in ends if first])
        points = _mean([100 * (first - last) for first, last in ends])
        told = "" if points is None else f"; {points:.1f} points"
        yield Row(f"drop of {measure} from all to consensus labels, {where}, %", paper, share, many + told)


def _old_against_new(old: Mapping[str, SystemAudit], new: Mapping[str, SystemAudit]) -> list[Row]:
    """Do the 200 new images give other scores than BSDS300's test set (Fig. 9)?"""
    both = [name for name in old if name in new]
    differences = [
        getattr(new[name], truth).ods.f - getattr(old[name], truth).ods.f
        for name in both
        for truth in ("all", "consensus")
    ]
    what = f"gPB and SCG in the paper; {', '.join(both)} here" if both else "no system on both"
    spread = statistics.stdev(differences) if len(differences) > 1 else None
    return [
        Row("F on the 200 new images minus F on BSDS300's test set: mean", 0.028, _mean(differences), what),
        Row("F on the 200 new images minus F on BSDS300's test set: deviation", 0.0058, spread, what),
    ]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _parts(data: Path | None, count: int | None) -> dict[str, tuple[Sample, ...]]:
    from hyperacuity.data import load_dataset

    train, test, new = (
        load_dataset(name, data, split=split).samples[:count]
        for name, split in (("bsds300", "train"), ("bsds300", "test"), ("bsds500", "test"))
    )
    return {"BSDS300": (*train, *test), "BSDS300 test": test, "new 200": new}


def _ucm_folder(data: Path | None) -> Path | None:
    """Where gPb-owt-ucm's results lie beside BSDS500, if they do."""
    from hyperacuity.data import find_data

    place = find_data("bsds500", data) / "ucm2" / "test"
    return place if place.is_dir() else None


def _grid(cells: list[Cell]) -> Inputs:
    return Inputs({}, cells, inverted=False, unpaired=[])


def _label_cells(samples: Sequence[Sample]) -> list[Cell]:
    from hyperacuity.run import Cell

    return [Cell("labels", one.name, one.truths[0], one.truths, picture=one.image) for one in samples]


def _further_cells(systems: Mapping[str, Path], samples: Sequence[Sample]) -> list[Cell]:
    from hyperacuity.data import pair_truths
    from hyperacuity.run import Cell

    truths = {one.name: one.truths for one in samples}
    return [
        Cell(name, pair.name, pair.prediction, pair.truths)
        for name, folder in systems.items()
        for pair in pair_truths(folder, truths, of="bsds500").pairs
    ]


@dataclass(frozen=True)
class _Maps:
    cells: list[Cell]
    failures: list[Any]


def _detect(samples: Sequence[Sample], names: str, folder: Path, workers: int | None) -> _Maps:
    """Maps of our detectors, those that are there left as they are."""
    from hyperacuity.data import read_image, write_soft
    from hyperacuity.detect import detector, split_names
    from hyperacuity.run import Cell
    from hyperacuity.run.job import Failure

    chosen = {str(found): found for found in map(detector, split_names(names))}
    places = {name: common.output_folder(folder / own) for name, own in folder_names(chosen).items()}

    def work(sample: Sample) -> Failure | None:
        missing = {n: found for n, found in chosen.items() if not (places[n] / f"{sample.name}.png").exists()}
        if not missing:
            return None
        if sample.image is None:
            return Failure("photograph", sample.name, "is missing, expected one to detect boundaries in")
        try:
            image = read_image(sample.image)
            for name, find in missing.items():
                path = places[name] / f"{sample.name}.png"
                part = path.with_name(f".{path.stem}.part.png")  # a map half written must not pass for one
                write_soft(part, find(image).thin, bits=16)
                part.replace(path)
        except InputError as error:
            return Failure("photograph", sample.name, str(error))
        return None

    failures = [failure for failure in each(work, samples, workers, "detecting") if failure is not None]
    failed = {failure.image for failure in failures}
    cells = [
        Cell(name, one.name, places[name] / f"{one.name}.png", one.truths, picture=one.image)
        for name in chosen
        for one in samples
        if one.name not in failed
    ]
    return _Maps(cells, failures)


def _write_csv(path: Path, table: Sequence[Row]) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("quantity", "paper", "here", "note"))
            writer.writerows((row.quantity, row.paper, _number(row.here, ""), row.note) for row in table)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error


def _number(value: float | None, missing: str = "–") -> str:
    return missing if value is None else f"{value:d}" if isinstance(value, int) else f"{value:.4g}"


def _print(table: Sequence[Row], result: Result) -> None:
    from rich.markup import escape
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    shown.add_column("quantity")
    shown.add_column("paper", justify="right")
    shown.add_column("here", justify="right")
    shown.add_column("note")
    for row in table:
        shown.add_row(escape(row.quantity), _number(row.paper), _number(row.here), escape(row.note))
    for sentence in result.findings:
        common.results.print(f"• {escape(sentence)}")
    common.results.print()
    common.results.print(shown)
    common.results.print(f"\n{result.signature}", markup=False)
