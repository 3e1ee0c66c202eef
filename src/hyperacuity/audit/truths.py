"""The truths that an audit judges an image by: labels of at least each strength, and partial labels.

Each truth is stored as a part of the annotators' pixels. Truths depend on the labels alone, so systems share them; equal truths
(neighbouring strengths among few annotators, or partial labels that grow from the same corner) are stored once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperacuity.audit.partial import number_of, partial_labels
from hyperacuity.audit.strength import strengths
from hyperacuity.maps import EdgeMap

if TYPE_CHECKING:
    from hyperacuity.audit.benchmark import AuditProtocol

REMEMBERED = 32
"""Images whose truths are remembered: more than are worked on at a time."""


class AuditTruths(NamedTuple):
    """The truths of an image. The first part is all that was drawn.

    ``parts`` are different from each other: for each annotator, which of the pixels drawn, in raster order, are in it.
    ``part_of_truth`` has the part of each truth of the protocol, in its order, and ``labels`` how many pixels that is.
    """

    parts: list[list[NDArray[np.bool_]]]
    part_of_truth: list[int]
    labels: NDArray[np.int64]


def truths_of(maps: Sequence[EdgeMap], protocol: AuditProtocol, image: str) -> AuditTruths:
    """The truths of the protocol for one image, cached; partial labels depend on its name."""
    packed = tuple((truth.shape, np.packbits(truth).tobytes()) for truth in maps)
    return _truths_again(packed, protocol, image)


@lru_cache(maxsize=REMEMBERED)
def _truths_again(
    packed: tuple[tuple[tuple[int, int], bytes], ...], protocol: AuditProtocol, image: str
) -> AuditTruths:
    bits = [np.unpackbits(np.frombuffer(held, np.uint8), count=math.prod(shape)) for shape, held in packed]
    shaped = zip(bits, packed, strict=True)
    return _find_truths([flat.reshape(shape).astype(np.bool_) for flat, (shape, _) in shaped], protocol, image)


def _find_truths(maps: Sequence[EdgeMap], protocol: AuditProtocol, image: str) -> AuditTruths:
    people = strengths(maps, protocol.protocol.tolerance)
    left = [int(mask.sum()) for mask in people.consensus]
    number: dict[tuple[bytes, ...], int] = {}
    parts: list[list[NDArray[np.bool_]]] = []
    part_of_truth = []
    for kind, which in protocol.truths:
        if kind == "strength":
            labels = people.at_least(which)
        else:
            seed = (protocol.seed, number_of(image), int(which))
            labels = partial_labels(maps, left, kind=kind, seed=seed)
        part = [mask[drawn] for mask, drawn in zip(labels, maps, strict=True)]
        key = tuple(mask.tobytes() for mask in part)
        if key not in number:
            number[key] = len(parts)
            parts.append(part)
        part_of_truth.append(number[key])
    sizes = np.array([sum(int(np.count_nonzero(mask)) for mask in part) for part in parts], np.int64)
    return AuditTruths(parts, part_of_truth, sizes[part_of_truth])
