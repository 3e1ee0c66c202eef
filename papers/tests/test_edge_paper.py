"""The study of Abdulrahman et al. (2017) without any data: what runs, what is left out, and what is used again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import read_image
from hyperacuity.detect import sobel
from hyperacuity.edges import shapes, sweep
from hyperacuity.run.keeping import Kept
from hyperacuity.run.many import PictureSource
from hyperacuity_papers.abdulrahman2017.command import conduct
from hyperacuity_papers.abdulrahman2017.edge_curves import EdgeCurves, TruthsOfPicture, edge_curves
from hyperacuity_papers.abdulrahman2017.edge_table import DETECTORS, HAND, SEMI, TABLE
from hyperacuity_papers.abdulrahman2017.half_kernels import HalfKernelGrid
from hyperacuity_papers.abdulrahman2017.study import RULES, Abdulrahman2017, as_many_as_true, place_of_truth
from hyperacuity_papers.common.claims import entries, read_claims

GRID = HalfKernelGrid(TABLE, (3,), (1,), (30,), (4,), ("variance",), (), seeds=2, size=96)
QUICK = {"count": 1, "seeds": 2, "size": 96, "grid": GRID}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("abdulrahman2017")


@pytest.fixture(scope="module")
def study(folder: Path) -> Abdulrahman2017:
    """Without RUG: the folder named as that of the data holds nothing."""
    (folder / "nothing").mkdir()
    return conduct(folder, data=folder / "nothing", figures=False, workers=1, **QUICK)


def test_without_photographs_scenes_take_their_place(study: Abdulrahman2017, folder: Path) -> None:
    assert study.data == "scenes"
    assert not study.photographs
    assert study.curves.pictures == ("scene-0001",)
    names = {"table4", "thresholds", "readings", "rates", "half-kernels", "shift"}
    assert names <= {path.stem for path in folder.glob("*.csv")}
    rows = study.table()
    assert len(rows) == 2 * 16
    assert all(len(row) == 2 + 2 * len(DETECTORS) for row in rows)


def test_what_lies_in_the_folder_is_used_again(
    study: Abdulrahman2017, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("edge_curves.swept", "half_kernels.lowest"):
        monkeypatch.setattr(f"hyperacuity_papers.abdulrahman2017.{name}", lambda *_: pytest.fail("computed again"))
    again = conduct(folder, data=folder / "nothing", figures=False, workers=1, **QUICK)
    np.testing.assert_array_equal(again.curves.scores, study.curves.scores)
    np.testing.assert_array_equal(again.halves.halves, study.halves.halves)


def test_every_claim_is_checked_or_says_what_it_needs(study: Abdulrahman2017) -> None:
    rows = entries(read_claims("abdulrahman2017").claims, study)
    assert len(rows) > 140
    assert {row.because for row in rows if row.verdict == "not run"} == {
        "needs RUG",
        "needs BSDS500 or RUG",
        "needs BSDS500",
        "needs noise beyond the paper's levels",
    }
    assert all(row.ours for row in rows if row.verdict != "not run")
    assert max(len(row.says) for row in rows) <= 120
    wrong = {row.says for row in rows if "(E" in row.says and row.verdict == "fails"}
    assert wrong == {"FN = 0: FoM = 1 − Σ over false pixels/|D| (E4)"}, "the one equation whose print forgets the hits"
    assert not [row.says for row in rows if ".png" in row.ours], "no figure was drawn"
    one = {row.where: row.verdict for row in rows if row.where.startswith("Eq. 5, line")}
    assert one == {f"Eq. 5, line {n}": "holds" for n in range(1, 5)}
    assert not [row for row in rows if row.where.startswith(("Fig. 1", "Fig. 2", "Fig. 4")) and row.verdict != "holds"]


def test_what_is_said_of_our_numbers_is_computed(study: Abdulrahman2017) -> None:
    """E1 to E4 with −FPR, 1 − MCC² by hand; and 1 − (5 + 9/10 + 9/13)/7 of E4."""
    rows = {row.says: row for row in entries(read_claims("abdulrahman2017").claims, study)}
    assert rows["χ²* as printed lies in [0, 1]"].because.endswith("with −FPR the four are 0.75, 0.94, 0.45, 0.36")
    assert rows["FN = 0: FoM = 1 − Σ over false pixels/|D| (E4)"].because.endswith("which is 0.0582")
    first = rows["4 dB: the other measures put H-K first"]
    assert first.verdict == "holds" or first.because.startswith("with σ 1 across, 5 along and Δθ 5°;")


def test_rules_never_beat_the_minimum(study: Abdulrahman2017) -> None:
    lowest = study.ruled("minimum")
    for rule in RULES:
        assert (study.ruled(rule) >= lowest - 1e-9).all()


def test_curves_are_those_of_a_sweep(tmp_path: Path) -> None:
    made = shapes(96)
    source = PictureSource("shapes", lambda: TruthsOfPicture("shapes", made.image, {"exact": made.truth}))
    kept = Kept(tmp_path, ("hyperacuity_papers.abdulrahman2017.edge_sweeps",))
    curves, failures = edge_curves([source], ["sobel", "speckle"], ["psi", "pm"], kept, 1, "")
    swept = sweep(made.truth, sobel(made.image).thin, "psi, pm")
    assert not failures
    np.testing.assert_array_equal(curves.scores[0, 0, 0], swept.scores)
    best = swept.best("psi")
    assert curves.mean("psi")["sobel"] == best.score
    assert curves.threshold("psi")["sobel"] == best.threshold
    hits, false, missed = curves.counts_at_best("psi")[0, 0]
    assert hits == (best.edges & made.truth).sum()
    assert false == (best.edges & ~made.truth).sum()
    assert missed == (~best.edges & made.truth).sum()
    recall, precision, false_rate = curves.rates()
    np.testing.assert_allclose(recall[0], swept.recall)
    np.testing.assert_allclose(precision[0], swept.precision)
    np.testing.assert_allclose(false_rate[0], swept.false_rate)
    assert curves.winner("pm") == "sobel"
    assert curves.area()["speckle"] == pytest.approx(0.5, abs=0.03)


def test_area_and_equal_number_by_hand() -> None:
    """Ten pixels, two true; at Th = 0 both and two false ones are found, at Th = 1 one true pixel alone."""
    counts = np.array([[2, 1], [2, 0], [0, 1]])[None, None, None]
    scores, thresholds = np.zeros((1, 1, 1, 1, 2)), np.array([0.0, 1.0])
    curves = EdgeCurves(
        *(("a",), ("exact",), ("d",), ("psi",)), thresholds, scores, counts, np.zeros((1, 1, 2)), np.array([10])
    )
    # (0, 0) → (0, ½) → (¼, 1) → (1, 1): ¼·¾ + ¾·1
    assert curves.area()["d"] == pytest.approx(0.1875 + 0.75)
    assert as_many_as_true(curves)[0, 0, 0] == 1  # one pixel for two true ones is nearer than four


def test_the_place_of_a_truth() -> None:
    image = np.zeros((20, 32))
    image[:, 26:] = 0.1  # a faint edge, below the threshold
    image[:, 6] = image[:, 16] = 0.5
    image[:, 7:16] = 1.0
    drawn = np.zeros(image.shape, bool)
    drawn[:, 6] = True  # the left edge; the right one, as strong, is left out
    place = place_of_truth(TruthsOfPicture("bar", image, {"exact": drawn, "off": np.roll(drawn, 2, axis=1)}))
    assert place.on_edge[0] > 0.8
    assert place.on_edge[1] < 0.2
    assert place.near_edge[1] > 0.8
    assert place.left_out[0] == pytest.approx(0.5)


def test_what_is_kept_depends_on_what_it_is_made_of(tmp_path: Path) -> None:
    kept = Kept(tmp_path, ("hyperacuity.edges",))
    assert kept(["a", np.zeros(2)], lambda: {"x": np.ones(1)})["x"] == 1
    assert kept(["a", np.zeros(2)], lambda: pytest.fail("computed again"))["x"] == 1
    assert kept(["b", np.zeros(2)], lambda: {"x": np.zeros(1)})["x"] == 0
    assert kept(["a", np.zeros(3)], lambda: {"x": np.zeros(1)})["x"] == 0
    for path in tmp_path.glob("*.npz"):
        path.write_bytes(path.read_bytes()[:50])  # cut short
    assert kept(["a", np.zeros(2)], lambda: {"x": np.full(1, 2.0)})["x"] == 2


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    words = [
        "study",
        "abdulrahman2017",
        "--out",
        str(tmp_path / "out"),
        "--data",
        str(tmp_path / "none"),
        "--no-figures",
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert "there is no folder" in done.stderr


def test_the_command_prints_the_tables_and_the_claims(
    study: Abdulrahman2017, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperacuity_papers.abdulrahman2017.command.conduct", lambda *_, **__: study)
    words = ["study", "abdulrahman2017", "--out", str(tmp_path), "--no-figures"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "300"})
    assert done.exit_code == 0, done.output
    assert "1 made scene (RUG is not at hand)" in done.stdout
    assert "area under the ROC curve" in done.stdout
    assert "not run: needs RUG" in done.stdout
    assert (tmp_path / "ledger.csv").exists()
    found = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert len(found["ledger"]) == len(read_claims("abdulrahman2017").claims)
    assert {row["measure"] for row in found["table"]} == set(TABLE)


def test_every_figure_is_drawn_and_then_named(
    study: Abdulrahman2017, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On small shapes in place of the scene; charts are not rendered, and some are not made: the next test has them."""
    pytest.importorskip("altair")
    from hyperacuity.report import theme
    from hyperacuity_papers.abdulrahman2017 import figures

    def unrendered(chart: object, path: Path, *, signature: str) -> Path:
        path.write_text(type(chart).__name__)
        return path

    made = shapes(96)
    picture = TruthsOfPicture("scene-0001", made.image, {HAND: made.truth, SEMI: made.truth})
    small = replace(study, folder=tmp_path, sources=[PictureSource("scene-0001", lambda: picture)])
    monkeypatch.setattr(theme, "save", unrendered)
    monkeypatch.setattr(figures, "shapes", lambda: made)
    for chart in ("rate_chart", "rules_chart", "swept_chart", "half_kernel_chart"):
        monkeypatch.setattr(figures, chart, lambda *_, **__: None)
    files = figures.draw_abdulrahman2017(small, tmp_path)
    numbered = {"fig3-maps", *(f"fig{n}" for n in range(2, 10))}
    assert {file.stem for file in files} == {*numbered, "table4", "roc", "pr", "noise", "half-kernels"}
    sheets = {name: read_image(tmp_path / f"{name}.png") for name in ("fig3-maps", "fig5", "fig6", "fig7")}
    assert all(np.unique(sheet).size > 2 and min(sheet.shape[:2]) >= 96 for sheet in sheets.values())
    rows = {
        row.where: row.ours for row in entries(read_claims("abdulrahman2017").claims, small) if row.where == "Fig. 7"
    }
    assert rows["Fig. 7"].startswith("fig7.png: Canny on scene-0001")


def test_the_figures_that_charts_make(study: Abdulrahman2017) -> None:
    pytest.importorskip("altair")
    from hyperacuity_papers.abdulrahman2017.charts import half_kernel_chart, rate_chart, rules_chart, swept_chart

    ruled = {rule: study.ruled(rule) for rule in RULES}
    charts = {
        "roc": rate_chart(study.curves, "roc"),
        "pr": rate_chart(study.curves, "pr"),
        "rules": rules_chart(study.curves, ruled, TABLE[:4]),
        "curves": swept_chart(study.curves, ["psi"]),
        "halves": half_kernel_chart(study.halves),
    }
    drawn = {name: json.dumps(chart.to_dict(validate=False)) for name, chart in charts.items()}
    assert "hand-made truth" in drawn["roc"]
    assert "semi-automatic truth" in drawn["pr"]
    assert all(rule in drawn["rules"] for rule in RULES if rule != "minimum")
    assert "4 dB, variance" in drawn["halves"]
