"""Digests of truths, in sixteen bytes: of the arrays that a task scores against, not of the files they came in.

A truth read from MATLAB's format, from a picture or made in memory has the same digest where it is the same truth. Kinds of
numbers are told apart (a mask is no map of labels), widths are not: numbers are widened first, which loses nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

DIGEST_BYTES = 16
_WIDEST = {"b": "|u1", "i": "<i8", "u": "<i8", "f": "<f8"}


def digest_of(truth: Any) -> str:
    """The digest of one annotator's truth: arrays, numbers, text and what is made of them.

    ``TypeError`` for what has no such parts.

    >>> import numpy as np
    >>> one = np.eye(3, dtype=bool)
    >>> digest_of(one) == digest_of(one.copy()), digest_of(one) == digest_of(one.astype(int))
    (True, False)
    >>> digest_of(np.float32([0.5])) == digest_of(np.float64([0.5]))
    True
    """
    found = hashlib.blake2b(digest_size=DIGEST_BYTES)
    _add(found, truth)
    return found.hexdigest()


def fingerprint(truths: Mapping[str, Sequence[str]]) -> str:
    """One short name for a data set, from the digests of each image's truths: equal names, equal images with equal truths.

    >>> fingerprint({"a": ["1"], "b": ["2"]}) == fingerprint({"b": ["2"], "a": ["1"]})
    True
    """
    listed = sorted([image, *digests] for image, digests in truths.items())
    return hashlib.blake2b(json.dumps(listed).encode(), digest_size=8).hexdigest()


def _add(found: Any, value: Any) -> None:
    """Feed a value to a hash; what it is, and how large, goes before it, so that no two values look alike."""
    if value is None or isinstance(value, str):
        found.update(f"{type(value).__name__} {json.dumps(value)}\n".encode())
    elif is_dataclass(value) and not isinstance(value, type):
        _add(found, {part.name: getattr(value, part.name) for part in fields(value)})
    elif isinstance(value, Mapping):
        found.update(f"mapping {len(value)}\n".encode())
        for key in sorted(value, key=str):
            _add(found, str(key))
            _add(found, value[key])
    elif isinstance(value, np.ndarray | np.generic | bool | int | float):
        _add_array(found, np.asarray(value))
    elif isinstance(value, Sequence):
        found.update(f"sequence {len(value)}\n".encode())
        for item in value:
            _add(found, item)
    else:
        raise TypeError(f"a {type(value).__name__} has no digest")


def _add_array(found: Any, array: np.ndarray[Any, Any]) -> None:
    kind = "i" if array.dtype.kind == "u" else array.dtype.kind
    if kind not in _WIDEST:
        raise TypeError(f"an array of {array.dtype} has no digest")
    wide = np.ascontiguousarray(array, _WIDEST[kind])
    if kind == "f":
        wide = np.where(np.isnan(wide), np.nan, wide + 0.0)  # one NaN, one zero
    found.update(f"array {kind} {list(array.shape)}\n".encode())
    found.update(wide.tobytes())
