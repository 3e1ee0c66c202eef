"""Labelling, as the server sees it: logs that only grow, maps that are replayed, files that the benchmarks read."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from hyperacuity import __version__
from hyperacuity.cli import app
from hyperacuity.cli import studio as cli
from hyperacuity.data import read_boundary_truths, read_edges, write_png
from hyperacuity.data.scenes import make_scene
from hyperacuity.errors import UsageError
from hyperacuity.kernels.thinning import thin
from hyperacuity.studio import actions, people
from hyperacuity.studio.items import Item, item_id, items_of
from hyperacuity.studio.label.map import TOP, Action, find_candidates, replay
from hyperacuity.studio.label.page import MAX_ENTRIES, MAX_NUMBERS, LabelPage
from hyperacuity.studio.server import Address
from hyperacuity.studio.state import State

WIDTH, HEIGHT = 96, 64
ONE, TWO, TORN = (item_id(name) for name in ("one", "two", "torn"))


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    for seed, name in enumerate(("one", "two"), 1):
        write_png(folder / f"{name}.png", make_scene(seed, size=(WIDTH, HEIGHT), leaves=6).image)
    (folder / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\nnot any more")
    return folder


@pytest.fixture
def state(tmp_path):
    with State(tmp_path / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as opened:
        yield opened


@pytest.fixture
def labels(photos, state, tmp_path):
    return LabelPage(items_of(sorted(photos.iterdir())), state, tmp_path / "out")


class Annotator:
    """Someone with a browser, less the browser."""

    def __init__(self, client, name, *, item=ONE):
        self.client, self.item, self.number = client, item, 0
        assert client.post("/people", json={"name": name}).status_code == 200

    def entry(self, kind, **more):
        self.number += 1
        return {"number": self.number, "key": f"key-{self.number:06}", "kind": kind, "seconds": 1.5, **more}

    def send(self, *entries):
        return self.client.post(f"/image/{self.item}/entries", json={"entries": list(entries)})

    def act(self, kind, **more):
        done = self.send(self.entry(kind, **more))
        assert done.status_code == 200, done.text
        return done.json()["entries"]

    def log(self):
        return self.client.get(f"/image/{self.item}/log").json()

    def done(self, edges, **changes):
        body = self.entry("done", checksum=zlib.crc32(edges.tobytes()), anyway=True) | changes
        return self.client.post(f"/image/{self.item}/done", json=body)


@pytest.fixture
def ada(labels, client_of):
    return Annotator(client_of(labels.page), "Ada")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names there are text")
def test_the_front_page_names_an_image_whose_name_is_no_utf8(photos, state, tmp_path, client_of):
    odd = tmp_path / os.fsdecode(b"b\xffar\x1b.png")
    odd.write_bytes((photos / "one.png").read_bytes())
    client = client_of(LabelPage(items_of([odd]), state, tmp_path / "out").page)
    Annotator(client, "Ada")
    front = client.get("/")
    assert front.status_code == 200
    assert "b\\xffar\\x1b" in front.text


def edges_of(photos, name, *actions):
    from hyperacuity.data import read_image

    return replay(find_candidates(read_image(photos / f"{name}.png")), actions)[0]


class TestLog:
    def test_actions_are_kept_in_order_and_given_back(self, ada):
        assert ada.log() == {"entries": 0, "state": "not started", "actions": [], "undone": []}
        ada.act("threshold", threshold=9000)
        ada.act("add", runs=[10, 3, 400, 1])
        ada.act("lasso", runs=[0, 96])
        ada.act("undo")
        assert ada.log() == {
            "entries": 4,
            "state": "started",
            "actions": [
                {"kind": "threshold", "runs": [], "threshold": 9000},
                {"kind": "add", "runs": [10, 3, 400, 1], "threshold": None},
            ],
            "undone": [{"kind": "lasso", "runs": [0, 96], "threshold": None}],
        }

    def test_what_arrives_twice_is_kept_once(self, ada):
        first, second = ada.entry("add", runs=[1, 1]), ada.entry("erase", runs=[1, 1])
        for batch in ([first], [first], [first, second], [first, second]):
            assert ada.send(*batch).status_code == 200
        assert ada.log()["entries"] == 2

    def test_a_window_that_is_behind_is_told_so_and_changes_nothing(self, ada):
        ada.act("add", runs=[1, 1])
        ada.number = 0
        behind = ada.entry("erase", runs=[5, 1]) | {"key": "of-another-window"}
        refused = ada.send(behind, ada.entry("erase", runs=[6, 1]))
        assert refused.status_code == 409
        assert "another window" in refused.json()["error"]
        ahead = ada.entry("add", runs=[9, 1]) | {"number": 7}
        assert ada.send(ahead).status_code == 409
        assert [action["runs"] for action in ada.log()["actions"]] == [[1, 1]]

    def test_a_batch_is_taken_whole_or_not_at_all(self, ada):
        good, bad = ada.entry("add", runs=[1, 1]), ada.entry("add", runs=[HEIGHT * WIDTH, 1])
        assert ada.send(good, bad).status_code == 400
        assert ada.log()["entries"] == 0

    @pytest.mark.parametrize("kind", ["undo", "redo"])
    def test_nothing_cannot_be_undone(self, ada, kind):
        refused = ada.send(ada.entry(kind))
        assert (refused.status_code, refused.json()["error"]) == (409, f"there is nothing to {kind}")

    def test_undo_has_no_bottom_but_the_beginning(self, ada):
        for batch in range(3):
            assert (
                ada.send(*(ada.entry("add", runs=[200 * batch + i, 1]) for i in range(MAX_ENTRIES))).status_code == 200
            )
        for _ in range(3):
            assert ada.send(*(ada.entry("undo") for _ in range(MAX_ENTRIES))).status_code == 200
        assert ada.log()["actions"] == []
        assert len(ada.log()["undone"]) == 3 * MAX_ENTRIES
        assert ada.send(ada.entry("undo")).status_code == 409
        ada.number -= 1
        ada.act("redo")
        assert [action["runs"] for action in ada.log()["actions"]] == [[0, 1]]

    @pytest.mark.parametrize(
        "change",
        [
            {"kind": "paint"},
            {"kind": "done"},
            {"kind": None},
            {"runs": None},
            {"runs": []},
            {"runs": [1]},
            {"runs": [-1, 2]},
            {"runs": [3, 0]},
            {"runs": [5, 2, 6, 1]},
            {"runs": [1.5, 1]},
            {"runs": [2**80, 1]},
            {"runs": [0, 1] * (MAX_NUMBERS // 2 + 1)},
            {"kind": "threshold", "threshold": 0},
            {"kind": "threshold", "threshold": TOP + 1},
            {"kind": "threshold"},
            {"number": 0},
            {"number": "1"},
            {"key": "short"},
            {"key": "x" * 65},
            {"seconds": -1},
            {"seconds": None},
            {"seconds": 1e9},
        ],
        ids=lambda change: str(change)[:40],
    )
    def test_what_is_no_action_is_refused(self, ada, change):
        assert ada.send(ada.entry("add", runs=[1, 1]) | change).status_code == 400
        assert ada.log()["entries"] == 0

    def test_too_many_at_once_are_refused(self, ada):
        assert ada.send(*(ada.entry("add", runs=[1, 1]) for _ in range(MAX_ENTRIES + 1))).status_code == 400
        assert ada.client.post(f"/image/{ONE}/entries", content=b"x" * (3 << 20)).status_code == 413

    def test_labels_are_everyones_own(self, ada, labels, client_of):
        ada.act("add", runs=[1, 1])
        assert Annotator(client_of(labels.page), "Grace").log()["entries"] == 0
        stranger = client_of(labels.page)
        for path in ("log", "entries", "done"):
            asked = stranger.get if path == "log" else stranger.post
            assert asked(f"/image/{ONE}/{path}").status_code == 401

    def test_labels_of_another_image_of_the_same_name_are_not_mixed_in(self, ada, photos, state, tmp_path, client_of):
        ada.act("add", runs=[1, 1])
        other = LabelPage({ONE: Item(ONE, "one", photos / "two.png")}, state, tmp_path / "out")
        grown = Annotator(client_of(other.page, cookies=ada.client.cookies), "Ada")
        refused = grown.client.get(f"/image/{ONE}/log")
        assert refused.status_code == 409
        assert "another image was labelled under this name" in refused.json()["error"]
        assert grown.send(grown.entry("add", runs=[1, 1])).status_code == 409


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


class TestImages:
    def test_the_list_shows_where_everyone_stands(self, ada, labels, photos, client_of):
        ada.done(edges_of(photos, "one"))
        grace = Annotator(client_of(labels.page), "Grace", item=TWO)
        grace.act("add", runs=[1, 1])
        shown = grace.client.get("/").text
        assert "<strong>0</strong> of 3 images done, 1 started" in shown
        assert "done by Ada" in shown
        assert "● done" in ada.client.get("/").text

    def test_a_broken_image_fails_alone_and_by_name(self, ada, photos):
        shown = ada.client.get(f"/image/{TORN}", headers={"accept": "text/html"})
        assert shown.status_code == 422
        assert "torn: is damaged" in shown.text
        assert str(photos) not in shown.text
        for path in ("photo", "gradient", "log"):
            refused = ada.client.get(f"/image/{TORN}/{path}")
            assert refused.status_code == 422
            assert refused.json()["error"].startswith("torn: ")
        assert "cannot be read" in ada.client.get(f"/image/{TORN}/thumb").text
        assert "✕ is damaged" in ada.client.get("/").text
        shown = ada.client.get(f"/image/{ONE}").text
        assert f'id="next" href="/image/{TWO}"' in shown  # torn lies between them, but is known to be broken
        assert ada.client.get(f"/image/{ONE}/photo").status_code == 200

    def test_the_gradient_is_sent_as_levels_and_survivors(self, ada, photos):
        from hyperacuity.data import read_image

        sent = ada.client.get(f"/image/{ONE}/gradient").content
        found = find_candidates(read_image(photos / "one.png"))
        size = WIDTH * HEIGHT
        assert np.array_equal(np.frombuffer(sent[: 2 * size], "<u2"), found.level.ravel())
        assert np.array_equal(np.frombuffer(sent[2 * size :], bool), found.survives.ravel())

    def test_an_image_that_is_too_large_is_named(self, ada, photos, monkeypatch):
        monkeypatch.setattr("hyperacuity.studio.label.page.MAX_PIXELS", 1000)
        refused = ada.client.get(f"/image/{TWO}/photo")
        assert refused.status_code == 422
        assert refused.json()["error"].startswith("two: has 96×64 pixels")

    @pytest.mark.parametrize("name", ["one", "%2e%2e%2fone.png", "0" * 16, "one.png", "%00"])
    def test_only_ids_lead_to_images(self, ada, name):
        for path in ("", "/photo", "/thumb", "/log"):
            assert ada.client.get(f"/image/{name}{path}").status_code == 404

    def test_a_list_of_hundreds_needs_no_image(self, state, photos, tmp_path, client_of, monkeypatch):
        monkeypatch.setattr("hyperacuity.studio.label.page.read_image", None)
        many = {str(n): Item(str(n), f"image {n}", photos / "one.png") for n in range(600)}
        client = client_of(LabelPage(many, state, tmp_path / "out").page)
        client.post("/people", json={"name": "Ada"})
        shown = client.get("/").text
        assert shown.count('loading="lazy"') == 600
        assert "of 600 images done" in shown


class TestCommand:
    def call(self, *words):
        return CliRunner().invoke(cli.app, ["label", *map(str, words), "--no-browser"])

    def test_it_serves_the_pictures_of_folders_and_leaves_other_files_alone(self, photos, tmp_path, monkeypatch):
        opened = []
        monkeypatch.setattr("hyperacuity.studio.server.serve", lambda page, **more: opened.append((page, more)))
        folder = tmp_path / "mixed"
        folder.mkdir()
        write_png(folder / "three.png", np.zeros((9, 9), np.uint8))
        (folder / "notes.txt").write_text("no picture")
        result = self.call(folder, photos / "one.png", "--out", tmp_path / "out")
        assert result.exit_code == 0, result.output
        ((page, more),) = opened
        assert page.title == "Label edges"
        assert len(more["token"]) >= 32
        assert (tmp_path / "out/studio.sqlite").exists()

    def test_links_of_those_who_lost_theirs_can_be_printed(self, photos, tmp_path, monkeypatch, client_of):
        address = Address("http://127.0.0.1:8123", "a-token-nobody-guesses", 8123)
        pages = []

        def serve(page, announce, **more):
            pages.append(more)
            announce(address)
            for name in ("Ada", "Grace [b]"):
                client_of(page).post("/people", json={"name": name})

        monkeypatch.setattr("hyperacuity.studio.server.serve", serve)
        call = (photos / "one.png", "--out", tmp_path / "out")
        nobody = self.call(*call, "--links")
        assert isinstance(nobody.exception, UsageError)
        assert "nobody has worked here yet" in str(nobody.exception)
        assert not (tmp_path / "out").exists()
        assert self.call(*call).exit_code == 0
        shown = self.call(*call, "--links")
        assert shown.exit_code == 0, shown.output
        lines = shown.stdout.splitlines()
        assert [line.partition(": ")[0] for line in lines] == ["Ada", "Grace [b]"]
        for line in lines:
            assert re.fullmatch(
                r"http://127\.0\.0\.1:8123/me/[\w.-]{40,}\?token=a-token-nobody-guesses", line.partition(": ")[2]
            )
        self.call(*call)
        assert (pages[1]["port"], pages[1]["token"]) == (8123, address.token), "links that were kept stay good"

    @pytest.mark.parametrize("images", ["nowhere", "empty", "twice"])
    def test_calls_that_cannot_be_carried_out(self, images, photos, tmp_path):
        (tmp_path / "empty").mkdir()
        write_png(tmp_path / "one.png", np.zeros((9, 9), np.uint8))
        given = {"nowhere": [tmp_path / "x"], "empty": [tmp_path / "empty"], "twice": [photos, tmp_path / "one.png"]}
        result = self.call(*given[images], "--out", tmp_path / "out")
        assert isinstance(result.exception, UsageError)

    def test_help_has_an_example(self):
        result = CliRunner().invoke(cli.app, ["label", "--help"], env={"COLUMNS": "200"})
        assert "hyperacuity studio label photos --out labels" in result.output


def anything():
    words = st.sampled_from(
        ["add", "path", "erase", "chain", "lasso", "threshold", "undo", "redo", "done", "", "\ud800"]
    )
    numbers = st.integers(-2, 7000) | st.integers()
    scalars = st.none() | st.booleans() | numbers | st.floats(allow_nan=False) | words | st.text(max_size=12)
    lists = st.lists(numbers | scalars, max_size=6)
    entry = st.fixed_dictionaries(
        {},
        optional={
            "number": numbers | scalars,
            "key": st.text(min_size=8, max_size=12) | scalars,
            "kind": words | scalars,
            "runs": lists | scalars,
            "threshold": numbers | scalars,
            "seconds": st.floats(0, 10) | scalars,
            "checksum": st.integers(0, 2**32 - 1) | scalars,
        },
    )
    return entry | st.fixed_dictionaries({"entries": st.lists(entry | scalars, max_size=4) | scalars}) | lists | scalars


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"]),
    st.sampled_from([ONE, TORN, "nothing", "%ff", "é"]),
    st.sampled_from(["", "/photo", "/gradient", "/thumb", "/log", "/entries", "/done", "/else"]),
    anything() | st.binary(max_size=30),
)
def test_no_request_breaks_the_server(ada, method, item, path, body):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = ada.client.request(
        method, f"/image/{item}{path}", content=content, headers={"content-type": "application/json"}
    )
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400 and method != "HEAD" and path:  # without a path it is a page, for people
        assert set(answer.json()) == {"error"}
