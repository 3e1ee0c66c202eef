"""From the tallies of any task to a table of the numbers it is judged by.

Scores of a data set are functions of how often each image counts, so that the same function gives the score on the data set,
on each image alone (a data set of one) and on every resample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hyperacuity.compare.table import Table
from hyperacuity.errors import UsageError
from hyperacuity.tally import BaseProtocol, Scores, Tally, Weights, protocol_of
from hyperacuity.tasks import task


def table_of(tallies: Mapping[str, Mapping[str, Tally]]) -> Table:
    """The scores of systems on the images they share. ``tallies`` is system → image → tally, all of one protocol."""
    systems = {name: images for name, images in tallies.items() if images}
    if not systems:
        raise UsageError("the runs hold no tally: there is nothing to compare")
    agreed: BaseProtocol = protocol_of([one for images in systems.values() for one in images.values()], BaseProtocol)
    judged = task(agreed.task).criteria(agreed)
    first, *others = systems.values()
    shared = [image for image in first if all(image in images for images in others)]
    if not shared:
        raise UsageError(f"the systems {', '.join(systems)} have no image in common: there is nothing to compare")
    columns = [[images[image] for image in shared] for images in systems.values()]

    def rescore(weights: Weights) -> Scores:
        return np.stack([judged.rescore(column, weights) for column in columns], axis=1)

    alone = rescore(np.eye(len(shared), dtype=np.int64)).transpose(1, 0, 2).copy()
    signature = str(agreed.signature)
    return Table(tuple(systems), tuple(shared), judged.names, judged.senses, alone, signature, rescore)


def join(tables: Sequence[Table]) -> Table:
    """Criteria of several protocols side by side, for the systems and images that all tables have.

    Errors against a truth and errors of predicted views can then stand in one vector. Names must differ.
    """
    first, *others = tables
    if not others:
        return first
    systems = tuple(name for name in first.systems if all(name in other.systems for other in others))
    images = tuple(name for name in first.images if all(name in other.images for other in others))
    if not systems or not images:
        raise UsageError(f"{' and '.join(table.signature for table in tables)} share no system and image")
    parts = [table.select(systems=systems, images=images) for table in tables]

    def rescore(weights: Weights) -> Scores:
        return np.concatenate([part.resampled(weights) for part in parts], axis=2)

    return Table(
        systems,
        images,
        tuple(name for part in parts for name in part.criteria),
        tuple(sense for part in parts for sense in part.senses),
        np.concatenate([part.values for part in parts], axis=2),
        " + ".join(part.signature for part in parts),
        rescore,
    )
