"""``hyperacuity audit``: how far can the labels of a data set be trusted, and what do they do to systems?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import (
    Cluster,
    Data,
    Folder,
    Glob,
    ListUnpaired,
    MapFiles,
    Run,
    Split,
    Strict,
    Workers,
    grouped,
)


@grouped
def audit(
    truth: Annotated[str, Argument(metavar="TRUTH", help="Folder of truths, or a known data set such as bsds500.")],
    system: Annotated[
        list[str] | None, Option(metavar="NAME=DIR", help="A system's soft boundary maps; may be repeated.")
    ] = None,
    images: Annotated[Path | None, Folder(help="Photographs: for the pictures, and for the names of images.")] = None,
    data: Data = None,
    split: Split = None,
    glob: Glob = "*",
    list_unpaired: ListUnpaired = False,
    strict: Strict = False,
    tolerance: Annotated[float, Option(help="Fraction of the image diagonal.")] = 0.0075,
    thresholds: Annotated[int, Option(min=1, help="How many thresholds between 0 and 1.")] = 99,
    partial: Annotated[int, Option(min=1, help="How many partial truths of each kind, as a control.")] = 3,
    seed: Annotated[int, Option(min=0, help="Seed of partial labels and trials.")] = 0,
    out: Annotated[
        Path | None, Folder(help="Write a page here, and the run to DIR/run unless --run names one.")
    ] = None,
    figures: Annotated[Path | None, Folder(help="Write charts and pictures here.")] = None,
    trials: Annotated[
        Path | None, Folder(help="Write trials of the forced-choice experiment here, two per image and system.")
    ] = None,
    run: Run = None,
    workers: Workers = None,
    cluster: Cluster = None,
    json: Annotated[bool, Option("--json", help="Print one JSON object instead of findings.")] = False,
    *,
    maps: MapFiles,
) -> None:
    """Ask how far the labels of a data set can be trusted: who agrees with whom, and what that does to systems.

    Without systems: which share of the boundaries one person drew alone, and which everyone drew. With systems also: precision
    and recall on stronger and stronger labels, the control with an arbitrary part of the labels, what the benchmark's precision
    gives away, whether a system's output tells strength, and whether the order of the systems changes. After Hou, Yuille & Koch
    (2013), Beyond F-measures.

    Example: [bold]hyperacuity audit bsds500 --split test --figures figures[/bold]

    Example: [bold]hyperacuity audit truth --system canny=maps/canny --out audit[/bold]
    """  # fmt: skip
    from hyperacuity.audit import AuditProtocol
    from hyperacuity.boundary import Protocol
    from hyperacuity.evaluation.audits import audit as run_audit
    from hyperacuity.evaluation.audits import make_trials
    from hyperacuity.evaluation.tables.audit import show, summary

    for folder in (figures, trials):
        if folder is not None:
            common.output_folder(folder)
    if figures is not None or out is not None:
        from hyperacuity.report import theme

        theme.require()
    if out is not None and run is None:
        from hyperacuity.report.pages import RUN, page_path

        run = page_path(out, single_file=False).parent / RUN
    protocol = AuditProtocol(Protocol(tolerance=tolerance, thresholds=thresholds), repeats=partial, seed=seed)
    found = run_audit(
        truth,
        common.systems_of(system or []),
        protocol,
        images=images,
        data=data,
        split=split,
        run=run,
        workers=workers,
        cluster=cluster,
        glob=glob,
        strict=strict,
        **maps.options(),
    )
    common.tell_gaps(found.results, list_all=list_unpaired)
    status = common.tell_failures((f"{f.system}: {f.image}", f.reason) for f in found.failures)
    if figures is not None:
        from hyperacuity.report.figures import write_audit_figures

        write_audit_figures(figures, found, found.labelled.cells, found.labelled.job.reader)
    if out is not None and run is not None:
        common.write_page(out, run, [result.signature for result in found.results if result.scores], workers)
    if trials is not None:
        make_trials(trials, found, seed, workers)
    if json:
        failed = [{"system": f.system, "image": f.image, "reason": f.reason} for f in found.failures]
        common.print_json(summary(found) | {"failed": failed, "unpaired": found.unpaired})
    else:
        show(found, common.results)
    raise typer.Exit(status)
