"""A link to nothing, a named pipe, or a folder where a file belongs: a truth is named, in every layout, and never left out."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from hyperacuity.data import load_dataset, pair_folders
from hyperacuity.data.datasets.semantic import semantic_samples
from hyperacuity.data.files import check_file
from hyperacuity.errors import HyperacuityError, InputError, UsageError
from hyperacuity.kinds.contours import LabelKind
from hyperacuity.kinds.disparity import DisparityKind, stereo_samples
from hyperacuity.kinds.masks import MaskKind
from hyperacuity.kinds.orders import OrderKind


def known(name):
    """The files of a data set that has a name."""

    def files(root):
        samples = load_dataset(name, root).samples
        return [path for one in samples for path in (*one.truths, *one.extras.values())]

    return files


def semantic(root):
    return [path for one in semantic_samples(root) for path in (*one.truths, *one.extras.values())]


def of_cells(find):
    return lambda root: [path for cell in find(root) for path in cell.files]


def plain(root):
    return [path for pair in pair_folders(root / "maps", root / "truth").pairs for path in pair.truths]


def audited(root):
    return LabelKind().find({}, root / "truth")


def labelled(root):
    return OrderKind().find({"a": root / "maps"}, root)


def swept(root):
    return OrderKind().find({"a": root / "maps"}, root / "truth")


def sequences(root):
    return MaskKind().find({"a": root / "maps"}, root / "truth")


def disparity(root):
    return DisparityKind().find({"a": root / "maps"}, root / "truth", masks={"lit": root / "lit"})


PEOPLE = ("maps/1.png", "truth/anna/1.png", "truth/ben/1.png")
CITY = "gtFine/val/{0}/{0}_000000_000019_gtFine_labelIds.png"
LAYOUTS = {
    "folders": (plain, PEOPLE, ("truth/anna/1.png", "truth/ben")),
    "audit": (of_cells(audited), PEOPLE, ("truth/anna/1.png", "truth/ben")),
    "bsds500": (known("bsds500"), ("groundTruth/test/1.mat", "groundTruth/val/2.mat"), ("groundTruth/test/1.mat",)),
    "bsds300": (
        known("bsds300"),
        ("images/test/3.jpg", "human/color/1102/3.seg", "human/color/1105/3.seg"),
        ("human/color/1102/3.seg", "human/color/1102"),
    ),
    "bsds-fg": (
        of_cells(labelled),
        ("maps/3.png", "fg/1102/3-7.fg", "fg/1105/3-7.fg", "seg/1102/3.seg", "seg/1105/3.seg"),
        ("fg/1102/3-7.fg", "fg/1102", "seg/1102/3.seg", "seg/1102"),
    ),
    "middlebury-v2": (
        known("middlebury-v2"),
        ("teddy/groundtruth.png", "teddy/nonocc.png", "venus/groundtruth.png"),
        ("teddy/groundtruth.png", "teddy/nonocc.png", "teddy/info.txt", "teddy"),
    ),
    "middlebury-2014": (
        known("middlebury-2014"),
        ("a/im0.png", "a/disp0.pfm", "a/mask0nocc.png", "b/im0.png", "b/disp0.pfm"),
        ("a/disp0.pfm", "a/mask0nocc.png", "a"),
    ),
    "eth3d": (
        known("eth3d"),
        ("t/a/im0.png", "t_gt/a/disp0GT.pfm", "t/b/im0.png", "t_gt/b/disp0GT.pfm"),
        ("t_gt/a/disp0GT.pfm", "t_gt/a"),
    ),
    "kitti-2015": (
        known("kitti-2015"),
        ("training/disp_occ_0/1.png", "training/disp_noc_0/1.png"),
        ("training/disp_occ_0/1.png", "training/disp_noc_0/1.png", "training/disp_noc_0"),
    ),
    "scenes": (
        known("scenes"),
        ("scenes.json", "groundTruth/1.mat", "masks/nonocc/1.png"),
        ("groundTruth/1.mat", "masks/nonocc/1.png", "masks/nonocc", "masks"),
    ),
    "uded": (known("uded"), ("imgs/1.png", "gt/1.png", "gt/2.png"), ("gt/1.png", "gt")),
    "sbd": (
        semantic,
        ("cls/1.mat", "inst/1.mat", "inst/2.mat", "val.txt"),
        ("cls/1.mat", "inst/1.mat", "cls", "inst", "val.txt"),
    ),
    "cityscapes": (semantic, (CITY.format("ulm"), CITY.format("bonn")), (CITY.format("ulm"), "gtFine/val/ulm")),
    "classes": (semantic, ("class_001/1.png", "class_002/1.png"), ("class_001/1.png", "class_001")),
    "labels": (semantic, ("labels/1.png", "instances/1.png"), ("labels/1.png", "instances/1.png", "instances")),
    "sequences": (
        of_cells(sequences),
        ("maps/bear/1.png", "maps/cow/1.png", "truth/bear/1.png", "truth/cow/1.png"),
        ("truth/bear/1.png", "truth/bear", "maps/bear/1.png", "maps/bear"),
    ),
    "sweep": (
        of_cells(swept),
        ("maps/0.1/1.png", "maps/0.2/1.png", "truth/1.png"),
        ("maps/0.1/1.png", "maps/0.1", "truth/1.png"),
    ),
    "disparity": (
        of_cells(disparity),
        ("maps/teddy/disp.pfm", "maps/teddy/notes.pfm", "truth/teddy/groundtruth.png", "lit/teddy.png"),
        ("maps/teddy/disp.pfm", "maps/teddy", "truth/teddy/groundtruth.png", "lit/teddy.png", "lit"),
    ),
}


def to_nothing(path: Path) -> None:
    path.symlink_to("nowhere")


FAULTS = {"link": to_nothing, "pipe": lambda path: os.mkfifo(path), "folder": lambda path: path.mkdir()}


def lay_out(root: Path, files) -> None:
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1" if name == "val.txt" else "")


def cases():
    for layout, (_, _, places) in LAYOUTS.items():
        for place in places:
            for fault in FAULTS:
                if fault != "folder" or Path(place).suffix in (".png", ".mat", ".pfm", ".seg", ".fg", ".txt"):
                    yield pytest.param(layout, place, fault, id=f"{layout}-{place.replace('/', ':')}-{fault}")


def find_and_read(find, root, broken):
    """What an evaluation does with a file: it is found, and fails its own cell."""
    assert broken in find(root)
    check_file(broken)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_whole_data_set_is_found(tmp_path, layout):
    find, files, _ = LAYOUTS[layout]
    lay_out(tmp_path, files)
    assert find(tmp_path)


@pytest.mark.parametrize(("layout", "place", "fault"), list(cases()))
def test_what_cannot_be_read_is_named(tmp_path, layout, place, fault):
    if fault == "pipe" and not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    find, files, _ = LAYOUTS[layout]
    lay_out(tmp_path, files)
    broken = tmp_path / place
    if broken.is_dir():
        broken.rename(tmp_path / ".away")
    broken.unlink(missing_ok=True)
    FAULTS[fault](broken)
    with pytest.raises(HyperacuityError, match=re.escape(str(broken))):
        find_and_read(find, tmp_path, broken)


def test_an_annotator_or_a_sequence_without_a_file_is_named(tmp_path):
    for layout, place in (("folders", "truth/carl"), ("audit", "truth/carl"), ("sequences", "truth/dog")):
        root = tmp_path / layout
        lay_out(root, LAYOUTS[layout][1])
        (root / place).mkdir()
        with pytest.raises(UsageError, match=f"{place}: the folder holds no file"):
            LAYOUTS[layout][0](root)


def test_maps_beside_folders_of_annotators_leave_neither_out(tmp_path):
    lay_out(tmp_path, (*PEOPLE, "truth/readme.txt"))
    for find in (plain, of_cells(audited)):
        assert [path.parent.name for path in find(tmp_path)][-2:] == ["anna", "ben"]
    lay_out(tmp_path, ("truth/bear.png",))
    for find in (plain, of_cells(audited)):
        with pytest.raises(UsageError, match=r"truth: holds bear\.png beside folders with maps \(anna\)"):
            find(tmp_path)


def test_a_folder_of_masks_that_has_none_of_any_scene_is_refused(tmp_path):
    lay_out(tmp_path, (*LAYOUTS["disparity"][1][:-1], "lit/venus.png"))
    with pytest.raises(UsageError, match=r"masks=.*lit.*holds a mask of no scene \(venus\.png\), expected teddy\.png"):
        disparity(tmp_path)
    with pytest.raises(UsageError, match="cannot be read as a folder"):
        DisparityKind().find({}, tmp_path / "truth", masks={"lit": tmp_path / "nowhere"})


def test_of_two_truths_of_one_name_neither_is_taken_silently(tmp_path):
    lay_out(tmp_path / "uded", ("imgs/1.png", "gt/1.png", "gt/1.txt"))
    assert known("uded")(tmp_path / "uded") == [tmp_path / "uded/gt/1.png"]
    lay_out(tmp_path / "uded", ("gt/1.npy",))
    with pytest.raises(InputError, match=r"gt: 1\.npy and 1\.png share a stem"):
        known("uded")(tmp_path / "uded")
    sizes = [f"training{size}/Jade/{file}" for size in "HQ" for file in ("im0.png", "disp0GT.pfm")]
    lay_out(tmp_path / "MiddEval3", sizes)
    with pytest.raises(InputError, match=r"trainingH.*trainingQ.*are both of Jade"):
        stereo_samples(str(tmp_path / "MiddEval3"))
    assert list(stereo_samples(str(tmp_path / "MiddEval3" / "trainingQ"))) == ["Jade"]


@pytest.mark.parametrize(
    ("layout", "place"),
    [("folders", "truth/ben"), ("bsds300", "human/color/1102"), ("bsds-fg", "fg/1102"), ("classes", "class_001")],
)
def test_a_folder_that_may_not_be_read_is_named(tmp_path, monkeypatch, layout, place):
    find, files, _ = LAYOUTS[layout]
    lay_out(tmp_path, files)
    listed = Path.iterdir

    def refuse(folder):
        if folder == tmp_path / place:
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(InputError, match=f"{place}: cannot be read as a folder \\(permission denied\\)"):
        find(tmp_path)
