"""The commands ``hyperacuity study abdulrahman2017``, ``half-kernels``, ``shift``, ``sheet``, ``noise``, ``blur``, ``truth``."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from hyperacuity.cli import common, output
from hyperacuity.cli.options import Data, Folder, InvertTruth, Json, Workers, grouped, numbers
from hyperacuity.cli.output import Figures, Out, figure_folder, finish, plural, print_line, print_table
from hyperacuity.errors import UsageError
from hyperacuity_papers.common.ledger import print_ledger, write_ledger

if TYPE_CHECKING:
    from hyperacuity_papers.abdulrahman2017.experiments import EdgeSetup, EdgeStudy
    from hyperacuity_papers.abdulrahman2017.half_kernels import HalfKernelStudy
    from hyperacuity_papers.abdulrahman2017.study import Abdulrahman2017

Seeds = Annotated[int, Option(min=2, help="Noisy pictures of each kind.")]


def abdulrahman2017(
    out: Out,
    data: Data = None,
    count: Annotated[int | None, Option(min=1, help="Only the first photographs.")] = None,
    seeds: Seeds = 5,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run the paper "From contours to ground truth: how to evaluate edge detectors by filtering" again.

    On the photographs of RUG (made scenes where they are missing), on shapes and on noise: Table 4 with the paper's values
    next to ours, thresholds by rules against the minimum, ROC and precision-recall curves, formulas as printed and as
    repaired, half kernels under noise, and every claim. Writes tables (CSV) and figures; what lies in the folder is
    used again.

    Example: [bold]hyperacuity study abdulrahman2017 --data datasets --out abdulrahman2017[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    study = conduct(folder, data=data, figures=figures, workers=workers, count=count, seeds=seeds)
    from hyperacuity_papers.common.claims import read_claims

    rows = write_ledger(folder, read_claims("abdulrahman2017").claims, study)

    def show() -> None:
        _print_study(study)
        print_ledger(rows)
        print_line(f"\n{study.signature}\n{folder}")

    results: dict[str, Any] = {
        "signature": study.signature,
        "table": study.table_records(),
        "half kernels": study.halves.sentences(),
        "ledger": [vars(row) for row in rows],
        "failed": [{"picture": name, "reason": reason} for name, reason in study.failures],
        "out": folder,
    }
    finish(results, show, json=json, failures=study.failures)


def conduct(
    folder: Path, *, data: Path | None = None, figures: bool = True, workers: int | None = None, **options: Any
) -> Abdulrahman2017:
    """Run the study into the folder: tables, and figures if wanted. ``options`` are those of the study itself."""
    from hyperacuity_papers.abdulrahman2017 import study as edge_paper

    study = edge_paper.abdulrahman2017(folder, data=data, workers=workers, **options)
    study.write_tables(folder)
    if figures:
        from hyperacuity_papers.abdulrahman2017.figures import draw_abdulrahman2017

        draw_abdulrahman2017(study, folder)
    return study


def half_kernels(
    out: Out,
    definition: Annotated[str, Option(help="What the signal of the SNR is, with commas.")] = "variance,power,psnr",
    levels: Annotated[str, Option(help="Signal-to-noise ratios in dB, with commas.")] = "4,3.3",
    beyond: Annotated[str, Option(help="Further PSNR in dB, stronger noise; '' for none.")] = "0,-3",
    lengths: Annotated[str, Option(help="σ along the edge in pixels, with commas.")] = "3,5,10",
    widths: Annotated[str, Option(help="σ across the edge in pixels, with commas.")] = "1,2",
    steps: Annotated[str, Option(help="Steps of the angle Δθ in degrees, with commas.")] = "2,5,15",
    seeds: Seeds = 5,
    size: Annotated[int, Option(min=96, help="Side of the picture of shapes.")] = 256,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Try half Gaussian kernels of many sizes on noisy shapes: where do they beat the other detectors?

    Section 4 of Abdulrahman et al. (2017), who find them best. Writes half-kernels.csv and a chart; what lies in the folder
    is used again.

    Example: [bold]hyperacuity study half-kernels --definition psnr --levels 4,0 --out half-kernels[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity.run.keeping import Kept
    from hyperacuity.run.many import write_csv
    from hyperacuity_papers.abdulrahman2017 import half_kernels as study_of
    from hyperacuity_papers.abdulrahman2017.edge_sweeps import MODULES
    from hyperacuity_papers.abdulrahman2017.edge_table import TABLE

    grid = study_of.HalfKernelGrid(
        TABLE,
        _numbers("--lengths", lengths),
        _numbers("--widths", widths),
        _numbers("--steps", steps),
        _numbers("--levels", levels),
        study_of.definitions_of(definition),
        _numbers("--beyond", beyond) if beyond.strip() else (),
        seeds,
        size,
    )
    study = study_of.half_kernels(grid, Kept(folder / "kept", MODULES), workers)
    files = [write_csv(folder / "half-kernels.csv", study.rows())]
    if figures:
        from hyperacuity_papers.abdulrahman2017.figures import draw_half_kernels

        files += draw_half_kernels(study, folder)
    results = {"signature": grid.signature, "found": study.sentences(), "table": study.rows(), "files": files}
    finish(results, lambda: _print_half_kernels(study), json=json)


def _numbers(option: str, text: str) -> tuple[float, ...]:
    return numbers(option, text, "numbers with commas, for example 3,5,10")


def _print_study(study: Abdulrahman2017) -> None:
    from hyperacuity_papers.abdulrahman2017.edge_readings import READINGS, reading_records
    from hyperacuity_papers.abdulrahman2017.edge_table import DETECTORS

    curves = study.curves
    count = len(curves.pictures)
    what = plural(count, "photograph") if study.photographs else f"{plural(count, 'made scene')} (RUG is not at hand)"
    print_line(f"Table 4: mean of {what}; each column hand-made, then semi-automatic truth\n")
    headings = [column for d in DETECTORS for column in (d, "")]
    print_table(("measure", "", *headings), study.table(), left=(0, 1))
    areas = {truth: curves.area(g) for g, truth in enumerate(curves.truths)}
    print_line("\narea under the ROC curve")
    print_table(
        ("truth", *curves.detectors), [(truth, *(f"{a:.3f}" for a in area.values())) for truth, area in areas.items()]
    )
    print_line("\nformulas that can be read in two ways: worked examples E1 to E4, mean over pictures and detectors")
    records = reading_records(curves)
    rows = [[v if isinstance(v, str) else f"{v:.4g}" for v in record.values()][:-1] for record in records]
    print_table(list(records[0])[:-1], rows, left=(0, 1))
    for reading in READINGS:
        print_line(f"{reading.symbol}: {reading.evidence()}")
    print_line("")
    _print_half_kernels(study.halves)
    print_line("")


def _print_half_kernels(study: HalfKernelStudy) -> None:
    headings = ("noise", "length", "won", "median margin", "lead under the best measure")
    print_table(headings, study.table(), left=(0, 4))
    for sentence in study.sentences():
        print_line(f"• {sentence}")


SEVEN = "sobel,canny,sf1,sf5,agk,hk,speckle"
NINE = "fom,f_pinho,d4,dp,hausdorff(percent=5),baddeley,sk(k=1),sk(k=2),psi"
SHEET = f"phi,chi2,f_alpha,{NINE}"

Measures = Annotated[str, Option("--measures", help="Measures, with commas.")]


@dataclass(frozen=True)
class Trials:
    """Options for the pictures and detectors of a study, and for its results."""

    data: Annotated[str, Argument(metavar="DATA", help="shapes, scenes, a data set (rug), or a folder with --truth.")]
    out: Out
    truth: Annotated[Path | None, Folder(help="Truths of a folder of pictures.")] = None
    invert_truth: InvertTruth = False
    folder: Annotated[Path | None, Folder("--data", help="Folder of a known data set.")] = None
    detectors: Annotated[str, Option("--with", help="With commas; speckle is a control: random pixels.")] = SEVEN
    count: Annotated[int | None, Option(min=1, help="Only the first pictures.")] = None
    workers: Annotated[int | None, Option(min=1, help="Pictures at a time (default: one per processor).")] = None
    json: Json = False

    def setup(self, measures: str) -> EdgeSetup:
        """Return the settings of the study."""
        from hyperacuity_papers.abdulrahman2017.experiments import EdgeSetup

        where = (self.data, self.truth, self.folder, self.count)
        return EdgeSetup(*where, self.detectors, measures, self.workers, self.invert_truth)


def shift(out: Out, json: Json = False) -> None:
    """Move a line of false or missed pixels away from the true contour: how does each measure answer?

    Fig. 2 of Abdulrahman et al. (2017). Writes shift.csv, shift.svg and shift.png.

    Example: [bold]hyperacuity study shift --out shift[/bold]
    """
    folder = figure_folder(out)
    from hyperacuity.run.many import write_csv
    from hyperacuity_papers.abdulrahman2017.displacement import shift as move
    from hyperacuity_papers.abdulrahman2017.experiments import SHIFT_SIGNATURE, shift_records
    from hyperacuity_papers.abdulrahman2017.figures import draw_shift

    study = move()
    files = [write_csv(folder / "shift.csv", shift_records(study)), *draw_shift(study, folder)]
    results = {"signature": SHIFT_SIGNATURE, "files": files, "failed": []}
    finish(results, lambda: _print_files(SHIFT_SIGNATURE, files), json=json)


@grouped
def sheet(
    trials: Trials,
    measures: Measures = SHEET,
    snr: Annotated[float | None, Option(help="Add noise of this signal-to-noise ratio, dB (paper: 4, 3.3).")] = None,
    definition: Annotated[str, Option(help="What the signal is: variance, power or psnr.")] = "variance",
) -> None:
    """Show the best edge map of each detector under each measure, with its threshold and score.

    Fig. 8, Fig. 9 and Table 4 of Abdulrahman et al. (2017). Writes sheet.csv, and per picture NAME.png (the sheet) and
    NAME-curves.svg (scores against thresholds).

    Example: [bold]hyperacuity study sheet shapes --snr 4 --out sheet[/bold]
    """
    folder = figure_folder(trials.out)
    from hyperacuity_papers.abdulrahman2017.experiments import sheet_study
    from hyperacuity_papers.abdulrahman2017.figures import sheet_drawer
    from hyperacuity_papers.abdulrahman2017.half_kernels import definitions_of

    files: list[Path] = []
    [signal] = definitions_of(definition, most=1)
    study = sheet_study(trials.setup(measures), snr, sheet_drawer(folder, files), definition=signal)
    _finish(study, folder / "sheet.csv", files, trials.json)


@grouped
def noise(
    trials: Trials,
    levels: Annotated[str, Option(help="Deviations in grey levels of 255, with commas.")] = "0,5,10,20,40,80",
    measures: Measures = NINE,
    seed: Annotated[int, Option(min=0, help="Seed of the noise.")] = 0,
) -> None:
    """Add more and more noise to pictures: how does the best score of each detector fall off?

    Writes noise.csv, noise.svg and noise.png.

    Example: [bold]hyperacuity study noise shapes --out noise[/bold]
    """
    folder = figure_folder(trials.out)
    from hyperacuity_papers.abdulrahman2017.experiments import noise_study
    from hyperacuity_papers.abdulrahman2017.figures import draw_robustness

    study = noise_study(trials.setup(measures), _levels(levels), seed=seed)
    charts = draw_robustness(study, folder / "noise", axis="noise σ, grey levels")
    _finish(study, folder / "noise.csv", charts, trials.json)


@grouped
def blur(
    trials: Trials,
    levels: Annotated[str, Option(help="Standard deviations in pixels, with commas.")] = "0,0.5,1,1.5,2,3,4",
    measures: Measures = NINE,
) -> None:
    """Blur pictures more and more: how does the best score of each detector fall off?

    Writes blur.csv, blur.svg and blur.png.

    Example: [bold]hyperacuity study blur shapes --out blur[/bold]
    """
    folder = figure_folder(trials.out)
    from hyperacuity_papers.abdulrahman2017.experiments import blur_study
    from hyperacuity_papers.abdulrahman2017.figures import draw_robustness

    study = blur_study(trials.setup(measures), _levels(levels))
    _finish(study, folder / "blur.csv", draw_robustness(study, folder / "blur", axis="blur σ, px"), trials.json)


@grouped
def truth_study(
    trials: Trials,
    semi: Annotated[Path | None, Folder(help="Semi-automatic truths, by the names of the pictures.")] = None,
    radius: Annotated[float, Option(min=0, help="Without --semi: how far off found edges may be, pixels.")] = 3,
    measures: Measures = SHEET,
) -> None:
    """Compare hand-made with semi-automatic truth on the same pictures: how much does the truth decide?

    Table 4 of Abdulrahman et al. (2017). Without --semi, a stand-in is used: edges of the masks [-1 0 1] near the
    hand-made truth, and the hand-made truth where there are none. Writes truth.csv, truth.svg and truth.png, and the
    truths that it used.

    Example: [bold]hyperacuity study truth rug --out truth[/bold]
    """
    folder = figure_folder(trials.out)
    from hyperacuity_papers.abdulrahman2017 import experiments as abdulrahman2017
    from hyperacuity_papers.abdulrahman2017.figures import draw_truths

    made = None if semi else common.output_folder(folder / "semi-automatic")
    study = abdulrahman2017.truth_study(trials.setup(measures), semi=semi, radius=radius, made=made)
    _finish(study, folder / "truth.csv", draw_truths(study, folder / "truth"), trials.json)


def _levels(text: str) -> tuple[float, ...]:
    levels = numbers("--levels", text, "numbers with commas, for example 0,10,20")
    if len(levels) < 2 or any(b <= a for a, b in itertools.pairwise(levels)):
        raise UsageError(f"--levels {text}: expected two or more, ascending")
    return levels


def _finish(study: EdgeStudy, table: Path, figures: Sequence[Path], json: bool) -> None:
    """Write the table, and print the results."""
    from hyperacuity.run.many import write_csv

    files = [write_csv(table, study.trials.rows()), *figures]

    def show() -> None:
        print_table(("measure", "condition", *study.trials.detectors), study.rows(), left=(0, 1))
        print_line(f"\nmean best score of {plural(len(study.trials.pictures), 'picture')}; * the best of its row")
        _print_files(study.signature, files)

    failed = [{"picture": name, "reason": reason} for name, reason in study.failures]
    results = {"signature": study.signature, "files": files, "failed": failed, "mean": study.means()}
    finish(results, show, json=json, failures=study.failures)


def _print_files(signature: str, files: Sequence[Path]) -> None:
    print_line(signature)
    for path in files:
        print_line(f"wrote {path}")
