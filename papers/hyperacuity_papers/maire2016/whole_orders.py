"""One order of all regions from people's labels of neighbours, and the share of these labels that it contradicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.data import FigureGround, figure_ground, find_data
from hyperacuity.ordering import Sides, WholeOrder, whole_order
from hyperacuity.run.many import each


@dataclass(frozen=True, eq=False)
class OrderedLabels:
    """One person's labels of one image, and the whole order closest to them."""

    image: str
    subject: str
    order: WholeOrder

    def record(self) -> dict[str, Any]:
        """Return a record for CSV and JSON. ``compared`` are the regions with a labelled boundary; the others stay unknown."""
        depth, found = self.order.partition.depth, self.order
        known = depth[~np.isnan(depth)]
        return {
            "image": self.image,
            "subject": self.subject,
            "regions": depth.size,
            "compared": known.size,
            "layers": np.unique(known).size,
            "pairs": found.pairs,
            "violated_pairs": found.violated_pairs,
            "length": found.length,
            "violated_length": found.violated_length,
            "bound": found.bound,
        }


def whole_orders(data: Path | None, *, workers: int | None = None) -> list[OrderedLabels]:
    """The whole orders of Berkeley's figure/ground labels, by image and person."""

    def work(one: FigureGround) -> OrderedLabels:
        return OrderedLabels(one.image, one.subject, whole_order(Sides(one.order, one.segmentation)))

    return list(each(work, figure_ground(find_data("bsds-fg", data)), workers, "whole orders"))


def shares(found: Sequence[OrderedLabels]) -> dict[str, Any]:
    """The data set: how much of the pairs and of the boundary length is contradicted, in all and by how many people.

    ``least_length`` is the share of length that any orders must contradict. Without labels the shares are NaN.
    """

    def share(part: str, whole: str) -> float:
        sums = [sum(float(getattr(one.order, name)) for one in found) for name in (part, whole)]
        return sums[0] / sums[1] if sums[1] else float("nan")

    return {
        "images": len({one.image for one in found}),
        "labels": len(found),
        "contradicted_labels": sum(one.order.violated_pairs > 0 for one in found),
        "pairs": share("violated_pairs", "pairs"),
        "length": share("violated_length", "length"),
        "least_length": share("bound", "length"),
    }
