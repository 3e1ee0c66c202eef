"""What ``semantic`` evaluates: maps of each class in folders or in stacks, and truths of SBD, Cityscapes or your own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperacuity.data import Sample, pair_truths
from hyperacuity.data.datasets.semantic import class_files, class_folders, image_of, semantic_samples
from hyperacuity.errors import UsageError
from hyperacuity.evaluation.inputs import Found, Inputs
from hyperacuity.evaluation.readers.semantic import CLASS, DRAWN, SemanticReader, by_class
from hyperacuity.run.job import Cell
from hyperacuity.semantic.protocols import numbered


def find(
    kind: type[SemanticReader],
    systems: Mapping[str, Path],
    truth: str | Path,
    *,
    data: Path | None = None,
    split: str | None = None,
    glob: str = "*",
    **reading: Any,
) -> Inputs:
    """The maps of the systems, with the images that TRUTH stands for. Classes without a name are numbered by the folders."""
    samples = {sample.name: sample for sample in semantic_samples(_place(Path(truth), data), split=split)}

    def pair(system: str, predictions: Path) -> Found:
        return _paired(system, predictions, samples, str(truth), glob)

    found = Inputs(systems, pair, kind(**reading))
    found.agree = lambda protocol: protocol if protocol.classes else replace(protocol, classes=_numbers(found))
    return found


def _place(truth: Path, data: Path | None) -> Path:
    """Where the truth lies: a path, or one below ``data``."""
    if not truth.exists() and data is not None and (data / truth).exists():
        return data / truth
    return truth


def _paired(system: str, predictions: Path, samples: Mapping[str, Sample], truth: str, glob: str) -> Found:
    if predictions.is_file():
        name = image_of(predictions)
        sample = samples.get(name) or (next(iter(samples.values())) if len(samples) == 1 else None)
        if sample is None:
            raise UsageError(
                f"{predictions} is one file, and none of the {len(samples)} images of {truth} has its name"
            )
        return Found([_cell(system, sample, predictions)])
    folders = class_folders(predictions)
    if not folders:
        pairing = pair_truths(predictions, {name: one.truths for name, one in samples.items()}, of=truth, glob=glob)
        return Found.of(pairing, [_cell(system, samples[one.name], one.prediction) for one in pairing.pairs])
    files = class_files(folders, glob)
    images = [name for name in samples if name in files]
    if not images:
        first = next((path for of in files.values() for path in of.values()), predictions)
        example = next(iter(samples.values())).truths[0].name
        raise UsageError(
            f"no file in {predictions} (like {first.name}) has the name of one in {truth} (like {example}); "
            "are these the same images?"
        )
    strangers = [path for name, of in files.items() if name not in samples for path in of.values()]
    missing = [name for name in samples if name not in files]
    cells = [_cell(system, samples[name], min(files[name].items())[1], files[name]) for name in images]
    return Found(cells, strangers, [samples[name].truths[0] for name in missing], missing)


def _cell(system: str, sample: Sample, prediction: Path, classes: Mapping[int, Path] | None = None) -> Cell:
    files = {f"{CLASS}{number:03d}": path for number, path in sorted((classes or {}).items())}
    return Cell(system, sample.name, prediction, sample.truths, (*files.items(), *sample.extras.items()), sample.image)


def _numbers(inputs: Inputs) -> tuple[str, ...]:
    """As many classes as the files of predictions and truths are numbered to; none where files hold all classes at once."""
    predicted = max((n for cell in inputs for n in by_class(cell, CLASS)), default=0)
    drawn = max((n for cell in inputs for n in by_class(cell, DRAWN)), default=0)
    return numbered(max(predicted, drawn)) if predicted else ()
