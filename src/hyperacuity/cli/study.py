"""``hyperacuity study``: the papers' experiments; those on edge measures are in :mod:`~hyperacuity.cli.edge_studies`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from hyperacuity.cli import common, edge_studies, output
from hyperacuity.cli.options import Data, Folder, Json, Named, Workers
from hyperacuity.cli.output import Figures, Out, Seed, Weak, finish, plural, print_line, print_table

if TYPE_CHECKING:
    from hyperacuity.studies.cabezas2011 import Cabezas2011, Scenario
    from hyperacuity.studies.figure_ground_table import FigureGroundTable
    from hyperacuity.studies.palou2014 import Palou2014
    from hyperacuity.studies.pb_labels import PbLabels
    from hyperacuity.studies.risk_of_trials import RiskStudy

app = typer.Typer(
    help="Experiments that show what measures and detectors do, each with figures and a CSV file.", no_args_is_help=True
)
app.command("shift")(edge_studies.shift)
app.command("sheet")(edge_studies.sheet)
app.command("noise")(edge_studies.noise)
app.command("blur")(edge_studies.blur)
app.command("truth")(edge_studies.truth_study)

Berkeley = Annotated[Path | None, Folder("--data", help="Folder of BSDS500.")]


@app.command("risk")
def risk(
    folder: Annotated[Path, Argument(metavar="DIR", help="What audit --trials wrote: trials.csv and key.csv.")],
    answers: Annotated[Path | None, Option(help="Subject, trial, choice (default: DIR/answers.csv).")] = None,
    figures: Annotated[Path | None, Folder(help="Write a chart here.")] = None,
    within: Annotated[float | None, Option(metavar="WIDTH", help="Also: how many trials ± WIDTH takes.")] = None,
    json: Json = False,
) -> None:
    """Measure how often people found a system's false alarm stronger than a human label: the risk of the data set.

    Each trial is decided by majority; intervals are Wilson's, 95 %. At 0.5, people cannot tell false alarms from labels.

    Example: [bold]hyperacuity study risk trials --answers answers.csv[/bold]

    Example: [bold]hyperacuity study risk trials --within 0.05[/bold]
    """
    from hyperacuity.studies.risk_of_trials import risk_of_trials

    study = risk_of_trials(folder, answers, within=within)
    if figures is not None:
        charts = output.figure_folder(figures)
        from hyperacuity.report.study_figures import draw_risk

        draw_risk(study.score, charts)
    finish(study.as_dict(), lambda: _print_risk(study, within), json=json)


def _print_risk(study: RiskStudy, within: float | None) -> None:
    print_table(("mode", "system", "risk", "95 % interval", "trials", "ties"), study.rows(), left=(0, 1))
    agreement = ", ".join(f"{mode} {alpha:.2f}" for mode, alpha in study.score.alpha.items())
    print_line(f"\n{study.score.subjects} subjects; agreement beyond chance (Krippendorff's α): {agreement}")
    if within is not None:
        needed = ", ".join(f"{mode} {count}" for mode, count in study.needed.items())
        print_line(f"trials of a system that ± {within:g} takes: {needed}")


@app.command("hou2013")
def hou2013(
    out: Out,
    data: Berkeley = None,
    detectors: Annotated[str, Option("--with", help="Our detectors, with commas.")] = "pb,hk,sf5,canny,sobel",
    system: Annotated[
        list[str] | None, Named(help="Further systems on the 200 new images (default: gPb-ucm of BSDS500).")
    ] = None,
    count: Annotated[int | None, Option(min=1, help="Only the first images of each part.")] = None,
    seed: Annotated[int, Option(min=0, help="Seed of the partial labels.")] = 0,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run the paper "Boundary detection benchmarking: beyond F-measures" again: its numbers beside those found here.

    Writes hou2013.csv (the table), maps of our detectors, figures, and a run that can be resumed.

    Example: [bold]hyperacuity study hou2013 --data datasets --out hou2013[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity.evaluation.tables.audit import summary
    from hyperacuity.studies import hou2013 as paper

    options: dict[str, Any] = {"detectors": detectors, "further": common.systems_of(system or [])}
    study = paper.hou2013(folder, data=data, count=count, seed=seed, workers=workers, **options)
    audit = study.audit
    if figures:
        from hyperacuity.evaluation.readers.contours import LabelReader
        from hyperacuity.report.figures import write_audit_figures

        write_audit_figures(folder, audit, study.label_cells, LabelReader())
    study.write_table(folder / "hou2013.csv")

    def show() -> None:
        print_line("\n".join(f"• {sentence}" for sentence in audit.findings) + "\n")
        rows = [(r.quantity, paper.number_text(r.paper), paper.number_text(r.here), r.note) for r in study.table]
        print_table(("quantity", "paper", "here", "note"), rows, left=(0, 3))
        print_line(f"\n{audit.signature}")

    found = {"table": [vars(row) for row in study.table], "new 200": summary(audit), "out": folder}
    finish(found, show, json=json, failures=study.failures)


@app.command("cabezas2011")
def cabezas2011(
    out: Out,
    data_set: Annotated[
        str, Option("--data-set", metavar="DATA", help="A stereo data set: its folder, or its name.")
    ] = "middlebury-v2",
    data: Data = None,
    delta: Annotated[float, Option(min=0.0, help="Error threshold in pixels.")] = 1.0,
    sgm: Annotated[
        bool | None, Option("--sgm/--no-sgm", help="With semi-global matching (default: if OpenCV is installed).")
    ] = None,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run the paper "A non-linear quantitative evaluation approach for disparity estimation" again.

    Baseline systems, each under a grid of parameters, are judged in the paper's three scenarios: dense, semi-dense, and
    local systems only. So is the server's table of ten, where the data set has one. Writes tables (CSV), maps, figures and
    a run that can be resumed and given to hyperacuity compare.

    Example: [bold]hyperacuity study cabezas2011 --data datasets --out cabezas2011[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity.studies import cabezas2011 as paper

    study = paper.cabezas2011(data_set, folder, data=data, delta=delta, sgm=sgm, workers=workers)
    study.write_tables(folder)
    if figures:
        from hyperacuity.report.study_figures import draw_cabezas2011

        draw_cabezas2011(study, folder)
    found = {**study.as_dict(), "out": folder}
    finish(found, lambda: _print_cabezas2011(study, folder), json=json, failures=study.failures)


def _print_cabezas2011(study: Cabezas2011, folder: Path) -> None:
    from hyperacuity.studies.cabezas2011 import SIGMAS

    often = dict(zip(study.systems, study.stability, strict=True))
    for scenario in study.baselines:
        _print_scenario("baseline systems and their parameters", scenario, often if scenario.name == "dense" else {})
    for scenario in study.server:
        _print_scenario("the server's table of ten", scenario, {})
    print_line(f"\n{study.scene}: error rate against sparsity")
    for name, one in study.standing.items():
        gap = f"{one.gap:.4f} above the feasibility boundary"
        print_line(f"{name}: {gap}, reaches it at {100 * one.share:.0f} % of the sparsities")
    limits = ", ".join(f"{sigma:g}" for sigma in SIGMAS)
    print_line(f"\n{study.scene}: self-consistency, points within {limits} σ (a matching error of 1 px)")
    for name, shares in study.consistency.items():
        print_line(f"{name}: {', '.join(f'{100 * share:.1f} %' for share in shares)}")
    print_line(f"\n{study.signature}\n{folder}")


def _print_scenario(title: str, scenario: Scenario, often: dict[str, float]) -> None:
    from hyperacuity.studies.cabezas2011 import HEADINGS, PAPER

    ranking = scenario.concat
    size = f"{ranking.optimal.sum()} of {len(ranking.systems)} optimal"
    paper = f"in the paper {PAPER[scenario.name]} of the server's"
    print_line(f"\n{title}: {scenario.name} ({', '.join(scenario.regions)}), {size} ({paper})")
    rows = [[*row, f"{100 * often[row[0]]:.0f} %"] if often else row for row in scenario.rows()]
    print_table((*HEADINGS, "in A*, resampled") if often else HEADINGS, rows)
    print_line(ranking.interpretation)


@app.command("pb")
def pb(
    out: Out,
    data: Berkeley = None,
    truth: Annotated[str | None, Option(help="Learn from these labels only: all or consensus.")] = None,
    train: Annotated[int | None, Option(min=1, help="Learn from this many images, evenly chosen.")] = None,
    test: Annotated[int | None, Option(min=0, help="Test on this many images, evenly chosen; 0: none.")] = None,
    weak: Weak = "ignore",
    seed: Seed = 0,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Learn the detector pb from BSDS500's training images, from all labels and from consensus labels, and test on both.

    Fig. 8 of Hou, Yuille & Koch (2013). Writes pb-all.json and pb-consensus.json, as hyperacuity detect train pb does, and the
    maps of the test images.

    Example: [bold]hyperacuity study pb --data datasets --out pb[/bold]
    """  # fmt: skip
    from hyperacuity.studies.pb_labels import pb_labels
    from hyperacuity.studies.training import PbCourse

    folder, course = common.output_folder(out), PbCourse(seed=seed, weak=weak)
    study = pb_labels(folder, data=data, truth=truth, train=train, test=test, course=course, workers=workers)
    finish({**study.as_dict(), "out": folder}, lambda: _print_pb(study, folder), json=json, failures=study.failures)


def _print_pb(study: PbLabels, folder: Path) -> None:
    if study.audits:
        headings = ("images", "F all", "95 % interval", "F consensus", "95 % interval", "F part, halfplane")
        print_table(("learned from", *headings), study.rows())
    print_line(f"\nmodels and maps: {folder}")


@app.command("palou2014")
def palou2014(
    out: Out,
    bsds: Annotated[Path | None, Folder(help="Folder of BSDS500 and bsds-fg.")] = None,
    scenes: Annotated[int, Option(min=1, help="How many scenes.")] = 6,
    first: Annotated[int, Option("--seed", min=0, help="Seed of the first scene.")] = 1,
    size: Annotated[str, Option(help="Width x height of the scenes in pixels.")] = "480x320",
    count: Annotated[int | None, Option(min=0, help="Use this many photographs; 0: none (default: all).")] = None,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Who is in front? Ownership, ownership on the tree, learned cues and controls, on scenes and on labelled photographs.

    Gives local and global depth consistency, the over-random index, and how often the nearer side is right. Photographs are
    the images of Berkeley's figure/ground set that were never learned from; without them scenes alone are used.

    Writes accuracy.csv, sweep.csv, charts, the λ series (lambda-series.png, Fig. 6) and the comparison (comparison.png, Fig. 9).

    Example: [bold]hyperacuity study palou2014 --out palou2014[/bold]

    Example: [bold]hyperacuity study palou2014 --bsds datasets --out palou2014[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity.cli.scenes import parse_size
    from hyperacuity.studies import palou2014 as paper
    from hyperacuity.studies.figure_ground import SPLIT
    from hyperacuity.studies.running import write_csv

    seeds = range(first, first + scenes)
    results = paper.palou2014(seeds, parse_size(size), bsds=bsds, count=count, workers=workers)
    if figures:
        from hyperacuity.report.study_figures import draw_palou2014

        draw_palou2014(results, folder)
    write_csv(folder / "accuracy.csv", [record for one in results.values() for record in one.accuracy_records()])
    write_csv(folder / "sweep.csv", [record for one in results.values() for record in one.sweep_records()])
    found = {"out": folder, "split": SPLIT, "sets": {name: one.as_dict() for name, one in results.items()}}
    finish(found, lambda: _print_palou2014(results.values()), json=json)


def _print_palou2014(results: Iterable[Palou2014]) -> None:
    from hyperacuity.studies.palou2014 import COLUMNS

    for result in results:
        images = plural(len(result.pictures), "image")
        common.results.print(f"[bold]{result.name}[/bold], {images}: B-ACC / R-ACC, ties wrong")
        print_table(("", *COLUMNS), result.accuracy_rows())
        print_line("")
        print_table(("", "at", "LDC Fmax", "Fmin", "ORI", "f/g", "GDC Fmax", "Fmin", "ORI"), result.consistency_rows())
        print_line(f"{result.signature}\n")


@app.command("figure-ground")
def figure_ground(
    out: Out,
    names: Annotated[
        str, Option("--with", help="Systems that order depth, with commas.")
    ] = "depth-cues,depth-order,ownership",
    data: Annotated[Path | None, Folder(help="Folder of BSDS500 and bsds-fg.")] = None,
    images: Annotated[
        str, Option(help="The photographs held out (held-out), or some of the others to develop with (dev).")
    ] = "held-out",
    count: Annotated[int | None, Option(min=1, help="Only the first photographs.")] = None,
    resume: Annotated[bool, Option("--resume", help="Use the maps that an earlier run left in --out.")] = False,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Who is in front? Systems on photographs that people labelled, told apart by what the systems were given.

    Three columns: the photograph only, its order brought onto people's regions; the photograph only, on the system's own
    regions; and with people's regions handed to the system, which is half of the answer. Predicted ties count as wrong and as
    half. Published numbers stand below; they are of other images.

    Develop with --images dev, every fifth of the images that are learned from, so that those held out stay unseen. (The network
    that comes with the package learned from these, and looks better on them than it is.)

    Writes figure-ground.csv and the maps: DIR/SYSTEM/image-only, given and regions.

    Example: [bold]hyperacuity study figure-ground --out table[/bold]

    Example: [bold]hyperacuity study figure-ground --images dev --out table[/bold]
    """
    from hyperacuity.studies import figure_ground_table as study
    from hyperacuity.studies.running import write_csv
    from hyperacuity.studies.system_maps import map_folders

    systems = study.named_orderers(names)
    photographs = study.photographs_of(images, data, count)
    folder = common.output_folder(out)
    folders = map_folders(systems, folder)
    table = study.figure_ground_table(systems, photographs, folders=folders, resume=resume, workers=workers)
    write_csv(folder / "figure-ground.csv", table.records())
    found = {**table.as_dict(), "part": images, "out": folder}
    finish(found, lambda: _print_figure_ground(table), json=json, failures=table.failures)


def _print_figure_ground(table: FigureGroundTable) -> None:
    from hyperacuity.studies.figure_ground_table import COLUMNS

    print_line(f"{plural(len(table.images), 'photograph')}: B-ACC / R-ACC, predicted ties wrong, and half right")
    headings = [text for column in COLUMNS.values() for text in (column, "half")]
    print_table(("", *headings), table.rows())
    print_line("\nties wrong, 95 % intervals over photographs")
    details = ("B-ACC", "interval", "R-ACC", "interval", "B-ACC-50", "B-ACC-25")
    print_table(("", "", *details), table.detail_rows(), left=(0, 1))
    signatures = {str(score.protocol.signature): None for of in table.scores.values() for score in of.values()}
    print_line("\n" + "\n".join(signatures))


@app.command("whole-orders")
def whole_orders(
    out: Out,
    data: Annotated[Path | None, Folder(help="Folder of bsds-fg.")] = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Make one order of all regions from each person's figure/ground labels, and say how much of the labels it contradicts.

    People say which of two neighbouring regions is in front. The order contradicts as little boundary length as possible;
    it is what GDC, B-ACC-50 and B-ACC-25 take as the truth. Writes whole-orders.csv, a line per image and person.

    Example: [bold]hyperacuity study whole-orders --out whole-orders[/bold]
    """
    from hyperacuity.studies.running import write_csv
    from hyperacuity.studies.whole_orders import shares
    from hyperacuity.studies.whole_orders import whole_orders as study

    folder = common.output_folder(out)
    found = study(data, workers=workers)
    records, whole = [one.record() for one in found], shares(found)
    write_csv(folder / "whole-orders.csv", records)

    def show() -> None:
        wrong = [record for record in records if record["violated_pairs"]]
        columns = ("image", "subject", "regions", "layers", "pairs", "violated_pairs", "length", "violated_length")
        texts = [
            [f"{record[column]:g}" if column[0] in "rlpv" else record[column] for column in columns] for record in wrong
        ]
        print_table([column.replace("_", " ") for column in columns], texts, left=(0, 1))
        labels = (
            f"{whole['contradicted_labels']} of {whole['labels']} people's labels of {plural(whole['images'], 'image')}"
        )
        print_line(
            f"contradicted: {100 * whole['length']:.2f} % of boundary length, {100 * whole['pairs']:.2f} % of pairs, in {labels}"
        )

    finish({**whole, "records": records, "out": folder}, show, json=json)
