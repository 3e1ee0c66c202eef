"""What the benchmark verbs have in common: systems on one side, truths on the other, paired image by image."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperacuity.cli import common
from hyperacuity.errors import UsageError

if TYPE_CHECKING:
    from hyperacuity.run import Cell, Job, Outcome
    from hyperacuity.run.job import T

PICTURES = frozenset({".bmp", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff"})


@dataclass(frozen=True)
class Inputs:
    """The grid to evaluate, whether the data set's truths have 0 for an edge, and the files that found no partner."""

    systems: dict[str, Path]
    cells: list[Cell]
    inverted: bool
    unpaired: list[Path]


def systems_and_truths(
    prediction: Path, truth: str, more: Sequence[str] = (), *, data: Path | None = None, split: str | None = None
) -> Inputs:
    """Pair the predictions of every system with the truths, which are a file, a folder or a known data set.

    The first system is named after its folder, ``more`` are ``NAME=DIR`` options. ``data`` says where a known data set lies and
    ``split`` which part of it is meant.
    """
    from hyperacuity.data import load_dataset, pair_folders, pair_truths
    from hyperacuity.data.datasets.layouts import LAYOUTS
    from hyperacuity.data.remote import is_file, is_folder
    from hyperacuity.run import Cell

    systems = named_predictions(prediction, more)
    path = Path(truth)
    known, inverted = None, False
    pictures: dict[str, Path | None] = {}
    if not (is_file(path) or is_folder(path)):
        if truth not in LAYOUTS:
            raise UsageError(f"there is no file or folder {truth}, nor a data set of that name ({', '.join(LAYOUTS)})")
        dataset = load_dataset(truth, data, split=split)
        inverted = dataset.inverted
        known = {sample.name: sample.truths for sample in dataset.samples}
        pictures = {sample.name: sample.image for sample in dataset.samples}
    elif split is not None:
        raise UsageError(f"--split {split} is for known data sets; {truth} is a path")
    cells: list[Cell] = []
    unpaired: dict[Path, None] = {}
    for name, predictions in systems.items():
        if is_file(predictions):
            if known is not None or not is_file(path):
                raise UsageError(f"{predictions} is one file, so TRUTH must be one file too, not {truth}")
            cells.append(Cell(name, predictions.stem, predictions, (path,)))
            continue
        if is_file(path):
            raise UsageError(f"{predictions} is a folder, so TRUTH must be one too, not the file {truth}")
        found = pair_folders(predictions, path) if known is None else pair_truths(predictions, known, of=truth)
        cells += [
            Cell(name, pair.name, pair.prediction, pair.truths, picture=pictures.get(pair.name)) for pair in found.pairs
        ]
        unpaired.update(dict.fromkeys((*found.unpaired_predictions, *found.unpaired_truths)))
    return Inputs(systems, cells, inverted, list(unpaired))


def evaluate(
    job: Job[T],
    inputs: Inputs,
    *,
    run: Path | None,
    workers: int | None,
    cluster: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> Outcome[T]:
    """Run the grid, keeping tallies in the run folder if there is one, and tell of files without a partner."""
    from hyperacuity.run import open_store, run_grid

    for path in inputs.unpaired:
        common.warn(f"{path} has no partner and is left out")
    if run is None:
        return run_grid(job, inputs.cells, workers=workers, cluster=cluster)
    with open_store(run, metadata=metadata) as store:
        return run_grid(job, inputs.cells, store=store, workers=workers, cluster=cluster)


def pictures_of(paths: Iterable[Path]) -> list[Path]:
    """The picture files that were named and those in folders that were named, in that order."""
    from hyperacuity.data.datasets.pairing import files_in

    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = [file for file in files_in(path, required=False) if file.suffix.lower() in PICTURES]
            if not inside:
                raise UsageError(f"{path} holds no picture (PNG, JPEG, BMP, TIFF, PGM or PPM)")
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise UsageError(f"there is no file or folder {path}")
    return found


def named_predictions(prediction: Path, more: Sequence[str]) -> dict[str, Path]:
    """The systems by name: the first is named after its folder or file, the others are ``NAME=DIR`` options."""
    from hyperacuity.data.remote import display, is_file, is_folder, is_remote

    whole = is_folder(prediction)
    if not whole and not is_file(prediction):
        raise UsageError(f"there is no file or folder {display(prediction)}")
    first = prediction if is_remote(prediction) else prediction.resolve()
    systems = {first.name if whole else first.stem: prediction}
    for name, folder in common.named_systems(more).items():
        if name in systems:
            raise UsageError(f"--system {name}: the name is taken by {systems[name]}; give another one, NAME={folder}")
        systems[name] = folder
    return systems


def told_apart(signature: str, inverted: bool) -> str:
    """A job's signature: the protocol's, with a mark where truths are read the other way round, since their files are the same.

    >>> told_apart("boundary|thr:99|v:1", True)
    'boundary|thr:99|truth:inverted|v:1'
    """
    head, _, version = signature.rpartition("|")
    return f"{head}|truth:inverted|{version}" if inverted else signature
