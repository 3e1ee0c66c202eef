"""``hyperacuity detect``: run reference detectors on images and write maps that the other verbs take as systems."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Json
from hyperacuity.errors import InputError, UsageError
from hyperacuity.evaluation.inputs import pictures_of

if TYPE_CHECKING:
    from hyperacuity.detect import Detector, Orderer


def detect(
    images: Annotated[list[Path], typer.Argument(help="Pictures, or folders of pictures.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="Folder to write to; made if need be.", show_default=False)],
    names: Annotated[
        str,
        typer.Option(
            "--with",
            help="Detectors, with commas: masks, sobel, canny, sf1, sf5, agk, hk, pb; for depth: ownership, depth-order, "
            "depth-cues.",
        ),
    ] = "canny",
    lambdas: Annotated[
        str | None,
        typer.Option(
            "--lambda", help="λ of depth-order, or several with commas: larger = fewer regions.", show_default=False
        ),
    ] = None,
    cues: Annotated[
        str | None, typer.Option(help="Cues of depth-cues: all, or tjc (T-junctions, convexity).", show_default=False)
    ] = None,
    segmentation: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Regions for depth-cues, one file per picture.", show_default=False),
    ] = None,
    thin: Annotated[
        bool, typer.Option("--thin/--soft", help="Write thin maps, or the strength before non-maximum suppression.")
    ] = True,
    bits: Annotated[int, typer.Option(help="Depth of the PNG files: 8 or 16.")] = 16,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Images worked on at the same time (default: one per processor).", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Detect edges and write one map per image: DIR/canny/NAME.png, DIR/hk/NAME.png and so on.

    Maps are divided by their largest value. Each folder DIR/DETECTOR is a system for the verbs edges and boundary.

    ownership, depth-order and depth-cues write depth instead, larger = nearer: DIR/depth-order/NAME.pfm, for the verb ordering.

    A detector's options stand in parentheses: --with "canny(sigma=2),hk".

    Example: [bold]hyperacuity detect photos --with canny,hk --out maps[/bold]

    pb can be learned from other pictures and labels; hyperacuity detect train pb --help tells more.

    Example: [bold]hyperacuity detect train pb --truth consensus --out my.json[/bold]

    Example: [bold]hyperacuity detect photos --with "pb(model='my.json')" --out maps[/bold]
    """
    if bits not in (8, 16):
        raise UsageError(f"--bits {bits}: expected 8 or 16")
    if images == [Path("train")] and not images[0].exists():
        raise UsageError("there is no file or folder train; hyperacuity detect train pb learns a detector")
    pictures = pictures_of(images)

    from hyperacuity.detect import split_names

    found = [_named(part) for name in split_names(names) for part in _with_lambdas(_with_cues(name, cues), lambdas)]
    chosen = {str(one): one for one in found}
    if not chosen:
        raise UsageError("--with names no detector; for example --with canny,hk")
    folders = {name: common.output_folder(out / folder) for name, folder in folder_names(chosen).items()}
    failed = _detect_all(
        pictures,
        chosen,
        folders,
        _regions(segmentation, chosen),
        thin=thin,
        bits=bits,
        jobs=jobs or os.cpu_count() or 1,
    )

    status = common.tell_failures((str(path), reason) for path, reason in failed)
    written = len(pictures) - len(failed)
    kind = "thin" if thin else "soft"
    if json:
        common.print_json(
            {
                "images": written,
                "map": kind,
                "bits": bits,
                "detectors": {name: {"folder": folder} for name, folder in folders.items()},
                "failed": [{"image": path, "reason": reason} for path, reason in failed],
            }
        )
    else:
        from hyperacuity.detect import Orderer

        for name, folder in folders.items():
            made = "order" if isinstance(chosen[name], Orderer) else kind
            depth = "" if made == "order" else f", {bits} bit"
            common.results.print(f"{folder}: {written} {made} map{'' if written == 1 else 's'}{depth}", markup=False)
    raise typer.Exit(status)


def folder_names(detectors: Mapping[str, Detector | Orderer]) -> dict[str, str]:
    """The folder of each detector's maps: its name, in which a file goes by its last part.

    ``pb(model='learned/my.json')`` has the folder ``pb(model='my.json')``. Two detectors with one folder are a wrong call,
    and so is a model that is not there.
    """
    folders: dict[str, str] = {}
    for name, one in detectors.items():
        if (model := one.options.get("model")) and not Path(model).is_file():
            raise UsageError(f"{name}: there is no file {model}")
        plain = {key: Path(value).name if isinstance(value, str) else value for key, value in one.options.items()}
        folder = str(replace(one, options=plain))
        if folder in folders.values():
            raise UsageError(f"{name}: the folder {folder} is taken already; give the file another name")
        folders[name] = folder
    return folders


def _with_lambdas(name: str, lambdas: str | None) -> list[str]:
    """The names that a name stands for: depth-order once for each λ of ``--lambda``."""
    if lambdas is None or name != "depth-order":
        return [name]
    try:
        return [f"depth-order(lam={float(value)})" for value in lambdas.split(",")]
    except ValueError as error:
        raise UsageError(f"--lambda {lambdas}: expected numbers, with commas") from error


def _with_cues(name: str, cues: str | None) -> str:
    return name if cues is None or name != "depth-cues" else f"depth-cues(cues={cues!r})"


def _regions(folder: Path | None, chosen: Mapping[str, Detector | Orderer]) -> dict[str, Path] | None:
    """The files of ``--segmentation`` by the name of the picture."""
    if folder is None:
        return None
    from hyperacuity.data.datasets.pairing import files_in, stem_of
    from hyperacuity.detect import Orderer

    if not any(isinstance(one, Orderer) and one.takes_regions for one in chosen.values()):
        raise UsageError("--segmentation is for depth-cues, which --with does not name")
    return {stem_of(path): path for path in files_in(folder)}


def _named(name: str) -> Detector | Orderer:
    from hyperacuity.detect import detector, is_orderer, orderer

    return orderer(name) if is_orderer(name) else detector(name)


def _detect_all(
    pictures: Sequence[Path],
    chosen: dict[str, Detector | Orderer],
    folders: dict[str, Path],
    regions: Mapping[str, Path] | None,
    *,
    thin: bool,
    bits: int,
    jobs: int,
) -> list[tuple[Path, str]]:
    """Detect and write; the pictures that could not be used, each with the reason, in the order given."""
    from concurrent.futures import ThreadPoolExecutor

    from rich.progress import track

    from hyperacuity.data import read_image, read_segmentations, write_order, write_soft
    from hyperacuity.detect import Orderer

    first_with_stem: dict[str, Path] = {}
    for path in pictures:
        first_with_stem.setdefault(path.stem, path)

    def work(path: Path) -> str | None:
        targets = {
            name: folders[name] / f"{path.stem}.{'pfm' if isinstance(find, Orderer) else 'png'}"
            for name, find in chosen.items()
        }
        if (other := first_with_stem[path.stem]) != path:
            return f"its map would overwrite that of {other}, which has the same name"
        if path.resolve() in {target.resolve() for target in targets.values()}:
            return "its map would overwrite the picture itself; choose another --out"
        if regions is not None and path.stem not in regions:
            return "has no file of its name in the folder of --segmentation"
        try:
            image = read_image(path)
            labels = None if regions is None else read_segmentations([regions[path.stem]])[0]
            for name, find in chosen.items():
                if isinstance(find, Orderer):
                    write_order(targets[name], find(image, labels if find.takes_regions else None))
                    continue
                seen = find(image)
                write_soft(targets[name], seen.thin if thin else seen.soft, bits=16 if bits == 16 else 8)
        except InputError as error:
            return str(error).removeprefix(f"{path}: ")
        return None

    with ThreadPoolExecutor(jobs) as pool:
        reasons = track(
            pool.map(work, pictures),
            "detecting",
            len(pictures),
            console=common.messages,
            transient=True,
            disable=not common.messages.is_terminal,
        )
        return [(path, reason) for path, reason in zip(pictures, reasons, strict=True) if reason is not None]
