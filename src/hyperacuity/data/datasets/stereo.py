"""Stereo data sets: Middlebury (v2 and 2014 layouts), KITTI 2012 and 2015, ETH3D two-view.

A sample's image is the left one, its truth the left disparity; ``right`` and the region masks are among its extras.
"""

from __future__ import annotations

import re
from pathlib import Path

from hyperacuity.console import printable
from hyperacuity.data.datasets.pairing import folders_in, stem_of
from hyperacuity.data.datasets.samples import Dataset, Sample, by_stem, first_of, present, samples_of
from hyperacuity.data.files import file_at, folder_at, read_head
from hyperacuity.errors import InputError

V2_SCALES = {"tsukuba": 16.0, "venus": 8.0, "teddy": 4.0, "cones": 4.0}
"""Grey levels per pixel of disparity in the four scenes of Middlebury v2, for copies without ``info.txt``."""


def middlebury_v2(folder: Path) -> Dataset:
    """Middlebury v2: a folder per scene with ``imL``, ``imR``, ``groundtruth``, ``nonocc``, ``all``, ``disc`` and ``info.txt``.

    The server's names (``im2``, ``im6``, ``disp2`` and Tsukuba's ``scene1.row3.col3``) do as well.
    """
    samples = []
    for scene in _scenes(folder):
        truth = first_of(scene, "groundtruth.png", "disp2.png", "disp2.pgm", "truedisp.row3.col3.pgm")
        if truth is None:
            continue
        extras = present(
            right=first_of(scene, "imR.png", "im6.png", "im6.ppm", "scene1.row3.col4.ppm"),
            **{mask: scene / f"{mask}.png" for mask in ("nonocc", "all", "disc")},
        )
        image = first_of(scene, "imL.png", "im2.png", "im2.ppm", "scene1.row3.col3.ppm")
        info = file_at(scene / "info.txt")
        scale = scale_of(info) if info else V2_SCALES.get(scene.name.lower())
        samples.append(Sample(printable(scene.name), image, (truth,), extras, scale))
    return Dataset("middlebury-v2", folder, tuple(samples))


def middlebury_2014(folder: Path) -> Dataset:
    """Middlebury 2014 and MiddEval3: a folder per scene with ``im0``, ``im1`` and ``disp0.pfm`` or ``disp0GT.pfm``."""
    return Dataset("middlebury-2014", folder, _float_scenes(folder))


def eth3d(folder: Path) -> Dataset:
    """ETH3D two-view: scenes as in Middlebury 2014; truths may lie in a separate folder, ``…_gt/SCENE``."""
    return Dataset("eth3d", folder, _float_scenes(folder))


def kitti_2012(folder: Path) -> Dataset:
    """KITTI 2012: ``training/disp_occ`` (all pixels), ``disp_noc`` (not occluded), ``colored_0/1`` or ``image_0/1``."""
    return _kitti("kitti-2012", folder, "disp_occ", "disp_noc", ("colored_0", "colored_1"), ("image_0", "image_1"))


def kitti_2015(folder: Path) -> Dataset:
    """KITTI 2015: ``training/disp_occ_0``, ``disp_noc_0``, ``image_2``, ``image_3``, and ``obj_map`` (moving objects)."""
    return _kitti("kitti-2015", folder, "disp_occ_0", "disp_noc_0", ("image_2", "image_3"))


def _scenes(folder: Path) -> list[Path]:
    """The folder itself and the folders in it, two levels down, in the order of their names."""
    scenes = folders_in(folder)
    return [folder, *sorted([*scenes, *(path for scene in scenes for path in folders_in(scene))])]


def scale_of(info: Path) -> float:
    """Grey levels per pixel of disparity: the first number of Middlebury's ``info.txt``."""
    try:
        scale = float(read_head(info, 100).split()[0])
        if not 0 < scale < float("inf"):
            raise ValueError
    except (ValueError, IndexError) as error:
        raise InputError(f"{info}: expected the disparity scale and the largest disparity") from error
    return scale


def largest_disparity(info: Path) -> int:
    """The largest disparity of a scene: the second number of ``info.txt``, or one less than ``ndisp`` in a ``calib.txt``."""
    text = read_head(info, 2000)
    try:
        if listed := re.search(rb"^ndisp *= *(\d{1,6})\s*$", text, re.MULTILINE):
            return int(listed[1]) - 1
        largest = float(text[:100].split()[1])
        if not 0 <= largest < 1e6:
            raise ValueError
    except (ValueError, IndexError) as error:
        raise InputError(f"{info}: expected the largest disparity, as ndisp=… or after the scale") from error
    return int(largest)


def _float_scenes(folder: Path) -> tuple[Sample, ...]:
    samples = []
    for scene in _scenes(folder):
        image = first_of(scene, "im0.png", "im0.ppm")
        if image is None:
            continue
        for home in (scene, scene.parent.with_name(f"{scene.parent.name}_gt") / scene.name):
            if truth := first_of(home, "disp0GT.pfm", "disp0.pfm"):
                right = first_of(scene, "im1.png", "im1.ppm")
                extras = present(right=right, nonocc=home / "mask0nocc.png", calibration=scene / "calib.txt")
                samples.append(Sample(printable(scene.name), image, (truth,), extras))
                break
    return tuple(samples)


def _kitti(name: str, folder: Path, truth: str, noc: str, *pictures: tuple[str, str]) -> Dataset:
    """``truth`` and ``noc`` are the folders of all and of unoccluded pixels; the first pair of pictures that exists is taken."""
    home = folder_at(folder / "training") or folder
    left, right = next((pair for pair in pictures if folder_at(home / pair[0])), pictures[0])
    lefts, rights, nocs, objects = (by_stem(home / part) for part in (left, right, noc, "obj_map"))
    samples = samples_of(lefts, by_stem(home / truth), {"right": rights, "noc": nocs, "objects": objects}, scale=256.0)
    if not samples and (lone := first_of(folder, "disp_gt.png")):  # a single pair, as in KITTI's example code
        estimate = present(estimate=folder / "disp_est.png")
        samples = (Sample(stem_of(lone).removesuffix("_gt"), None, (lone,), estimate, scale=256.0),)
    return Dataset(name, folder, samples)
