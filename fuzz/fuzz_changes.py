"""Changes of a file: cut, flipped, overwritten with extreme numbers, repeated, continued with another file."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

EXTREMES = [0, 1, 2, 4, 255, 2**15 - 1, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1]
DIGITS = [b"0", b"-1", b"999999999", b"1e308", b"nan", b"9" * 40]
WIDTHS = [1, 2, 4, 8]

Change = tuple[str, float, Any]
"""What is done, where (from 0, the start of the file, to 1, its end), and how."""


def changed(data: bytes, other: bytes, changes: Iterable[Change]) -> bytes:
    """The file after some changes; a splice goes on with the end of another file."""
    for what, where, how in changes:
        at = int(where * len(data))
        if what == "cut":
            data = data[:at] + data[at + int(how * 40) :] if how < 0.5 else data[:at]
        elif what == "flip" and data:
            data = data[:at] + bytes([data[at] ^ 1 << how]) + data[at + 1 :]
        elif what == "set":
            data = data[:at] + bytes([how]) + data[at + 1 :]
        elif what == "number":
            value, width, order = how
            data = data[:at] + (value % (1 << 8 * width)).to_bytes(width, order) + data[at + width :]
        elif what == "digits":
            data = data[:at] + how + data[at + 1 :]
        elif what == "repeat":
            data = data[:at] + data[at : at + how] * 3 + data[at + how :]
        elif what == "splice":
            data = data[:at] + other[int(how * len(other)) :]
    return data


def some_change(chance: random.Random) -> Change:
    """A change at random."""
    kinds = {
        "cut": chance.random,
        "flip": lambda: chance.randrange(8),
        "set": lambda: chance.randrange(256),
        "number": lambda: (chance.choice(EXTREMES), chance.choice(WIDTHS), chance.choice(["little", "big"])),
        "digits": lambda: chance.choice(DIGITS),
        "repeat": lambda: chance.randint(1, 64),
        "splice": chance.random,
    }
    what = chance.choice(list(kinds))
    return what, chance.random(), kinds[what]()


def some_file(files: Sequence[bytes], chance: random.Random) -> bytes:
    """One of the files, changed up to six times."""
    changes = [some_change(chance) for _ in range(chance.randint(1, 6))]
    return changed(chance.choice(files), chance.choice(files), changes)
