"""From the tallies of any task to a table of the numbers it is judged by.

Scores of a data set are functions of how often each image counts, so that the same function gives the score on the data set,
on each image alone (a data set of one) and on every resample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from hyperacuity.compare.table import Rescore, Table
from hyperacuity.errors import UsageError
from hyperacuity.tally import BaseProtocol, Scores, Tally, protocol_of
from hyperacuity.tasks import task


def table_of(tallies: Mapping[str, Mapping[str, Tally]]) -> Table:
    """The scores of systems on the images they share. ``tallies`` is system → image → tally, all of one protocol.

    Tallies are read a system at a time, now and whenever the table is resampled, and not cached.
    """
    one: list[Tally] = []

    def alone(images: Mapping[str, Tally]) -> tuple[tuple[str, ...], Scores]:
        if not images:
            return (), np.empty(0)
        every = list(images.values())
        protocol = protocol_of([*one, *every], BaseProtocol)
        one[:] = every[:1]
        return tuple(images), task(protocol.task).criteria(protocol).alone(every)

    scored = {system: alone(tallies[system]) for system in tallies}
    usable = {system: of for system, of in scored.items() if of[0]}
    if not usable:
        raise UsageError("the runs hold no tally: there is nothing to compare")
    agreed = one[0].protocol
    judged = task(agreed.task).criteria(agreed)
    common = reduce(set.intersection, (set(images) for images, _ in usable.values()))
    shared = sorted(common)  # resamples go by names, whatever the order of files
    if not shared:
        raise UsageError(f"the systems {', '.join(usable)} have no image in common: there is nothing to compare")

    def values(images: Sequence[str], scores: Scores) -> Scores:
        index = {image: i for i, image in enumerate(images)}
        return scores[[index[image] for image in shared]]

    def rescore(system: str, images: Sequence[str]) -> Rescore:
        of = tallies[system]
        column = [of[image] for image in images]
        return lambda weights: judged.rescore(column, weights)

    table = np.stack([values(*of) for of in usable.values()])
    return Table(tuple(usable), tuple(shared), judged.names, judged.senses, table, str(agreed.signature), rescore)


def join(tables: Sequence[Table]) -> Table:
    """Criteria of several protocols side by side, for the systems and images that all tables have.

    Errors against a truth and errors of predicted views can then stand in one vector. Names must differ.
    """
    first, *others = tables
    if not others:
        return first
    systems = tuple(name for name in first.systems if all(name in other.systems for other in others))
    common = set(first.images).intersection(*(other.images for other in others))
    images = tuple(sorted(common))
    if not systems or not images:
        raise UsageError(f"{' and '.join(table.signature for table in tables)} share no system and image")
    parts = [table.select(systems=systems, images=images) for table in tables]

    def rescore(system: str, images: Sequence[str]) -> Rescore:
        each = [part.select(images=images).rescore_of(system) for part in parts]
        return lambda weights: np.concatenate([one(weights) for one in each], axis=1)

    return Table(
        systems,
        images,
        tuple(name for part in parts for name in part.criteria),
        tuple(sense for part in parts for sense in part.senses),
        np.concatenate([part.values for part in parts], axis=2),
        " + ".join(part.signature for part in parts),
        rescore,
    )
