"""Finished labels: maps that are replayed, and files that the benchmarks read."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity import __version__
from hyperacuity.cli import app
from hyperacuity.data import read_boundary_truths, read_edges
from hyperacuity.kernels.thinning import thin
from hyperacuity.studio.items import items_of
from hyperacuity.studio.label.map import TOP, Action
from hyperacuity.studio.label.page import LabelPage

from .labelling import HEIGHT, ONE, TORN, TWO, WIDTH, Annotator, edges_of


class TestDone:
    ACTIONS = (Action("threshold", threshold=6000), Action("path", (2000, 30)), Action("lasso", (0, 960)))

    def label(self, ada):
        ada.act("threshold", threshold=6000)
        ada.act("path", runs=[2000, 30])
        ada.act("lasso", runs=[0, 960])

    def test_files_hold_the_map_one_pixel_wide(self, ada, photos, tmp_path):
        self.label(ada)
        drawn = edges_of(photos, "one", *self.ACTIONS)
        ada.client.get(f"/image/{TORN}/thumb")
        told = ada.done(drawn)
        assert told.status_code == 200, told.text
        written = read_edges(tmp_path / "out/edges/Ada/one.png")
        assert np.array_equal(written, thin(drawn))
        (boundaries,) = read_boundary_truths([tmp_path / "out/groundTruth/one.mat"])
        assert np.array_equal(boundaries, written)
        automatic = edges_of(photos, "one", self.ACTIONS[0])
        counts = told.json()["counts"]
        assert counts == {
            "candidates": automatic.sum(),
            "added": (drawn & ~automatic).sum(),
            "removed": (automatic & ~drawn).sum(),
            "thinned": drawn.sum() - written.sum(),
            "edges": written.sum(),
        }
        assert min(counts.values()) > 0
        assert told.json()["next"] == TWO  # torn lies between them, but is known to be broken
        assert ada.log()["state"] == "done"

    def test_scipy_reads_the_mat_file_as_bsds(self, ada, photos, tmp_path):
        from scipy.io import loadmat

        self.label(ada)
        ada.done(edges_of(photos, "one", *self.ACTIONS))
        truth = loadmat(tmp_path / "out/groundTruth/one.mat")["groundTruth"]
        assert truth.shape == (1, 1)
        assert np.array_equal(truth[0, 0]["Boundaries"][0, 0] > 0, read_edges(tmp_path / "out/edges/Ada/one.png"))

    def test_provenance_says_how_it_came_about(self, ada, photos, tmp_path):
        self.label(ada)
        ada.act("erase", runs=[5000, 2])
        ada.act("undo")
        counts = ada.done(edges_of(photos, "one", *self.ACTIONS)).json()["counts"]
        facts = json.loads((tmp_path / "out/provenance/Ada/one.json").read_text(encoding="utf-8"))
        assert facts["made_by"] == f"hyperacuity {__version__}"
        assert (facts["image"], facts["annotator"], facts["width"], facts["height"]) == ("one", "Ada", WIDTH, HEIGHT)
        assert facts["threshold"] == pytest.approx(6000 / TOP)
        assert facts["counts"] == counts
        assert facts["seconds_spent"] == 1.5 * 6
        assert facts["entries"] == 6
        assert facts["actions_by_kind"] == {"lasso": 1, "path": 1, "threshold": 1}
        assert [(a["kind"], a.get("pixels"), a.get("level")) for a in facts["actions"]] == [
            ("threshold", None, 6000),
            ("path", 30, None),
            ("lasso", 960, None),
        ]
        assert facts["started"] <= facts["finished"]
        assert facts["settings"]["detector"] == "masks"

    def test_a_page_that_shows_another_map_is_not_believed(self, ada, photos, tmp_path):
        self.label(ada)
        refused = ada.done(edges_of(photos, "one"))
        assert refused.status_code == 409
        assert "saved map differ" in refused.json()["error"]
        assert not (tmp_path / "out").exists()
        assert ada.log()["state"] == "started"

    def test_done_twice_is_done_once_and_a_later_action_begins_anew(self, ada, photos):
        edges = edges_of(photos, "one")
        for _ in range(2):
            ada.number = 0
            assert ada.done(edges).status_code == 200
        assert ada.log()["entries"] == 1
        ada.act("add", runs=[1, 1])
        assert ada.log()["state"] == "started"
        assert ada.done(edges, number=1).status_code == 409

    def test_files_keep_the_last_finished_map_while_work_goes_on(self, ada, photos, labels, client_of, tmp_path):
        ada.done(edges_of(photos, "one"))
        ada.act("lasso", runs=[0, WIDTH * HEIGHT // 2])
        grace = Annotator(client_of(labels.page), "Grace")
        grace.done(edges_of(photos, "one"))
        first, second = read_boundary_truths([tmp_path / "out/groundTruth/one.mat"])
        assert np.array_equal(first, second)
        assert first.any()
        ada.done(edges_of(photos, "one", Action("lasso", (0, WIDTH * HEIGHT // 2))))
        first, second = read_boundary_truths([tmp_path / "out/groundTruth/one.mat"])
        assert 0 < first.sum() < second.sum()

    def test_two_people_at_once(self, labels, client_of, photos, tmp_path):
        people = [Annotator(client_of(labels.page), name) for name in ("Ada", "Grace")]
        answers = []

        def work(person, place):
            person.act("path", runs=[place, 40])
            answers.append(person.done(edges_of(photos, "one", Action("path", (place, 40)))).status_code)

        threads = [threading.Thread(target=work, args=(p, 1000 + 300 * i)) for i, p in enumerate(people)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [200, 200]
        both = read_boundary_truths([tmp_path / "out/groundTruth/one.mat"])
        for edges, name in zip(both, ("Ada", "Grace"), strict=True):
            assert np.array_equal(edges, read_edges(tmp_path / f"out/edges/{name}/one.png"))
        assert not np.array_equal(*both)

    def test_names_become_folders_that_stay_apart(self, labels, client_of, photos, tmp_path):
        names = ["Ada", "ada", "../../etc", "a/b", "a\\b", "…", "名前"]
        for name in names:
            assert Annotator(client_of(labels.page), name).done(edges_of(photos, "one")).status_code == 200
        folders = [folder.name for folder in (tmp_path / "out/edges").iterdir()]
        assert len({folder.casefold() for folder in folders}) == len(names)
        assert {"Ada", "ada 2", "名前"} <= set(folders)
        assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["edges", "groundTruth", "provenance"]
        assert len(read_boundary_truths([tmp_path / "out/groundTruth/one.mat"])) == len(names)

    def test_a_disk_that_refuses_is_told_and_loses_no_label(self, ada, photos, tmp_path):
        (tmp_path / "out").write_text("in the way")
        told = ada.done(edges_of(photos, "one"))
        assert told.status_code == 200
        assert "could not be written" in told.json()["unwritten"]
        assert ada.log()["state"] == "done"

    def test_a_server_that_was_killed_before_it_wrote_makes_up_for_it(self, ada, photos, labels, state, tmp_path):
        (tmp_path / "out").write_text("in the way")
        ada.done(edges_of(photos, "one"))
        (tmp_path / "out").unlink()
        assert labels.write_missing() == []
        written = tmp_path / "out/edges/Ada/one.png"
        assert read_edges(written).any()
        before = written.stat().st_mtime_ns
        assert labels.write_missing() == []
        assert written.stat().st_mtime_ns == before
        elsewhere = LabelPage(items_of(sorted(photos.iterdir())), state, tmp_path / "elsewhere")
        assert elsewhere.write_missing() == []
        assert (tmp_path / "elsewhere/groundTruth/one.mat").read_bytes() == (
            tmp_path / "out/groundTruth/one.mat"
        ).read_bytes()

    def test_edges_and_boundary_read_what_is_written(self, ada, photos, tmp_path):
        for ada.item, name in ((ONE, "one"), (TWO, "two")):
            ada.number = 0
            assert ada.done(edges_of(photos, name)).status_code == 200
        out = tmp_path / "out"
        drawn = str(out / "edges/Ada")
        for call in (
            ["edges", drawn, str(out / "edges"), "--measures", "psi"],
            ["edges", drawn, str(out / "groundTruth")],
        ):
            result = CliRunner().invoke(app, [*call, "--json"])
            assert result.exit_code == 0, result.output
            (system,) = json.loads(result.stdout)["systems"].values()
            assert system["images"] == 2
            assert system["measures"]["psi"]["minimum"] == 0
        for truth in ("edges", "groundTruth"):
            result = CliRunner().invoke(app, ["boundary", drawn, str(out / truth), "--json"])
            assert result.exit_code == 0, result.output
            assert '"f": 1.0' in result.stdout.lower()
