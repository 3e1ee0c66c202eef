r"""A simulated observer of forced-choice trials, who sees the picture but not the labels.

An observer who knew how many people drew each piece would find every orphan stronger than every false alarm: the risk would be
0 by definition. This one does not know who drew what. It is given *evidence*, a soft map of the picture alone (what a detector
that takes no part in the trials sees), and the perceived strength of a piece of boundary, label and false alarm alike, is the
evidence along it plus noise. Of two pieces the observer chooses the one perceived as stronger (Thurstone's case V):

.. math:: P(a ≻ b) = \frac{λ}{2} + (1 - λ) Φ\left(\frac{e_a - e_b}{\sqrt{2} σ}\right)

where :math:`e` is the mean, along the piece, of the largest evidence within a few pixels (people do not draw to the pixel),
:math:`σ` the noise of one look at one piece in units of evidence, and :math:`λ` the share of lapses, in which the observer
guesses. Two pieces whose evidence differs by σ have d′ = 1: the stronger one is chosen in 76 % of the trials. The numbers
are stated, not fitted.

References
----------
Thurstone (1927), A law of comparative judgment. Hou, Yuille & Koch (2013), section 3, asked people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage, special

from hyperacuity.audit.trials import Segment, Trial
from hyperacuity.errors import UsageError
from hyperacuity.maps import SoftMap, soft_map

REACH = 2
"""Largest distance of evidence from a piece, in pixels."""


@dataclass(frozen=True)
class Observer:
    """Observer of two pieces: the noise of perceived strength, and the share of lapses.

    Examples
    --------
    >>> float(Observer(lapse=0).chance(0.5, 0.5))
    0.5
    >>> round(float(Observer(noise=0.1, lapse=0).chance(0.6, 0.5)), 2)
    0.76
    >>> round(float(Observer(noise=0.1, lapse=0.02).chance(1, 0)), 2)
    0.99
    """

    noise: float = 0.1
    lapse: float = 0.02

    def __post_init__(self) -> None:
        """Validate."""
        if not (self.noise > 0 and 0 <= self.lapse <= 1):
            raise UsageError(
                f"an observer with noise {self.noise:g} and lapses {self.lapse:g}: expected a noise above 0, and a share"
            )

    def chance(self, evidence: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
        """Probability that a piece is chosen over another one, by the evidence along both."""
        ahead = np.asarray(evidence, np.float64) - np.asarray(other, np.float64)
        return np.asarray(self.lapse / 2 + (1 - self.lapse) * special.ndtr(ahead / (np.sqrt(2) * self.noise)))

    def __str__(self) -> str:
        """Noise and lapses, as in a signature."""
        return f"noise:{self.noise:g}|lapse:{self.lapse:g}"


def evidence_along(piece: Segment, evidence: SoftMap, *, reach: int = REACH) -> float:
    """The mean, over the pixels of a piece, of the largest evidence at most ``reach`` pixels away.

    >>> seen = np.zeros((5, 9), dtype=np.float32)
    >>> seen[1, 0:4] = 0.8
    >>> round(evidence_along(Segment((2, 1), ((2, 0), (2, 1), (2, 7), (2, 8))), seen, reach=1), 2)
    0.4
    """
    (top, left), (bottom, right) = np.min(piece.pixels, axis=0) - reach, np.max(piece.pixels, axis=0) + reach + 1
    top, left = max(int(top), 0), max(int(left), 0)
    largest = ndimage.maximum_filter(evidence[top:bottom, left:right], 2 * reach + 1, mode="nearest")
    rows, columns = np.array(piece.pixels).T
    return float(largest[rows - top, columns - left].mean(dtype=np.float64))


def evidence_of_trials(
    trials: Iterable[Trial], evidence: Mapping[str, SoftMap], *, reach: int = REACH
) -> dict[str, tuple[float, float]]:
    """The evidence along both pieces of each trial, (false alarm, label), for simulated answers.

    ``evidence`` holds a soft map of each image. Only the picture decides, not who drew a piece.
    """
    pairs = {}
    for trial in trials:
        seen = soft_map(evidence[trial.image], name=f"evidence of {trial.image}")
        first, second = (evidence_along(piece, seen, reach=reach) for piece in (trial.first, trial.second))
        pairs[trial.trial] = (first, second) if trial.false_alarm == "first" else (second, first)
    return pairs
