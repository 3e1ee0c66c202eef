"""Soft maps, whatever is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from hyperacuity.data import read_soft
from hyperacuity.evaluation.readers import Reader
from hyperacuity.maps import SoftMap
from hyperacuity.tally import number


@dataclass(frozen=True)
class SoftReader(Reader):
    """What the values of soft maps mean.

    ``invert_prediction``: 0 is the edge. ``value_range``: the values that stand for no edge and a sure one, where these are not
    the file format's own. ``force``: take files that are almost surely a mistake, such as truths in JPEG.
    """

    invert_prediction: bool = False
    value_range: tuple[float, float] | None = None
    force: bool = False

    def reading(self) -> dict[str, object]:
        """Files read in another way are told apart, since the files are the same."""
        return {
            "prediction": "inverted" if self.invert_prediction else None,
            "range": None if self.value_range is None else ",".join(map(number, self.value_range)),
            "checks": "off" if self.force else None,
        }

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """The inverse of ``to_dict``, also after a way through JSON, which has lists for tuples."""
        found = super().from_dict(options)
        ends = found.value_range
        return found if ends is None else replace(found, value_range=(ends[0], ends[1]))

    def soft(self, path: Path) -> SoftMap:
        """The soft map of a file."""
        return read_soft(path, inverted=self.invert_prediction, value_range=self.value_range, force=self.force)
