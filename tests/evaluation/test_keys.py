"""What decides a tally is in the key under which a run keeps it: another reading of the same files is never reused."""

from __future__ import annotations

import os
import tarfile
import time
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.io import savemat

import hyperacuity as ha
from hyperacuity import boundary, kinds, tasks
from hyperacuity.cli.options import thresholds_of
from hyperacuity.data import write_png
from hyperacuity.data.datasets import stereo
from hyperacuity.data.scenes import write_scenes
from hyperacuity.errors import UsageError
from hyperacuity.kinds.depth import judged
from hyperacuity.ordering import contours, occlusion_map, ordering
from hyperacuity.run import Cell, open_store, run_grid
from hyperacuity.run.code import code_version
from hyperacuity.run.fingerprint import Digests
from hyperacuity.run.jobs import job_for


def scored(*words, **options):
    """What an evaluation says, apart from where it was kept."""
    return ha.evaluate(*words, progress=False, **options).json()


def put(folder, **arrays):
    """A folder with an array a file; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return folder


@pytest.fixture
def lines(tmp_path):
    """A thick soft line and its truth in folders: suppressed, it has another score."""
    truth = np.zeros((24, 32), bool)
    truth[12] = True
    soft = np.zeros(truth.shape, np.float32)
    soft[9:16] = np.array([0.2, 0.4, 0.6, 0.7, 0.9, 0.5, 0.3], np.float32)[:, None]
    return put(tmp_path / "maps", a=soft), put(tmp_path / "truth", a=truth)


class TestSystemsThatAreTreatedDifferently:
    """The same maps under two names, of which one is suppressed."""

    @pytest.fixture
    def job(self):
        task = tasks.task("boundary")
        return job_for(task, boundary.Protocol(thin=False, nms_of={"sup": "structured"}))

    @pytest.mark.parametrize("systems", [("plain", "sup"), ("sup", "plain")])
    @pytest.mark.parametrize("stopped", [True, False])
    def test_do_not_get_each_others_tallies(self, lines, job, tmp_path, systems, stopped):
        maps, truth = lines
        cells = [Cell(name, "a", maps / "a.npy", (truth / "a.npy",)) for name in systems]
        with open_store(tmp_path / "run") as store:
            run_grid(job, cells[:1], store=store, progress=False)
            if stopped:  # a run of both that ended before it came to the second
                store.begin(str(job.protocol.signature), code_version(job), cells, workers=1, job={})
            again = run_grid(job, cells, store=store, progress=False)
        fresh = run_grid(job, cells, progress=False)
        assert fresh.tallies["plain"]["a"] != fresh.tallies["sup"]["a"]
        assert again.tallies == fresh.tallies
        assert (again.computed, again.reused) == (1, 1)

    def test_but_those_treated_alike_do(self, lines, job, tmp_path):
        maps, truth = lines
        plain, *others = [Cell(name, "a", maps / "a.npy", (truth / "a.npy",)) for name in ("plain", "other", "sup")]
        with open_store(tmp_path / "run") as store:
            run_grid(job, [plain], store=store, progress=False)
            again = run_grid(job, others, store=store, progress=False)
        assert (again.computed, again.reused) == (1, 1)


def test_how_many_thresholds_there_are_is_not_taken_for_one_of_them(lines, tmp_path):
    for given_as in (1, (1.0,)):
        options = {"thresholds": given_as}
        assert scored("boundary", *lines, run=tmp_path / "run", **options) == scored("boundary", *lines, **options)


COUNT_OR_LIST = st.integers(1, 200) | st.lists(
    st.integers(0, 200).map(float) | st.floats(0, 1), min_size=1, max_size=3, unique=True
).map(lambda levels: tuple(sorted(levels)))


@given(COUNT_OR_LIST, COUNT_OR_LIST)
@settings(max_examples=60, deadline=None)
def test_thresholds_are_told_apart_and_read_back(one, other):
    first, second = (boundary.Protocol(thresholds=levels) for levels in (one, other))
    assert (first.signature == second.signature) == (one == other)
    assert thresholds_of(dict(first.signature.parts)["thr"]) == one
    if isinstance(one, tuple):
        count = boundary.Protocol(thresholds=max(1, int(one[0])))
        assert count.signature != first.signature


def test_a_file_of_hierarchy_and_segmentations_is_read_again_as_the_other(tmp_path):
    labels = np.kron(np.array([[0, 1], [2, 3]], np.int32), np.ones((12, 16), np.int32))
    ucm2 = np.zeros((49, 65))
    ucm2[:, 32] = 0.9
    segs = np.empty((1, 1), object)
    segs[0, 0] = labels + 1.0
    (tmp_path / "maps").mkdir()
    savemat(tmp_path / "maps" / "a.mat", {"ucm2": ucm2, "segs": segs})
    folders = tmp_path / "maps", put(tmp_path / "truth", a=labels)
    kept = [scored("regions", *folders, form=form, run=tmp_path / "run") for form in ("auto", "segmentations", "ucm")]
    fresh = [scored("regions", *folders, form=form) for form in ("auto", "segmentations", "ucm")]
    assert kept == fresh
    assert fresh[0]["systems"] == fresh[2]["systems"] != fresh[1]["systems"]


@pytest.mark.filterwarnings("ignore::hyperacuity.data.files.DataWarning")
@pytest.mark.parametrize("task", ["dbe", "occlusion"])
def test_order_maps_of_scenes_are_read_again_as_edges_or_angles(tmp_path, task):
    world = tmp_path / "world"
    write_scenes(world, [1], size=(64, 64), leaves=3)
    order = np.load(world / "order" / "scene-0001.npy")
    drawn = occlusion_map(contours(ordering(order)).pixels.astype(np.float32), contours(ordering(order)).angle)
    shown = order if task == "dbe" else np.stack([drawn.soft, drawn.angle], axis=-1)
    maps = put(tmp_path / "maps", **{"scene-0001": shown})
    for truth in (world, world / "order"):
        assert scored(task, maps, truth, run=tmp_path / "run") == scored(task, maps, truth)


def test_a_truth_whose_name_says_what_it_holds_is_read_again_under_another(tmp_path):
    labels = np.kron(np.array([[0, 1], [2, 255]], np.uint8), np.ones((12, 16), np.uint8))
    for name in ("city/a_gtFine_labelTrainIds.png", "ids/a_gtFine_labelIds.png", "plain/a.png"):
        (tmp_path / name).parent.mkdir()
        write_png(tmp_path / name, labels)
    soft = np.zeros((2, 24, 32), np.float32)
    soft[:, 12], soft[:, :, 16] = 0.5, 0.7
    maps = put(tmp_path / "maps", a=soft)
    found = []
    for truth in ("city", "plain", "ids"):
        fresh = scored("semantic", maps, tmp_path / truth)
        assert scored("semantic", maps, tmp_path / truth, run=tmp_path / "run") == fresh
        found.append(fresh["systems"])
    assert found[0] != found[1] != found[2]


def test_another_scale_of_a_scene_is_another_input(tmp_path, monkeypatch):
    grey = np.tile(np.arange(40, 72, dtype=np.uint8), (24, 1))
    scene = tmp_path / "data" / "teddy"
    scene.mkdir(parents=True)
    for name in ("imL", "imR", "groundtruth", "nonocc", "all", "disc"):
        write_png(scene / f"{name}.png", grey if name == "groundtruth" else np.full_like(grey, 255))
    maps = put(tmp_path / "maps", teddy=(grey / 4).astype(np.float32))
    found = []
    for scale in (4.0, 8.0):
        monkeypatch.setitem(stereo.V2_SCALES, "teddy", scale)
        fresh = scored("disparity", maps, tmp_path / "data")
        assert scored("disparity", maps, tmp_path / "data", run=tmp_path / "run") == fresh
        found.append(fresh["systems"])
    assert found[0] != found[1]


class TestLabelsReadOnce:
    """Figure/ground labels of two images, 42 and 43, in files and in an archive."""

    @pytest.fixture
    def truth(self, tmp_path):
        for image in ("42", "43"):
            self.label(tmp_path / "truth", image, "201", 1)
            runs = "".join(f"0 {y} 0 7\n1 {y} 8 15\n" for y in range(12))
            seg = tmp_path / "truth" / "seg" / "1105" / f"{image}.seg"
            seg.parent.mkdir(parents=True, exist_ok=True)
            seg.write_text(f"format ascii cr\nwidth 16\nheight 12\nsegments 2\ndata\n{runs}")
        return tmp_path / "truth"

    @staticmethod
    def label(folder, image, subject, side, segmenter="1105"):
        sides = np.zeros((12, 16))
        sides[:, 7], sides[:, 8] = side, -side
        parts = [np.array(m.shape, "<i4").tobytes() + m.tobytes(order="F") for m in (sides, np.array([[1.0, -1.0]]))]
        path = folder / "fg" / segmenter / f"{image}-{subject}.fg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"MATRIX ARRAY 2\n" + b"".join(parts))

    @pytest.fixture
    def maps(self, tmp_path):
        near = np.array([[1] * 8 + [0] * 8] * 12, np.float32)
        return put(tmp_path / "maps", **{"42": near, "43": near})

    @pytest.fixture
    def before_43(self, monkeypatch):
        """Have something done after the image 42 was evaluated and before the digest of 43 is taken."""

        def hook(do):
            real, due = Digests.of_cell, [do]

            def of_cell(self, cell, *rest):
                if cell.image == "43" and due:
                    due.pop()()
                return real(self, cell, *rest)

            monkeypatch.setattr(Digests, "of_cell", of_cell)

        return hook

    def test_an_archive_replaced_in_between_is_read_again_though_size_and_date_are_the_same(
        self, truth, maps, tmp_path, before_43
    ):
        archive, other = tmp_path / "truth.tar", tmp_path / "other.tar"
        for path, side in ((archive, 1), (other, -1)):
            self.label(truth, "43", "201", side)
            with tarfile.open(path, "w") as packed:
                packed.add(truth, "bsds-fg")

        def swap():
            facts = archive.stat()
            time.sleep(0.02)  # clocks of file systems tick a few hundred times a second
            archive.write_bytes(other.read_bytes())
            os.utime(archive, ns=(facts.st_atime_ns, facts.st_mtime_ns))
            assert archive.stat().st_size == facts.st_size

        before_43(swap)
        scored("ordering", maps, archive, run=tmp_path / "run", workers=1)
        fresh = scored("ordering", maps, other)
        assert scored("ordering", maps, archive, run=tmp_path / "run") == fresh

    def test_a_subject_added_after_the_files_were_paired_has_no_part_in_the_tally(
        self, truth, maps, tmp_path, before_43
    ):
        fresh = scored("ordering", maps, truth)
        before_43(lambda: self.label(truth, "43", "202", -1))
        assert scored("ordering", maps, truth, run=tmp_path / "run", workers=1) == fresh
        added = scored("ordering", maps, truth, run=tmp_path / "run")
        assert added == scored("ordering", maps, truth) != fresh

    def test_a_label_of_another_segmenter_is_another_input(self, truth, maps, tmp_path):
        (truth / "seg" / "1106").mkdir()
        halves = "".join(f"{y // 6} {y} 0 15\n" for y in range(12))
        text = f"format ascii cr\nwidth 16\nheight 12\nsegments 2\ndata\n{halves}"
        (truth / "seg" / "1106" / "42.seg").write_text(text)
        for subject, side in (("202", -1), ("203", 1)):
            self.label(truth, "42", subject, side, "1106")
        before = scored("ordering", maps, truth, run=tmp_path / "run")
        (truth / "fg" / "1106" / "42-202.fg").rename(truth / "fg" / "1105" / "42-202.fg")
        fresh = scored("ordering", maps, truth)
        assert scored("ordering", maps, truth, run=tmp_path / "run") == fresh != before

    def test_pairs_of_points_are_read_again_too(self, tmp_path):
        path = tmp_path / "pairs.csv"
        for answer in (1, 2):
            path.write_text(f"image,x1,y1,x2,y2,nearer\na,1,1,9,9,{answer}\n")
            os.utime(path, (1e9, 1e9))
            assert judged(path, "a").relation.tolist() == [1 if answer == 1 else -1]
            time.sleep(0.02)


SOFT_MAPS = {"invert_prediction": True, "value_range": (0.0, 2.0), "force": True}
DISPARITY = {"scale": 2.0, "truth_scale": 2.0, "scales": (("a", 2.0),), "zero": "known"}
LABELS = "which kind of truth there is the suffixes of its files say"
IMAGES = "which images are taken out of an archive at once does not change what each holds"
READ_OTHERWISE = {
    "ContourKind": [SOFT_MAPS, {"invert_truth": True}],
    "LabelKind": [SOFT_MAPS, {"invert_truth": True}],
    "RegionKind": [*({"form": form} for form in ("soft", "ucm", "segmentations"))],
    "MaskKind": [],
    "OrderKind": [
        {"farther": "pred", "level": 0.1234, "given": True, "transfer": True},
        {"farther": "truth", "level": 0.12341},
        {"farther": "both", "level": 0.12344},
    ],
    "PairKind": [{"farther": True, "zero_unknown": True}],
    "DepthEdgeKind": [{"farther": True, "zero_unknown": True, "orders": True}],
    "OcclusionKind": [SOFT_MAPS, {"direction": "tangent", "truth_direction": "tangent", "orders": True}],
    "DisparityKind": [DISPARITY, {"zero": "unknown", "scales": (("a", 4.0),)}],
    "ViewKind": [DISPARITY, {"zero": "unknown"}],
    "SemanticKind": [
        SOFT_MAPS,
        {"truth_as": "labels", "first_label": 0, "ignore_label": None},
        {"truth_as": "boundaries"},
    ],
}
"""For every reader, other values of its options; no two may share a key."""

NOT_IN_THE_KEY = {
    ("OrderKind", "labels"): LABELS,
    ("OrderKind", "images"): IMAGES,
    ("OcclusionKind", "labels"): LABELS,
    ("OcclusionKind", "images"): IMAGES,
    ("RegionKind", "invert_prediction"): "counts where soft maps are read, which a test below shows",
    ("RegionKind", "value_range"): "the same",
    ("RegionKind", "force"): "the same",
    ("ViewKind", "truth_scale"): "there is no true map",
}
"""Options that need not be in the key, and why."""


def key_of(task, reader):
    """What of a reader is in the key of a cell."""
    cell = Cell("system", "a", Path("a.npy"), (Path("b.npy"),))
    return str(job_for(task, task.protocol(), reader).protocol.signature), reader.meaning(cell)


@pytest.mark.parametrize("name", kinds.BUILT_IN)
def test_every_option_of_every_kind_is_in_the_key(name):
    task = next(task for task in map(tasks.task, tasks.BUILT_IN) if task.kind == name)
    kind = type(kinds.kind(name))
    usual = {part.name: part.default for part in fields(kind)}
    assert MISSING not in usual.values()
    tried: dict[str, dict[object, object]] = {name: {usual[name]: key_of(task, kind())} for name in usual}
    for changes in READ_OTHERWISE[kind.__name__]:
        for name, value in changes.items():
            tried[name][value] = key_of(task, replace(kind(), **{name: value}))
    for name, keys in tried.items():
        if (kind.__name__, name) not in NOT_IN_THE_KEY:
            assert len(keys) > 1, f"{kind.__name__}.{name}: is in neither table"
            assert len(set(keys.values())) == len(keys), f"{kind.__name__}.{name}: {keys}"


def test_how_soft_maps_are_read_counts_for_regions_too():
    task = tasks.task("regions")
    reader = replace(kinds.kind_of(task), form="soft")
    keys = {key_of(task, replace(reader, **{name: value})) for name, value in SOFT_MAPS.items()}
    assert len(keys | {key_of(task, reader)}) == 4


def numbers_of(kind):
    """Which options of a protocol are numbers with a fraction, or lists of them."""
    hints = get_type_hints(kind)
    for part in fields(kind):
        parts = {hints[part.name], *get_args(hints[part.name])}
        if parts & {float, tuple[float, ...]}:
            yield part.name, tuple[float, ...] in parts


FRACTIONS = [(task, *found) for task in tasks.BUILT_IN for found in numbers_of(tasks.task(task).protocol)]


@pytest.mark.parametrize(("task", "name", "listed"), FRACTIONS, ids=str)
@given(one=st.floats(0, 1) | st.floats(1, 50), other=st.floats(0, 1), near=st.booleans())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_signatures_are_equal_where_numbers_are(task, name, listed, one, other, near):
    kind = tasks.task(task).protocol
    other = np.nextafter(one, np.inf).item() if near else other

    def with_number(value):
        listing = (0.0, value, 1.0) if name == "strengths" else (value,)
        try:
            return replace(kind(), **{name: listing if listed else value})
        except UsageError:
            assume(False)

    first, second = with_number(one), with_number(other)
    assert (first.signature == second.signature) == (one == other)
    assert with_number(one).signature == first.signature
