"""Soft maps of each class, and truths that give each class its boundaries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import Sample, pair_truths
from hyperacuity.data.datasets.semantic import GTFINE, class_files, class_folders, image_of, semantic_samples
from hyperacuity.data.formats.classes import holds_classes, holds_sbd, read_class_stack, read_sbd
from hyperacuity.data.readers import as_strength, read_edges, read_labels, read_values
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kinds import arrays
from hyperacuity.kinds.base import Cell, Found, Inputs, SoftKind
from hyperacuity.maps import EdgeMap, LabelMap, SoftMap, same_size
from hyperacuity.semantic import ClassMaps, SemanticTruth, drawn_truth
from hyperacuity.semantic.masks import NONE
from hyperacuity.semantic.protocols import numbered

CLASS, DRAWN = "class_", "truth_"
"""The beginning of the roles of one class's files: a prediction, and boundaries of a truth. The number of the class follows."""

Form = Literal["auto", "labels", "boundaries"]

CITYSCAPES_IDS = (7, 8, 11, 12, 13, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 31, 32, 33)
"""The label ids of Cityscapes' 19 classes, in the order of their train ids."""

CITYSCAPES_IGNORED = (2, 3)
"""Rectification border and out of region of interest: no boundary is made beside them (SEAL, pyEdgeEval)."""

PER_CLASS = 1000
"""Objects of Cityscapes have the id label id · 1000 + number."""


@dataclass(frozen=True)
class SemanticKind(SoftKind):
    """Soft maps of classes, and truths that give each class its boundaries.

    Parameters
    ----------
    truth_as
        What a plain folder of truths holds: ``labels``, or ``boundaries`` of all classes (bits, or a stack); ``auto``: colour
        pictures and stacks of maps are boundaries.
    first_label, ignore_label
        In plain label maps, the label of the first class, and that of pixels of which nothing is known.
    """

    prediction_is = "class maps"
    truth_is = "class truth"

    truth_as: Form = "auto"
    first_label: int = 1
    ignore_label: int | None = 255

    def __post_init__(self) -> None:
        if self.truth_as not in get_args(Form):
            raise UsageError(f"truths as {self.truth_as!r}: expected one of {', '.join(get_args(Form))}")

    def find(
        self,
        systems: Mapping[str, Path],
        truth: str | Path,
        *,
        data: Path | None = None,
        split: str | None = None,
        glob: str = "*",
        **reading: Any,
    ) -> Inputs:
        """Pair maps with the images that TRUTH stands for. Classes without a name are numbered by the folders."""
        place = Path(truth)
        if not place.exists() and data is not None and (data / place).exists():
            place = data / place
        samples = {sample.name: sample for sample in semantic_samples(place, split=split)}

        def pair(system: str, predictions: Path) -> Found:
            return _paired(system, predictions, samples, str(truth), glob)

        found = Inputs(systems, pair, replace(self, **reading))
        found.agree = lambda protocol: protocol if protocol.classes else replace(protocol, classes=_numbers(found))
        return found

    def reading(self) -> dict[str, object]:
        """Parts for label maps and truths read in another way."""
        return {
            "truth-as": None if self.truth_as == "auto" else self.truth_as,
            "first-label": None if self.first_label == 1 else self.first_label,
            "ignore-label": {255: None, None: "none"}.get(self.ignore_label, self.ignore_label),
            **super().reading(),
        }

    def meaning(self, cell: Cell) -> tuple[str, ...]:
        """The kind of Cityscapes' labels that a truth has, by its name."""
        found = GTFINE.search(cell.truths[0].stem)
        return () if found is None else (found[1],)

    def prediction(self, cell: Cell, protocol: Any) -> ClassMaps:
        """The system's map of each class, read when it is asked for."""
        count = len(protocol.classes) or None
        files = by_class(cell, CLASS)
        if files:
            numbers = range(1, max(count or 0, *files) + 1)
            return ClassMaps([partial(self.class_map, files[n]) if n in files else None for n in numbers])
        stack = read_class_stack(cell.prediction, count)
        name = str(cell.prediction)
        return ClassMaps([partial(self._strength, plane, f"{name}, class {n}") for n, plane in enumerate(stack, 1)])

    def class_map(self, path: Path) -> SoftMap:
        """One soft map. It may be empty, as of a class that the image does not show, or no stronger than 1 of 255."""
        return self._strength(read_values(path), str(path))

    def _strength(self, values: NDArray[Any], name: str) -> SoftMap:
        return as_strength(values, name, inverted=self.invert_prediction, value_range=self.value_range, force=True)

    def truths(self, cell: Cell) -> list[Any]:
        """The classes of the image, and their boundaries."""
        return [self._truth(cell)]

    def batch(self, prediction: Any, protocol: Any) -> list[Any]:
        """Stacks of maps, one per class; only a fourth dimension makes a batch."""
        return arrays.stacks(prediction)

    def checked(self, truth: Any, protocol: Any) -> SemanticTruth:
        """The truth of classes."""
        return SemanticTruth.of(truth)

    def _truth(self, cell: Cell) -> SemanticTruth:
        path = cell.truths[0]
        if files := by_class(cell, DRAWN):
            maps = {n: read_edges(one, force=self.force) for n, one in files.items()}
            first = next(iter(maps.values()))
            return drawn_truth([maps.get(n, np.zeros(first.shape, np.bool_)) for n in range(1, max(maps) + 1)])
        if holds_sbd(path):
            return _sbd_truth(path, cell.file_of("inst"))
        objects = cell.file_of("instances")
        if found := GTFINE.search(path.stem):
            return _cityscapes_truth(path, found[1], objects)
        if self.truth_as == "boundaries" or (self.truth_as == "auto" and holds_classes(path)):
            return drawn_truth([edges > 0 for edges in read_class_stack(path)])
        return self._labelled(read_labels(path), None if objects is None else read_labels(objects), path)

    def _labelled(self, labels: LabelMap, objects: LabelMap | None, path: Path) -> SemanticTruth:
        ignored = labels == (NONE if self.ignore_label is None else self.ignore_label)
        index = np.where(ignored | (labels < self.first_label), NONE, labels - self.first_label).astype(np.int32)
        return _checked(SemanticTruth(index, objects, ignored if ignored.any() else None), path)


def by_class(cell: Cell, role: str) -> dict[int, Path]:
    """A cell's files by the number of their class."""
    return {int(name.removeprefix(role)): path for name, path in cell.extras if name.startswith(role)}


def _sbd_truth(path: Path, inst: Path | None) -> SemanticTruth:
    """A truth of SBD; where only objects are known, so are the classes that they make up."""
    first = read_sbd(path)
    if first.categories:
        return _with_objects(SemanticTruth(), path)
    found = SemanticTruth(labels=first.segmentation - 1, drawn=dict(enumerate(first.boundaries)))
    return found if inst is None else _with_objects(found, inst)


def _with_objects(found: SemanticTruth, inst: Path) -> SemanticTruth:
    held = read_sbd(inst)
    drawn: dict[int, EdgeMap] = {}
    for category, edges in zip(held.categories, held.boundaries, strict=True):
        drawn[category - 1] = drawn[category - 1] | edges if category - 1 in drawn else edges
    labels = found.labels
    if labels is None:
        labels = np.array([0, *held.categories], np.int32)[held.segmentation] - np.int32(1)
    objects, all_drawn = held.segmentation, drawn or None
    return _checked(replace(found, labels=labels, objects=objects, drawn_objects=all_drawn), inst)


def _cityscapes_truth(path: Path, kind: str, instances: Path | None) -> SemanticTruth:
    """A truth of Cityscapes. Train ids do not tell the frame of the picture from other things without a class: all is ignored."""
    if kind == "labelTrainIds" and instances is None:
        train = read_labels(path)
        ignored = (train < 0) | (train >= len(CITYSCAPES_IDS))
        return SemanticTruth(np.where(ignored, NONE, train).astype(np.int32), None, ignored if ignored.any() else None)
    objects = None if instances is None else read_labels(instances)
    ids = read_labels(path) if objects is None else np.where(objects >= PER_CLASS, objects // PER_CLASS, objects)
    classes = np.full(ids.shape, NONE, np.int32)
    for index, label in enumerate(CITYSCAPES_IDS):
        classes[ids == label] = index
    ignored = np.isin(ids, CITYSCAPES_IGNORED)
    return SemanticTruth(classes, objects, ignored if ignored.any() else None)


def _checked(truth: SemanticTruth, path: Path) -> SemanticTruth:
    if truth.labels is not None and truth.objects is not None:
        same_size(truth.objects, truth.labels, names=("the map of instances", "the label map"))
    if truth.labels is not None and truth.labels.max() > 10_000:
        raise InputError(f"{path}: labels run to {truth.labels.max() + 1}, expected classes: is it a map of instances?")
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
    """Numbered classes, up to the highest number of a file; none where files hold all classes at once."""
    predicted = max((n for cell in inputs for n in by_class(cell, CLASS)), default=0)
    drawn = max((n for cell in inputs for n in by_class(cell, DRAWN)), default=0)
    return numbered(max(predicted, drawn)) if predicted else ()
