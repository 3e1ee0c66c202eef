"""Files of finished orders: truths for ``hyperacuity ordering``, and where they come from.

::

    order/ANNOTATOR/NAME.npy         order map: larger = nearer, NaN unknown
    ownership/ANNOTATOR/NAME.npy     +1 on the near side of a boundary, −1 on the far side, NaN elsewhere
    labels/ANNOTATOR/NAME.npy        the regions, numbered from 1 as on the page; void −1
    pairs/ANNOTATOR/NAME.csv         every two neighbours, and whoever else was drawn: who is in front, how long the boundary is
    provenance/ANNOTATOR/NAME.json   what was said, when, on which regions; written last

Each file is written whole or not at all. A folder of annotators is a truth with several people:
``hyperacuity ordering PRED DIR/order``.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity import __version__
from hyperacuity.data.formats.arrays import encode_npy
from hyperacuity.maps import OrderMap
from hyperacuity.studio.order.image_order import ImageOrder
from hyperacuity.studio.order.regions import Regions
from hyperacuity.studio.order.relations import Arrangement
from hyperacuity.studio.order.suggestions import suggest
from hyperacuity.studio.outputs import Outputs

KINDS = {"order": "npy", "ownership": "npy", "labels": "npy", "pairs": "csv", "provenance": "json"}
Facts = Mapping[str, Any]

RELATIONS = {1: "a in front", -1: "b in front", 0: "same", None: "unknown"}
HEADING = ("a", "b", "relation", "boundary", "source")


def output_files(out: Path, folder: str, name: str) -> dict[str, Path]:
    """By kind, where the files of one person's order of one image lie."""
    return {kind: out / kind / folder / f"{name}.{suffix}" for kind, suffix in KINDS.items()}


def outputs_of(out: Path, folder: str, name: str, order: ImageOrder, facts: Facts) -> Outputs:
    """Files of one person's order of one image. ``facts`` go into the provenance. Without an owner there is no ownership."""
    statements, regions, arrangement = order.current.statements, order.regions, order.arrangement
    sides = ownership_of(arrangement, regions)
    owned = bool((sides == 1).any() and (sides == -1).any())
    numbered = np.where(regions.labels < 0, regions.labels, regions.labels + 1).astype(np.int32)
    table = io.StringIO(newline="")
    csv.writer(table, lineterminator="\n").writerows([HEADING, *pair_rows(order)])
    # Layers count from the far end of each group, so that numbers of different groups do not compare.
    layers = [np.nan if layer is None else layer for layer in arrangement.layer]
    groups: list[list[int]] = [[] for _ in range(arrangement.groups)]
    for region, group in enumerate(arrangement.group, start=1):
        if group is not None:
            groups[group].append(region)
    listed = sorted(statements.positions.items(), key=lambda one: one[1])
    provenance = {
        "hyperacuity": __version__,
        "image": name,
        **facts,
        "regions": regions.count,
        "ordered": arrangement.ordered,
        "layers": arrangement.layers,
        "groups": groups,
        "positions": {str(region + 1): position for region, position in listed},
        "drawn": [[a + 1, b + 1, RELATIONS[relation]] for (a, b), relation in statements.pairs.items()],
    }
    contents = {
        "order": encode_npy(np.array([*layers, np.nan], np.float32)[regions.labels]),
        "ownership": encode_npy(sides) if owned else None,
        "labels": encode_npy(numbered),
        "pairs": table.getvalue().encode(),
        "provenance": (json.dumps(provenance, indent=1) + "\n").encode(),
    }
    return {path: contents[kind] for kind, path in output_files(out, folder, name).items()}


def ownership_of(arrangement: Arrangement, regions: Regions) -> OrderMap:
    """+1 on the near side of the boundaries whose owner is known, −1 on the far side, NaN elsewhere.

    A pixel takes the side that it has towards most of its four neighbours; one that is as often near as far has none.
    """
    table = np.zeros((regions.count + 1, regions.count + 1), np.int8)
    for a, b in regions.pairs.tolist():
        table[a, b] = arrangement.relation(a, b) or 0
        table[b, a] = -table[a, b]
    labels = regions.labels
    total = np.zeros(labels.shape, np.int8)
    down = table[labels[:-1], labels[1:]]
    across = table[labels[:, :-1], labels[:, 1:]]
    total[:-1] += down
    total[1:] -= down
    total[:, :-1] += across
    total[:, 1:] -= across
    return np.where(total == 0, np.nan, np.sign(total)).astype(np.float32)


def pair_rows(order: ImageOrder) -> Iterator[tuple[int, int, str, int, str]]:
    """Every two neighbours, then other regions that were drawn: numbers from 1, relation, boundary's length, where it is from.

    The source is ``drawn`` (said of the pair), ``placed`` (both stand in the list), ``implied`` (through others) or empty; of
    what was suggested ``confirmed`` (one by one) or ``accepted`` (together with the rest).
    """
    statements, regions, suggested = order.current.statements, order.regions, suggest(order.regions)
    lengths = dict(zip(map(tuple, regions.pairs.tolist()), regions.lengths.tolist(), strict=True))
    for pair in (*lengths, *(pair for pair in statements.pairs if pair not in lengths)):
        a, b = pair
        relation = order.arrangement.relation(a, b)
        if relation is None:
            source = ""
        elif pair in statements.pairs:
            source = "confirmed" if suggested.get(pair) == relation else "drawn"
            source = "accepted" if pair in order.current.together else source
        else:
            source = "placed" if a in statements.positions and b in statements.positions else "implied"
        yield a + 1, b + 1, RELATIONS[relation], lengths.get(pair, 0), source
