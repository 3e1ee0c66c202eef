"""The overview for the organiser: who did what, how far people agree, and a third version made of two."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hyperacuity.data import read_edges, read_order, write_png
from hyperacuity.studio import actions, people
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label.map import find_candidates
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.label.work import difference_pieces
from hyperacuity.studio.order.page import OrderPage
from hyperacuity.studio.order.regions import find_inputs
from hyperacuity.studio.overview.agreement import cohen_kappa, confusion_of_orders, share_agreed
from hyperacuity.studio.server import Address
from hyperacuity.studio.state import State

ONE = item_id("one")
FINISH = {"kind": "done", "anyway": True}


def relate(a, b, relation="front"):
    return {"kind": "relate", "a": a, "b": b, "relation": relation}


@pytest.fixture
def labels(tmp_path):
    """A page for one image with a step in the middle, and its state."""
    step = np.zeros((40, 60), np.uint8)
    step[:, 30:] = 200
    (tmp_path / "photos").mkdir()
    write_png(tmp_path / "photos" / "one.png", step)
    with State(tmp_path / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        yield (
            LabelPage(items_of([tmp_path / "photos" / "one.png"]), state, tmp_path / "out"),
            state,
            find_candidates(step),
        )


@pytest.fixture
def label(labels, client_of, finish_label):
    """``label(name, *runs)``: someone adds pixels to the candidates, and is done."""
    page, _, candidates = labels

    def go(name, *runs, anyway=True):
        client = client_of(page.page)
        client.post("/people", json={"name": name})
        return finish_label(client, candidates, ONE, *runs, anyway=anyway)

    return go


def supervise(client, page):
    """Open the link that the terminal shows."""
    link = page.overview.supervisor.link(Address(""))
    assert client.get(link).status_code == 200
    return client


class TestAgreement:
    def test_kappa_is_that_of_a_textbook(self):
        """Landis and Koch's classic table of two diagnoses: p = 0.70, e = 0.50."""
        assert cohen_kappa([[20, 5], [10, 15]]) == pytest.approx(0.4)
        assert np.isnan(cohen_kappa([[7, 0], [0, 0]]))
        assert np.isnan(cohen_kappa(np.zeros((3, 3))))

    def test_orders_agree_alike_whichever_neighbour_comes_first(self):
        rng = np.random.default_rng(0)
        one, other = rng.choice([-1, 0, 1, np.nan], (2, 50))
        lengths = rng.integers(1, 9, 50)
        turned = rng.choice([-1, 1], 50)
        first = confusion_of_orders(one, other, lengths)
        assert np.array_equal(first, confusion_of_orders(one * turned, other * turned, lengths))
        known = ~np.isnan(one) & ~np.isnan(other)
        agreed = lengths[known][one[known] == other[known]].sum() / lengths[known].sum()
        assert share_agreed(first) == pytest.approx(agreed)

    def test_pieces_of_difference_are_what_one_person_drew_alone(self):
        one = np.zeros((150, 150), bool)  # a tolerance of 1.6 pixels
        one[10, 5:50] = True
        other = np.roll(one, 1, axis=0)  # a pixel off is no difference
        other[40, 5:25] = other[50, 30:33] = True  # and neither is a speck
        pieces, count = difference_pieces(one, other)
        assert count == 1
        assert np.argwhere(pieces)[[0, -1]].tolist() == [[40, 5], [40, 24]]


def test_only_the_organiser_sees_the_overview(labels, client_of):
    page, state, _ = labels
    client = client_of(page.page)
    client.post("/people", json={"name": "Ada"})
    for path in ("/overview", f"/overview/{ONE}", f"/overview/{ONE}/sides", f"/overview/{ONE}/side/a"):
        assert client.get(path).status_code == 403
    assert client.post(f"/overview/{ONE}/decision", json={"choices": []}).status_code == 403
    assert client.get("/supervise/guess").status_code == 404
    supervise(client, page)
    assert client.get("/overview").status_code == 200
    again = LabelPage(page.overview._work.items, state, page._out)
    assert again.overview.supervisor.link(Address("")) == page.overview.supervisor.link(Address("")), (
        "it stays the same"
    )


def test_an_unchanged_map_is_finished_on_purpose_only(label, tmp_path):
    refused = label("Ada", anyway=False)
    assert refused.status_code == 422
    assert "not complete: nothing was changed" in refused.json()["error"]
    assert label("Bea").status_code == 200
    told = json.loads((tmp_path / "out/provenance/Bea/one.json").read_text())
    assert told["complete"] is False
    assert told["missing"] == ["nothing was changed: these are the candidates as they were found"]
    assert label("Cid", (5, 9), anyway=False).status_code == 200
    assert json.loads((tmp_path / "out/provenance/Cid/one.json").read_text())["complete"] is True


def test_labels_are_compared_and_settled(labels, label, client_of, tmp_path):
    page, _, _ = labels
    row = (5 * 60 + 5, 15)  # row 5, columns 5 to 19
    label("Ada", row)
    label("Bea", row, (30 * 60 + 40, 12))
    client = supervise(client_of(page.page), page)
    text = client.get("/overview").text
    assert "2 people, 1 image: 2 of 2 done" in text
    ada, bea = (read_edges(tmp_path / f"out/edges/{name}/one.png") for name in ("Ada", "Bea"))
    f = 2 * ada.sum() / (ada.sum() + bea.sum())  # all of Ada's are Bea's too
    assert f"F {f:.2f}" in text
    assert "drawn by everyone" in text
    sides = client.get(f"/overview/{ONE}/sides").json()
    assert [(one["a"], one["b"]) for one in sides["differences"]] == [("no edge here", "only here: 12 edge pixels")]
    assert sides["choices"] == [None]
    assert client.post(f"/overview/{ONE}/decision", json={"choices": ["c"]}).status_code == 400
    for choice, expected in (("a", ada), ("b", bea), ("mark", ada)):
        answer = client.post(f"/overview/{ONE}/decision", json={"choices": [choice], "note": "seen"})
        assert answer.status_code == 200, answer.text
        assert np.array_equal(read_edges(tmp_path / "out/adjudicated/edges/one.png"), expected)
    told = json.loads((tmp_path / "out/adjudicated/provenance/one.json").read_text())
    assert (told["between"], told["marked"], told["complete"], told["note"]) == (["Ada", "Bea"], [1], False, "seen")
    assert client.get(f"/overview/{ONE}/sides").json()["choices"] == ["mark"]
    before = {path: path.read_bytes() for path in (tmp_path / "out/adjudicated").rglob("*.*")}
    assert len(before) == 2
    for path in before:
        path.unlink()
    assert page.write_missing() == []
    assert {path: path.read_bytes() for path in before} == before, "they are written again, byte for byte"
    assert sorted(path.name for path in (tmp_path / "out/edges").iterdir()) == ["Ada", "Bea"], (
        "truths stay as they were"
    )


def test_orders_are_compared_and_settled_but_never_into_a_contradiction(world, open_page, client_of, squares):
    ring = (relate(0, 1), relate(1, 3), relate(2, 3))
    open_page("Ada").do(*ring, relate(0, 2), FINISH)
    open_page("Bea").do(*ring, relate(2, 0), FINISH)
    with State(world / "studio.sqlite", [actions.SCHEMA, people.SCHEMA]) as state:
        page = OrderPage(find_inputs(world / "images", world / "labels"), state, world / "out")
        client = supervise(client_of(page.page), page)
        text = client.get("/overview").text
        lengths = {(0, 1): 16, (0, 2): 16, (1, 3): 16, (2, 3): 8}
        agreed = (sum(lengths.values()) - 16) / sum(lengths.values())
        assert f"agreement {agreed:.2f}" in text
        base = f"/overview/{item_id('squares')}"
        sides = client.get(f"{base}/sides").json()
        assert [(one["a"], one["b"]) for one in sides["differences"]] == [
            ("region 1 is in front of region 3", "region 3 is in front of region 1")
        ]
        assert client.post(f"{base}/decision", json={"choices": ["b"]}).status_code == 200
        order = read_order(world / "out/adjudicated/order/squares.npy")
        assert [float(order[squares == region][0]) for region in (2, 0, 1, 3)] == [4, 3, 2, 1]
        told = json.loads((world / "out/adjudicated/provenance/squares.json").read_text())
        assert told["taken_from_second"] == 1


def test_a_file_of_the_version_before_opens(tmp_path):
    path = tmp_path / "studio.sqlite"
    with State(path, []) as state:
        for table in ("studio_supervisors", "studio_adjudications", "studio_flags"):
            state.write_now(lambda file, table=table: file.execute(f"DROP TABLE {table}"))
        state.write_now(lambda file: file.execute("UPDATE schemas SET version = 1 WHERE name = 'studio'"))
    with State(path, []) as state:
        assert state.read_now(lambda file: file.execute("SELECT * FROM studio_supervisors").fetchall()) == []


@pytest.mark.browser
def test_keys_and_buttons_settle_differences_in_the_browser(labels, label, live, visit, looks_well, tmp_path):
    page, _, _ = labels
    for name in ("Ada", "Cid"):
        label(name, (5 * 60 + 5, 15))
    label("Bea", (5 * 60 + 5, 15), (30 * 60 + 40, 12), (20 * 60 + 2, 12))
    address = live(page.page)
    tab = visit(page.overview.supervisor.link(address), width=1400, height=900)
    tab.wait_for_url("**/overview")
    looks_well(tab)
    tab.click("text=Compare")
    tab.wait_for_selector("body[data-ready]")
    tab.click("text=Ada and Bea")
    tab.wait_for_selector("#lead:has-text('Ada and Bea differ in 2 places')")
    looks_well(tab)
    tab.keyboard.press("b")
    assert tab.is_disabled("#done")
    tab.keyboard.press("m")
    assert tab.inner_text("#asked") == "Difference 2 of 2: marked for discussion"
    tab.keyboard.press("z")
    assert tab.is_disabled("#done")
    tab.keyboard.press("Shift+Z")
    tab.keyboard.press("ArrowLeft")
    assert tab.inner_text("#asked") == "Difference 1 of 2: taken from Bea"
    tab.keyboard.press("d")
    tab.wait_for_selector("text=Written: 0 from Ada, 1 from Bea, 1 marked.")
    assert (tmp_path / "out/adjudicated/edges/one.png").exists()
    tab.click("text=Bea and Cid")
    tab.wait_for_selector("#lead:has-text('Bea and Cid differ in 2 places')")
    assert tab.inner_text("#words-a") == "Only here: 12 edge pixels."
    tab.click("[data-all=a]")
    tab.click("#undo")
    assert tab.is_disabled("#done")
    tab.click("#redo")
    tab.click("[data-choice=b]")
    tab.click("#after")
    tab.click("[data-choice=mark]")
    tab.click("#before")
    assert tab.inner_text("#asked") == "Difference 1 of 2: taken from Cid"
    tab.click("[data-choice=a]")
    shown = [tab.locator("#side-b").screenshot()]
    for button in ("#zoom-in", "#zoom-out", "#fit"):
        tab.click(button)
        shown.append(tab.locator("#side-b").screenshot())
    assert shown[0] == shown[2] != shown[1] != shown[3] != shown[0]
    tab.fill("#note", "seen together")
    tab.click("#done")
    tab.wait_for_selector("text=Written: 1 from Bea, 0 from Cid, 1 marked.")
    told = json.loads((tmp_path / "out/adjudicated/provenance/one.json").read_text())
    assert (told["between"], told["taken_from_first"], told["note"]) == (["Bea", "Cid"], 1, "seen together")
    tab.click("text=Overview")
    assert "● done, marked" in tab.inner_text("#images")


@pytest.mark.browser
def test_orders_are_settled_in_the_browser(world, open_page, live, visit, looks_well):
    open_page("Ada").do(relate(0, 1), relate(0, 2), FINISH)
    open_page("Bea").do(relate(0, 1), relate(2, 0), FINISH)
    with State(world / "studio.sqlite", [actions.SCHEMA, people.SCHEMA]) as state:
        page = OrderPage(find_inputs(world / "images", world / "labels"), state, world / "out")
        tab = visit(page.overview.supervisor.link(live(page.page)))
        tab.click("text=Compare")
        tab.wait_for_selector("body[data-ready]")
        said = [tab.inner_text(f"#words-{side}") for side in "ab"]
        assert said == ["Region 1 is in front of region 3.", "Region 3 is in front of region 1."]
        looks_well(tab)
        tab.keyboard.press("b")
        tab.keyboard.press("d")
        tab.wait_for_selector("text=Written: 0 from Ada, 1 from Bea.")
    order = read_order(world / "out/adjudicated/order/squares.npy")
    assert order[-1, 0] > order[0, 0] > order[0, -1]
