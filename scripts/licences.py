"""The licences of what the package depends on: ``python scripts/licences.py [EXTRA …]``.

Prints a table of the installed packages that a plain install brings, and those of the extras named; exit status 1 if one of
them is not known to be permissive.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata

from packaging.requirements import Requirement

PERMISSIVE = re.compile(
    r"\b(MIT|MIT-CMU|BSD|0BSD|BSD-[23]-Clause|Apache|Apache-2\.0|ISC|ISCL|HPND|PSF|PSF-2\.0|Zlib|CC0-1\.0|"
    r"Python Software Foundation|Unlicense|CeCILL-B|Historical Permission Notice)\b",
    re.IGNORECASE,
)
RESTRICTIVE = re.compile(r"GPL|GNU|AGPL|SSPL|EUPL|CC-BY-(NC|SA)|Proprietary|Commercial", re.IGNORECASE)


def dependencies(name: str, extras: tuple[str, ...] = ()) -> set[str]:
    """The names of all packages that an install of ``name`` brings here, itself not counted."""
    found: set[str] = set()
    waiting = [(name, extras)]
    while waiting:
        current, chosen = waiting.pop()
        for text in metadata.requires(current) or ():
            needed = Requirement(text)
            marker = needed.marker
            if marker and not any(marker.evaluate({"extra": extra}) for extra in (*chosen, "")):
                continue
            key = re.sub(r"[-_.]+", "-", needed.name).lower()
            if key == name:
                waiting.append((name, tuple(needed.extras)))
            elif key not in found:
                found.add(key)
                waiting.append((key, tuple(needed.extras)))
    return found


def licence(name: str) -> str:
    """What a package says of its licence: the expression, else the classifiers, else the first line of the field."""
    about = metadata.metadata(name)
    told = about.get("License-Expression")
    listed = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier", ()) if line.startswith("License ::")]
    return told or ", ".join(listed) or (about.get("License") or "").partition("\n")[0]


def is_permissive(text: str) -> bool:
    """Whether a licence lets everybody use, change and pass on, as long as its notice stays.

    >>> is_permissive("BSD-3-Clause"), is_permissive("MIT License"), is_permissive("GPL-3.0-or-later"), is_permissive("")
    (True, True, False, False)
    """
    return bool(PERMISSIVE.search(text)) and not RESTRICTIVE.search(text)


def main() -> int:
    """Print the table."""
    bad = 0
    for name in sorted(dependencies("hyperacuity", tuple(sys.argv[1:]))):
        text = licence(name)
        bad += not is_permissive(text)
        print(f"{name:24} {metadata.version(name):14} {text}{'' if is_permissive(text) else '   ← look at this one'}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
