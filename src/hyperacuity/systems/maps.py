"""Maps of the built-in systems, written as files: detectors on pictures, stereo matchers on pairs."""

from __future__ import annotations

import contextlib
import csv
import io
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from hyperacuity.data import Sample, read_image, read_segmentations, write_disparity, write_order, write_soft
from hyperacuity.data.datasets.pairing import files_in, stem_of
from hyperacuity.data.datasets.stereo import largest_disparity
from hyperacuity.detect import Detector, Orderer, detector, is_orderer, orderer, split_names
from hyperacuity.detect.stereo import Matcher
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.maps import SoftMap
from hyperacuity.outputs import check_output, is_current, output_file, output_folder, write_output
from hyperacuity.run import Cell
from hyperacuity.run.keeping import WRITERS, code_key, keep_file, key_of, system_key
from hyperacuity.run.many import Failures, attempt_each
from hyperacuity.systems.hierarchies import TreeSource, tree_source

SHARE = 6
"""Part of the width up to which disparities are tried, if the data set does not say how many there are."""

See = Callable[[NDArray[Any], Sequence[str]], Mapping[str, SoftMap]]
"""Function from an image and the names of some systems to their thin maps."""


def named_detectors(
    names: str, *, lambdas: str | None = None, cues: str | None = None
) -> dict[str, Detector | Orderer]:
    """The detectors in a list with commas, by canonical name; ``lambdas`` and ``cues`` are options of the depth orderers.

    >>> list(named_detectors("canny,depth-order", lambdas="0.1,2"))
    ['canny', 'depth-order(lam=0.1)', 'depth-order(lam=2.0)']
    """
    systems: list[Detector | Orderer] = []
    for name in split_names(names):
        if name == "depth-order" and lambdas is not None:
            try:
                systems += [orderer(f"depth-order(lam={float(value)})") for value in lambdas.split(",")]
            except ValueError as error:
                raise UsageError(f"{option('lambdas', lambdas)}: expected numbers, with commas") from error
        elif name == "depth-cues" and cues is not None:
            systems.append(orderer(f"depth-cues(cues={cues!r})"))
        else:
            systems.append(orderer(name) if is_orderer(name) else detector(name))
    if not systems:
        raise UsageError("`names=''` names no detector; for example `names='canny,hk'`")
    return {str(one): one for one in systems}


def map_folders(detectors: Mapping[str, Detector | Orderer], parent: Path) -> dict[str, Path]:
    """Create the folder of each detector's maps: its name, with paths shortened to file names.

    ``pb(model='learned/my.json')`` has the folder ``pb(model='my.json')``. Two detectors with one folder are a wrong call,
    and so is a model that does not exist.
    """
    folders: dict[str, Path] = {}
    for name, one in detectors.items():
        if (model := one.options.get("model")) and not Path(model).is_file():
            raise UsageError(f"{name}: there is no file {model}")
        one.check_installed()
        plain = {key: Path(value).name if isinstance(value, str) else value for key, value in one.options.items()}
        folder = parent / str(replace(one, options=plain))
        if folder in folders.values():
            raise UsageError(f"{name}: the folder {folder.name} is taken already; give the file another name")
        folders[name] = folder
    return {name: output_folder(folder) for name, folder in folders.items()}


def regions_for(detectors: Mapping[str, Detector | Orderer], folder: Path | None) -> dict[str, Path] | None:
    """The files of a folder of regions by the names of the pictures; a wrong call where no detector takes regions."""
    if folder is None:
        return None
    if not any(isinstance(one, Orderer) and one.takes_regions for one in detectors.values()):
        raise UsageError("`segmentation=''` is for depth-cues, ucm-tj and depth-net, none of which `names=''` names")
    return {stem_of(path): path for path in files_in(folder)}


def trees_for(detectors: Mapping[str, Detector | Orderer], given: str | None) -> TreeSource | None:
    """Return the source of hierarchies (:func:`tree_source`); a wrong call if no detector takes them."""
    if given is None:
        return None
    if not any(isinstance(one, Orderer) and one.takes_tree for one in detectors.values()):
        raise UsageError(
            "`hierarchy=''` is for ownership, depth-order, depth-cues, ae, ucm-tj and depth-net, none of which `names=''` names"
        )
    return tree_source(given)


def detect_pictures(
    pictures: Sequence[Path],
    chosen: Mapping[str, Detector | Orderer],
    folders: Mapping[str, Path],
    *,
    regions: Mapping[str, Path] | None = None,
    trees: TreeSource | None = None,
    thin: bool = True,
    bits: Literal[8, 16] = 16,
    workers: int | None = None,
) -> list[tuple[Path, str]]:
    """Write each detector's map of each picture; pictures that could not be used, with the reason, in the order given.

    ``regions`` are files of labels by the pictures' stems, for the orderers that take regions; ``trees`` makes hierarchies
    for those that take one and were not given regions.
    """
    first_with_stem: dict[str, Path] = {}
    for path in pictures:
        first_with_stem.setdefault(path.stem, path)

    def work(path: Path) -> None:
        targets = {
            name: folders[name] / f"{path.stem}.{'pfm' if isinstance(find, Orderer) else 'png'}"
            for name, find in chosen.items()
        }
        if (other := first_with_stem[path.stem]) != path:
            raise InputError(f"its map would overwrite that of {other}, which has the same name")
        if path.resolve() in {target.resolve() for target in targets.values()}:
            raise InputError("its map would overwrite the picture itself; choose another `out=DIR`")
        if regions is not None and path.stem not in regions:
            raise InputError("has no file of its name in the folder of `segmentation=''`")
        image = read_image(path)
        labels = None if regions is None else read_segmentations([regions[path.stem]])[0]
        tree = None if trees is None else trees(path, image)
        for name, find in chosen.items():
            if isinstance(find, Orderer):
                given = labels if find.takes_regions else None
                order = find(image, given, tree=tree if given is None and find.takes_tree else None)
                with output_file(targets[name]) as part:
                    write_order(part, order)
            else:
                result = find(image)
                with output_file(targets[name]) as part:
                    write_soft(part, result.thin if thin else result.soft, bits=bits)

    results = attempt_each(work, pictures, workers, "detecting")
    return [(path, str(e).removeprefix(f"{path}: ")) for path, e in results if isinstance(e, InputError)]


def detect_samples(
    samples: Sequence[Sample],
    folders: Mapping[str, Path],
    see: See,
    workers: int | None,
    *,
    keys: Mapping[str, str] | None = None,
) -> tuple[list[Cell], Failures]:
    """Write each system's thin map of each sample; the cells to evaluate, system by system, and what failed.

    ``keys`` name all that each system's maps depend on besides the values of the picture: maps that were written for the same
    are left as they are. Without keys every map is made.
    """

    def work(sample: Sample) -> None:
        if sample.image is None:
            raise InputError("is missing, expected one to detect boundaries in")
        image = read_image(sample.image)
        paths = {name: folder / f"{sample.name}.png" for name, folder in folders.items()}
        if keys is None:
            now = dict.fromkeys(paths, "")
            wanted = list(paths)
        else:
            now = {name: key_of(keys[name], code_key(WRITERS), image) for name in paths}
            wanted = [name for name, path in paths.items() if not is_current(path, now[name])]
        for name, thin in see(image, wanted).items() if wanted else ():
            with output_file(paths[name], key=now[name]) as part:
                write_soft(part, thin, bits=16)

    failed = {s.name: str(e) for s, e in attempt_each(work, samples, workers, "detecting") if isinstance(e, InputError)}
    cells = [
        Cell(name, one.name, folder / f"{one.name}.png", one.truths, picture=one.image)
        for name, folder in folders.items()
        for one in samples
        if one.name not in failed
    ]
    return cells, [(f"photograph: {name}", reason) for name, reason in failed.items()]


@dataclass(frozen=True)
class Matched:
    """Folders of each matcher's maps, seconds of one core that each took (scene → seconds), and failures."""

    folders: dict[str, Path]
    seconds: dict[str, dict[str, float]]
    failures: Failures

    def mean_seconds(self, system: str) -> float:
        """Seconds per pair, over the pairs with a known time; NaN if there are none."""
        seconds = list(self.seconds[system].values())
        return sum(seconds) / len(seconds) if seconds else math.nan


def match_scenes(
    scenes: Mapping[str, Sample],
    matchers: Sequence[Matcher],
    parent: Path,
    workers: int | None,
    *,
    disparities: int | None = None,
    reuse: bool = False,
) -> Matched:
    """Write each matcher's disparity map of each scene, ``parent/MATCHER/SCENE.pfm``.

    ``disparities`` is how many to try, by default :func:`disparities_of` the scene. With ``reuse``, maps that this
    code has made of the same pair are left as they are, and the seconds that each took are written to ``parent/seconds.csv``.
    """
    for one in matchers:
        one.check_installed()
    folders = {str(one): output_folder(parent / str(one)) for one in matchers}
    watch = _Stopwatch(parent / "seconds.csv" if reuse else None)

    def work(item: tuple[str, Matcher]) -> None:
        name, matcher = item
        path = folders[str(matcher)] / f"{name}.pfm"
        left, right = read_pair(scenes[name])
        count = disparities or disparities_of(scenes[name], left.shape[1])

        def match(part: Path) -> None:
            with contextlib.suppress(InputError):  # compile what has not been yet, which is not to be counted
                matcher(left[:4, :8], right[:4, :8], 2)
            began = time.thread_time()
            disparity = matcher(left, right, count)
            watch.add(str(matcher), name, time.thread_time() - began)
            write_disparity(part, disparity)

        if reuse:
            keep_file(
                path, key_of(code_key(Matcher.__module__, WRITERS), system_key(matcher), count, left, right), match
            )
        else:
            with output_file(path) as part:
                match(part)

    items = [(name, matcher) for name in scenes for matcher in matchers]
    results = attempt_each(work, items, workers, "matching")
    failed = {name: str(error) for (name, _), error in results if isinstance(error, InputError)}
    return Matched(folders, {name: watch.seconds.get(name, {}) for name in folders}, list(failed.items()))


class _Stopwatch:
    """Seconds by system and scene; with a file, which is written again with each, those of earlier runs too."""

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            check_output(path)
        self.path = path
        self.lock = threading.Lock()
        self.seconds: dict[str, dict[str, float]] = {}
        if path is not None and path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                for system, scene, seconds in csv.reader(file):
                    self.seconds.setdefault(system, {})[scene] = float(seconds)

    def add(self, system: str, scene: str, seconds: float) -> None:
        with self.lock:
            self.seconds.setdefault(system, {})[scene] = round(seconds, 3)
            if self.path is not None:
                text = io.StringIO()
                rows = ([name, scene, f"{took:.3f}"] for name, of in self.seconds.items() for scene, took in of.items())
                csv.writer(text, lineterminator="\n").writerows(rows)
                write_output(self.path, text.getvalue().encode())


def read_pair(sample: Sample) -> tuple[NDArray[Any], NDArray[Any]]:
    """The left and the right picture of a scene."""
    if sample.image is None or "right" not in sample.extras:
        raise InputError("the pictures of the pair are not with the data")
    return read_image(sample.image), read_image(sample.extras["right"])


def disparities_of(sample: Sample, width: int) -> int:
    """Number of disparities to try: from Middlebury's ``info.txt`` or ``ndisp`` of a ``calib.txt``, else by the width."""
    info = sample.truths[0].with_name("info.txt")
    calibration = sample.extras.get("calibration")
    with contextlib.suppress(InputError):
        if info.is_file():
            return min(largest_disparity(info) + 1, width)
        if calibration is not None:
            return min(largest_disparity(calibration) + 1, width // 2)
    return max(16, width // SHARE)
