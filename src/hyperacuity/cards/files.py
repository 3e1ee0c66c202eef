"""Cards as files: lines of text, each behind its own checksum, and a digest over all of them at the end.

::

    hyperacuity card 1
    9f86d081884c7d65 {"system": "mine", "signature": "boundary|…|v:1", "protocol": {…}, "about": {…}, "made": {…}, …}
    2c26b46b68ffc68f {"image": "100007", "truths": ["…", "…"], "tally": "…"}
    …
    fcde2b2edba56bf4…  end

The documentation's page on cards describes every part.

A line is a checksum (eight bytes of BLAKE2b over what follows it), a space and JSON: first about the card, then a line per
image, whose tally is base64 of :meth:`hyperacuity.tally.Tally.pack`. The last line has 32 bytes of BLAKE2b over everything
above. So a changed byte is found, and the line that has it is named; the digest also names the card. Nothing is unpickled, no
size that a file claims is believed, and a card of one system has one line per image, so that ``diff`` says which differ.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import re
import stat
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from hyperacuity.cards.card import LONGEST_TEXT, MOST_NUMBERS, About, Card, Made
from hyperacuity.cards.digests import DIGEST_BYTES, fingerprint
from hyperacuity.console import printable
from hyperacuity.errors import HyperacuityError, InputError
from hyperacuity.outputs import check_output, write_bytes
from hyperacuity.tally import BaseProtocol, Signature, Tally
from hyperacuity.tasks import Task, task

SUFFIX = ".card"
FIRST_LINE = "hyperacuity card 1"
LARGEST = 64_000_000
"""No card has more bytes than this."""

MOST_INFLATED = 256_000_000
"""The tallies of a card have no more bytes than this, however few they are in the file."""

LONGEST_REASON = 500
"""A sentence about a card quotes no more of it."""

UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
)
"""Errors in which well-formed lines without a meaning may end."""

_LINE = re.compile(rb"([0-9a-f]{16}) (\{.*\})")
MARK = b"hyperacuity card "
"""Beginning of every card."""

_LAST = re.compile(rb"([0-9a-f]{64})  end")

D = TypeVar("D", About, Made)


def written(card: Card) -> bytes:
    """The card as the bytes of its file; equal cards have equal bytes."""
    head = {
        "system": card.system,
        "signature": str(card.signature),
        "protocol": card.protocol.to_dict(),
        "about": asdict(card.about),
        "made": asdict(card.made),
        "data": card.fingerprint,
        "images": len(card.tallies),
        "expected": card.expected,
    } | ({"people": True} if card.people else {})
    lines = [FIRST_LINE.encode(), _checked(head)]
    for image, tally in card.tallies.items():
        packed = base64.b64encode(tally.pack()).decode()
        lines.append(_checked({"image": image, "truths": card.truths[image], "tally": packed}))
    body = b"\n".join(lines) + b"\n"
    return body + f"{_whole(body)}  end\n".encode()


def write_card(card: Card, path: str | Path) -> None:
    """Write a card; another card of that name is replaced once the new one is complete."""
    check_output(Path(path), mark=MARK)
    write_bytes(Path(path), written(card))


def read_card(path: str | Path) -> Card:
    """Read a card. ``InputError`` names the file and, for a damaged one, the line and image."""
    return parsed(card_bytes(path), str(path))


def card_bytes(path: str | Path) -> bytes:
    """The bytes of a card as they stand in its file, of one that is too large a few more than a card may have.

    ``InputError`` for what cannot be read or is no file: a named pipe would keep its reader waiting.
    """
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise InputError(f"{path}: is not a plain file, expected a card")
        with Path(path).open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def parsed(data: bytes, name: str = "card") -> Card:
    """The card that these bytes are. ``InputError`` for what is none, is damaged, or of another version."""
    if len(data) > LARGEST:
        raise InputError(f"{name}: is larger than any card ({LARGEST / 1e6:g} MB)")
    first, *lines = data.split(b"\n")
    if first != FIRST_LINE.encode():
        raise InputError(f"{name}: is no card of this version: its first line is not {FIRST_LINE!r}")
    if len(lines) < 4 or lines[-1] != b"" or _LAST.fullmatch(lines[-2]) is None:
        raise InputError(f"{name}: is incomplete or damaged at its end: the last line should have a digest, then 'end'")
    digest, body = lines[-2][:64].decode(), data[: -len(lines[-2]) - 1]
    head = _content(lines[0], f"{name}: line 2")
    images = [_content(line, f"{name}: line {number}") for number, line in enumerate(lines[1:-2], 3)]
    if _whole(body) != digest:
        raise InputError(
            f"{name}: the digest at the end is not that of the lines above: a line was added, moved or changed"
        )
    try:
        return _card(head, images, digest)
    except HyperacuityError as error:
        raise InputError(f"{name}: {_quoted(str(error))}") from error
    except UNREADABLE as error:
        reason = _quoted(f"{type(error).__name__}: {error}")
        raise InputError(
            f"{name}: its lines are whole but say nothing that this version can read ({reason})"
        ) from error


def _card(head: Mapping[str, Any], images: list[dict[str, Any]], digest: str) -> Card:
    signature = Signature.parse(_named(head["signature"], "signature"))
    known: Task[Any, Any, Any] = task(signature.task)
    protocol: BaseProtocol = known.protocol.from_dict(head["protocol"])
    if protocol.signature != signature:
        raise InputError(f"says {signature}, but its protocol is {protocol.signature}")
    truths = {_named(one["image"], "image"): tuple(_digest(text) for text in one["truths"]) for one in images}
    if len(truths) != len(images) or len(images) != head["images"]:
        raise InputError(f"has {len(truths)} images, but says {head['images']}")
    if fingerprint(truths) != head["data"]:
        raise InputError("the digests of its truths are not those of the data set that it names")
    expected = head["expected"]
    if not (expected is None or (type(expected) is int and expected >= len(images))):
        raise InputError(f"expected {expected!r} images but has {len(images)}")
    return Card(
        _named(head["system"], "system"),
        _tallies(images, known, protocol),
        truths,
        _told(About, head["about"]),
        _told(Made, head["made"]),
        expected,
        digest,
        head.get("people") is True,
    )


def _tallies(images: list[dict[str, Any]], known: Task[Any, Any, Any], protocol: BaseProtocol) -> dict[str, Tally]:
    """The tallies by image. What they claim to hold is added up before any of it is inflated."""
    found: dict[str, Tally] = {}
    left = MOST_INFLATED
    for one in images:
        packed = _packed(one)
        left -= (size := _claimed(packed.partition(b"\n")[0]))
        if size > 8 * MOST_NUMBERS or left < 0:
            raise InputError(f"the tally of {one['image']} claims to hold more numbers than any")
        try:
            found[one["image"]] = known.tally_type.unpack(packed, protocol)
        except InputError as error:
            raise InputError(f"the tally of {one['image']}: {error}") from error
    return found


@lru_cache(maxsize=32)
def _claimed(line: bytes) -> int:
    """Number of bytes that a packed tally claims for its arrays; errors are left to whoever unpacks it."""
    try:
        layout = json.loads(line).values()
        return sum(int(str(kind)[2:]) * math.prod(max(int(length), 0) for length in shape) for kind, shape in layout)
    except (AttributeError, ArithmeticError, RecursionError, TypeError, ValueError):
        return 0


def _checked(content: Mapping[str, Any]) -> bytes:
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()
    return _checksum(text) + b" " + text


def _content(line: bytes, where: str) -> dict[str, Any]:
    """Content of a line whose checksum is right."""
    parts = _LINE.fullmatch(line)
    if parts is None or _checksum(parts[2]) != parts[1]:
        image = re.search(rb'"image":"([^"\\]{1,80})"', line)
        of = f" (image {image[1].decode('ascii', 'replace')})" if image else ""
        raise InputError(printable(f"{where}{of} is damaged: its checksum does not match"))
    try:
        found: dict[str, Any] = json.loads(parts[2])  # it starts with a brace
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON ({_quoted(str(error))})") from error
    return found


def _packed(one: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(one["tally"], validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise InputError(f"the tally of {one['image']} is not base64") from error


def _told(kind: type[D], given: Mapping[str, Any]) -> D:
    """Description on a card, without parts that this version does not know."""
    return kind(**{part.name: given[part.name] for part in fields(kind) if part.name in given})


def _named(value: Any, name: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_TEXT:
        raise InputError(f"{name} is not a text of at most {LONGEST_TEXT} characters")
    return value


def _quoted(reason: str) -> str:
    """A reason on one line, without what a terminal would obey; it may quote what anybody wrote."""
    return printable(reason[:LONGEST_REASON]) + ("…" if len(reason) > LONGEST_REASON else "")


def _digest(text: Any) -> str:
    if not isinstance(text, str) or re.fullmatch(f"[0-9a-f]{{{2 * DIGEST_BYTES}}}", text) is None:
        raise InputError(f"{str(text)[:80]!r} is not the digest of a truth")
    return text


def _checksum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=8).hexdigest().encode()


def _whole(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=32).hexdigest()


def shipped() -> list[Path]:
    """The files of the cards that come with the package, by name; none where it was installed without them.

    >>> all(path.suffix == SUFFIX for path in shipped())
    True
    """
    folder = Path(str(resources.files("hyperacuity.cards"))) / "shipped"
    return sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.name)
