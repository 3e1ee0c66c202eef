"""``hyperacuity detect train depth-cues``: learn what depth cues are worth from regions whose order is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.detect_train import each
from hyperacuity.cli.options import Data, Json, Workers
from hyperacuity.errors import UsageError
from hyperacuity.studies.figure_ground import SPLIT, Labelled, read_labelled

if TYPE_CHECKING:
    from hyperacuity.detect.depth.cue_model import CueModel, Lesson

COMMAND = "hyperacuity detect train depth-cues"


def train_depth_cues(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The model, as JSON.", show_default=False)],
    images: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Pictures (default: Berkeley's figure/ground set).", show_default=False),
    ] = None,
    order: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Their true order, larger = nearer.", show_default=False)
    ] = None,
    segmentation: Annotated[Path | None, typer.Option(metavar="DIR", help="Their regions.", show_default=False)] = None,
    data: Data = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Learn which of two neighbouring regions is in front, from cues such as T-junctions, convexity and texture.

    Without --images it learns from two thirds of Berkeley's 150 images with figure/ground labels, as the depth-cues that come
    with this package did: by name, of every three the first two are learned from and the third is held out.

    Example: [bold]hyperacuity detect train depth-cues --out my.json[/bold]

    From scenes: [bold]--images DIR/images --order DIR/order --segmentation DIR/labels[/bold]

    Use it: [bold]hyperacuity detect photos --with "depth-cues(model='my.json')" --out maps[/bold]
    """  # fmt: skip
    if out.is_dir():
        raise UsageError(f"--out {out}: is a folder, expected the name of a file")
    given = [place for place in (images, order, segmentation) if place is not None]
    if given and len(given) < 3:
        raise UsageError("--images, --order and --segmentation belong together: pictures, who is in front, and regions")
    common.output_folder(out.parent)
    if images and order and segmentation:
        lessons, source = _from_folders(images, order, segmentation, workers)
    else:
        learned_from = read_labelled(data, held_out=False)
        lessons = each(labelled_lesson, learned_from, workers, "cues")
        source = f"{len(lessons)} of Berkeley's images with figure/ground labels ({SPLIT})"

    from hyperacuity.detect.depth.cue_model import learn_cues

    pairs = sum(int((one.front != 0).sum()) for one in lessons)
    about = (
        f"Learned from {pairs} pairs of regions in {source}: {COMMAND}. Logistic regression; the penalty is that under which "
        "images left out in 5 folds are most likely. A cue counts with its weight in units of its spread."
    )
    model = learn_cues(lessons, about=about)
    model.save(out)
    if json:
        common.print_json(
            {"model": out, "images": len(lessons), "pairs": pairs, "about": about, "effects": _effects(model)}
        )
    else:
        _print(out, model)


def labelled_lesson(one: Labelled) -> Lesson:
    """The pairs of one labelled image, each with the owner that most people gave it."""
    import numpy as np

    from hyperacuity.data import read_image
    from hyperacuity.detect.depth.cue_model import Lesson
    from hyperacuity.detect.depth.cues import pair_cues

    cues = pair_cues(read_image(one.photograph), one.people[0].segmentation)
    return Lesson(cues, np.sign(np.sum(one.front(cues.beside), axis=0)).astype(np.int64))


def _from_folders(images: Path, order: Path, segmentation: Path, workers: int | None) -> tuple[list[Lesson], str]:
    from hyperacuity.data import pair_folders, read_image, read_labels, read_order
    from hyperacuity.detect.depth.cue_model import Lesson
    from hyperacuity.detect.depth.cues import pair_cues
    from hyperacuity.ordering import order_of_pairs
    from hyperacuity.ordering import ordering as order_with

    ordered = {pair.name: (pair.prediction, pair.truths[0]) for pair in pair_folders(images, order).pairs}
    regions = {pair.name: pair.truths[0] for pair in pair_folders(images, segmentation).pairs}
    names = [name for name in ordered if name in regions]

    def lesson(name: str) -> Lesson:
        picture, truth = ordered[name]
        labels = read_labels(regions[name])
        cues = pair_cues(read_image(picture), labels)
        front = order_of_pairs(order_with(read_order(truth), labels), cues.beside)
        return Lesson(cues, front * (abs(front) == 1))

    return each(lesson, names, workers, "cues"), f"{len(names)} images"


def _effects(model: CueModel) -> dict[str, Any]:
    return {name: dict(zip(one.names, one.weights.tolist(), strict=True)) for name, one in model.sets.items()}


def _print(path: Path, model: CueModel) -> None:
    from rich.table import Table

    common.results.print(f"{model.about}\n", markup=False)
    effects = _effects(model)
    table = Table("cue", box=None, pad_edge=False)
    for name in effects:
        table.add_column(name, justify="right")
    for cue in effects["all"]:
        table.add_row(cue, *(f"{found[cue]:.2f}" if cue in found else "" for found in effects.values()))
    common.results.print(table)
    common.results.print(f"\nmodel: {path}", markup=False)
