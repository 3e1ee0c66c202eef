"""The site: every link leads somewhere, nothing is fetched from elsewhere, the same cards give the same bytes."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from hyperacuity.board import check_site, write_board
from hyperacuity.cards import read_card
from hyperacuity.errors import UsageError


class Looked(HTMLParser):
    """What a page refers to, what its parts are called, and what it might run."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: list[str] = []
        self.suspect: list[str] = []
        self.policy = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        self.loaded += [found[key] for key in ("src", "href") if key in found and tag in ("script", "link", "img")]
        self.suspect += [f"{tag} {name}" for name in found if name.startswith("on") or name == "style"]
        if tag == "script" and "src" not in found and found.get("type") != "application/json":
            self.suspect.append(self.get_starttag_text())
        if tag in ("style", "iframe", "object", "embed", "form", "base"):
            self.suspect.append(tag)
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"]


@pytest.fixture(scope="module", params=["site", "nasty_site"])
def looked(request) -> dict[Path, Looked]:
    folder = request.getfixturevalue(request.param)
    return {page.resolve(): Looked(page) for page in folder.rglob("*.html")}


def test_every_link_leads_to_a_file_and_a_part_of_it(looked):
    for page, found in looked.items():
        assert len(found.ids) == len(set(found.ids)), page
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme in ("http", "https"), (page, link)
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file(), (page, link)
            if parts.fragment:
                assert parts.fragment in looked[target].ids, (page, link)


def test_pages_load_their_own_files_alone_and_run_nothing_else(looked):
    for page, found in looked.items():
        assert found.suspect == [], page
        assert "script-src 'self';" in found.policy
        assert "unsafe" not in found.policy
        for address in found.loaded:
            assert address.startswith("data:image/svg+xml,") or (page.parent / address).is_file(), (page, address)


@pytest.mark.parametrize("kind", ["site", "nasty_site"])
def test_files_are_named_after_digests(kind, request):
    folder = request.getfixturevalue(kind)
    plain = "[.]hyperacuity|assets/(page.js|vega.js|house.css|board.css)|index.html|submit.html|board.json|board.bib"
    boards = r"boards/boundary-[0-9a-f]{12}(-images.html|[.](html|json|csv|tex|md))"
    ours = rf"{boards}|systems/[0-9a-f]{{12}}.html|cards/[0-9a-f]{{12}}.card"
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        whole = rf"{plain}|{ours}|images/boundary-[0-9a-f]{{12}}-[0-9a-f]{{12}}.html"
        assert path.is_dir() or re.fullmatch(whole, name), name


def test_the_same_cards_give_the_same_bytes(toys, site, tmp_path):
    again = write_board(toys[::-1], tmp_path / "again", progress=False).page.parent
    files = sorted(path.relative_to(site) for path in site.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    for name in files:
        assert (site / name).read_bytes() == (again / name).read_bytes(), name


def test_addresses_stay_when_others_come_and_go(toys, site, tmp_path):
    def pages(folder: Path) -> set[Path]:
        return {path.relative_to(folder) for path in folder.rglob("*.html")}

    write_board(toys[:3], tmp_path, progress=False)
    more = pages(tmp_path)
    written = write_board(toys[:2], tmp_path, progress=False)
    assert written.page == tmp_path / "index.html"
    assert pages(tmp_path) < more < pages(site), "no page moves, and none of a card that is gone lingers"
    for path in toys[:2]:
        id = read_card(path).digest[:12]
        assert (tmp_path / "cards" / f"{id}.card").read_bytes() == path.read_bytes()
        assert f'id="c-{id}"' in (tmp_path / "boards" / f"{written.boards[0].id}.html").read_text()


def test_the_front_page_tells_who_leads_and_refuses_to_rank_across_protocols(site):
    page = (site / "index.html").read_text()
    assert "There is no overall ranking" in page
    assert "good reaches ODS 0.810 (95 % interval" in page
    assert "may be chance" in page
    assert "thr is 5 in one and 3 in the other" in page
    assert "8 images have other truths" in page
    assert "4 systems, 8 images" in page
    assert len(page) < 20_000


def test_a_system_has_a_page_with_all_that_is_known_of_it(site, toys):
    card = read_card(toys[1])
    page = (site / "systems" / f"{card.digest[:12]}.html").read_text()
    for text in (
        "Jörg Müller",
        "2011",
        'href="https://example.org/a?b=1&amp;c=2"',
        card.digest,
        "hyperacuity boundary fair toys",
    ):
        assert text in page
    assert "@misc{fair-" in page
    assert "Best against the others" in page


def test_the_numbers_are_those_that_the_cards_give(site, tmp_path):
    assert check_site(site) == []
    wrong = tmp_path / "site"
    shutil.copytree(site, wrong)
    said = json.loads((wrong / "board.json").read_text())
    assert said["schema"] == "hyperacuity board 1"
    said["boards"][0]["systems"][0]["scores"]["ods"] = 0.9
    said["boards"][0]["systems"].pop()
    (wrong / "board.json").write_text(json.dumps(said))
    first, second = check_site(wrong)
    assert first == "board.json: boards[0].systems has 3 entries, recomputed 4"
    assert second.startswith("board.json: boards[0].systems[0].scores.ods is 0.9, recomputed 0.81")
    next((wrong / "cards").iterdir()).unlink()
    next((wrong / "boards").glob("*.json")).unlink()
    assert len(check_site(wrong)) > 2
    (wrong / "board.json").write_text("[" * 100_000)
    with pytest.raises(UsageError, match="not valid JSON"):
        check_site(wrong)
    with pytest.raises(UsageError, match="cannot be read"):
        check_site(tmp_path)


def test_a_folder_with_something_else_is_left_alone(toys, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="something else than a board"):
        write_board(toys, tmp_path, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_bad_cards_are_named_and_the_others_shown(toys, tmp_path):
    bad = tmp_path / "bad.card"
    bad.write_bytes(toys[0].read_bytes().replace(b"image-3", b"image-9", 1))
    written = write_board([bad, toys[1], toys[1].with_name("nowhere.card")], tmp_path / "site", progress=False)
    assert [problem.fatal for problem in written.problems] == [True, True]
    assert "image-9" in written.problems[0].sentence
    assert len(written.boards) == 1
    with pytest.raises(UsageError, match="there is no card to show: "):
        write_board([bad], tmp_path / "none", progress=False)
