"""Thick maps: that they are noticed, treated, and named, and whether the order of systems depends on it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import hyperacuity as ha
from hyperacuity.boundary import Protocol, Suppression, tally
from hyperacuity.boundary.tallies import thickness
from hyperacuity.cli import app
from hyperacuity.data import write_edges, write_soft
from hyperacuity.errors import UsageError
from hyperacuity.tally import Signature


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Four rings; ``thin`` finds most of each, ``thick`` all of it, but as a ridge that is steep within and falls slowly without.

    The middle of what is marked lies beside the ridge then, where thinning puts the contour.
    """
    folder = tmp_path_factory.mktemp("world")
    dice = np.random.default_rng(5)
    for name in ("truth", "thin", "thick"):
        (folder / name).mkdir()
    rows, columns = np.mgrid[:80, :120]
    for image in range(4):
        beyond = np.hypot(rows - 40, columns - 60) - int(dice.integers(12, 24))
        truth = np.abs(beyond) < 0.5
        height = (
            0.2 + 0.8 * np.abs(np.arctan2(rows - 40, columns - 60)) / np.pi
        )  # so that no threshold suits all of a ring
        ridge = height * np.where(beyond < 0, np.exp(beyond), np.exp(-beyond / 6))
        write_edges(folder / "truth" / f"{image}.png", truth)
        write_soft(folder / "thin" / f"{image}.png", (truth & (dice.random(truth.shape) < 0.8)).astype(np.float32))
        write_soft(folder / "thick" / f"{image}.png", (0.9 * ridge).astype(np.float32))
    return folder


def call(*words):
    done = CliRunner().invoke(app, ["boundary", *(str(word) for word in words)], env={"COLUMNS": "250"})
    assert done.exit_code == 0, done.output
    return done.stdout


def both(world, *words):
    return call(world / "thin", world / "truth", "--system", world / "thick", *words)


def test_a_bar_three_pixels_wide_has_three_marked_pixels_per_thinned_one():
    soft = np.zeros((40, 600), np.float32)
    soft[10:13] = 0.9
    counts = tally(soft, [soft > 0])
    assert counts.marked[0] == 3 * 600
    assert thickness([soft]) == pytest.approx(3, rel=0.01)  # the ends wear off


def test_thick_maps_are_told_once_per_system_with_their_cure(world):
    table = both(world)
    (line,) = [line for line in table.splitlines() if "look thick" in line]
    assert line.startswith("thick: the maps look thick (")
    assert line.endswith("marked pixels per thinned one); papers suppress first: --nms thick=structured")
    assert "look thick" not in call(world / "thin", world / "truth")
    assert "look thick" not in both(world, "--nms", "structured")
    assert "look thick" not in both(world, "--no-thin")  # whose point is how crisp maps are


def test_the_order_depends_on_it_and_that_is_said(world, tmp_path):
    raw, treated = (
        ha.evaluate("boundary", {n: world / n for n in ("thin", "thick")}, world / "truth", progress=False, **how)
        for how in ({}, {"nms_of": {"thick": "structured"}})
    )
    assert raw.score("thin").ods.f > raw.score("thick").ods.f
    assert treated.score("thin").ods.f < treated.score("thick").ods.f
    suppressed = (
        f"thick would have ODS {treated.score('thick').ods.f:.3f} if suppressed, and the order would be thick, thin"
    )
    assert f"the order depends on suppression: {suppressed}" in both(world, "--run", tmp_path)
    assert f"ODS {raw.score('thick').ods.f:.3f} if not suppressed, and the order would be thin, thick" in both(
        world, "--nms", "auto"
    )
    done = CliRunner().invoke(app, ["report", str(tmp_path), "--out", str(tmp_path / "page"), "--no-viewer"])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "thick: the maps look thick (" in page
    assert suppressed in page
    both(
        world, "--run", tmp_path, "--nms", "auto"
    )  # now the folder has the maps in both ways, and each page its own sentence
    CliRunner().invoke(app, ["report", str(tmp_path), "--out", str(tmp_path / "page"), "--no-viewer"])
    page = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "page").glob("boundary*.html"))
    assert suppressed in page
    assert f"ODS {raw.score('thick').ods.f:.3f} if not suppressed, and the order would be thin, thick" in page


@pytest.mark.parametrize(
    "words", [["--nms", "auto"], ["--nms", "thick=structured"], ["--nms", "none", "--nms", "thick=structured-s1-r1"]]
)
def test_one_leaderboard_shows_what_was_done_with_each(world, words):
    table = both(world, *words)
    rows = {line.split()[0]: line.split()[1] for line in table.splitlines() if line.startswith(("thin ", "thick "))}
    assert rows == {"thin": "none", "thick": "structured-s1-r1"}
    assert "|nms:none,thick=structured-s1-r1|" in table
    told = json.loads(both(world, *words, "--json"))["systems"]
    for name, nms in (("thin", None), ("thick", "structured")):
        alone = ha.evaluate("boundary", world / name, world / "truth", nms=nms, progress=False)
        assert told[name]["ods"]["f"] == alone.score().ods.f


def test_arrays_are_treated_in_the_same_way(world):
    from hyperacuity.data import read_edges, read_soft

    truths = [read_edges(world / "truth" / f"{n}.png") for n in range(4)]
    maps = {name: [read_soft(world / name / f"{n}.png") for n in range(4)] for name in ("thin", "thick")}
    found = ha.evaluate("boundary", maps, truths, nms="auto")
    assert "nms:none,thick=structured-s1-r1" in str(found.signature)
    files = ha.evaluate("boundary", {n: world / n for n in maps}, world / "truth", nms="auto", progress=False)
    assert found.signature == files.signature
    assert found.score("thick").ods == files.score("thick").ods
    with pytest.raises(UsageError, match="thin: what is treated by what its maps look like needs a list of maps"):
        ha.evaluate("boundary", {"thin": iter(maps["thin"])}, truths, nms="auto")


def test_a_tally_without_a_name_cannot_be_made_by_a_protocol_that_tells_systems_apart():
    soft = np.eye(8, dtype=np.float32)
    for nms in ({"nms_of": {"a": "structured"}}, {"nms": "auto"}):
        with pytest.raises(UsageError, match="suppression differs between systems"):
            tally(soft, [soft > 0], Protocol(**nms))
    assert Protocol(nms_of={"a": "structured"}).for_system("a").nms == Suppression()
    assert Protocol(nms_of={"a": "structured"}).for_system("b").nms is None


def test_names_with_signs_of_the_signature_are_written_so_that_it_reads_back():
    odd = Protocol(nms_of={"a|b,c=d:e ü": "structured"})
    assert Signature.parse(str(odd.signature)) == odd.signature
    assert Protocol.from_dict(json.loads(json.dumps(odd.to_dict()))) == odd


def test_two_kinds_for_all_systems_cannot_be_meant(world):
    words = ["boundary", str(world / "thin"), str(world / "truth"), "--nms", "structured", "--nms", "none"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert "--nms none: there is --nms structured already; use --nms NAME=KIND for one system" in done.output


def test_a_system_that_is_not_there_cannot_be_suppressed(world):
    systems = {name: world / name for name in ("thin", "thick")}
    with pytest.raises(UsageError, match="suppression of thikc: there is no such system; there are thin, thick"):
        ha.evaluate("boundary", systems, world / "truth", nms_of={"thikc": "structured"}, progress=False)
