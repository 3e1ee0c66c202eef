"""The papers' pages show the ledger that the studies write: every claim has its row, and no row is anybody's invention."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path

import pytest
import typer

from hyperacuity.cli import app
from hyperacuity_papers.common.page import HEADINGS, MARK, MARKS, checkout_pages, has_number
from hyperacuity_papers.every import PAPERS, paper

ROOT = Path(__file__).parents[2]
PAGES = checkout_pages(ROOT)


def table(text: str) -> list[list[str]]:
    """Read the cells of the only table in a text."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def rows_of(name: str) -> list[list[str]]:
    """Read the rows of the ledger on a paper's page."""
    first, _, *rows = table(PAGES[name].read_text(encoding="utf-8").partition(MARK)[2])
    assert first == [heading.strip() for heading in HEADINGS]
    return rows


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_has_its_row_in_the_order_of_the_paper(name):
    written = [(row[0], row[1].replace(r"\|", "|"), row[2].replace(r"\|", "|"), row[5]) for row in rows_of(name)]
    claimed = [(claim.where, claim.says, claim.theirs or "–", f"`{claim.command}`") for claim in paper(name).claims]
    assert written == claimed, "write the page again: hyperacuity study all --out papers --checkout ."


def test_nine_rows_of_ten_have_a_number_of_ours_and_the_others_a_reason():
    rows = [row for name in PAPERS for row in rows_of(name)]
    verdicts = {mark: verdict for verdict, mark in MARKS.items()}
    assert len(rows) > 300
    assert sum(has_number(row[3].partition("<br>")[0]) for row in rows) >= 0.9 * len(rows)
    for row in rows:
        assert verdicts[row[4]] == "holds" or "<br>*" in row[3], row


def test_the_summary_counts_the_rows_of_the_pages():
    _, _, *summary = table(PAGES[""].read_text(encoding="utf-8").partition(MARK)[2])
    counts = {name: Counter(row[4] for row in rows_of(name)) for name in PAPERS}
    counts["all"] = sum(counts.values(), Counter())
    assert [row[0] for row in summary] == list(counts)
    for name, *numbers, _ in summary:
        assert [int(number) for number in numbers] == [counts[name][mark] for mark in MARKS.values()]


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_names_modules_files_and_pages_that_exist(name):
    text = PAGES[name].read_text(encoding="utf-8").partition(MARK)[0]
    for dotted in re.findall(r"`hyperacuity\.([\w.]+)`", text):
        place = ROOT / "src" / "hyperacuity" / dotted.replace(".", "/")
        assert place.is_dir() or place.with_suffix(".py").is_file(), dotted
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (PAGES[name].parent / link).is_file(), link
    named = set(re.findall(r"`(\w+\.(?:py|toml))`", text))
    shared = {"__init__.py", *(path.name for path in PAGES[name].parent.glob("checks_*.py"))}
    there = {path.name for path in PAGES[name].parent.iterdir() if path.suffix in (".py", ".toml")}
    assert named <= there
    assert there - named <= shared, "every file of the folder is on the page"


@pytest.mark.parametrize("name", PAPERS)
def test_claims_are_short_and_name_a_command(name):
    for claim in paper(name).claims:
        assert len(claim.says) <= 125, claim.says
        assert claim.command.startswith(("hyperacuity ", "python")), claim.command


@pytest.mark.parametrize("name", PAPERS)
def test_commands_can_be_typed_as_they_stand(name):
    """They are parsed and not run; what is in capitals stands for a name of the reader's own."""
    shown = re.findall("^    (hyperacuity .*)", PAGES[name].read_text(encoding="utf-8"), re.MULTILINE)
    assert shown
    for command in sorted({claim.command for claim in paper(name).claims} | set(shown)):
        program, *words = shlex.split(command)
        if program == "hyperacuity":
            parse(words)


def parse(words):
    """Parse a command line to its end; raises what click says of a mistake."""
    command = typer.main.get_command(app)
    name, rest, context = "hyperacuity", words, None
    while True:
        context = command.make_context(name, list(rest), parent=context)
        if not hasattr(
            command, "resolve_command"
        ):  # no group: typer may bring its own click, so its classes are not asked
            return
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
