"""Results that travel: one system's tallies under one protocol in a small file that anyone can check, score and test against.

>>> import numpy as np
>>> from hyperacuity import boundary
>>> truth = np.eye(32, dtype=bool)
>>> card = Card("mine", {"a": boundary.tally(truth * np.float32(0.9), [truth])}, {"a": (digest_of(truth),)})
>>> parsed(written(card)).score.ods.f
1.0
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.cards.card import PEOPLE, About, Card, Made, canonical_name
    from hyperacuity.cards.digests import digest_of, fingerprint
    from hyperacuity.cards.files import SUFFIX, parsed, read_card, shipped, write_card, written
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
