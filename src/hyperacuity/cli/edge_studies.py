"""The studies of edge measures and detectors: ``hyperacuity study shift``, ``sheet``, ``noise``, ``blur`` and ``truth``."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Json
from hyperacuity.cli.study_pictures import Source, study_pictures
from hyperacuity.errors import InputError, UsageError

if TYPE_CHECKING:
    from hyperacuity.studies.edge_trials import Condition, DetectorTrial, DetectorTrials, FindEdges, StudyPicture

SEVEN = "sobel,canny,sf1,sf5,agk,hk,speckle"
NINE = "fom,f_pinho,d4,dp,hausdorff(percent=5),baddeley,sk(k=1),sk(k=2),psi"
SHEET = f"phi,chi2,f_alpha,{NINE}"

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="Pictures: shapes, scenes, a known data set such as rug or uded, or a folder with --truth."
    ),
]
Out = Annotated[Path, typer.Option("--out", help="Folder to write to; made if need be.", show_default=False)]
Truth = Annotated[
    Path | None, typer.Option("--truth", metavar="DIR", help="Truths of a folder of pictures.", show_default=False)
]
Place = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Where a known data set lies.", show_default=False)
]
Detectors = Annotated[str, typer.Option("--with", help="Detectors, with commas; speckle is a control: random pixels.")]
Measures = Annotated[str, typer.Option("--measures", help="Measures, with commas.")]
Count = Annotated[int | None, typer.Option("--count", min=1, help="Only the first pictures.", show_default=False)]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Pictures at a time (default: one per processor).", show_default=False)
]
Json = Json


def shift(out: Out, json: Json = False) -> None:
    """Move a line of false or missed pixels away from the true contour: how does each measure answer?

    Fig. 2 of Abdulrahman et al. (2017). Writes shift.csv, shift.svg and shift.png.

    Example: [bold]hyperacuity study shift --out shift[/bold]
    """
    from hyperacuity.report import theme

    theme.require()
    from hyperacuity.edges import shift as move
    from hyperacuity.report.charts.edges import shift_chart

    folder = common.output_folder(out)
    study = move()
    rows = [
        {"measure": str(m), "errors": errors, "distance": int(d), "score": float(score), "normalised": float(scaled)}
        for errors, scores, curves in zip(
            ("false", "missed"), (study.false, study.missed), study.normalised(), strict=True
        )
        for m, raw, curve in zip(study.measures, scores, curves, strict=True)
        for d, score, scaled in zip(study.distances, raw, curve, strict=True)
    ]
    files = [_write_csv(folder / "shift.csv", rows)]
    signature = "edges|study:shift|size:64|length:48|v:1"
    files += _write_chart(shift_chart(study), folder / "shift", signature)
    _tell(json, signature, files)


def sheet(
    data: Data,
    out: Out,
    truth: Truth = None,
    place: Place = None,
    detectors: Detectors = SEVEN,
    measures: Measures = SHEET,
    snr: Annotated[
        float | None,
        typer.Option(help="Add noise at this signal-to-noise ratio in dB; the paper: 4 and 3.3.", show_default=False),
    ] = None,
    count: Count = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Show the best edge map of each detector under each measure, with its threshold and score.

    Fig. 8, Fig. 9 and Table 4 of Abdulrahman et al. (2017). Writes sheet.csv, and per picture NAME.png (the sheet) and
    NAME-curves.svg (scores against thresholds).

    Example: [bold]hyperacuity study sheet shapes --snr 4 --out sheet[/bold]
    """
    from hyperacuity.report import theme

    theme.require()
    from dataclasses import replace

    from hyperacuity.edges import add_noise
    from hyperacuity.report.charts.edges import curves_chart, sheet_chart
    from hyperacuity.studies.edge_trials import collect_trials

    conditions: dict[str, Condition] = {"as it is": lambda picture: picture}
    if snr is not None:
        level = snr
        conditions = {f"{snr:g} dB": lambda picture: replace(picture, image=add_noise(picture.image, level))}
    folder = common.output_folder(out)
    signature = _signature("sheet", data, **({} if snr is None else {"snr": f"{snr:g}dB"}))
    files: list[Path] = []
    trials: list[DetectorTrial] = []
    failures: list[tuple[str, str]] = []
    sources = study_pictures(data, truth, place, count)
    for picture, found in _trials(sources, detectors, conditions, measures, workers, failures):
        trials.append(found)
        files.append(theme.save(sheet_chart(found, picture.truth), folder / f"{picture.name}.png", signature=signature))
        files += _write_chart(curves_chart(found), folder / f"{picture.name}-curves", signature)
    study = collect_trials(trials)
    files.insert(0, _write_csv(folder / "sheet.csv", study.rows()))
    _tell(json, signature, files, study, failures)


def noise(
    data: Data,
    out: Out,
    truth: Truth = None,
    place: Place = None,
    levels: Annotated[
        str, typer.Option(help="Standard deviations in grey levels of 255, with commas.")
    ] = "0,5,10,20,40,80",
    detectors: Detectors = SEVEN,
    measures: Measures = NINE,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the noise.")] = 0,
    count: Count = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Add more and more noise to pictures: how does the best score of each detector fall off?

    Writes noise.csv, noise.svg and noise.png.

    Example: [bold]hyperacuity study noise shapes --out noise[/bold]
    """
    from hyperacuity.studies.edge_trials import noisy

    conditions = {f"{level:g}": noisy(level, seed=seed) for level in _levels(levels)}
    pictures = study_pictures(data, truth, place, count)
    _robustness("noise", "noise σ, grey levels", data, pictures, out, detectors, conditions, measures, workers, json)


def blur(
    data: Data,
    out: Out,
    truth: Truth = None,
    place: Place = None,
    levels: Annotated[str, typer.Option(help="Standard deviations in pixels, with commas.")] = "0,0.5,1,1.5,2,3,4",
    detectors: Detectors = SEVEN,
    measures: Measures = NINE,
    count: Count = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Blur pictures more and more: how does the best score of each detector fall off?

    Writes blur.csv, blur.svg and blur.png.

    Example: [bold]hyperacuity study blur shapes --out blur[/bold]
    """
    from hyperacuity.studies.edge_trials import blurred

    conditions = {f"{level:g}": blurred(level) for level in _levels(levels)}
    pictures = study_pictures(data, truth, place, count)
    _robustness("blur", "blur σ, px", data, pictures, out, detectors, conditions, measures, workers, json)


def truth_study(
    data: Data,
    out: Out,
    truth: Truth = None,
    place: Place = None,
    semi: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Semi-automatic truths, by the names of the pictures.", show_default=False),
    ] = None,
    radius: Annotated[float, typer.Option(min=0, help="Without --semi: how far found edges may lie, pixels.")] = 3,
    detectors: Detectors = SEVEN,
    measures: Measures = SHEET,
    count: Count = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Compare hand-made with semi-automatic truth on the same pictures: how much does the truth decide?

    Table 4 of Abdulrahman et al. (2017). Without --semi, a stand-in is made: edges found by the masks [-1 0 1] near the
    hand-made truth, and the hand-made truth where there are none. Writes truth.csv, truth.svg and truth.png, and the
    truths that were made.

    Example: [bold]hyperacuity study truth rug --out truth[/bold]
    """
    from hyperacuity.report import theme

    theme.require()
    from dataclasses import replace

    from hyperacuity.data import write_edges
    from hyperacuity.report.charts.edges import truth_chart
    from hyperacuity.studies.edge_trials import collect_trials

    if semi is not None and not semi.is_dir():
        raise UsageError(f"--semi {semi}: there is no folder of that name")
    folder = common.output_folder(out)
    made = None if semi else common.output_folder(folder / "semi-automatic")

    def redrawn(picture: StudyPicture) -> StudyPicture:
        if semi is not None:
            return replace(picture, truth=_semi_truth(semi, picture))
        edges = _made_truth(picture, radius)
        if made is not None:
            write_edges(made / f"{picture.name}.png", edges)
        return replace(picture, truth=edges)

    conditions: dict[str, Condition] = {"hand-made": lambda picture: picture, "semi-automatic": redrawn}
    signature = _signature("truth", data, semi=semi.name if semi else f"masks+{radius:g}px")
    failures: list[tuple[str, str]] = []
    found = _trials(study_pictures(data, truth, place, count), detectors, conditions, measures, workers, failures)
    study = collect_trials([one for _, one in found])
    files = [_write_csv(folder / "truth.csv", study.rows())]
    files += _write_chart(truth_chart(study), folder / "truth", signature)
    _tell(json, signature, files, study, failures)


def _robustness(
    kind: str,
    axis: str,
    data: str,
    sources: Sequence[Source],
    out: Path,
    detectors: str,
    conditions: Mapping[str, Condition],
    measures: str,
    workers: int | None,
    json: bool,
) -> None:
    from hyperacuity.report import theme

    theme.require()
    from hyperacuity.report.charts.edges import robustness_chart
    from hyperacuity.studies.edge_trials import collect_trials

    folder = common.output_folder(out)
    failures: list[tuple[str, str]] = []
    found = _trials(sources, detectors, conditions, measures, workers, failures)
    study = collect_trials([one for _, one in found])
    signature = _signature(kind, data)
    files = [_write_csv(folder / f"{kind}.csv", study.rows())]
    files += _write_chart(robustness_chart(study, axis=axis), folder / kind, signature)
    _tell(json, signature, files, study, failures)


def _trials(
    sources: Sequence[Source],
    detectors: str,
    conditions: Mapping[str, Condition],
    measures: str,
    workers: int | None,
    failures: list[tuple[str, str]],
) -> Iterator[tuple[StudyPicture, DetectorTrial]]:
    """Each picture and its trial, in their order, several worked on at a time; those that fail go to ``failures``."""
    import os
    from concurrent.futures import ThreadPoolExecutor

    from rich.progress import track

    from hyperacuity.edges.names import measures as parse
    from hyperacuity.studies.edge_trials import trial

    names = [str(m) for m in parse(measures)]
    finders = _detectors(detectors)

    def work(source: Source) -> tuple[StudyPicture, DetectorTrial] | str:
        try:
            picture = source.load()
            return picture, trial(picture, finders, conditions, names)
        except InputError as error:
            return str(error)

    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        found = track(
            zip(sources, pool.map(work, sources), strict=True),
            "pictures",
            len(sources),
            console=common.messages,
            transient=True,
            disable=not common.messages.is_terminal,
        )
        for source, result in found:
            if isinstance(result, str):
                failures.append((source.name, result))
            else:
                yield result
    if len(failures) == len(sources):
        common.tell_failures(failures)
        raise UsageError("no picture could be studied")


def _detectors(names: str) -> dict[str, FindEdges]:
    from hyperacuity.detect import detector, split_names
    from hyperacuity.studies.edge_trials import speckle

    def finder(name: str) -> FindEdges:
        if name == "speckle":
            return lambda image: speckle(image.shape[:2])
        find = detector(name)
        return lambda image: find(image).thin

    found = {name if name == "speckle" else str(detector(name)): finder(name) for name in split_names(names)}
    if not found:
        raise UsageError("--with names no detector; for example --with canny,hk")
    return found


def _made_truth(picture: StudyPicture, radius: float) -> Any:
    from hyperacuity.detect import masks, rosin
    from hyperacuity.studies.edge_trials import semi_automatic

    thin = masks(picture.image).thin
    return semi_automatic(picture.truth, thin > rosin(thin[thin > 0]), radius=radius)


def _semi_truth(folder: Path, picture: StudyPicture) -> Any:
    from hyperacuity.data import read_edges
    from hyperacuity.data.datasets.pairing import stem_of

    for path in sorted(folder.iterdir()):
        if stem_of(path) == picture.name:
            return read_edges(path)
    raise InputError(f"--semi {folder}: holds no truth of {picture.name}")


def _levels(text: str) -> list[float]:
    try:
        levels = [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--levels {text}: expected numbers with commas, for example 0,10,20") from None
    if len(levels) < 2 or any(b <= a for a, b in itertools.pairwise(levels)):
        raise UsageError(f"--levels {text}: expected two or more, ascending")
    return levels


def _signature(kind: str, data: str, **more: str) -> str:
    from hyperacuity.tally import signature

    return signature("edges", 1, study=kind, data=Path(data).name, **more, thr=101, norm="max")


def _write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    from hyperacuity.data.files import write_bytes

    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_bytes(path, text.getvalue().encode())
    return path


def _write_chart(chart: Any, stem: Path, signature: str) -> list[Path]:
    from hyperacuity.report import theme

    return [theme.save(chart, stem.with_name(stem.name + suffix), signature=signature) for suffix in (".svg", ".png")]


def _tell(
    json: bool,
    signature: str,
    files: Sequence[Path],
    study: DetectorTrials | None = None,
    failures: Sequence[tuple[str, str]] = (),
) -> None:
    status = common.tell_failures(failures)
    if json:
        failed = [{"picture": name, "reason": reason} for name, reason in failures]
        summary: dict[str, Any] = {"signature": signature, "files": files, "failed": failed}
        if study is not None:
            summary["mean"] = {
                condition: {
                    detector: dict(zip(study.measures, study.mean[c, d].tolist(), strict=True))
                    for d, detector in enumerate(study.detectors)
                }
                for c, condition in enumerate(study.conditions)
            }
        common.print_json(summary)
        raise typer.Exit(status)
    if study is not None:
        common.results.print(_table(study))
        pictures = f"{len(study.pictures)} picture{'' if len(study.pictures) == 1 else 's'}"
        common.results.print(f"\nmean best score of {pictures}; * the best of its row", markup=False)
    common.results.print(signature, markup=False)
    for path in files:
        common.results.print(f"wrote {path}", markup=False)
    raise typer.Exit(status)


def _table(study: DetectorTrials) -> Any:
    """Mean best score, one line per measure and condition, one column per detector."""
    from rich.table import Table

    table = Table("measure", "condition", box=None, pad_edge=False)
    for detector in study.detectors:
        table.add_column(detector, justify="right")
    for m, name in enumerate(study.measures):
        for c, condition in enumerate(study.conditions):
            scores = study.mean[c, :, m]
            lowest = scores.min()
            cells = [f"{score:.4f}{'*' if score == lowest else ' '}" for score in scores]
            table.add_row(name if c == 0 else "", condition, *cells)
    return table
