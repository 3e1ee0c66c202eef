"""From ``PRED TRUTH --system NAME=DIR`` to the cells of a grid: what every verb that scores files starts with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperacuity.cli import common
from hyperacuity.errors import UsageError

if TYPE_CHECKING:
    from hyperacuity.run import Cell, Job, Outcome
    from hyperacuity.run.job import T


@dataclass(frozen=True)
class Paired:
    """What is to be evaluated, the files that found no partner, and whether the data set's truths are inverted."""

    cells: list[Cell]
    unpaired: list[Path]
    inverted: bool = False


def systems_named(prediction: Path, more: Sequence[str]) -> dict[str, Path]:
    """PRED under its own name, then the ``--system`` options."""
    if not prediction.exists():
        raise UsageError(f"there is no file or folder {prediction}")
    first = prediction.resolve()
    systems = {first.name if first.is_dir() else first.stem: prediction}
    for name, folder in common.named_systems(more).items():
        if name in systems:
            raise UsageError(f"--system {name}: the name is taken by {systems[name]}; give another one, NAME={folder}")
        systems[name] = folder
    return systems


def pair_systems(systems: Mapping[str, Path], truth: str, data: Path | None = None) -> Paired:
    """Pair each system's files with those of TRUTH: a file, a folder, or the name of a data set that lies in ``data``."""
    from hyperacuity.data import load_dataset, pair_folders, pair_truths
    from hyperacuity.data.datasets import LAYOUTS
    from hyperacuity.run import Cell

    path = Path(truth)
    truths, inverted = None, False
    if not path.exists():
        if truth not in LAYOUTS:
            raise UsageError(f"there is no file or folder {truth}, nor a data set of that name")
        dataset = load_dataset(truth, data)
        inverted = dataset.inverted
        truths = {sample.name: sample.truths for sample in dataset.samples}
    cells: list[Cell] = []
    unpaired: dict[Path, None] = {}
    for name, predictions in systems.items():
        if predictions.is_file():
            if truths is not None or not path.is_file():
                raise UsageError(f"{predictions} is one file, so TRUTH must be one file too, not {truth}")
            cells.append(Cell(name, predictions.stem, predictions, (path,)))
            continue
        if path.is_file():
            raise UsageError(f"{predictions} is a folder, so TRUTH must be one too, not the file {truth}")
        found = pair_folders(predictions, path) if truths is None else pair_truths(predictions, truths, of=truth)
        cells += [Cell(name, pair.name, pair.prediction, pair.truths) for pair in found.pairs]
        unpaired.update(dict.fromkeys((*found.unpaired_predictions, *found.unpaired_truths)))
    return Paired(cells, list(unpaired), inverted)


def evaluate(job: Job[T], paired: Paired, *, run: Path | None, workers: int | None) -> Outcome[T]:
    """Run the grid, in the run folder if one is given, and warn of files without a partner."""
    from hyperacuity.run import open_store, run_grid

    if run is None:
        outcome = run_grid(job, paired.cells, workers=workers)
    else:
        with open_store(run) as store:
            outcome = run_grid(job, paired.cells, store=store, workers=workers)
    for path in paired.unpaired:
        common.warn(f"{path} has no partner and is left out")
    return outcome
