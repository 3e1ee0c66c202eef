"""The experiments of Hou, Yuille & Koch (2013): ``hyperacuity study hou2013``, ``risk`` and ``pb``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from hyperacuity.cli import common, output
from hyperacuity.cli.options import Folder, Json, Named, Workers
from hyperacuity.cli.output import Figures, Out, Seed, Weak, finish, print_line, print_table

if TYPE_CHECKING:
    from hyperacuity.studies.pb_labels import PbLabels
    from hyperacuity.studies.risk_of_trials import RiskStudy


Berkeley = Annotated[Path | None, Folder("--data", help="Folder of BSDS500.")]


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
        from hyperacuity.report.papers.hou2013 import draw_risk

        draw_risk(study.score, charts)
    finish(study.as_dict(), lambda: _print_risk(study, within), json=json)


def _print_risk(study: RiskStudy, within: float | None) -> None:
    print_table(("mode", "system", "risk", "95 % interval", "trials", "ties"), study.rows(), left=(0, 1))
    agreement = ", ".join(f"{mode} {alpha:.2f}" for mode, alpha in study.score.alpha.items())
    print_line(f"\n{study.score.subjects} subjects; agreement beyond chance (Krippendorff's α): {agreement}")
    if within is not None:
        needed = ", ".join(f"{mode} {count}" for mode, count in study.needed.items())
        print_line(f"trials of a system that ± {within:g} takes: {needed}")


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
