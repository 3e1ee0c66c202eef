"""The commands ``hyperacuity study hou2013``, ``risk``, ``pb`` and ``gpb``: boundaries, labels and people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from hyperacuity.cli import common, output
from hyperacuity.cli.options import Folder, Json, Named, Workers
from hyperacuity.cli.output import Figures, Out, Seed, Weak, finish, print_line, print_table
from hyperacuity.errors import UsageError
from hyperacuity_papers.common.ledger import print_ledger, write_ledger

if TYPE_CHECKING:
    from hyperacuity_papers.hou2013.gpb import GpbStudy
    from hyperacuity_papers.hou2013.pb_labels import PbLabels
    from hyperacuity_papers.hou2013.risk_of_trials import RiskStudy
    from hyperacuity_papers.hou2013.study import Hou2013

Berkeley = Annotated[Path | None, Folder("--data", help="Folder of BSDS500.")]


def hou2013(
    out: Out,
    data: Berkeley = None,
    detectors: Annotated[
        str | None, Option("--with", help="Our detectors, with commas (default: gpb,gpb-ucm,pb,sf5,canny).")
    ] = None,
    system: Annotated[
        list[str] | None, Named(help="Further systems, of either set of images (default: gPb-ucm of BSDS500).")
    ] = None,
    observers: Annotated[
        str | None, Option(help="Detectors that simulated people look through (default: net,pb,sf1).")
    ] = None,
    count: Annotated[int | None, Option(min=1, help="Only the first images of each part.")] = None,
    train: Annotated[int, Option(min=1, max=100, help="Learn pb again from this many images.")] = 50,
    seed: Annotated[int, Option(min=0, help="Seed of partial labels, trials and simulated people.")] = 0,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run the paper "Boundary detection benchmarking: beyond F-measures" again: its numbers next to ours.

    On the 100 images of BSDS300's test set, as in the paper, and on the 200 that BSDS500 added: labels, systems on other labels,
    the forced choice with simulated people, and pb learned from strong labels. Without BSDS500, on scenes.

    Writes hou2013.csv (the table), labels.csv, risk.csv, ledger.csv, the figures, the trials of the forced choice, maps of our
    detectors, and a run that can be resumed.

    Example: [bold]hyperacuity study hou2013 --data datasets --out hou2013[/bold]

    Example: [bold]hyperacuity study hou2013 --out hou2013 --with pb,canny --system SCG=maps/scg[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity_papers.common.claims import read_claims
    from hyperacuity_papers.hou2013.table import label_rows, paper_table, risk_rows

    given: dict[str, Any] = {"detectors": detectors, "observers": observers}
    options = {name: value for name, value in given.items() if value is not None}
    options |= {"further": common.systems_of(system or []), "count": count, "train": train, "seed": seed}
    study = conduct(folder, data=data, figures=figures, workers=workers, **options)
    rows = write_ledger(folder, read_claims("hou2013").claims, study)

    def show() -> None:
        _print_hou2013(study)
        print_ledger(rows)

    results = {
        "table": [vars(row) for row in paper_table(study)],
        "labels": label_rows(study),
        **{part: study.audit(part).json() for part in study.audits},
        "risk": risk_rows(study),
        "retrained": [one.as_dict() for one in study.retrained],
        "seconds": {what: one._asdict() for what, one in study.seconds.items()},
        "notes": study.notes,
        "ledger": [vars(row) for row in rows],
        "out": folder,
    }
    finish(results, show, json=json, failures=study.failures)


def conduct(
    folder: Path, *, data: Path | None = None, figures: bool = True, workers: int | None = None, **options: Any
) -> Hou2013:
    """Run the study into a folder, where what lies there is reused; writes its tables and figures."""
    from hyperacuity.run.many import write_csv
    from hyperacuity_papers.hou2013.study import hou2013 as conducted
    from hyperacuity_papers.hou2013.table import label_rows, paper_table, risk_rows

    study = conducted(folder, data=data, workers=workers, **options)
    write_csv(folder / "hou2013.csv", [row.flat(list(study.audits)) for row in paper_table(study)])
    write_csv(folder / "labels.csv", label_rows(study))
    if rows := risk_rows(study):
        write_csv(folder / "risk.csv", rows)
    if figures:
        from hyperacuity_papers.hou2013.figures import draw_hou2013

        with study.timed("figures"):
            draw_hou2013(study)
    return study


def _print_hou2013(study: Hou2013) -> None:
    from hyperacuity_papers.hou2013.table import label_rows, number_text, paper_table

    for part in study.audits:
        print_line(f"{part}:")
        print_line("\n".join(f"• {sentence}" for sentence in study.audit(part).findings) + "\n")
    labels = label_rows(study)
    cells = [[row["part"], *(number_text(value) for value in list(row.values())[1:])] for row in labels]
    print_table(tuple(labels[0]), cells)
    print_line("")
    table = [row.flat(list(study.audits)) for row in paper_table(study)]
    lines = [
        (q, *(number_text(value) for value in middle), note) for q, *middle, note in (row.values() for row in table)
    ]
    print_table(tuple(table[0]), lines, left=(0, len(table[0]) - 1))
    print_line("")
    took = [(what, f"{one.clock:.0f}", f"{one.processor:.0f}") for what, one in study.seconds.items()]
    total = [("in all", *(f"{sum(of):.0f}" for of in zip(*study.seconds.values(), strict=True)))]
    print_table(("what this run did", "seconds", "of processor time"), [*took, *total])
    print_line("".join(f"\n{note}" for note in study.notes))
    print_line(f"{study.protocol.signature}\n")


def risk(
    folder: Annotated[Path, Argument(metavar="DIR", help="What audit --trials wrote: trials.csv and key.csv.")],
    answers: Annotated[Path | None, Option(help="Subject, trial, choice (default: DIR/answers.csv).")] = None,
    figures: Annotated[Path | None, Folder(help="Write a chart here.")] = None,
    within: Annotated[float | None, Option(metavar="WIDTH", help="Also: how many trials ± WIDTH takes.")] = None,
    observer: Annotated[
        str | None, Option(metavar="NAME", help="No people: simulate them, looking through this detector, such as net.")
    ] = None,
    images: Annotated[Path | None, Folder(help="The photographs, for --observer.")] = None,
    noise: Annotated[float, Option(help="Noise of a simulated look, in units of the detector's output.")] = 0.1,
    lapse: Annotated[float, Option(help="Share of trials in which a simulated person guesses.")] = 0.02,
    people: Annotated[int, Option(min=1, help="How many people to simulate.")] = 5,
    seed: Annotated[int, Option(min=0, help="Seed of simulated people.")] = 0,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Measure how often people found a system's false alarm stronger than a human label: the risk of the data set.

    Each trial is decided by majority; intervals are Wilson's, 95 %. At 0.5, people cannot tell false alarms from labels.

    With --observer, people are simulated. They see the photograph as a detector does, with noise, and do not know who drew what.
    Writes answers-NAME.csv.

    Example: [bold]hyperacuity study risk trials --answers answers.csv[/bold]

    Example: [bold]hyperacuity study risk trials --within 0.05[/bold]

    Example: [bold]hyperacuity study risk trials --observer net --images photos[/bold]
    """
    from hyperacuity.audit.observer import Observer
    from hyperacuity_papers.hou2013 import risk_of_trials as studies

    signature = studies.RISK_SIGNATURE
    if observer is not None:
        if images is None or answers is not None:
            raise UsageError("--observer simulates answers to what photographs show: give --images, and no --answers")
        how = Observer(noise, lapse)
        options: dict[str, Any] = {"eyes": observer, "observer": how, "people": people, "seed": seed}
        answers = studies.simulate_people(folder, images, workers=workers, **options)
        signature = studies.signature_of(observer, how, people, seed)
    study = studies.risk_of_trials(folder, answers, within=within)
    if figures is not None:
        charts = output.figure_folder(figures)
        from hyperacuity_papers.hou2013.figures import draw_risk

        draw_risk(study.score, charts / "risk", signature)
    finish({**study.as_dict(), "signature": signature}, lambda: _print_risk(study, within, signature), json=json)


def _print_risk(study: RiskStudy, within: float | None, signature: str) -> None:
    print_table(("mode", "system", "risk", "95 % interval", "trials", "ties"), study.rows(), left=(0, 1))
    agreement = ", ".join(f"{mode} {alpha:.2f}" for mode, alpha in study.score.alpha.items())
    print_line(f"\n{study.score.subjects} subjects; agreement beyond chance (Krippendorff's α): {agreement}")
    if within is not None:
        needed = ", ".join(f"{mode} {count}" for mode, count in study.needed.items())
        print_line(f"trials of a system that ± {within:g} takes: {needed}")
    print_line(f"\n{signature}")


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
    from hyperacuity.train.pb import PbTrainingConfig
    from hyperacuity_papers.hou2013.pb_labels import pb_labels

    folder, config = common.output_folder(out), PbTrainingConfig(seed=seed, weak=weak)
    study = pb_labels(folder, data=data, truth=truth, train=train, test=test, config=config, workers=workers)
    finish({**study.as_dict(), "out": folder}, lambda: _print_pb(study, folder), json=json, failures=study.failures)


def _print_pb(study: PbLabels, folder: Path) -> None:
    if study.audits:
        headings = ("images", "F all", "95 % interval", "F consensus", "95 % interval", "F part, halfplane")
        print_table(("learned from", *headings), study.rows())
    print_line(f"\nmodels and maps: {folder}")


def gpb(
    out: Out,
    data: Annotated[Path | None, Folder("--data", help="Folder of BSDS500.")] = None,
    count: Annotated[int | None, Option(min=1, help="Only this many test images, evenly chosen.")] = None,
    timed: Annotated[int, Option(min=0, help="Time each system on this many images.")] = 3,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Score pb, gpb and gpb-ucm on BSDS500's test images, and the authors' gPb-ucm of them.

    Writes gpb.csv, the maps, and a run that can be resumed. The rank correlation is Spearman's, over the pixels of our contour
    map and the authors', averaged over the images; seconds are of one processor.

    Example: [bold]hyperacuity study gpb --data datasets --out gpb[/bold]
    """  # fmt: skip
    from hyperacuity_papers.hou2013.gpb import gpb_study

    folder = common.output_folder(out)
    study = gpb_study(folder, data=data, count=count, timed=timed, workers=workers)
    results = {"systems": study.records(), "correlation": study.correlation, "nearby": study.nearby, "out": folder}
    finish(results, lambda: _print_study(study, folder), json=json, failures=study.failures)


def _print_study(study: GpbStudy, folder: Path) -> None:
    rows = []
    for r in study.records():
        interval = f"{r['low']:.3f} – {r['high']:.3f}"
        scores = f"{r['ods']:.4f}", interval, f"{r['ois']:.4f}", f"{r['ap']:.4f}"
        rows.append((r["system"], str(r["images"]), *scores, str(r["seconds"]) or "–"))
    print_table(("system", "images", "ODS", "95 % interval", "OIS", "AP", "seconds per image"), rows)
    if study.correlation is not None and study.nearby is not None:
        pixels, near = (
            f"{study.correlation:.3f} over pixels",
            f"{study.nearby:.3f} over what lies within 4 pixels of each",
        )
        print_line(f"\nmean rank correlation of gpb-ucm with the authors' map: {pixels}, {near}")
    print_line(f"\ntable and maps: {folder}")
