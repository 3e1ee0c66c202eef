"""Trials of the forced-choice experiment: two short pieces of boundary in one picture, which one looks stronger?

One piece is a false alarm of a system, the other a human label. If people often prefer the false alarm, the labels have missed
boundaries that are as good as those drawn. In the *hard* mode the label is an orphan (drawn by one person only) and the
system stands at its best threshold on all labels; in the *easy* mode only labels that everybody drew count, and the threshold
is the best one on those.

References
----------
Hou, Yuille & Koch (2013), section 3 and Fig. 2.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from hyperacuity.audit.partial import number_of
from hyperacuity.audit.strength import Strengths, strengths
from hyperacuity.boundary.matching import match
from hyperacuity.boundary.protocols import Protocol
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.thinning import thin
from hyperacuity.maps import EdgeMap, SoftMap, edge_map, same_size, soft_map
from hyperacuity.outputs import output_file
from hyperacuity.small_files import read_small

Mode = Literal["hard", "easy"]
Side = Literal["first", "second"]

MODES: tuple[Mode, ...] = ("hard", "easy")
RADIUS = 12
SHORTEST = 6

EIGHT = np.ones((3, 3), np.bool_)


class Segment(NamedTuple):
    """A piece of boundary: the pixel (row, column) that it was drawn around, and all its pixels in raster order."""

    centre: tuple[int, int]
    pixels: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Trial:
    """Two pieces to choose between. ``false_alarm`` says which is the system's: not shown to those who answer."""

    image: str
    system: str
    mode: Mode
    first: Segment
    second: Segment
    false_alarm: Side
    trial: str = ""


@dataclass(frozen=True)
class Skip:
    """A picture that gave no trial, and why."""

    image: str
    system: str
    mode: Mode
    reason: str


class Candidates(NamedTuple):
    """Candidates for trials: a system's false alarms, and the labels of each annotator."""

    false_alarms: EdgeMap
    labels: list[EdgeMap]


def candidates(
    prediction: SoftMap,
    truths: Sequence[EdgeMap],
    threshold: float,
    mode: Mode,
    protocol: Protocol = Protocol(),
    *,
    people: Strengths | None = None,
) -> Candidates:
    """False alarms of a system at a threshold, and the labels that they are to compete with.

    ``"hard"``: detected pixels that no annotator's matching pairs, against orphan labels. ``"easy"``: detected pixels that no
    annotator's matching of consensus labels pairs, against consensus labels. ``people`` are the strengths of the truths, if
    already computed.
    """
    if mode not in MODES:
        raise UsageError(f"mode {mode!r}: expected hard or easy")
    soft = soft_map(prediction, name="prediction")
    maps = [edge_map(truth, name="truth") for truth in truths]
    same_size(soft, maps[0])
    agreement = strengths(maps, protocol.tolerance) if people is None else people
    soft = protocol.suppressed(soft)
    detected = soft >= np.float32(threshold)
    if protocol.thin:
        detected = thin(detected)
    false_alarms = detected.copy()
    for truth in maps if mode == "hard" else agreement.consensus:
        false_alarms.flat[match(detected, truth, protocol.tolerance).detected] = False
    return Candidates(false_alarms, agreement.orphans if mode == "hard" else agreement.consensus)


def draw_trial(
    choice: Candidates,
    *,
    image: str,
    system: str,
    mode: Mode,
    seed: int = 0,
    radius: int = RADIUS,
    shortest: int = SHORTEST,
) -> Trial | Skip:
    """Draw one false alarm and one label of a picture, or say why there is none.

    A segment is the connected piece around a random pixel within a window of 2 · ``radius`` + 1 pixels, at least ``shortest``
    pixels long. The two windows do not overlap. Which of the two comes first is drawn too. The draw depends on the seed and on
    the names of image, system and mode alone.

    Examples
    --------
    >>> alarms, labels = np.zeros((60, 60), dtype=bool), np.zeros((60, 60), dtype=bool)
    >>> alarms[10, :20], labels[50, 30:] = True, True
    >>> trial = draw_trial(Candidates(alarms, [labels]), image="a", system="canny", mode="hard")
    >>> len(trial.first.pixels) >= 6, trial.false_alarm in ("first", "second")
    (True, True)
    >>> draw_trial(Candidates(alarms, [~alarms & False]), image="a", system="canny", mode="hard").reason
    'no orphan label'
    """
    label = "orphan label" if mode == "hard" else "consensus label"
    for what, maps in (("false alarm", [choice.false_alarms]), (label, choice.labels)):
        if not any(one.any() for one in maps):
            return Skip(image, system, mode, f"no {what}")
    name = [seed, number_of(system), number_of(image), MODES.index(mode)]
    words = np.random.PCG64(np.random.SeedSequence(name))
    alarms, labels = _shuffled_pixels([choice.false_alarms], words), _shuffled_pixels(choice.labels, words)
    long_enough = False
    for alarm in _segments([choice.false_alarms], alarms, radius, shortest):
        long_enough = True
        far = np.abs(labels[:, 1:] - alarm.centre).max(axis=1) > 2 * radius
        for drawn in _segments(choice.labels, labels[far], radius, shortest):
            swap = bool(int(words.random_raw()) & 1)
            pair = (drawn, alarm) if swap else (alarm, drawn)
            return Trial(image, system, mode, *pair, "second" if swap else "first")
    if not long_enough:
        return Skip(image, system, mode, f"no false alarm of {shortest} pixels or more")
    return Skip(image, system, mode, f"no {label} of {shortest} pixels or more apart from every false alarm")


def shuffled(trials: Iterable[Trial], seed: int = 0) -> list[Trial]:
    """The trials in random order, numbered from 1, so that the order gives away neither system nor mode."""
    ordered = list(trials)
    words = np.random.PCG64(np.random.SeedSequence([seed, len(MODES)])).random_raw(len(ordered))
    digits = len(str(len(ordered)))
    return [
        replace(ordered[index], trial=f"{number:0{digits}d}")
        for number, index in enumerate(np.argsort(words, kind="stable"), 1)
    ]


def write_trials(folder: Path, trials: Sequence[Trial], skips: Sequence[Skip] = ()) -> list[Path]:
    """Write ``trials.csv``, which does not say which is which, ``key.csv``, which does, and ``skipped.csv``.

    A segment is written as its pixels, ``row:column`` each, the one that it was drawn around first.
    """
    rows = [(t.trial, t.image, t.system, t.mode, _as_text(t.first), _as_text(t.second)) for t in trials]
    skipped = [(s.image, s.system, s.mode, s.reason) for s in skips]
    return [
        write_rows(folder / "trials.csv", ("trial", "image", "system", "mode", "first", "second"), rows),
        write_rows(folder / "key.csv", ("trial", "false_alarm"), [(t.trial, t.false_alarm) for t in trials]),
        write_rows(folder / "skipped.csv", ("image", "system", "mode", "reason"), skipped),
    ]


def read_trials(folder: Path) -> list[Trial]:
    """The trials that :func:`write_trials` wrote, with their key."""
    answers = read_rows(folder / "key.csv", ("trial", "false_alarm"))
    key: dict[str, Any] = {row["trial"]: row["false_alarm"] for row in answers}
    trials = []
    for row in read_rows(folder / "trials.csv", ("trial", "image", "system", "mode", "first", "second")):
        side = key.get(row["trial"])
        if side not in ("first", "second"):
            wrong = f"trial {row['trial']} has the key {side!r}, expected first or second"
            raise InputError(f"{folder / 'key.csv'}: {wrong}")
        if row["mode"] not in MODES:
            raise InputError(f"{folder / 'trials.csv'}: trial {row['trial']} has the mode {row['mode']!r}")
        first, second = (_from_text(row[name], folder / "trials.csv") for name in ("first", "second"))
        mode: Mode = "hard" if row["mode"] == "hard" else "easy"
        trials.append(Trial(row["image"], row["system"], mode, first, second, side, row["trial"]))
    return trials


def _shuffled_pixels(maps: Sequence[EdgeMap], words: np.random.PCG64) -> NDArray[np.int64]:
    """Every pixel of every map, (map, row, column), in random order."""
    points = np.argwhere(np.stack(maps))
    return points[np.argsort(words.random_raw(len(points)), kind="stable")]


def _segments(maps: Sequence[EdgeMap], points: NDArray[np.int64], radius: int, shortest: int) -> Iterator[Segment]:
    """The segments around the points that are long enough, in their order."""
    for which, row, column in points.tolist():
        top, left = max(row - radius, 0), max(column - radius, 0)
        window = maps[which][top : row + radius + 1, left : column + radius + 1]
        if np.count_nonzero(window) < shortest:
            continue
        pieces, _ = ndimage.label(window, EIGHT)
        pixels = np.argwhere(pieces == pieces[row - top, column - left]) + np.array([top, left])
        if len(pixels) >= shortest:
            yield Segment((row, column), tuple((int(y), int(x)) for y, x in pixels))


def _as_text(segment: Segment) -> str:
    others = [pixel for pixel in segment.pixels if pixel != segment.centre]
    return " ".join(f"{row}:{column}" for row, column in (segment.centre, *others))


def _from_text(text: str, path: Path) -> Segment:
    try:
        pixels = [(int(row), int(column)) for row, column in (pixel.split(":") for pixel in text.split())]
        return Segment(pixels[0], tuple(sorted(pixels)))
    except (ValueError, IndexError) as error:
        raise InputError(f"{path}: {text[:40]!r} is no segment, expected pixels such as 12:30 12:31") from error


MOST_BYTES = 1 << 30
"""Most bytes of a table."""


def write_rows(path: Path, heading: Sequence[str], rows: Iterable[Sequence[str]]) -> Path:
    """Write a table as CSV, UTF-8; returns its path."""
    with output_file(path) as part, part.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heading)
        writer.writerows(rows)
    return path


def read_rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV table by column. ``InputError`` when it cannot be read or lacks one of the columns."""
    data = read_small(path, "a table", most=MOST_BYTES)
    try:
        reader = csv.DictReader(io.StringIO(data.decode("utf-8", "surrogateescape"), newline=""))
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"{path}: has no column {missing[0]}, expected {', '.join(columns)}")
        return list(reader)
    except csv.Error as error:
        raise InputError(f"{path}: cannot be read as a table ({error})") from error
