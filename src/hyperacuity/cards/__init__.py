"""Results that travel: one system's tallies under one protocol in a small file that anyone can check, score and test against.

>>> import numpy as np
>>> from hyperacuity import boundary
>>> truth = np.eye(32, dtype=bool)
>>> card = Card("mine", {"a": boundary.tally(truth * np.float32(0.9), [truth])}, {"a": (digest_of(truth),)})
>>> parsed(written(card)).score.ods.f
1.0
"""

from hyperacuity.cards.card import About, Card, Made
from hyperacuity.cards.digests import digest_of, fingerprint
from hyperacuity.cards.files import SUFFIX, parsed, read_card, write_card, written

__all__ = [
    "SUFFIX",
    "About",
    "Card",
    "Made",
    "digest_of",
    "fingerprint",
    "parsed",
    "read_card",
    "write_card",
    "written",
]
