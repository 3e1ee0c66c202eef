"""Results that travel: one system's tallies under one protocol in a small file that anyone can check, score and test against.

>>> import numpy as np
>>> from hyperacuity import boundary
>>> truth = np.eye(32, dtype=bool)
>>> card = Card("mine", {"a": boundary.tally(truth * np.float32(0.9), [truth])}, {"a": (digest_of(truth),)})
>>> parsed(written(card)).score.ods.f
1.0
"""

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.cards.card import PEOPLE, About, Card, Made, canonical_name
    from hyperacuity.cards.digests import digest_of, fingerprint
    from hyperacuity.cards.files import SUFFIX, parsed, read_card, write_card, written
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "PEOPLE",
    "SUFFIX",
    "About",
    "Card",
    "Made",
    "canonical_name",
    "digest_of",
    "fingerprint",
    "parsed",
    "read_card",
    "shipped",
    "write_card",
    "written",
]


def shipped() -> list[Path]:
    """The files of the cards that come with the package, by name; none where it was installed without them.

    >>> all(path.suffix == SUFFIX for path in shipped())
    True
    """
    folder = Path(str(resources.files("hyperacuity.cards"))) / "shipped"
    return sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.name)
