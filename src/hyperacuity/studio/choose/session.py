"""The frame of an experiment: consent before it, questions about the participant, and a code that shows they finished.

What participants agree to and say about themselves is stored as facts, by name. Every question may be left open.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperacuity.errors import UsageError, option
from hyperacuity.studio.state import insert, now
from hyperacuity.studio.web import Refused

OWN_CODE = "own"
"""Completion code that stands for a different one for everyone."""

FACTS = (
    "CREATE TABLE choose_facts (person INTEGER NOT NULL REFERENCES choose_people (id), name TEXT NOT NULL, "
    "value TEXT NOT NULL, made TEXT NOT NULL, PRIMARY KEY (person, name)) WITHOUT ROWID"
)


@dataclass(frozen=True)
class AskedFact:
    """A question about the participant: its words, and the answers to choose from (none: any text)."""

    words: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Session:
    """The frame of an experiment. ``consent`` is a text that people agree to first, ``questions`` are asked about them,
    ``completion`` is shown at the end, answers faster than ``hasty`` seconds are flagged, and ``enlarge`` shows the pieces
    enlarged beside the photograph."""

    consent: str | None = None
    questions: tuple[AskedFact, ...] = ()
    completion: str | None = None
    hasty: float = 0.3
    enlarge: bool = False

    @property
    def paragraphs(self) -> list[str]:
        """The consent text, paragraph by paragraph; empty lines separate them.

        >>> Session("We keep your answers.\\n\\nYou may stop at any time.").paragraphs
        ['We keep your answers.', 'You may stop at any time.']
        """
        parts = (" ".join(part.split()) for part in (self.consent or "").replace("\r\n", "\n").split("\n\n"))
        return [part for part in parts if part]

    @property
    def consent_digest(self) -> str:
        """Digest of the consent text; empty without one."""
        return hashlib.sha256(self.consent.encode()).hexdigest() if self.consent else ""

    def code(self, token: str, secret: str) -> str | None:
        """Completion code for an invitation token; None where there is none.

        Participants know their token. The study's ``secret`` they do not, so that nobody computes a code without taking part.

        >>> Session(completion="C1A2").code("any", "s"), len(Session(completion="own").code("any", "s"))
        ('C1A2', 8)
        """
        if self.completion != OWN_CODE:
            return self.completion
        return hmac.new(secret.encode(), f"completion {token}".encode(), hashlib.sha256).hexdigest()[:8].upper()


PLAIN = Session()
"""Nothing before the experiment, and nothing after it."""


def read_question(text: str) -> AskedFact:
    """Parse a question: words, and after a colon the answers to choose from, separated by bars.

    >>> read_question("Vision: normal | corrected")
    AskedFact(words='Vision', options=('normal', 'corrected'))
    >>> read_question("Age")
    AskedFact(words='Age', options=())
    """
    words, _, listed = text.partition(":")
    options = tuple(option.strip() for option in listed.split("|") if option.strip())
    if not words.strip() or len(options) == 1:
        raise UsageError(
            f'{option("ask", text)}: expected a question, or a question and its answers: "Vision: normal | corrected"'
        )
    return AskedFact(" ".join(words.split()), options)


def give_consent(file: sqlite3.Connection, person: int, session: Session) -> None:
    """Store that someone agrees, and to which text. What they agreed to before stays."""
    _store(file, person, "consent", session.consent_digest)


def has_consented(file: sqlite3.Connection, person: int, session: Session) -> bool:
    """True if someone has agreed to this text, or none is asked for."""
    return not session.consent or read_facts(file).get(person, {}).get("consent") == session.consent_digest


def require_consent(file: sqlite3.Connection, person: int, session: Session) -> None:
    """``Refused`` (403) for someone who has not agreed."""
    if not has_consented(file, person, session):
        raise Refused(403, "this experiment asks for your consent first: reload the page")


def store_about(file: sqlite3.Connection, person: int, session: Session, given: Sequence[Any]) -> None:
    """Store what someone says about themselves, an answer per question; an empty one is left open. ``Refused`` for others."""
    if len(given) != len(session.questions):
        raise Refused(400, "answers: expected one for each question")
    answers = {}
    for question, answer in zip(session.questions, given, strict=True):
        if not isinstance(answer, str) or len(answer) > 200 or not answer.isprintable():
            raise Refused(400, f"{question.words}: expected a short text")
        if answer and question.options and answer not in question.options:
            raise Refused(400, f"{question.words}: expected one of the answers that are offered")
        answers[question.words] = answer.strip()
    _store(file, person, "about", json.dumps(answers))


def has_answered_about(file: sqlite3.Connection, person: int) -> bool:
    """True if someone has answered, or left open, the questions about themselves."""
    return "about" in read_facts(file).get(person, {})


def read_facts(file: sqlite3.Connection) -> dict[int, dict[str, str]]:
    """Stored facts about each participant, by name."""
    facts: dict[int, dict[str, str]] = {}
    for person, name, value in file.execute("SELECT person, name, value FROM choose_facts"):
        facts.setdefault(person, {})[name] = value
    return facts


def about(facts: Mapping[str, str]) -> dict[str, str]:
    """Answers of a participant about themselves, by question; empty if they were not asked."""
    answers: dict[str, str] = json.loads(facts.get("about", "{}"))
    return answers


def _store(file: sqlite3.Connection, person: int, name: str, value: str) -> None:
    insert(file, "choose_facts", person, name, value, now(), conflict="REPLACE")
