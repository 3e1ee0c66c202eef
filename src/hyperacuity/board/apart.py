"""Reasons why two leaderboards are not one: differences of their protocols, part by part, or of their truths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperacuity.board.leaderboards import Leaderboard
from hyperacuity.board.names import counted, short
from hyperacuity.console import printable

MOST_NAMED = 3


def reasons(one: Leaderboard, other: Leaderboard) -> list[str]:
    """List what keeps two leaderboards of one task apart, a sentence each: parts of the signature, then images and truths."""
    sentences = [*one.signature.differences(other.signature), *truths_apart(one.truths, other.truths)]
    return [printable(sentence) for sentence in sentences]


def truths_apart(one: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]]) -> list[str]:
    """List differences between two sets of truths, by their digests; empty when they are equal.

    >>> truths_apart({"a": ["1"], "b": ["2"]}, {"a": ["9"], "c": ["3"]})
    ['1 image is in one only (b)', '1 image is in the other only (c)', '1 image has other truths (a)']
    """
    changed = [image for image in one if image in other and tuple(one[image]) != tuple(other[image])]
    found = []
    for images, be, have in (
        ([image for image in one if image not in other], "in one only", ""),
        ([image for image in other if image not in one], "in the other only", ""),
        (changed, "", "other truths"),
    ):
        verb = ("is " if len(images) == 1 else "are ") + be if be else ("has " if len(images) == 1 else "have ") + have
        if images:
            found.append(f"{counted(len(images), 'image')} {verb} ({_named(images)})")
    return found


def _named(images: Sequence[str]) -> str:
    first = ", ".join(short(image, 40) for image in sorted(images)[:MOST_NAMED])
    return first if len(images) <= MOST_NAMED else f"{first} and {len(images) - MOST_NAMED} more"
