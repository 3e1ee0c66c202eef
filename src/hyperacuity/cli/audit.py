"""``hyperacuity audit``: how far can the labels of a data set be trusted, and what do they do to systems?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Computing, Folder, MapFiles, Named, Split, Truth, grouped, protocol_help
from hyperacuity.cli.output import finish

ABOUT = protocol_help("audit/benchmark.py", "AuditProtocol")
BOUNDARY = protocol_help("boundary/protocols.py")


@grouped
def audit(
    truth: Annotated[str, Truth(help="Folder of truths, or a data set such as bsds500.")],
    system: Annotated[list[str] | None, Named(help="A system's soft boundary maps; may be repeated.")] = None,
    images: Annotated[Path | None, Folder(help="Photographs: for the pictures, and for the names of images.")] = None,
    split: Split = None,
    tolerance: Annotated[float, Option(help=BOUNDARY["tolerance"])] = 0.0075,
    thresholds: Annotated[int, Option(min=1, help=BOUNDARY["thresholds"].partition(",")[0] + ".")] = 99,
    partial: Annotated[int, Option(min=1, help=ABOUT["repeats"])] = 3,
    seed: Annotated[int, Option(min=0, help=f"{ABOUT['seed'][:-1]} and trials.")] = 0,
    out: Annotated[Path | None, Folder(help="Write a page here, and the run to DIR/run (default of --run).")] = None,
    figures: Annotated[Path | None, Folder(help="Write charts and pictures here.")] = None,
    trials: Annotated[Path | None, Folder(help="Write forced-choice trials here, two per image and system.")] = None,
    *,
    maps: MapFiles,
    how: Computing,
) -> None:
    """Audit the labels of a data set: who agrees with whom, and what that does to the scores of systems.

    Without systems: the share of boundaries that one person drew alone, and that everyone drew. With systems, also: precision
    and recall on stronger and stronger labels, the control with an arbitrary part of the labels, the bonus that the benchmark's
    precision gives, how well a system's output predicts strength, and whether the systems change ranks. After Hou, Yuille & Koch
    (2013), Beyond F-measures.

    Example: [bold]hyperacuity audit bsds500 --split test --figures figures[/bold]

    Example: [bold]hyperacuity audit truth --system canny=maps/canny --out audit[/bold]
    """  # fmt: skip
    from hyperacuity.audit import AuditProtocol
    from hyperacuity.boundary import Protocol
    from hyperacuity.evaluation import audits
    from hyperacuity.report import theme
    from hyperacuity.report.pages import RUN, page_path, write_report

    if figures is not None or out is not None:
        theme.require()
    for folder in (figures, trials):
        if folder is not None:
            common.output_folder(folder)
    options = {**how.options(), **maps.options()}
    if out is not None and how.run is None:
        options["run"] = page_path(out, single_file=False).parent / RUN
    protocol = AuditProtocol(Protocol(tolerance=tolerance, thresholds=thresholds), repeats=partial, seed=seed)
    prints = how.prints(how.json)
    systems = common.systems_of(system or [])
    audited = audits.audit(truth, systems, protocol, images=images, split=split, **options)
    common.report_unpaired(audited.results, list_all=how.list_unpaired)
    if figures is not None:
        from hyperacuity.report.figures import write_audit_figures

        write_audit_figures(figures, audited, audited.labelled.cells, audited.labelled.job.kind)
    if out is not None:
        signatures = [result.signature for result in audited.results if result.scores]
        progress = common.messages.is_terminal
        page = write_report([options["run"]], out, signatures=signatures, workers=how.workers, progress=progress)
        common.messages.print(f"open {page}", markup=False)
    if trials is not None:
        audits.make_trials(trials, audited, seed, how.workers)
    failed = [{"system": f.system, "image": f.image, "reason": f.reason} for f in audited.failures]
    failures = [(f"{f.system}: {f.image}", f.reason) for f in audited.failures]
    as_json = audited.json() | {"failed": failed, "unpaired": audited.unpaired}
    common.export((result.score_table() for result in audited.results[-1:]), how)
    finish(as_json, lambda: None if prints else audited.table(common.results), json=how.json, failures=failures)
