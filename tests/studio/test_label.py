"""Labelling, as the server sees it: images, the command, and requests of all kinds."""

from __future__ import annotations

import json
import os
import re
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from hyperacuity.cli import studio as cli
from hyperacuity.data import write_png
from hyperacuity.errors import UsageError
from hyperacuity.studio.items import Item, items_of
from hyperacuity.studio.label.map import find_candidates
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.server import Address

from .labelling import HEIGHT, ONE, TORN, TWO, WIDTH, Annotator, edges_of


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names there are text")
def test_the_front_page_names_an_image_whose_name_is_no_utf8(photos, state, tmp_path, client_of):
    odd = tmp_path / os.fsdecode(b"b\xffar\x1b.png")
    odd.write_bytes((photos / "one.png").read_bytes())
    client = client_of(LabelPage(items_of([odd]), state, tmp_path / "out").page)
    Annotator(client, "Ada")
    front = client.get("/")
    assert front.status_code == 200
    assert "b\\xffar\\x1b" in front.text


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
