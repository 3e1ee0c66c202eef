"""Logs of labels only grow; what arrives twice is kept once, what does not fit is refused."""

from __future__ import annotations

import pytest

from hyperacuity.studio.items import Item
from hyperacuity.studio.label.map import TOP
from hyperacuity.studio.label.page import MAX_ENTRIES, MAX_NUMBERS, LabelPage

from .labelling import HEIGHT, ONE, WIDTH, Annotator


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
