"""Hierarchies of regions for pictures: read from a folder of ``ucm2`` files or built by a detector, and written as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from hyperacuity.data import read_image, read_ucm, write_labels, write_mat
from hyperacuity.data.datasets.pairing import files_in, stem_of
from hyperacuity.detect import detector, detectors
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.ordering.orderings import consecutive
from hyperacuity.outputs import output_file, output_folder
from hyperacuity.regions import Hierarchy, ucm_hierarchy
from hyperacuity.run.many import Failures, attempt_each

TreeSource = Callable[[Path, NDArray[Any]], Hierarchy]
"""Function from the file of a picture and the picture to its hierarchy. ``InputError`` where there is none."""


def tree_source(given: str, *, name: str = "hierarchy") -> TreeSource:
    """The source that an option names: a folder of ``ucm2`` files (MAT, NPY or PNG of double size), or a detector.

    >>> tree_source("nowhere")
    Traceback (most recent call last):
    hyperacuity.errors.UsageError: `hierarchy='nowhere'`: is neither a folder of ucm2 files nor one of the detectors masks, sobel, canny, sf1, sf5, agk, hk, pb, gpb, gpb-ucm, net
    """  # noqa: E501  # one line, as it is printed
    folder = Path(given)
    if folder.is_dir():
        files = {stem_of(path): path for path in files_in(folder)}

        def read(path: Path, image: NDArray[Any]) -> Hierarchy:
            if path.stem not in files:
                raise InputError(f"has no file of its name in {folder}, expected its ucm2")
            tree = ucm_hierarchy(read_ucm(files[path.stem]))
            if tree.labels.shape != image.shape[:2]:
                size, expected = (" × ".join(map(str, shape)) for shape in (tree.labels.shape, image.shape[:2]))
                raise InputError(f"the hierarchy in {files[path.stem]} is of {size} pixels, the picture of {expected}")
            return tree

        return read
    if given.partition("(")[0].strip() not in detectors():
        names = ", ".join(detectors())
        raise UsageError(f"{option(name, given)}: is neither a folder of ucm2 files nor one of the detectors {names}")
    find = detector(given)
    return lambda path, image: find.hierarchy(image)


def segment_pictures(
    pictures: Sequence[Path], source: TreeSource, out: Path, level: float, workers: int | None = None
) -> tuple[dict[str, int], Failures]:
    """Write each picture's hierarchy, ``out/ucm2/NAME.mat``, and its regions at a level, ``out/labels/NAME.png``.

    Returns how many regions each picture has at that level, and which pictures could not be used and why.
    """
    trees, labels = (output_folder(out / name) for name in ("ucm2", "labels"))
    twice = {name for name, count in Counter(path.stem for path in pictures).items() if count > 1}

    def work(path: Path) -> int:
        targets = trees / f"{path.stem}.mat", labels / f"{path.stem}.png"
        if path.stem in twice:
            raise InputError("another picture has the same name, so their files would too")
        if path.resolve() in {target.resolve() for target in targets}:
            raise InputError("its regions would overwrite the picture itself; choose another `out=DIR`")
        tree = source(path, read_image(path))
        regions = consecutive(tree.at(level))
        if regions.max() > 65535:
            raise InputError(
                f"has {regions.max() + 1} regions at level {level:g}, PNG holds 65536; choose a higher level"
            )
        with output_file(targets[0]) as part:
            write_mat(part, ucm2=tree.ucm2())
        with output_file(targets[1]) as part:
            write_labels(part, regions)
        return int(regions.max()) + 1

    results = list(attempt_each(work, pictures, workers, "segmenting"))
    failed = [(str(path), str(e).removeprefix(f"{path}: ")) for path, e in results if isinstance(e, InputError)]
    return {path.stem: count for path, count in results if isinstance(count, int)}, failed
