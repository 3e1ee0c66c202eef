"""Questions of the forced choice: trials without their key.

A question is a photograph and two marks. Which mark is the system's stands in the table of trials alone, which nothing that
talks to participants reads. Sides are changed by mirroring the photograph, so that the left mark is always the one that people
see on the left.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hyperacuity.audit.partial import number_of
from hyperacuity.audit.trials import RADIUS, Side, Trial, read_trials
from hyperacuity.data import pair_truths
from hyperacuity.data.datasets.pairing import pictures_of, stem_of
from hyperacuity.errors import InputError, UsageError
from hyperacuity.studio.choose.obvious import Imitated, Pixels, form_of, obvious_marks
from hyperacuity.studio.items import Item, png, read_photograph, reason

MARGIN = 2
PICTURE_ROOM = 256 << 20


@dataclass(frozen=True)
class Question:
    """Two marks in a photograph, their pixels (row, column) in raster order, and the photograph's height and width."""

    name: str
    image: str
    shape: tuple[int, int]
    first: Pixels
    second: Pixels


@dataclass(frozen=True)
class Study:
    """The trials, questions and photographs of an experiment.

    ``trials`` know which mark is whose, and are for results alone. ``questions`` are what can be shown: trials by their name, and
    the obvious ones, whose right answers are ``obvious``, the clearest first. ``failed`` says why a trial cannot be shown.
    ``pictures`` are photographs as browsers get them, as far as they fit into memory. ``size`` is that of the squares around all
    marks: one for all, so that it says nothing.
    """

    trials: dict[str, Trial]
    questions: dict[str, Question]
    obvious: dict[str, Side]
    photographs: dict[str, Path]
    failed: dict[str, str]
    digest: str
    pictures: dict[str, bytes]
    size: int


def load_study(trials: Path, images: Path, *, obvious: int = 40, keep: int = PICTURE_ROOM) -> Study:
    """Read the table of trials and find their photographs. Photographs that cannot be used fail their trials, by name.

    At most ``obvious`` obvious questions come from as many photographs of trials, and as many from other photographs of the
    same size; photographs of at most ``keep`` bytes altogether are kept for browsers. ``UsageError`` if no trial can be shown.
    """
    table = read_trials(trials)
    if not table:
        raise UsageError(f"{trials / 'trials.csv'} holds no trial")
    by_image: dict[str, list[Trial]] = {}
    for trial in table:
        by_image.setdefault(trial.image, []).append(trial)
    photographs = {pair.name: pair.prediction for pair in pair_truths(images, dict.fromkeys(by_image, ())).pairs}
    with_trials = set(photographs.values())
    others = {stem_of(path): path for path in pictures_of([images]) if path not in with_trials}

    def inspect(image: str) -> _Inspected:
        return _inspect(image, photographs.get(image), by_image[image])

    with ThreadPoolExecutor() as pool:
        inspected, pictures = [], _PictureShelf(keep)
        for image, one in zip(by_image, pool.map(inspect, by_image), strict=True):
            pictures.add(image, one.picture)
            inspected.append(one._replace(picture=None))
        questions = {question.name: question for one in inspected for question in one.questions}
        failed = {trial: why for one in inspected for trial, why in one.failed.items()}
        if not questions:
            raise UsageError(f"no trial can be shown: {next(iter(failed.values()))}")
        shown = list(questions.values())
        plain: list[tuple[float, Question]] = []
        for paths in (photographs, dict(list(others.items())[: 2 * obvious])):
            tried = list(paths.items())[: 4 * obvious]
            plainest = [one for one in pool.map(lambda one: _obvious(one[0], one[1], shown), tried) if one is not None]
            plain += sorted(plainest, key=lambda one: -one[0])[:obvious]
        plain.sort(key=lambda one: -one[0])
        for image in {question.image for _, question in plain} & set(others):
            pictures.add(image, png(read_photograph(others[image])))
    every = questions | {question.name: question for _, question in plain}
    return Study(
        trials={trial.trial: trial for trial in table},
        questions=every,
        obvious={question.name: "first" for _, question in plain},
        photographs=others | photographs,
        failed=failed,
        digest=hashlib.sha256(b"".join((trials / name).read_bytes() for name in ("trials.csv", "key.csv"))).hexdigest(),
        pictures=pictures.pictures,
        size=max(map(square_size, every.values())),
    )


def as_dict(question: Question, mirrored: bool, size: int | None = None) -> dict[str, Any]:
    """A question for a participant's page: the places of the two marks, the left one first, and nothing about whose they are.

    Examples
    --------
    >>> question = Question("7", "a", (40, 60), first=((5, 40), (5, 41)), second=((20, 10), (21, 10)))
    >>> as_dict(question, mirrored=False)["left"]["pixels"], as_dict(question, mirrored=True)["left"]["pixels"]
    ([[20, 10], [21, 10]], [[5, 18], [5, 19]])
    """
    height, width = question.shape
    marks = {}
    size = size or square_size(question)
    for side in ("left", "right"):
        pixels = question.first if side_of(question, "first", mirrored) == side else question.second
        seen = sorted((row, width - 1 - column if mirrored else column) for row, column in pixels)
        row, column = _centre(tuple(seen))
        top, left = round(row - (size - 1) / 2), round(column - (size - 1) / 2)
        square = [max(0, min(top, height - size)), max(0, min(left, width - size))]  # moved into the picture
        marks[side] = {"pixels": [list(pixel) for pixel in seen], "square": square}
    return {"height": height, "width": width, "size": size, "mirrored": mirrored, **marks}


def side_of(question: Question, which: Side, mirrored: bool) -> str:
    """Side on which a mark is seen. Of two that are one above the other, the upper is the left one, or mirrored the right one."""
    (rows, columns), (other_rows, other_columns) = (_centre(pixels) for pixels in (question.first, question.second))
    first_is_left = (columns, rows, question.first) < (other_columns, other_rows, question.second)
    return "left" if (first_is_left != mirrored) == (which == "first") else "right"


def square_size(question: Question) -> int:
    """The side of the squares around both marks: the same for both, so that it says nothing."""
    extents = [np.ptp(np.array(pixels), axis=0).max() + 1 for pixels in (question.first, question.second)]
    return int(max(2 * RADIUS + 1, *extents)) + 2 * MARGIN


def _centre(pixels: Pixels) -> tuple[float, float]:
    corners = np.array(pixels)
    rows, columns = (corners.min(axis=0) + corners.max(axis=0)) / 2
    return float(rows), float(columns)


class _PictureShelf:
    """Pictures by name, as long as there is room."""

    def __init__(self, room: int) -> None:
        self.pictures: dict[str, bytes] = {}
        self._room = room

    def add(self, name: str, picture: bytes | None) -> None:
        if picture is not None and len(picture) <= self._room:
            self.pictures[name] = picture
            self._room -= len(picture)


class _Inspected(NamedTuple):
    """A photograph's trials as questions, reasons for those that cannot be shown, and the picture."""

    questions: list[Question]
    failed: dict[str, str]
    picture: bytes | None = None


def _inspect(image: str, path: Path | None, trials: Sequence[Trial]) -> _Inspected:
    if path is None:
        return _Inspected([], {trial.trial: f"{image}: has no photograph" for trial in trials})
    try:
        picture = read_photograph(path)
    except InputError as error:
        why = f"{image}: {reason(error, Item('', image, path))}"
        return _Inspected([], {trial.trial: why for trial in trials})
    height, width = shape = picture.shape[0], picture.shape[1]
    questions, failed = [], {}
    for trial in trials:
        pixels = np.array([*trial.first.pixels, *trial.second.pixels])
        if pixels.min() < 0 or (pixels >= np.array(shape)).any():
            failed[trial.trial] = f"{image}: is {width} × {height} pixels, and a segment lies outside of it"
        else:
            questions.append(Question(trial.trial, image, shape, trial.first.pixels, trial.second.pixels))
    return _Inspected(questions, failed, png(picture))


def _obvious(image: str, path: Path, shown: Sequence[Question]) -> tuple[float, Question] | None:
    """An obvious question on a photograph, and how plain its answer is; it imitates one of those shown, by chance."""
    try:
        picture = read_photograph(path)
    except InputError:
        return None
    shape = picture.shape[0], picture.shape[1]
    models = [question for question in shown if question.shape == shape and question.image != image]
    if not models:
        models = [question for question in shown if question.shape == shape]
    if not models:  # a photograph of another size would stand out
        return None
    model = models[number_of(image) % len(models)]
    (row, column), (other_row, other_column) = (_centre(pixels) for pixels in (model.first, model.second))
    height, width = shape
    places = (row / height, column / width), (other_row / height, other_column / width)
    like = Imitated((form_of(model.first), form_of(model.second)), places)
    taken = [pixels for question in shown if question.image == image for pixels in (question.first, question.second)]
    marks = obvious_marks(picture, taken, like, name=image)
    if marks is None:
        return None
    return marks.contrast, Question(f"obvious {image}", image, shape, marks.strong, marks.weak)
