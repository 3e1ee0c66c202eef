"""Figures and tables: every task's sheet on scenes, text that pastes."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import tarfile
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from PIL import Image, ImageColor
from typer.testing import CliRunner

import hyperacuity
from hyperacuity import tasks
from hyperacuity.audit import strengths
from hyperacuity.boundary import Protocol
from hyperacuity.cli import app
from hyperacuity.data import read_boundary_truths, read_labels, write_edges, write_png, write_soft
from hyperacuity.maps import boundary_marks
from hyperacuity.report import charts, theme
from hyperacuity.report.figures import write_figures
from hyperacuity.report.pages import make_sheets, write_pages
from hyperacuity.report.sheets import make_sheet
from hyperacuity.run.gather import Grid
from hyperacuity.tally import BaseProtocol, Counts, Signature, Tally
from hyperacuity.tasks import Criteria, Task


def test_figures_are_written_for_print(plain_run, tmp_path):
    sheets = make_sheets([plain_run], progress=False)
    for figure in sheets[0].figures:  # and for the page
        figure.draw(True).to_dict(validate=True)
    paths = write_figures(sheets, tmp_path / "figures")
    names = [f"boundary-{name}" for name in ("precision-recall", "f-over-threshold", "images")]
    assert sorted(path.name for path in paths) == sorted(f"{n}.{kind}" for n in names for kind in ("pdf", "svg", "png"))
    assert (tmp_path / "figures" / "boundary-images.pdf").read_bytes().startswith(b"%PDF")
    svg = (tmp_path / "figures" / "boundary-precision-recall.svg").read_text(encoding="utf-8")
    assert "boundary|tol:0.02diag" in svg
    assert Image.open(tmp_path / "figures" / "boundary-precision-recall.png").width > 600


def test_a_system_has_the_same_marker_on_the_page_as_in_the_charts(plain_run, tmp_path):
    (sheet,) = make_sheets([plain_run], progress=False)
    page = write_pages([sheet], tmp_path / "page", viewer=False, progress=False).read_text(encoding="utf-8")
    for style in theme.systems([line.system for line in sheet.lines]).values():
        assert f'd="{theme.MARKERS[style.marker]}"' in page


def test_a_task_that_nobody_registered_is_named(tmp_path):
    grid = Grid(Signature.parse("newtask|v:1"), {})
    sheet = make_sheet(grid, lambda title, function, items: [function(item) for item in items])
    page = write_pages([sheet], tmp_path, progress=False)
    assert "No benchmark named newtask is registered here" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("task", "title", "best"),
    [
        ("edges", "Edges", None),
        ("regions", "Regions", None),
        ("masks", "Masks", {"f": 1.0, "one_to_one": 1.0, "boundary_iou": 1.0, "j": 1.0}),
        ("ordering", "Depth order", {"racc": 1.0, "bacc": 1.0}),
        ("occlusion", "Occlusion boundaries", {"opr-ods": 1.0, "opr-ois": 1.0, "aor": 1.0}),
        ("whdr", "Ordinal depth", {"whdr": pytest.approx(2 / 3)}),
        ("dbe", "Depth boundaries", None),
        ("disparity", "Disparity", {"bad(1) nonocc": 0.0, "epe nonocc": 0.0}),
        ("disparity", "Predicted views", None),
        ("semantic", "Semantic boundaries", {"ods": 1.0, "ois": 1.0}),
        ("audit", "Labels", None),
        ("audit", "Systems with different labels", None),
    ],
)
def test_every_task_has_a_page(world, tmp_path, task, title, best):
    sheets = make_sheets([world / task], pictures=world / "scenes" / "images", progress=False)
    (sheet,) = (sheet for sheet in sheets if sheet.title == title)
    assert sheet.title == title
    assert sheet.lines
    assert sheet.findings
    assert set(sheet.image_scores) == {"scene-0001", "scene-0002"}
    if best is not None:  # the truth against itself
        assert {key: sheet.lines[0].values[key] for key in best} == best
    for figure in sheet.figures:
        figure.draw(True).to_dict(validate=True)
    page = write_pages([sheet], tmp_path, progress=False)
    text = page.read_text(encoding="utf-8")
    assert "cannot be shown" not in text
    scripts = [script.read_text(encoding="utf-8") for script in (tmp_path / "data").glob("*.js")]
    assert len(scripts) == 2
    for script in scripts:
        assert '"missing"' not in script
        assert all(f'"{layer.key}"' in script for layer in sheet.viewer.layers)


def test_soft_maps_are_not_taken_for_labels(world):
    """Both are grey pictures; only how the job was set up tells them apart."""
    for task in ("regions", "soft-regions"):
        (sheet,) = make_sheets([world / task], progress=False)
        cells = sheet.grid.cells_of("scene-0001")
        shown = colours_of(sheet.viewer.pictures("scene-0001", cells)["systems"][0]["prediction"])
        assert (shown > 128).mean() > 0.5, "most of a map of borders is empty"


def test_the_leaderboard_says_what_the_command_says(world):
    (sheet,) = make_sheets([world / "edges"], progress=False)
    result = CliRunner().invoke(
        app,
        f"edges {world}/maps/canny scenes --data {world}/scenes --system {world}/maps/sobel"
        f" --measures psi,fom --run {world}/edges --json".split(),
    )
    printed = json.loads(result.stdout)["systems"]
    for line in sheet.lines:
        assert line.values["psi"] == pytest.approx(printed[line.system]["measures"]["psi"]["minimum"], rel=1e-12)
        assert line.interval == pytest.approx(printed[line.system]["measures"]["psi"]["interval"], rel=1e-12)


def looked_at(run, system=0, *, sheet=0, image="scene-0001"):
    """What the viewer is given of one system on one image, and its size."""
    found = make_sheets([run], progress=False)[sheet]
    shown = found.viewer.pictures(image, found.grid.cells_of(image))
    return shown | shown["systems"][system]


def test_photographs_are_found_beside_the_truths(world):
    """The run names a folder of truths only; ``images`` lies beside it."""
    assert "photo" in looked_at(world / "soft-regions")["shared"]


def test_borders_of_regions_are_hit_or_false_and_nothing_else(world, unpacked):
    shown = looked_at(world / "regions")
    width, height = shown["size"]
    states = unpacked(shown["match"], (1, height, width))[0]
    labels = read_labels(world / "scenes" / "labels" / "scene-0001.png")
    assert (((states == 1) | (states == 2)) == boundary_marks(labels)).all()
    assert (states == 1).any()


def test_borders_of_a_hierarchy_vanish_as_the_level_rises(world, unpacked):
    shown = looked_at(world / "soft-regions")
    width, height = shown["size"]
    assert len(shown["steps"]) == shown["of"] == 99
    states = unpacked(shown["match"], (99, height, width))
    borders = ((states == 1) | (states == 2)).sum(axis=(1, 2))
    assert (np.diff(borders) <= 0).all()
    assert borders[0] > borders[-1]


@pytest.mark.parametrize(
    ("scales", "colour"),
    [("--scale 4 --truth-scale 4", "#efd3e2"), ("", "#2a0a1f"), ("--scale 4 --truth-scale 2", "#2a0a1f")],
)
def test_8_bit_disparity_is_shown_at_the_scale_it_was_scored_with(tmp_path, scales, colour):
    """Grey levels that differ by 4 are one pixel apart at 4 levels per pixel, and four where nothing is said."""
    truth = np.full((20, 30), 40, np.uint8)
    estimate = truth + np.uint8(4)
    estimate[:, :10] = 40
    for name, picture in (("truth", truth), ("map", estimate)):
        (tmp_path / name).mkdir()
        write_png(tmp_path / name / "one.png", picture)
    words = f"disparity {tmp_path}/map {tmp_path}/truth --region all --run {tmp_path}/run {scales}"
    assert CliRunner().invoke(app, words.split()).exit_code == 0
    shown = colours_of(looked_at(tmp_path / "run", image="one")["errors"])
    assert shown[0, 20].tolist() == pytest.approx(ImageColor.getrgb(colour), abs=2)
    if "--truth-scale 2" not in scales:
        assert shown[0, 5].tolist() == pytest.approx([255, 255, 255], abs=2)


def test_edges_have_a_panel_per_measure_and_a_sheet_of_best_maps(world):
    (sheet,) = make_sheets([world / "edges"], progress=False)
    figures = {figure.name: figure.draw(False).to_dict() for figure in sheet.figures}
    assert len(figures["score-over-threshold"]["concat"]) == 2
    rows = figures["best-maps"]["vconcat"]
    assert [len(row["hconcat"]) for row in rows] == [2, 2]
    (table,) = figures["sheet"]["datasets"].values()
    assert {(row["system"], row["text"]) for row in table if row["measure"] == "Ψ"} == {
        (line.system, f"{line.values['psi']:#.3g}") for line in sheet.lines
    }
    assert {row["system"] for row in table if row["best"] and row["measure"] == "Ψ"} == {sheet.lines[0].system}
    typical = (
        next(figure for figure in sheet.figures if figure.name == "best-maps")
        .words.split(":")[0]
        .removeprefix("The image ")
    )
    for cell, line in zip(rows[0]["hconcat"], sheet.lines, strict=True):
        assert cell["title"]["subtitle"][0] == f"Ψ = {sheet.image_scores[typical][line.system]:.3g}"


def colours_of(layer) -> np.ndarray:
    """A picture layer as colours."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(layer["uri"].partition(",")[2]))).convert("RGB")).astype(
        int
    )


class TestOrders:
    """Order maps of a made-up image, 12 × 16: the left half is in front."""

    LABELS = np.array([[0] * 8 + [1] * 8] * 12)

    @pytest.fixture
    def labelled(self, tmp_path):
        """Berkeley's figure/ground labels of one subject, in folders and in an archive."""
        sides = np.zeros((12, 16))
        sides[:, 7], sides[:, 8] = 1, -1
        matrices = (sides, np.array([[1.0, -1.0]]))
        parts = [np.array(m.shape, "<i4").tobytes() + np.asarray(m, "<f8").tobytes(order="F") for m in matrices]
        runs = "".join(f"0 {y} 0 7\n1 {y} 8 15\n" for y in range(12))
        segments = f"format ascii cr\nwidth 16\nheight 12\nsegments 2\ndata\n{runs}"
        for name, data in (
            ("fg/1105/42-201.fg", b"MATRIX ARRAY 2\n" + b"".join(parts)),
            ("seg/1105/42.seg", segments.encode()),
        ):
            (tmp_path / "truth" / name).parent.mkdir(parents=True)
            (tmp_path / "truth" / name).write_bytes(data)
        with tarfile.open(tmp_path / "truth.tar", "w") as archive:
            archive.add(tmp_path / "truth", "bsds-fg")
        return tmp_path

    @staticmethod
    def run(folder, prediction, truth, *options):
        (folder / "maps").mkdir()
        np.save(folder / "maps" / "42.npy", prediction)
        words = ["ordering", folder / "maps", truth, "--run", folder / "run", *options]
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, result.output
        return looked_at(folder / "run", image="42")

    @pytest.mark.parametrize("truth", ["truth", "truth.tar"])
    def test_labels_are_shown_also_from_an_archive(self, labelled, truth):
        shown = self.run(labelled, 1.0 - self.LABELS, labelled / truth)
        assert shown["size"] == [16, 12]
        drawn = colours_of(shown["shared"]["truth"])
        assert (drawn[:, 7, 0] > drawn[:, 7, 2] + 50).all(), "the figure's side is warm"
        assert (drawn[:, 8, 2] > drawn[:, 8, 0] + 50).all(), "the ground's side is cool"
        assert (np.ptp(drawn[:, 3], axis=1) < 10).all(), "away from contours nothing is known"
        matched = colours_of(shown["match"])
        hits = (matched == ImageColor.getrgb(theme.HIT)).all(axis=2)
        assert hits.sum() == 12
        assert hits[:, 6:10].sum() == 12

    def test_what_was_brought_onto_regions_is_shown_so(self, labelled):
        (labelled / "regions").mkdir()
        write_png(labelled / "regions" / "42.png", self.LABELS.astype(np.uint8))
        dense = 1.0 - self.LABELS + np.random.default_rng(0).random(self.LABELS.shape) / 10
        options = ("--regions", labelled / "regions", "--transfer")
        shown = self.run(labelled, dense, labelled / "truth", *options)
        matched = colours_of(shown["match"])
        assert (matched == ImageColor.getrgb(theme.HIT)).all(axis=2).sum() == 12
        assert not (matched == ImageColor.getrgb(theme.FALSE)).all(axis=2).any()

    def test_contours_of_a_dense_map_are_not_drawn_and_that_is_said(self, tmp_path):
        truth = np.kron(1.0 - self.LABELS, np.ones((5, 5)))
        (tmp_path / "truth").mkdir()
        np.save(tmp_path / "truth" / "42.npy", truth)
        dense = np.random.default_rng(0).permutation(truth.size).reshape(truth.shape)
        shown = self.run(tmp_path, dense, tmp_path / "truth")
        assert "match" not in shown
        assert shown["without"] == {"match": "a map of 4800 regions is dense: its contours are not drawn"}


class TestMissing:
    def test_a_system_without_a_score_on_an_image_says_why(self, make_run):
        run = make_run(["first", "second"], 2, broken=[(0, 0)])
        (sheet,) = make_sheets([run], progress=False)
        cells = sheet.grid.cells_of("image-0")
        at = sheet.viewer.systems.index("first")
        (failure,) = sheet.grid.failures
        assert sheet.viewer.pictures("image-0", cells)["systems"][at] == {"missing": failure.reason}
        others = {name: cell for name, cell in cells.items() if name != "first"}
        shown = sheet.viewer.pictures("image-0", others)["systems"]
        assert shown[at] == {"missing": "this system was not run on this image"}
        assert "match" in shown[1 - at]

    def test_a_stack_of_segmentations_has_no_soft_map(self, world, tmp_path):
        truth = world / "scenes" / "groundTruth"
        hyperacuity.evaluate("boundary", truth, truth, protocol=Protocol(thresholds="levels"), run=tmp_path / "run")
        shown = looked_at(tmp_path / "run")
        assert shown["without"] == {"prediction": "a stack of segmentations is no soft map"}
        assert "match" in shown


@dataclass(frozen=True)
class Agreed(BaseProtocol):
    task: ClassVar[str] = "agreement"

    def parts(self):
        return {}


@dataclass(frozen=True, eq=False)
class AgreementTally(Tally):
    agree: Counts
    total: Counts


def share_of(tallies, weights):
    agree, total = (np.array([getattr(one, name) for one in tallies]) for name in ("agree", "total"))
    return ((weights @ agree) / (weights @ total))[:, None]


AGREEMENT = Task(
    "agreement",
    "Pixels that agree",
    Agreed,
    AgreementTally,
    lambda prediction, truths, protocol: AgreementTally(
        np.array(np.sum((prediction >= 0.5) == truths[0])), np.array(truths[0].size), protocol=protocol
    ),
    lambda tallies, **options: share_of(list(tallies.values()), np.ones((1, len(tallies)), np.int64))[0, 0],
    lambda protocol: Criteria(("share",), ("max",), share_of, ("share",)),
)


def test_a_benchmark_from_outside_gets_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "_joined", {"agreement": AGREEMENT})
    maps = {"right": np.eye(4, 5), "shifted": np.eye(4, 5, 1)}
    for image in ("a", "b"):
        for name, values in {**maps, "truth": np.eye(4, 5)}.items():
            (tmp_path / name).mkdir(exist_ok=True)
            (write_edges if name == "truth" else write_soft)(
                tmp_path / name / f"{image}.png", values.astype(np.float32)
            )
    hyperacuity.evaluate(
        "agreement", {name: tmp_path / name for name in maps}, tmp_path / "truth", run=tmp_path / "run"
    )
    (sheet,) = make_sheets([tmp_path / "run"], progress=False)
    assert sheet.title == "Pixels that agree"
    assert [(line.system, line.values) for line in sheet.lines] == [
        ("right", {"share": 1}),
        ("shifted", {"share": 0.6}),
    ]
    assert sheet.findings[0].startswith("right reaches share 1.000")
    assert "Pixels that agree" in write_pages([sheet], tmp_path / "page", progress=False).read_text(encoding="utf-8")


class TestAudit:
    @pytest.fixture
    def printed(self, world):
        words = f"audit {world}/scenes/groundTruth --system {world}/maps/canny --system {world}/maps/sobel"
        result = CliRunner().invoke(app, f"{words} --thresholds 9 --partial 2 --run {world}/audit --json".split())
        assert result.exit_code == 0
        return json.loads(result.stdout)

    def test_the_page_says_what_the_command_says(self, world, printed, tmp_path):
        labels, systems = make_sheets([world / "audit"], progress=False)
        assert [*labels.findings, *systems.findings] == printed["findings"]
        (line,) = labels.lines
        assert line.values["orphan"] == pytest.approx(100 * printed["share_of_boundaries"]["orphan"])
        assert line.values["agreement"] == pytest.approx(100 * printed["agreement"]["mean"])
        for line in systems.lines:
            found = printed["systems"][line.system]
            assert line.values["all"] == pytest.approx(found["all"]["f"])
            assert line.values["consensus"] == pytest.approx(found["consensus"]["f"])
            assert line.values["partial"] == pytest.approx(found["partial"]["halfplane"]["f"])
            assert line.interval == pytest.approx(found["all"]["ci"])
        front = write_pages([labels, systems], tmp_path, progress=False).read_text(encoding="utf-8")
        assert front.index(html.escape(labels.findings[0])) < front.index(html.escape(systems.findings[0]))
        for page, board in (("strength", "In numbers"), ("audit", "Leaderboard")):
            assert f">{board}</h2>" in (tmp_path / f"{page}.html").read_text(encoding="utf-8")

    def test_every_chart_of_the_paper_is_among_the_figures(self, world, tmp_path):
        write_figures(make_sheets([world / "audit"], progress=False), tmp_path)
        names = {
            "strength-shares",
            "strength-images",
            "audit-strength",
            "audit-optimal",
            "audit-curves",
            "audit-output",
        }
        found = {path.stem for path in tmp_path.iterdir()}
        assert names <= found
        for name in names:
            assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
            assert "canny" in (tmp_path / f"{name}.svg").read_text() or name.startswith("strength")

    def test_two_sets_of_labels_share_a_page_and_are_not_ranked(self, world, tmp_path):
        words = f"audit {world}/scenes/groundTruth --run {tmp_path}/other"
        assert CliRunner().invoke(app, words.split()).exit_code == 0
        labels, _ = make_sheets([world / "audit", tmp_path / "other"], progress=False)
        assert [line.system for line in labels.lines] == ["labels (audit)", "labels (other)"]
        assert labels.findings[0].startswith("labels (audit): ")
        assert len({figure.name for figure in labels.figures}) == len(labels.figures)
        page = write_pages([labels], tmp_path / "page", progress=False)
        assert ">Pareto<" not in page.read_text(encoding="utf-8")
        assert '"missing"' not in (tmp_path / "page" / "data" / "s0-0.js").read_text(encoding="utf-8")

    def test_hits_are_on_what_everyone_drew(self, world, unpacked):
        shown = looked_at(world / "audit", sheet=1)
        width, height = shown["size"]
        states = unpacked(shown["match"], (len(shown["steps"]), height, width))
        truths = read_boundary_truths([world / "scenes" / "groundTruth" / "scene-0001.mat"])
        drawn = np.logical_or.reduce(strengths(truths).consensus)
        assert not ((states == 3) & ~drawn).any()
        everything = np.logical_or.reduce(truths)
        assert (everything & ~drawn).any(), "the scene has labels that not everyone drew, or the test says nothing"

    def test_an_audit_writes_its_page_and_keeps_its_run_beside_it(self, world, tmp_path):
        words = f"audit {world}/scenes/groundTruth --out {tmp_path}/page --json"
        for reused in (False, True):
            result = CliRunner().invoke(app, words.split())
            assert result.exit_code == 0, result.output
            assert (tmp_path / "page" / "run" / "run.sqlite").is_file()
            assert ("reused" in result.stderr) == reused
        assert "In numbers" in (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "thesis.tex").write_text("years of work")
        result = CliRunner().invoke(app, f"audit {world}/scenes/groundTruth --out {tmp_path}/mine".split())
        assert result.exit_code == 2
        assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_every_chart_can_be_had_in_a_notebook():
    assert {"strength_chart", "output_chart", "optimal_chart", "label_chart"} <= set(charts.__all__)
    assert all(callable(getattr(charts, name)) for name in charts.__all__)
    with pytest.raises(AttributeError, match="there is no chart pie_chart; there are agreement_chart"):
        charts.pie_chart  # noqa: B018


class TestCommand:
    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            ("report {run}", "nothing to write"),
            ("report {run} --single-file", "--single-file needs --out"),
            ("report {run} --table csv --json", "choose one"),
            ("report {run}/nowhere --out {out}", "there is no run"),
        ],
    )
    def test_a_call_that_makes_no_sense_is_refused(self, plain_run, tmp_path, words, sentence, capfd):
        with pytest.raises(SystemExit) as end:
            app(words.format(run=plain_run, out=tmp_path / "out").split())
        assert end.value.code == 2
        assert sentence in capfd.readouterr().err

    def test_a_table_goes_to_standard_output_and_nothing_else_does(self, plain_run):
        result = CliRunner().invoke(app, ["report", str(plain_run), "--table", "csv"])
        assert result.exit_code == 0
        assert [row["system"] for row in csv.DictReader(io.StringIO(result.stdout))] == ["good", "fair", "poor"]
