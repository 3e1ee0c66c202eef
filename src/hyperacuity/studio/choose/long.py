"""The data in long form, one row per trial, and a codebook that says what each column means."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperacuity.outputs import write_output
from hyperacuity.studio.choose.results import RecordedAnswer, all_answers, as_csv, subject
from hyperacuity.studio.choose.session import Session, about, read_facts
from hyperacuity.studio.choose.trials import Study
from hyperacuity.studio.state import State

CODEBOOK = {
    "participant": ("text", "P01, P02, …", "who answered, by the order of invitation"),
    "trial": ("integer", "1, 2, …", "position in what this participant was asked"),
    "kind": ("text", "practice; trial; check", "check: an attention check, whose right answer is plain"),
    "condition": ("text", "hard; easy; empty", "of a trial: the label was drawn by one person (hard) or by everybody (easy)"),
    "system": ("text", "", "of a trial: whose false alarm was shown"),
    "stimulus": ("text", "", "name of the photograph"),
    "item": ("text", "", "name of the question: of a trial that in trials.csv"),
    "response": ("text", "false alarm; label; right; wrong", "which piece was found stronger; practice, checks: if rightly"),
    "side": ("text", "left; right", "where the chosen piece was seen"),
    "mirrored": ("integer", "0; 1", "whether the photograph was shown mirrored"),
    "rt_ms": ("integer", "milliseconds", "from the moment the marks were visible to the answer"),
    "flags": ("text", "hasty; away; failed; empty", "separated by spaces. hasty: faster than {hasty} ms. away: the photograph "
              "was out of sight meanwhile. failed: an attention check answered wrongly"),
    "answered": ("text", "ISO 8601, UTC", "when the answer was saved"),
}  # fmt: skip
"""Columns, their types, values and meanings."""


def flags_of(row: RecordedAnswer, study: Study, session: Session) -> list[str]:
    """Flags of an answer that may not count."""
    right = study.obvious.get(row.question, row.choice)
    flags = {
        "hasty": row.seconds < session.hasty,
        "away": bool(row.away),
        "failed": row.kind == "check" and row.choice != right,
    }
    return [name for name, holds in flags.items() if holds]


def long_table(file: sqlite3.Connection, study: Study, session: Session) -> str:
    """All answers as CSV, one row per trial, with what people said about themselves in columns at the end."""
    facts = read_facts(file)
    asked = about_columns(session, facts)
    rows = [
        [*_row(row, study, session), *(about(facts.get(row.person, {})).get(name, "") for name in asked)]
        for row in all_answers(file)
    ]
    return as_csv([*CODEBOOK, *asked.values()], rows)


def codebook(file: sqlite3.Connection, session: Session) -> str:
    """Meanings of the columns of the long table, as CSV."""
    limit = f"{1000 * session.hasty:g}"
    rows = [(name, kind, values, meaning.format(hasty=limit)) for name, (kind, values, meaning) in CODEBOOK.items()]
    options = {question.words: "; ".join(question.options) for question in session.questions}
    rows += [
        (column, "text", options.get(words, ""), f"what the participant answered to: {words} (empty: left open)")
        for words, column in about_columns(session, read_facts(file)).items()
    ]
    return as_csv(("column", "type", "values", "meaning"), rows)


def about_columns(session: Session, facts: Mapping[int, Mapping[str, str]]) -> dict[str, str]:
    """Questions about participants, those asked now and those asked before, and the columns of their answers."""
    words = [question.words for question in session.questions]
    words += [name for one in facts.values() for name in about(one)]
    return {one: "about_" + "_".join(one.lower().split()) for one in dict.fromkeys(words)}


def export_long(state: State, folder: Path, study: Study, session: Session) -> None:
    """Write ``data.csv`` and ``codebook.csv`` to a folder. ``UsageError`` where that fails."""
    data, book = state.read_now(lambda file: (long_table(file, study, session), codebook(file, session)))
    write_output(folder / "data.csv", data.encode())
    write_output(folder / "codebook.csv", book.encode())


def _row(row: RecordedAnswer, study: Study, session: Session) -> list[Any]:
    trial = study.trials.get(row.question) if row.kind == "trial" else None
    question = study.questions.get(row.question)
    if trial is not None:
        response = "false alarm" if row.choice == trial.false_alarm else "label"
    else:
        response = "right" if row.choice == study.obvious.get(row.question, row.choice) else "wrong"
    stimulus = trial.image if trial is not None else question.image if question is not None else ""
    return [
        subject(row.person),
        row.position + 1,
        row.kind,
        trial.mode if trial is not None else "",
        trial.system if trial is not None else "",
        stimulus,
        row.question,
        response,
        row.side,
        row.mirrored,
        round(1000 * row.seconds),
        " ".join(flags_of(row, study, session)),
        row.answered,
    ]
