"""``hyperacuity study gpb``: gPb beside pb and beside what its authors published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Folder, Json, Workers
from hyperacuity.cli.output import Out, finish, print_line, print_table

if TYPE_CHECKING:
    from hyperacuity_papers.hou2013.gpb import GpbStudy


def gpb(
    out: Out,
    data: Annotated[Path | None, Folder("--data", help="Folder of BSDS500.")] = None,
    count: Annotated[int | None, Option(min=1, help="Only this many test images, evenly chosen.")] = None,
    timed: Annotated[int, Option(min=0, help="Time each system on this many images.")] = 3,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Score pb, gpb and gpb-ucm on BSDS500's test images, beside the authors' own gPb-ucm of them.

    Writes gpb.csv, the maps, and a run that can be resumed. The rank correlation is Spearman's, over the pixels of our contour
    map and the authors', averaged over the images; seconds are of one processor.

    Example: [bold]hyperacuity study gpb --data datasets --out gpb[/bold]
    """  # fmt: skip
    from hyperacuity_papers.hou2013.gpb import gpb_study

    folder = common.output_folder(out)
    study = gpb_study(folder, data=data, count=count, timed=timed, workers=workers)
    found = {"systems": study.records(), "correlation": study.correlation, "nearby": study.nearby, "out": folder}
    finish(found, lambda: _print_study(study, folder), json=json, failures=study.failures)


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
