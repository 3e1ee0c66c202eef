"""The experiments of Abdulrahman, Magnier & Montesinos (2017): ``hyperacuity study abdulrahman2017`` and ``half-kernels``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from hyperacuity.cli import output
from hyperacuity.cli.options import Data, Json, Workers, numbers
from hyperacuity.cli.output import Figures, Out, finish, plural, print_line, print_table
from hyperacuity_papers.common.ledger import print_ledger, write_ledger

if TYPE_CHECKING:
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
    beside ours, thresholds by rules against the minimum, ROC and precision-recall curves, formulas as printed and as
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

    found: dict[str, Any] = {
        "signature": study.signature,
        "table": study.table_records(),
        "half kernels": study.halves.sentences(),
        "ledger": [vars(row) for row in rows],
        "failed": [{"picture": name, "reason": reason} for name, reason in study.failures],
        "out": folder,
    }
    finish(found, show, json=json, failures=study.failures)


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
    found = {"signature": grid.signature, "found": study.sentences(), "table": study.rows(), "files": files}
    finish(found, lambda: _print_half_kernels(study), json=json)


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
