"""``hyperacuity disparity``: errors of disparity maps in the regions of the Middlebury benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Cluster, Data, Json, Run, Systems, Workers
from hyperacuity.errors import UsageError
from hyperacuity.evaluate.inputs import named_predictions

if TYPE_CHECKING:
    from hyperacuity.disparity import DisparityScore, Protocol
    from hyperacuity.evaluate.disparity_inputs import DisparityJob, Reader
    from hyperacuity.run import Cell


def disparity(
    prediction: Annotated[
        Path,
        typer.Argument(
            metavar="PRED", help="Folder of maps: SCENE.png, pfm, npy …, or SCENE/…; or one map.", show_default=False
        ),
    ],
    truth: Annotated[
        str,
        typer.Argument(
            metavar="TRUTH",
            help="A stereo data set (its folder or name), a folder of maps, or one map.",
            show_default=False,
        ),
    ],
    system: Systems = None,
    delta: Annotated[str, typer.Option(metavar="LIST", help="Error thresholds in pixels.")] = "0.5,1,2",
    region: Annotated[
        str, typer.Option(metavar="LIST", help="Regions: nonocc, all, disc, untextured, and names of masks given.")
    ] = "nonocc,all,disc",
    mask: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DIR",
            help="A region of your own: a folder of SCENE.png, white where it is.",
            show_default=False,
        ),
    ] = None,
    invalid: Annotated[
        str, typer.Option(help="Missing estimates are bad, or skip: left out (semi-dense maps).")
    ] = "bad",
    scale: Annotated[
        float | None,
        typer.Option(help="Grey levels per pixel of the systems' maps (default: the data set's).", show_default=False),
    ] = None,
    truth_scale: Annotated[
        float | None,
        typer.Option(help="Grey levels per pixel of the truth (default: the data set's).", show_default=False),
    ] = None,
    views: Annotated[
        bool, typer.Option("--views", help="Also predict one picture of the pair from the other, and compare.")
    ] = False,
    data: Data = None,
    run: Run = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a picture of each map's errors here.", show_default=False)
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    json: Json = False,
) -> None:
    """DisparityScore disparity maps: bad pixels, mean and RMS error, quantiles, outliers, density and bias, in each region.

    A pixel is bad when its error exceeds δ. Bad pixels, outliers and density are in percent, the rest in pixels; a data
    set's score is the mean over its scenes. Masks that come with the data are used; where there are none, they are derived.

    Example: [bold]hyperacuity disparity maps/sgm middlebury-v2 --system sad=maps/sad[/bold]

    Example: [bold]hyperacuity disparity disp_est.png disp_gt.png --delta 3[/bold]
    """
    from hyperacuity.disparity import ViewProtocol, collect
    from hyperacuity.evaluate.disparity_inputs import DisparityJob, Reader, ViewJob, grid, stereo_samples
    from hyperacuity.run import open_store, run_grid

    systems = named_predictions(prediction, system or [])
    scenes = stereo_samples(truth, data)
    masks = _masks(mask or [])
    reader = Reader(scenes, masks, scale, truth_scale)
    protocol = _protocol(delta, region, invalid, reader)
    folder = None if pictures is None else common.output_folder(pictures)
    cells, unpaired = grid(systems, scenes, masks)
    for path in unpaired:
        common.warn(f"{path} has no partner and is left out")
    job = DisparityJob(protocol, reader)
    with nullcontext() if run is None else open_store(run) as store:
        outcome = run_grid(job, cells, store=store, workers=workers, cluster=cluster)
        viewed = (
            run_grid(ViewJob(ViewProtocol(), reader), cells, store=store, workers=workers, cluster=cluster)
            if views
            else None
        )
    scores = {
        name: (list(images), collect(list(images.values()), protocol))
        for name, images in outcome.tallies.items()
        if images
    }
    failures = [*outcome.failures, *(viewed.failures if viewed else [])]
    if folder is not None:
        _draw(folder, cells, job)
    status = common.tell_failures((f"{f.system}: {f.image}", f.reason) for f in failures)
    if json:
        common.print_json(
            {
                "signature": job.signature,
                "systems": {name: _summary(images, score) for name, (images, score) in scores.items()},
                **({"views": _views_summary(viewed.tallies)} if viewed else {}),
                "units": _units(protocol),
                "failed": [{"system": f.system, "image": f.image, "reason": f.reason} for f in failures],
                "unpaired": unpaired,
            }
        )
    elif scores:
        _print({name: score for name, (_, score) in scores.items()}, job.signature)
        if viewed:
            _print_views(viewed.tallies)
    raise typer.Exit(status)


def _masks(options: Sequence[str]) -> dict[str, Path]:
    masks: dict[str, Path] = {}
    for option in options:
        name, found, folder = option.partition("=")
        if not name or not found or not Path(folder).is_dir():
            raise UsageError(f"--mask {option}: expected NAME=DIR, a folder that holds SCENE.png")
        masks[name] = Path(folder)
    return masks


def _protocol(delta: str, region: str, invalid: str, reader: Reader) -> Protocol:
    from hyperacuity.disparity import Protocol

    try:
        deltas = tuple(float(part) for part in delta.split(","))
    except ValueError as error:
        raise UsageError(f"--delta {delta}: expected numbers with commas, such as 0.5,1,2") from error
    regions = tuple(part.strip() for part in region.split(",") if part.strip())
    for name in regions:
        if name not in ("nonocc", "all", "disc", "untextured") and name not in reader.masks:
            raise UsageError(f"--region {name}: there is no such region; give its masks by --mask {name}=DIR")
    if invalid not in ("bad", "skip"):
        raise UsageError(f"--invalid {invalid}: expected bad or skip")
    origin: Any = reader.origin(regions)
    return Protocol(deltas, regions, "skip" if invalid == "skip" else "bad", origin)


def _units(protocol: Protocol) -> dict[str, str]:
    from hyperacuity.disparity import unit

    return {measure: unit(measure) for measure in protocol.measures}


def _summary(images: list[str], score: DisparityScore) -> dict[str, Any]:
    return {
        "images": {image: score.named(values) for image, values in zip(images, score.images, strict=True)},
        "mean": score.named(score.mean),
    }


def _views_summary(tallies: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    from hyperacuity.disparity import collect_views, measured_views
    from hyperacuity.disparity.view_benchmark import MEASURES, WAYS

    def named(values: Any) -> dict[str, dict[str, float]]:
        return {way: dict(zip(MEASURES, row.tolist(), strict=True)) for way, row in zip(WAYS, values, strict=True)}

    return {
        name: {
            "images": {image: named(measured_views(one)) for image, one in images.items()},
            "mean": named(collect_views(list(images.values()))),
        }
        for name, images in tallies.items()
    }


def _print(scores: Mapping[str, DisparityScore], signature: str) -> None:
    from rich.markup import escape
    from rich.table import Table

    from hyperacuity.disparity import unit

    first = next(iter(scores.values()))
    table = Table(box=None, pad_edge=False)
    table.add_column("system")
    table.add_column("region")
    for measure in first.measures:
        table.add_column(f"{measure} {unit(measure)}", justify="right")
    for name, score in scores.items():
        for place, (region, row) in enumerate(zip(score.regions, score.mean, strict=True)):
            numbers = ("–" if value != value else f"{value:.2f}" for value in row)
            table.add_row(escape(name) if place == 0 else "", region, *numbers)
    common.results.print(table)
    count = max(len(score.images) for score in scores.values())
    common.results.print(f"\nmean over {count} scene{'' if count == 1 else 's'}\n{signature}", markup=False)


def _print_views(tallies: Mapping[str, Mapping[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from hyperacuity.disparity import collect_views
    from hyperacuity.disparity.view_benchmark import WAYS

    table = Table(box=None, pad_edge=False)
    for heading, side in (
        ("system", "left"),
        ("view", "left"),
        ("RMSE", "right"),
        ("PSNR dB", "right"),
        ("seen %", "right"),
    ):
        table.add_column(heading, justify="right" if side == "right" else "left")
    for name, images in tallies.items():
        values = collect_views(list(images.values()))
        for place, (way, (_, rmse, psnr, seen)) in enumerate(zip(WAYS, values, strict=True)):
            table.add_row(escape(name) if place == 0 else "", way, f"{rmse:.2f}", f"{psnr:.2f}", f"{seen:.1f}")
    common.results.print()
    common.results.print(table)


def _draw(folder: Path, cells: list[Cell], job: DisparityJob) -> None:
    """A picture per system and scene; what failed has been told and is passed over here."""
    from hyperacuity.data import write_png
    from hyperacuity.errors import InputError
    from hyperacuity.report.pictures.disparity import error_sheet

    for cell in cells:
        try:
            truth, estimate = job.reader.truth(cell), job.reader.estimate(cell)
            regions = job.reader.regions(cell, truth, job.protocol.regions)
        except InputError:
            continue
        common.output_folder(folder / cell.system)
        write_png(folder / cell.system / f"{cell.image}.png", error_sheet(truth, estimate, regions, title=cell.system))
