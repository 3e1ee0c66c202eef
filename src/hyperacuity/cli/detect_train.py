"""``hyperacuity detect train pb``: learn the detector ``pb`` from pictures and what people drew on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Data, Json, Workers
from hyperacuity.errors import InputError, UsageError

if TYPE_CHECKING:
    from hyperacuity.data import Sample
    from hyperacuity.detect.pb_detector import PbModel
    from hyperacuity.detect.pb_training import Examples
    from hyperacuity.maps import EdgeMap

TRUTHS = ("all", "consensus")
WEAK = ("ignore", "negative")
DISTANCES = ("chi2", "quadratic")

Item = TypeVar("Item")
Made = TypeVar("Made")


def train_pb(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The model, as JSON.", show_default=False)],
    truth: Annotated[
        str, typer.Option(help="Learn from all labels, or from those that everyone drew: all or consensus.")
    ] = "all",
    images: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Pictures (default: BSDS500's training images).", show_default=False),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="What people drew on them: a file, or several, for each.", show_default=False),
    ] = None,
    data: Data = None,
    weak: Annotated[
        str,
        typer.Option(help="With consensus: pixels near other labels are left out (ignore) or no boundary (negative)."),
    ] = "ignore",
    hist_distance: Annotated[
        str, typer.Option(help="How histograms of brightness and colour are compared: chi2 or quadratic.")
    ] = "chi2",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the pixels that are learned from.")] = 0,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Learn the detector pb from pictures and what people drew on them, and write it as a file.

    Without --images it learns from the 200 training images of BSDS500, as the pb that comes with this package did.

    Example: [bold]hyperacuity detect train pb --truth consensus --out my.json[/bold]

    Example: [bold]hyperacuity detect train pb --images a --labels b --out my.json[/bold]

    Use it: [bold]hyperacuity detect photos --with "pb(model='my.json')" --out maps[/bold]
    """  # fmt: skip
    course = Course(seed=seed, weak=weak, hist_distance=hist_distance)
    if truth not in TRUTHS:
        raise UsageError(f"--truth {truth}: expected all or consensus")
    if out.is_dir():
        raise UsageError(f"--out {out}: is a folder, expected the name of a file")
    common.output_folder(out.parent)
    lessons, source = _from_folders(images, labels) if images or labels else bsds500_lessons(data)
    learned = learn(lessons, [truth], course, source, workers)[truth]
    learned.model.save(out)
    if json:
        common.print_json({"model": out, "images": len(lessons), **learned.told()})
    else:
        _print(out, learned)


class Lesson(NamedTuple):
    """A picture and the files of those who drew on it; ``inverted`` files have 0 for a boundary."""

    image: Path
    truths: tuple[Path, ...]
    inverted: bool = False


@dataclass(frozen=True)
class Course:
    """How it is learned."""

    seed: int = 0
    weak: str = "ignore"
    hist_distance: str = "chi2"

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.weak not in WEAK:
            raise UsageError(f"--weak {self.weak}: expected ignore or negative")
        if self.hist_distance not in DISTANCES:
            raise UsageError(f"--hist-distance {self.hist_distance}: expected chi2 or quadratic")

    def command(self, truth: str) -> str:
        """The options that make the same model from the same pictures."""
        weak = f" --weak {self.weak}" if truth == "consensus" else ""
        return (
            f"hyperacuity detect train pb --truth {truth}{weak} --hist-distance {self.hist_distance} --seed {self.seed}"
        )


@dataclass(frozen=True, eq=False)
class Learned:
    """A model, and what it was learned from."""

    model: PbModel
    truth: str
    examples: Examples

    def told(self) -> dict[str, Any]:
        """As JSON. An ``effect`` is a weight times the standard deviation of its cue: effects can be compared."""
        from hyperacuity.detect.pb_detector import CUES

        constant, *weights = self.model.weights.tolist()
        spread = self.examples.cues.std(axis=0).tolist()
        return {
            "about": self.model.about,
            "truth": self.truth,
            "pixels": len(self.examples.boundary),
            "boundaries": float(self.examples.boundary.mean()),
            "weights": {"constant": constant, **dict(zip(CUES, weights, strict=True))},
            "effects": {cue: w * deviation for cue, w, deviation in zip(CUES, weights, spread, strict=True)},
        }


def bsds500_lessons(data: Path | None, count: int | None = None) -> tuple[list[Lesson], str]:
    """BSDS500's training images, or so many of them evenly chosen; and what to call them."""
    from hyperacuity.data import load_dataset

    every = load_dataset("bsds500", data, split="train").samples
    chosen = evenly(every, count)
    part = "the" if len(chosen) == len(every) else f"{len(chosen)} of the"
    return [Lesson(s.image, s.truths) for s in chosen if s.image], f"{part} {len(every)} training images of BSDS500"


def evenly(samples: Sequence[Sample], count: int | None) -> list[Sample]:
    """So many of the samples that have a picture, evenly chosen."""
    usable = [sample for sample in samples if sample.image is not None]
    if count is None or count >= len(usable):
        return usable
    return [usable[n * len(usable) // count] for n in range(count)]


def _from_folders(images: Path | None, labels: Path | None) -> tuple[list[Lesson], str]:
    from hyperacuity.data import pair_folders

    if images is None or labels is None:
        raise UsageError("--images and --labels belong together: pictures, and what people drew on them")
    found = pair_folders(images, labels)
    for path in (*found.unpaired_predictions, *found.unpaired_truths):
        common.warn(f"{path} has no partner and is left out")
    return [Lesson(pair.prediction, pair.truths) for pair in found.pairs], f"{len(found.pairs)} images"


def learn(
    lessons: Sequence[Lesson], truths: Sequence[str], course: Course, source: str, workers: int | None
) -> dict[str, Learned]:
    """Learn from all labels, from those that everyone drew, or both: the textons are the same."""
    import numpy as np

    from hyperacuity.data import read_image
    from hyperacuity.detect.pb_detector import PbModel, as_written
    from hyperacuity.detect.pb_training import examples, learn_textons, logistic_fit, observe, texture_samples

    options: Any = {"hist_distance": course.hist_distance}
    numbered = list(enumerate(lessons, course.seed))
    drawn = each(lambda one: _labels(one, consensus="consensus" in truths), lessons, workers, "reading labels")
    answers = each(lambda one: texture_samples(read_image(one[1].image), seed=one[0]), numbered, workers, "textures")
    textons = as_written(learn_textons(np.concatenate(answers), seed=course.seed))
    observed = each(
        lambda one: observe(read_image(one[1].image), textons, seed=one[0], **options), numbered, workers, "gradients"
    )
    every, strong = [maps[0] for maps in drawn], [maps[1] for maps in drawn]
    weak: Any = course.weak
    learned = {}
    for truth in truths:
        taught = examples(observed, every) if truth == "all" else examples(observed, strong, every, weak=weak)
        if not 0 < taught.boundary.mean() < 1:
            raise InputError(f"{source}: there is nothing to tell apart, no pixel is near a label or all are")
        model = PbModel(textons, logistic_fit(*taught), _about(source, truth, course), **options)
        learned[truth] = Learned(model, truth, taught)
    return learned


def _labels(lesson: Lesson, *, consensus: bool) -> tuple[EdgeMap, EdgeMap]:
    """What anyone drew, and what everyone drew, if that is wanted."""
    import numpy as np

    from hyperacuity.audit import strengths
    from hyperacuity.data import read_boundary_truths

    people = read_boundary_truths(lesson.truths, inverted=lesson.inverted)
    every = np.any(people, axis=0)
    return every, np.any(strengths(people).consensus, axis=0) if consensus else every


def _about(source: str, truth: str, course: Course) -> str:
    kind = "all labels"
    if truth == "consensus":
        other = "left out" if course.weak == "ignore" else "no boundary"
        kind = f"the labels that everyone drew, pixels near other labels being {other}"
    return (
        f"Learned from {source} and {kind}: {course.command(truth)}. "
        "64 textons by k-means; weights by maximum likelihood."
    )


def each(work: Callable[[Item], Made], items: Iterable[Item], workers: int | None, saying: str) -> list[Made]:
    """Work on all items, several at a time, with a progress bar; results in the order of the items."""
    from concurrent.futures import ThreadPoolExecutor

    from rich.progress import track

    several = list(items)
    with ThreadPoolExecutor(workers) as pool:
        return list(
            track(
                pool.map(work, several),
                saying,
                len(several),
                console=common.messages,
                transient=True,
                disable=not common.messages.is_terminal,
            )
        )


def _print(path: Path, learned: Learned) -> None:
    from rich.table import Table

    told = learned.told()
    common.results.print(told["about"], markup=False)
    common.results.print(
        f"{told['pixels']} pixels, {100 * told['boundaries']:.1f} % of them boundaries\n", markup=False
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("cue")
    table.add_column("weight", justify="right")
    table.add_column("weight × deviation of the cue", justify="right")
    for cue, weight in told["weights"].items():
        effect = told["effects"].get(cue)
        table.add_row(cue, f"{weight:.3f}", "" if effect is None else f"{effect:.3f}")
    common.results.print(table)
    common.results.print(f"\nmodel: {path}", markup=False)
