"""The studies of edge measures and detectors: ``hyperacuity study shift``, ``sheet``, ``noise``, ``blur`` and ``truth``."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Folder, InvertTruth, Json, grouped, numbers
from hyperacuity.cli.output import Out, figure_folder, finish, plural, print_line, print_table
from hyperacuity.errors import UsageError

if TYPE_CHECKING:
    from hyperacuity_papers.abdulrahman2017.experiments import EdgeSetup, EdgeStudy

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
    from hyperacuity.edges import shift as move
    from hyperacuity.run.many import write_csv
    from hyperacuity_papers.abdulrahman2017.experiments import SHIFT_SIGNATURE, shift_records
    from hyperacuity_papers.abdulrahman2017.figures import draw_shift

    study = move()
    files = [write_csv(folder / "shift.csv", shift_records(study)), *draw_shift(study, folder)]
    found = {"signature": SHIFT_SIGNATURE, "files": files, "failed": []}
    finish(found, lambda: _print_files(SHIFT_SIGNATURE, files), json=json)


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

    Table 4 of Abdulrahman et al. (2017). Without --semi, a stand-in is made: edges found by the masks [-1 0 1] near the
    hand-made truth, and the hand-made truth where there are none. Writes truth.csv, truth.svg and truth.png, and the
    truths that were made.

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
    """Write the table, and print what was found."""
    from hyperacuity.run.many import write_csv

    files = [write_csv(table, study.trials.rows()), *figures]

    def show() -> None:
        print_table(("measure", "condition", *study.trials.detectors), study.rows(), left=(0, 1))
        print_line(f"\nmean best score of {plural(len(study.trials.pictures), 'picture')}; * the best of its row")
        _print_files(study.signature, files)

    failed = [{"picture": name, "reason": reason} for name, reason in study.failures]
    found = {"signature": study.signature, "files": files, "failed": failed, "mean": study.means()}
    finish(found, show, json=json, failures=study.failures)


def _print_files(signature: str, files: Sequence[Path]) -> None:
    print_line(signature)
    for path in files:
        print_line(f"wrote {path}")
