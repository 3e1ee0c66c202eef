"""Scenes as files, in a layout that the readers and commands take as it is.

::

    images/NAME.png             the left view
    right/NAME.png              the right view
    groundTruth/NAME.mat        every annotator's Segmentation and Boundaries, in BSDS form
    labels/NAME.png             regions, 16 bit
    boundaries/NAME.png         true boundaries, 0 and 255
    order/NAME.npy              depth order, larger = nearer
    ownership/NAME.npy          +1 figure's side, −1 ground's side, NaN elsewhere
    disparity/NAME.pfm          disparity of the left view, in pixels
    disparity_right/NAME.pfm    disparity of the right view
    masks/nonocc, all, disc/NAME.png   where disparity is scored, 0 and 255
    scenes.json                 what was asked for, and facts about each scene; written last

Pixels and values are the same on every machine. So are the bytes of ``.npy`` and ``.pfm`` files; those of ``.png`` and
``.mat`` files also depend on the release of the compression library.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.data.formats.images import write_png
from hyperacuity.data.formats.matlab import write_truths
from hyperacuity.data.scenes.scene import VERSION, Scene, make_scene
from hyperacuity.data.writers import write_disparity, write_edges, write_labels, write_order
from hyperacuity.errors import UsageError
from hyperacuity.outputs import output_file, output_folder, write_output

Facts = dict[str, Any]


def name_of(seed: int) -> str:
    """The stem of a scene's files.

    >>> name_of(7)
    'scene-0007'
    """
    return f"scene-{seed:04d}"


def write_scenes(
    folder: Path, seeds: Iterable[int], *, jobs: int = 1, done: Callable[[Facts], None] = lambda _: None, **options: Any
) -> Facts:
    """Make a scene from each seed and write them all; ``options`` are those of :func:`make_scene`.

    ``done`` is called with each scene's facts once its files are complete. What is written depends neither on ``jobs`` nor on the
    order in which scenes are finished. Returns what ``scenes.json`` holds.
    """
    output_folder(folder)
    seeds = list(seeds)
    names = {name_of(seed) for seed in seeds}
    if others := sorted(path.stem for path in folder.glob("images/[!.]*") if path.stem not in names):
        raise UsageError(f"{folder} already holds {others[0]} and other pictures of another call; give an empty folder")
    facts = []
    with ThreadPoolExecutor(max(1, jobs)) as workers:
        for fact in workers.map(lambda seed: write_scene(folder, make_scene(seed, **options)), seeds):
            done(fact)
            facts.append(fact)
    summary = {"version": VERSION, "options": options, "scenes": facts}
    write_output(folder / "scenes.json", (json.dumps(summary, indent=1) + "\n").encode())
    return summary


def write_scene(folder: Path, scene: Scene) -> Facts:
    """Write one scene's files, named after its seed, and return facts about it."""
    name = name_of(scene.seed)
    ownership = np.where(scene.ownership == 0, np.nan, scene.ownership).astype(np.float32)
    segmentations = [annotation.labels + 1 for annotation in scene.annotators]  # MATLAB's labels start at 1
    drawn = [annotation.boundaries for annotation in scene.annotators]
    parts: list[tuple[str, str, Callable[..., None], tuple[Any, ...]]] = [
        ("images", "png", write_png, (scene.image,)),
        ("right", "png", write_png, (scene.right,)),
        ("groundTruth", "mat", write_truths, (segmentations, drawn)),
        ("labels", "png", write_labels, (scene.labels,)),
        ("boundaries", "png", write_edges, (scene.boundaries,)),
        ("order", "npy", write_order, (scene.order,)),
        ("ownership", "npy", write_order, (ownership,)),
        ("disparity", "pfm", write_disparity, (scene.disparity,)),
        ("disparity_right", "pfm", write_disparity, (scene.disparity_right,)),
        *((f"masks/{region}", "png", write_edges, (mask,)) for region, mask in scene.masks.items()),
    ]
    for part, suffix, write, values in parts:
        (folder / part).mkdir(parents=True, exist_ok=True)
        with output_file(folder / part / f"{name}.{suffix}") as file:
            write(file, *values)
    return {
        "name": name,
        "seed": scene.seed,
        "sheets": len(np.unique(scene.objects)),
        "regions": int(scene.labels.max()) + 1,
        "boundary_pixels": int(scene.boundaries.sum()),
        "annotators": [int(annotation.labels.max()) + 1 for annotation in scene.annotators],
        "disparity": [float(scene.disparity.min()), float(scene.disparity.max())],
        "occluded": float(1 - np.count_nonzero(scene.nonocc) / scene.nonocc.size),
    }
