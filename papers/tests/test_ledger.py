"""The ledger: rows, page, and ``study all``, tried on papers made up for the purpose."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from importlib import import_module

import pytest
from typer.testing import CliRunner

import hyperacuity_papers
from hyperacuity.cli import app
from hyperacuity.errors import InputError
from hyperacuity_papers import every
from hyperacuity_papers.common import book
from hyperacuity_papers.common.claims import Claim, Finding, NotRunError, entries, expect, incomparable, near, worked
from hyperacuity_papers.common.page import MARK, counted, ledger_page, measured


@dataclass
class Made:
    """A study that found one number."""

    number: float
    failures: list[tuple[str, str]] = field(default_factory=list)
    notes: tuple[str, ...] = ("nobody was asked",)


def lacking(study):
    raise NotRunError("needs BSDS500")


CLAIMS = (
    Claim("Eq. 1", "a half and a half | one", "1", "hyperacuity study made", lambda s: worked(0.5 + 0.5, 1.0)),
    Claim("Table 1", "F of pB", "0.65", "hyperacuity study made", lambda s: near(s.number, 0.65, within=0.01)),
    Claim("Fig. 2", "what people do", "", "hyperacuity study made", lambda s: incomparable("0.8", "other people")),
    Claim("Fig. 3", "what nobody has", "0.1", "hyperacuity study made", lacking),
)


def test_rows_in_the_order_of_the_claims_with_a_verdict_each():
    rows = entries(CLAIMS, Made(0.7))
    assert [row.verdict for row in rows] == ["holds", "fails", "not comparable", "not run"]
    assert [row.ours for row in rows] == ["1.000000", "0.700", "0.8", ""]
    assert [row.because for row in rows][1:] == [
        "0.050 more than the paper, beyond 0.01",
        "other people",
        "needs BSDS500",
    ]
    assert measured(rows) == 0.75
    assert measured([replace(row, ours="as drawn") for row in rows]) == 0, "a text is no number"
    assert counted(rows) == {"holds": 1, "fails": 1, "not comparable": 1, "not run": 1}


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(0.64, "holds"), (0.66, "holds"), (0.6399, "fails"), (0.6601, "fails"), (float("nan"), "fails")],
)
def test_near_takes_both_ends_and_no_nan(ours, verdict):
    assert near(ours, 0.65, within=0.0100001).verdict == verdict


def test_a_verdict_needs_its_reason():
    with pytest.raises(ValueError, match="but why"):
        Finding("1", "not comparable")
    with pytest.raises(ValueError, match="but why"):
        expect(False, "1", "")
    assert expect(True, "1", "").verdict == "holds"


def test_the_page_keeps_its_tables_whole():
    page = ledger_page({"made": entries(CLAIMS, Made(0.65))}, {"made": "Somebody (2001)"}, ["Data: none."])
    tables = [line for line in page.splitlines() if line.startswith("|")]
    assert all(line.replace(r"\|", "").count("|") == 7 for line in tables)
    assert r"a half and a half \| one" in page
    assert "## Somebody (2001)" in page
    assert "- Data: none." in page
    assert "| made | 2 | 0 | 1 | 1 | 75 % |" in page


def test_a_page_of_nothing():
    assert "| all | 0 | 0 | 0 | 0 | 100 % |" in ledger_page({}, {})


@pytest.fixture
def papers(monkeypatch):
    """Two papers whose studies are counted; what they do can be changed."""
    calls: list[str] = []
    behave = {"one": lambda: Made(0.65), "two": lambda: Made(0.9)}

    def paper(name):
        def conduct(folder, **options):
            calls.append(name)
            return behave[name]()

        return every.PaperStudy(name, name.title(), conduct, CLAIMS)

    monkeypatch.setattr(every, "PAPERS", ("one", "two"))
    monkeypatch.setattr(every, "paper", paper)
    return calls, behave


def run(*words):
    return CliRunner().invoke(app, ["study", "all", "--no-figures", *map(str, words)])


def test_all_studies_once_and_a_second_run_goes_on(papers, tmp_path):
    calls, _ = papers
    found = run("--out", tmp_path / "all", "--json")
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)["papers"]
    assert [row["verdict"] for row in told["two"]] == ["holds", "fails", "not comparable", "not run"]
    page = (tmp_path / "all" / "papers.md").read_text()
    assert (tmp_path / "all" / "papers.csv").read_text().count("\n") == 9
    (tmp_path / "all" / "two" / "ledger.json").unlink()
    again = run("--out", tmp_path / "all")
    assert again.exit_code == 0
    assert page.count("- nobody was asked") == 2
    for name in ("one", "two"):
        assert f"{name}: nobody was asked" in json.loads(found.stdout)["notes"]
        assert f"{name}: nobody was asked" in again.stdout
    assert "Data: " in again.stdout
    assert calls == ["one", "two", "two"]
    assert (tmp_path / "all" / "papers.md").read_text() == page


def test_the_tables_are_written_into_the_pages_of_a_checkout(papers, tmp_path):
    pages = [tmp_path / "docs" / "papers.md"]
    pages += [tmp_path / "papers" / "hyperacuity_papers" / name / "README.md" for name in ("one", "two")]
    for page in pages:
        page.parent.mkdir(parents=True)
        page.write_text(f"# By hand\n\n{MARK}\n\nwritten before\n", encoding="utf-8")
    assert run("--out", tmp_path / "all", "--checkout", tmp_path).exit_code == 0
    texts = [page.read_text(encoding="utf-8") for page in pages]
    assert all(text.startswith(f"# By hand\n\n{MARK}\n\n- ") for text in texts)
    assert not any("written before" in text for text in texts)
    assert "| one | 2 | 0 | 1 | 1 | 75 % |" in texts[0]
    assert all("| Table 1 | F of pB | 0.65 | 0." in text for text in texts[1:])


def test_a_folder_that_is_no_checkout_is_left_alone(papers, tmp_path):
    calls, _ = papers
    page = tmp_path / "docs" / "papers.md"
    page.parent.mkdir()
    page.write_text("# Somebody's own page\n", encoding="utf-8")
    done = run("--out", tmp_path / "all", "--checkout", tmp_path)
    assert done.exit_code == 2
    assert "papers.md: expected a page with the line <!-- written by" in done.stderr
    assert page.read_text(encoding="utf-8") == "# Somebody's own page\n"
    assert calls == []


@pytest.mark.parametrize("name", every.STRICT)
def test_scenes_may_stand_in_for_what_the_folder_lacks(name, monkeypatch, tmp_path):
    asked = {}
    module = import_module(f"hyperacuity_papers.{name}.study")
    monkeypatch.setattr(module, name, lambda *_, **options: asked.update(options) or lacking(None))
    with pytest.raises(NotRunError):
        every.paper(name).conduct(tmp_path, data=tmp_path)
    assert asked["stand_in"] is True


def test_other_bytes_of_the_same_size_are_another_ledger(monkeypatch, tmp_path):
    monkeypatch.setattr(book, "find_data", lambda name, explicit: tmp_path)
    (tmp_path / "truth.mat").write_bytes(b"one")
    before = book.ledger_key(None)
    assert book.ledger_key(None) == before
    (tmp_path / "truth.mat").write_bytes(b"two")
    assert book.ledger_key(None) != before


def test_other_code_or_claims_are_another_ledger(papers, tmp_path, monkeypatch):
    calls, _ = papers
    package = tmp_path / "hyperacuity_papers"
    package.mkdir()
    monkeypatch.setattr(hyperacuity_papers, "__file__", str(package / "__init__.py"))
    for name, text in (("claims.toml", "a"), ("claims.toml", "b"), ("checks.py", "a"), ("checks.py", "a")):
        (package / name).write_text(text, encoding="utf-8")
        assert run("--out", tmp_path / "all").exit_code == 0
    assert calls == ["one", "two"] * 3


def test_torn_rows_are_found_again(papers, tmp_path):
    calls, _ = papers
    run("--out", tmp_path)
    kept = tmp_path / "one" / "ledger.json"
    kept.write_bytes(kept.read_bytes()[:100])
    assert run("--out", tmp_path).exit_code == 0
    assert calls == ["one", "two", "one"]


def test_a_study_that_fails_does_not_stop_the_others_and_is_named(papers, tmp_path):
    calls, behave = papers

    def fails():
        raise InputError("picture.png: is torn")

    behave["one"] = fails
    behave["two"] = lambda: Made(0.65, [("other.png", "is empty")])
    found = run("--out", tmp_path)
    assert found.exit_code == 1
    assert "one: picture.png: is torn" in found.stderr
    assert "two: other.png: is empty" in found.stderr
    behave["one"] = behave["two"] = lambda: Made(0.65)
    assert run("--out", tmp_path).exit_code == 0
    assert calls == ["one", "two", "one", "two"]


def test_other_data_are_another_ledger(papers, tmp_path):
    calls, _ = papers
    data = tmp_path / "data"
    data.mkdir()
    archive = data / "bsds-fg-dev.tar.xz"
    for size in (0, 3, 3, 4):
        if size:
            archive.write_bytes(bytes(size))
        run("--out", tmp_path / "all", "--data", data)
    assert calls == ["one", "two"] * 3
    assert "Left out, for want of data: what needs bsds500, rug" in (tmp_path / "all" / "papers.md").read_text()
    assert run("--out", tmp_path / "all", "--data", tmp_path / "nowhere").exit_code == 2
