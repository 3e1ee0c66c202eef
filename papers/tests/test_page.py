"""The ledger in the docs is the one that the studies write: every claim has its row, and no row is anybody's invention."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from hyperacuity.cli import app
from hyperacuity_papers.common.page import HEADINGS, MARKS, has_number
from hyperacuity_papers.every import PAPERS, paper

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"


def sections() -> dict[str, list[list[str]]]:
    """The rows of each paper's table, by its heading."""
    found: dict[str, list[list[str]]] = {}
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, rest = part.partition("\n")
        lines = [line for line in rest.splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        assert cells[0] == [heading.strip() for heading in HEADINGS]
        found[title] = cells[2:]
    return found


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_has_its_row_in_the_order_of_the_paper(name):
    one = paper(name)
    rows = sections()[one.title]
    written = [(row[0], row[1].replace(r"\|", "|"), row[2].replace(r"\|", "|"), row[5]) for row in rows]
    claimed = [(claim.where, claim.says, claim.theirs or "–", f"`{claim.command}`") for claim in one.claims]
    assert written == claimed, "write the page again: hyperacuity study all --out papers --page docs/papers.md"


def test_nine_rows_of_ten_have_a_number_of_ours_and_the_others_a_reason():
    rows = [row for of in sections().values() for row in of]
    verdicts = {mark: verdict for verdict, mark in MARKS.items()}
    assert len(rows) > 300
    assert sum(has_number(row[3].partition("<br>")[0]) for row in rows) >= 0.9 * len(rows)
    for row in rows:
        assert verdicts[row[4]] == "holds" or "<br>*" in row[3], row


@pytest.mark.parametrize("name", PAPERS)
def test_claims_are_short_and_name_a_command(name):
    for claim in paper(name).claims:
        assert len(claim.says) <= 125, claim.says
        assert claim.command.startswith(("hyperacuity ", "python")), claim.command


@pytest.mark.parametrize("name", PAPERS)
def test_commands_can_be_typed_as_they_stand(name):
    """They are parsed and not run; what is in capitals stands for a name of the reader's own."""
    for command in sorted({claim.command for claim in paper(name).claims}):
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
