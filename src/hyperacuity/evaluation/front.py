"""The front door: folders, files, arrays or iterables of them on one side, truths on the other, a result between them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from hyperacuity.cards.against import CardEntry, CardLike, CompatibleCards, card_entries, compatible_cards
from hyperacuity.cards.digests import TruthDigests, digests_of_cells
from hyperacuity.console import printable
from hyperacuity.data.datasets.layouts import LAYOUTS
from hyperacuity.errors import InputError, UsageError
from hyperacuity.evaluation import in_memory
from hyperacuity.evaluation.result import Result
from hyperacuity.kinds import Inputs, kind_of
from hyperacuity.kinds.finding import name_of, named_systems
from hyperacuity.run import EXPECTED, Spool, fill_grid, open_run, open_store
from hyperacuity.run.jobs import TaskJob, agreed, job_for, sort_options
from hyperacuity.tally import BaseProtocol
from hyperacuity.tasks import Task
from hyperacuity.tasks import task as find_task

SAMPLE = 10
"""Predictions of a system that are looked at before it is decided how they are treated."""

DATA = "data"
"""The key of a run's metadata for the name of the data set."""


def evaluate(
    task: str,
    predictions: Any,
    truths: Any,
    *,
    protocol: Any = None,
    run: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    human: bool = False,
    all_pairs: bool = False,
    against: CardLike | Iterable[CardLike] | None = None,
    strict: bool = False,
    progress: bool = True,
    **options: Any,
) -> Result:
    """Score systems by a benchmark.

    Parameters
    ----------
    task
        The benchmark: ``"boundary"``, ``"edges"``, ``"regions"``, ``"masks"``, ``"ordering"``, ``"disparity"`` …
    predictions
        A folder or file, an array, an iterable of arrays (one per image, asked for as they are counted), or a mapping of images
        to arrays; of several systems, a mapping of names to any of these.
    truths
        A folder, a file, the name of a known data set (``"bsds500"``, with ``data=`` where it lies); or arrays in the way of the
        predictions, for each image one or a list of annotators'.
    protocol
        A protocol, the name of one, or a mapping of options; by default the benchmark's own.
    run
        A folder that keeps every tally, so that an interrupted run is resumed, and reports can be made of it. For files only.
    workers, cluster
        Threads (by default one per processor), or the address of a Dask cluster.
    human, all_pairs
        Whether the table has people's score too, and whether systems are tested in all pairs or only against the best.
    against
        Cards of other systems (:mod:`hyperacuity.cards`), values or files, that become rows beside those evaluated here, with
        the paired test over the images that both have; ``"all"`` is every card of the package that fits. A card of another
        protocol or other truths is a ``UsageError`` that says what differs.
    strict
        Whether files without a partner are an error.
    options
        Options of the protocol (``tolerance=0.02``) and of how files are found and read (``data=``, ``split=``, ``glob=``;
        ``invert_prediction=``, ``invert_truth=``, ``value_range=``, ``force=`` of boundary and edge maps; ``regions=``,
        ``farther=`` of ordering; ``masks=``, ``scale=`` of disparity; ``form=`` of regions; ``truth_as=``, ``first_label=``,
        ``ignore_label=`` of semantic).

    A file or array that cannot be right fails alone (``result.failures``); a call that makes no sense raises ``UsageError``.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((32, 32), bool)
    >>> truth[16] = True
    >>> result = evaluate("boundary", {"good": [truth * 0.9], "bad": [truth.T * 0.9]}, [truth], progress=False)
    >>> result.score("good").ods.f > result.score("bad").ods.f
    True
    """
    known, others = find_task(task), [] if against is None else card_entries(against)
    kind = kind_of(known)
    finding, changes = sort_options(known, options)
    chosen = agreed(known, protocol, changes)
    shown: Any = {"workers": workers, "human": human, "all_pairs": all_pairs}
    if isinstance(predictions, Mapping) and not predictions:
        raise UsageError("there is no system to evaluate")
    if not isinstance(truths, str | os.PathLike):
        for_files = [name for name, given in (("run", run), ("cluster", cluster)) if given is not None]
        if for_files := [*for_files, *finding]:
            raise UsageError(f"{', '.join(for_files)}: for files only, but these truths are in memory")
        arrays = in_memory.sorted_arrays(kind, predictions, truths)
        return in_memory.evaluate_arrays(known, chosen, *arrays, against=others, **shown)
    named: Mapping[str, Any] = predictions if isinstance(predictions, Mapping) else {"": predictions}
    if not all(isinstance(given, str | os.PathLike) for given in named.values()):
        raise UsageError("the truths are files, so the predictions must be files or folders too")
    systems = {name or name_of(Path(given)): given for name, given in named.items()} if "" in named else named
    inputs = kind.find(named_systems(systems), truths if isinstance(truths, str) else Path(truths), **finding)
    inputs.data = name_of_data(truths, finding.get("split"))
    how: Any = {"run": None if run is None else Path(run), "cluster": cluster, "progress": progress, "strict": strict}
    return evaluate_inputs(known, inputs, chosen, against=others, **how, **shown)


def evaluate_inputs(
    task: Task[Any, Any, Any],
    inputs: Inputs,
    protocol: Any,
    *,
    run: Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    against: Sequence[CardEntry] = (),
    progress: bool = True,
    strict: bool = False,
    **shown: Any,
) -> Result:
    """Score what was found. Tallies go to the run folder, or else to a temporary file, and are read a system at a time.

    With ``strict``, files without a partner are a ``UsageError``, as are cards ``against`` which nothing can be compared; both
    before anything is counted. ``shown`` (``human``, ``all_pairs``) is as in :func:`evaluate`.
    """
    if strict and (gaps := inputs.gaps()):
        raise UsageError(f"{gaps[0]} (`strict=True`)")
    complete = inputs.agree(protocol).completed(
        inputs.systems, lambda system: _first_predictions(inputs, system, protocol)
    )
    job = job_for(task, complete, inputs.kind)
    others = _compatible(against, job, inputs, workers, protocol)
    spool = Spool() if run is None else None
    expected = {EXPECTED: {system: inputs.expected(system) for system in inputs.systems}, DATA: inputs.data}
    with nullcontext() if run is None else open_store(run, metadata=expected) as store:
        filled = fill_grid(job, inputs, store=store, spool=spool, workers=workers, cluster=cluster, progress=progress)

    def tallies_of(system: str) -> dict[str, Any]:
        if spool is not None:
            return spool.tallies(system, task.tally_type, job.protocol)
        assert run is not None  # noqa: S101  # one of the two was opened
        with open_run(run) as records:
            return records.tallies(str(job.protocol.signature), system, task.tally_type, job.protocol)

    about: Any = {"failures": filled.failures, "inputs": inputs, "run": run, "workers": workers, "compatible": others}
    return Result(job, inputs.sweeps, tallies_of, **about, **shown)


def _compatible(
    against: Sequence[CardEntry], job: TaskJob, inputs: Inputs, workers: int | None, asked: BaseProtocol
) -> CompatibleCards | None:
    """The cards that fit, as rows."""
    if not against:
        return None
    cells = {cell.image: cell for cell in inputs.images()}

    def truths_of(images: list[str]) -> dict[str, TruthDigests]:
        return digests_of_cells(job, [cells[image] for image in images], workers=workers)

    return compatible_cards(against, job, {*inputs.sweeps, *inputs.systems}, cells, truths_of, asked=asked)


def name_of_data(truths: Any, split: str | None = None) -> str:
    """The name of a data set: its own and its part, or that of the folder or file.

    >>> name_of_data("bsds500", "test"), name_of_data("data/mine/truth")
    ('bsds500 test', 'truth')
    """
    name = str(truths) if str(truths) in LAYOUTS else printable(Path(truths).name)
    return f"{name} {split}" if split else name


def _first_predictions(inputs: Inputs, system: str, protocol: Any) -> Iterator[Any]:
    """The first predictions of a system that can be read."""
    for cell in inputs.of(system)[:SAMPLE]:
        with suppress(InputError):  # fails its own cell
            yield inputs.kind.prediction(cell, protocol)
