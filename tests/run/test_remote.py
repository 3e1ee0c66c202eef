"""Inputs that lie elsewhere: URLs in place of paths."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.boundary import Protocol
from hyperacuity.boundary.task import TASK
from hyperacuity.cli import app
from hyperacuity.data import write_png
from hyperacuity.data.remote import LocalCopies, is_remote, stamp, url_of
from hyperacuity.kinds.contours import ContourKind
from hyperacuity.run import Cell, open_run, open_store, run_grid
from hyperacuity.run.jobs import job_for

fsspec = pytest.importorskip("fsspec", reason="needs the extra cluster")


@pytest.fixture
def maps(tmp_path):
    """Four boundary maps and their truths, as files."""
    random = np.random.default_rng(7)
    for name in ("a", "b", "c", "d"):
        truth = np.zeros((24, 32), bool)
        truth[:, random.integers(4, 28)] = True
        soft = (np.roll(truth, 1, axis=1) * random.integers(100, 255)).astype(np.uint8)
        for folder, pixels in (("soft", soft), ("truth", truth)):
            (tmp_path / folder).mkdir(exist_ok=True)
            write_png(tmp_path / folder / f"{name}.png", pixels)
    return tmp_path


@pytest.fixture
def bucket(maps):
    """The same files at ``memory://bucket``."""
    files = fsspec.filesystem("memory")
    for path in maps.rglob("*.png"):
        files.pipe(f"/bucket/{path.relative_to(maps).as_posix()}", path.read_bytes())
    yield files
    files.rm("/bucket", recursive=True)


def grid(root):
    return [Cell("soft", n, Path(f"{root}/soft/{n}.png"), (Path(f"{root}/truth/{n}.png"),)) for n in "abcd"]


def boundary_job(**options):
    return job_for(TASK, Protocol(**options), ContourKind())


def as_bytes(outcome):
    return {image: tally.pack() for image, tally in outcome.tallies["soft"].items()}


@pytest.mark.parametrize("url", ["s3://bucket/a b.png", "memory://x/y.npy", "file:///data/a.png", "https://host/a.png"])
def test_a_url_survives_being_a_path(url):
    assert is_remote(Path(url))
    assert url_of(Path(url)) == url
    assert url_of(Path(url).parent / "b.png") == url.rpartition("/")[0] + "/b.png"


@pytest.mark.parametrize("path", ["a.png", "/data/a:b/c.png", "C:/data/a.png", "./s3/a.png"])
def test_a_path_is_no_url(path):
    assert not is_remote(Path(path))


def test_files_elsewhere_give_the_same_bytes_and_are_reused_while_they_are_the_same(maps, bucket, tmp_path):
    job = boundary_job(thresholds=9)
    here = as_bytes(run_grid(job, grid(maps), progress=False))
    assert as_bytes(run_grid(job, grid("memory://bucket"), progress=False)) == here
    with open_store(tmp_path / "run") as store:
        first = run_grid(job, grid("memory://bucket"), store=store, progress=False)
        again = run_grid(job, grid("memory://bucket"), store=store, progress=False)
        assert as_bytes(first) == as_bytes(again) == here
        assert (first.computed, again.reused) == (4, 4)
        # The key is the contents: the same files on a disk find the same tallies.
        assert run_grid(job, grid(maps), store=store, progress=False).reused == 4
        bucket.pipe("/bucket/soft/b.png", (maps / "soft" / "c.png").read_bytes())
        changed = run_grid(job, grid("memory://bucket"), store=store, progress=False)
        assert (changed.computed, changed.reused) == (1, 3)
    with open_run(tmp_path / "run") as run:
        assert url_of(run.cells(str(job.protocol.signature))[0].prediction) == "memory://bucket/soft/a.png"


def test_what_is_wrong_with_a_file_elsewhere_is_told_by_its_url(bucket):
    bucket.rm("/bucket/soft/a.png")
    bucket.pipe("/bucket/soft/b.png", b"\x89PNG\r\n\x1a\n and no more")
    failures = run_grid(boundary_job(thresholds=9), grid("memory://bucket"), progress=False).failures
    assert [f.image for f in failures] == ["a", "b"]
    assert failures[0].reason == "memory://bucket/soft/a.png: cannot be read (no such file)"
    assert failures[1].reason.startswith("memory://bucket/soft/b.png: is damaged or not a picture")


def test_copies_are_fetched_once_and_cleared_away(bucket):
    path = Path("memory://bucket/soft/a.png")
    with LocalCopies() as copies:
        copy = copies.copy_of(path)
        assert copy.read_bytes() == bucket.cat("/bucket/soft/a.png")
        assert copies.copy_of(path) == copy
        assert copies.copy_of(Path("here.png")) == Path("here.png")
    assert not copy.exists()
    assert stamp(path) == stamp(path)


def test_a_url_of_an_unknown_kind_is_refused(tmp_path):
    cell = Cell("s", "a", Path("gopher9://x/a.png"), (tmp_path,))
    (failure,) = run_grid(boundary_job(), [cell], progress=False).failures
    assert failure.reason == "UsageError: gopher9:// is not a kind of URL that fsspec knows"


def test_a_verb_takes_folders_elsewhere(maps, bucket):
    def score(root):
        done = CliRunner().invoke(app, ["boundary", f"{root}/soft", f"{root}/truth", "--thresholds", "9", "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    here = score(maps)
    assert here["images"] == 4
    assert score("memory://bucket") == here
    assert score(f"file://{maps}") == here
