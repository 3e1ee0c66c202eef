"""``hyperacuity detect`` as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from hyperacuity.cli import app
from hyperacuity.data import read_image, read_soft
from hyperacuity.detect import canny, hk
from hyperacuity.detect.net import network


def call(*words: object) -> Result:
    return CliRunner().invoke(app, ["detect", *map(str, words)])


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Three small pictures, grey and colour, in a folder with a file that is none."""
    folder = tmp_path / "photos"
    folder.mkdir()
    dice = np.random.default_rng(0)
    for name, shape in [("a.png", (30, 40)), ("b.jpg", (25, 35, 3)), ("c.v2.png", (20, 22, 3))]:
        Image.fromarray(dice.integers(0, 256, shape, dtype=np.uint8)).save(folder / name)
    (folder / "notes.txt").write_text("not a picture")
    return folder


def test_writes_one_folder_per_detector_with_thin_maps(photos: Path, tmp_path: Path) -> None:
    done = call(photos, "--with", "canny,hk", "--out", tmp_path / "maps")
    assert done.exit_code == 0, done.output
    for name, find in [("canny", canny), ("hk", hk)]:
        written = sorted(path.name for path in (tmp_path / "maps" / name).iterdir())
        assert written == ["a.png", "b.png", "c.v2.png"]
        expected = find(read_image(photos / "b.jpg")).thin
        np.testing.assert_allclose(read_soft(tmp_path / "maps" / name / "b.png"), expected, atol=0.51 / 65535)


def test_soft_maps_in_eight_bits(photos: Path, tmp_path: Path) -> None:
    assert call(photos / "a.png", "--soft", "--bits", 8, "--out", tmp_path).exit_code == 0
    with Image.open(tmp_path / "canny" / "a.png") as picture:
        stored = np.asarray(picture)
    assert stored.dtype == np.uint8
    np.testing.assert_array_equal(stored, np.rint(canny(read_image(photos / "a.png")).soft * np.float64(255)))


def test_options_become_part_of_the_folders_name(photos: Path, tmp_path: Path) -> None:
    assert call(photos, "--with", "canny(sigma=2), agk(along=3,step=15)", "--out", tmp_path / "maps").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "maps").iterdir() if path.is_dir()) == [
        "agk(along=3.0, step=15.0)",
        "canny(sigma=2.0)",
    ]


def test_json_is_one_object(photos: Path, tmp_path: Path) -> None:
    done = call(photos, "--with", "sobel", "--out", tmp_path / "maps", "--json")
    told = json.loads(done.stdout)
    assert told == {
        "images": 3,
        "map": "thin",
        "bits": 16,
        "detectors": {"sobel": {"folder": str(tmp_path / "maps" / "sobel")}},
        "failed": [],
    }


def test_a_bad_file_fails_alone_and_by_name(photos: Path, tmp_path: Path) -> None:
    (photos / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nthis is no picture")
    (photos / "a.bmp").write_bytes((photos / "a.png").read_bytes())
    done = call(photos, "--with", "sobel", "--out", tmp_path / "maps", "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["images"] == 3
    assert [Path(item["image"]).name for item in told["failed"]] == ["a.png", "broken.png"]
    assert "a.bmp" in told["failed"][0]["reason"]
    assert "broken.png" in done.stderr
    assert sorted(path.stem for path in (tmp_path / "maps" / "sobel").iterdir()) == ["a", "b", "c.v2"]


def test_a_picture_is_never_overwritten_by_its_own_map(photos: Path) -> None:
    (photos / "canny").mkdir()
    picture = (photos / "a.png").rename(photos / "canny" / "a.png")
    before = picture.read_bytes()
    assert call(picture, "--out", photos).exit_code == 1
    assert picture.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere", "--out", "maps"], "no file or folder nowhere"),
        (["{photos}", "--with", "log", "--out", "maps"], "there is no detector log"),
        (["{photos}", "--with", ",", "--out", "maps"], "names no detector"),
        (["{photos}", "--with", "canny(size=2)", "--out", "maps"], "no option size"),
        (["{photos}", "--bits", "12", "--out", "maps"], "expected 8 or 16"),
        (["{empty}", "--out", "maps"], "holds no picture"),
        (["{photos}", "--out", "{photos}/notes.txt"], "cannot write"),
    ],
)
def test_wrong_calls_exit_with_2(
    words: list[str], complaint: str, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    done = call(*(word.format(photos=photos, empty=tmp_path / "empty") for word in words))
    assert done.exit_code == 2
    assert complaint in done.stderr
    assert not done.stdout


def test_the_number_of_jobs_does_not_change_the_files(photos: Path, tmp_path: Path) -> None:
    for jobs in (1, 3):
        assert call(photos, "--with", "hk,sf5", "--jobs", jobs, "--out", tmp_path / str(jobs)).exit_code == 0
    files = sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*.png"))
    assert len(files) == 6
    for file in files:
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "3" / file).read_bytes()


def test_detectors_need_no_extra() -> None:
    """Neither OpenCV nor scikit-image is imported by the room."""
    code = "import sys, hyperacuity.detect; print([m for m in ('cv2', 'skimage') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_what_a_detector_needs_is_checked_before_any_map_is_written(photos: Path, tmp_path: Path, monkeypatch) -> None:
    network._session.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # importing it fails
    for name in ("net", "depth-net"):
        done = call(photos, "--with", f"canny,{name}", "--out", tmp_path / "maps")
        assert done.exit_code == 2
        assert "seeing with the network needs onnxruntime: pip install" in done.stderr
    assert not (tmp_path / "maps" / "canny").exists()
