"""Are strong boundaries found better than an arbitrary part of all? Consensus labels against partial ones, image by image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hyperacuity.audit.benchmark import AuditProtocol, AuditTally
from hyperacuity.boundary.scores import resampled_scores
from hyperacuity.resampling import Bootstrap, Draws, PairedResult, paired_bootstrap
from hyperacuity.tally import protocol_of


def consensus_over_partial(
    tallies: Mapping[str, AuditTally], *, kind: str = "halfplane", resamples: int = 1000, seed: int = 0
) -> PairedResult:
    """F on consensus labels less F on partial labels of a kind, the mean over their repeats, with a paired bootstrap.

    Every resample takes the same images for both, so what makes an image hard for both does not widen the interval.
    ``UsageError`` without images.

    References
    ----------
    Hou, Yuille & Koch (2013), section 5, Fig. 6.
    """
    protocol = protocol_of(tallies.values(), AuditProtocol)
    usual = replace(protocol.protocol, precision="any")
    consensus = len(protocol.strengths) - 1
    partial = [truth for truth, (drawn, _) in enumerate(protocol.truths) if drawn == kind]

    def best(truth: int, weights: Draws) -> NDArray[np.float64]:
        return resampled_scores([tallies[image].under(truth, usual) for image in sorted(tallies)], weights)["ods"]

    def both(weights: Draws) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return best(consensus, weights), np.asarray(np.mean([best(truth, weights) for truth in partial], axis=0))

    whole, part = both(np.ones((1, len(tallies)), np.int64))
    return paired_bootstrap(*both(Bootstrap(len(tallies), resamples, seed)), observed=float(whole[0] - part[0]))
