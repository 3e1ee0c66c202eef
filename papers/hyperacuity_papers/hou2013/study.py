"""The experiments of Hou, Yuille & Koch (2013), Beyond F-measures, on the Berkeley data sets or, without these, on scenes."""

from __future__ import annotations

import importlib.util
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from hyperacuity.audit.benchmark import AuditProtocol, AuditTally, Change, SystemAudit, collect_audit, ranking_changes
from hyperacuity.audit.observer import Observer
from hyperacuity.audit.risk import Risk, RiskScore, risk
from hyperacuity.audit.strength import LabelScore, StrengthProtocol, collect_strengths
from hyperacuity.audit.trials import Mode, Trial, write_trials
from hyperacuity.data import Sample, find_data, load_dataset, pair_truths
from hyperacuity.data.datasets.bsds import segmenters
from hyperacuity.data.scenes import write_scenes
from hyperacuity.detect import Detector, detector, split_names
from hyperacuity.errors import InputError, UsageError
from hyperacuity.evaluation.audits import AuditFindings, draw_trials
from hyperacuity.kinds.contours import LABELS, ContourKind, LabelKind
from hyperacuity.machine import processors
from hyperacuity.maps import SoftMap
from hyperacuity.outputs import output_folder
from hyperacuity.resampling import PairedResult
from hyperacuity.run import Cell
from hyperacuity.run.jobs import job_for
from hyperacuity.run.keeping import code_key
from hyperacuity.run.many import Failures, each, failures_of, tally_cells
from hyperacuity.systems.maps import detect_samples, map_folders
from hyperacuity.tasks import task
from hyperacuity.train.pb import PbTrainingConfig
from hyperacuity_papers.hou2013.control import consensus_over_partial
from hyperacuity_papers.hou2013.gpb import GLOBAL, global_maps
from hyperacuity_papers.hou2013.label_agreement import LabelAgreement, label_agreement
from hyperacuity_papers.hou2013.pb_labels import RetrainedPb, retrain_pb
from hyperacuity_papers.hou2013.risk_of_trials import answers_through
from hyperacuity_papers.hou2013.sets import SetSizes, set_sizes

log = logging.getLogger(__name__)

UCM = "gPb-ucm (authors)"
"""The maps that the authors of gPb-owt-ucm distribute with BSDS500."""

TRAINED = 50
"""Number of images that pb learns from again, evenly chosen from the 100 that may be learned from."""

DETECTORS = "gpb,gpb-ucm,pb,sf5,canny"
OBSERVERS = "net,pb,sf1"
"""Through what simulated people look: a network that knows what people draw, local cues, and contrast alone."""

OLD, TRAIN, TEST, NEW, SCENES = "BSDS300", "BSDS300 train", "BSDS300 test", "new 200", "scenes"
"""The parts of the data: BSDS300, its halves (the paper's own images are those of the second), and what BSDS500 adds."""

SEEN: Mapping[str, tuple[str, ...]] = {"net": (TEST,)}
"""Parts whose labels a detector has learned from, and where it is no observer: the network knows BSDS500's val."""

NOISES = (0.05, 0.1, 0.2)
"""Noise of the simulated observers: the middle one is reported, the others show how much depends on it."""

N_SCENES = 12
"""Scenes that stand in for photographs where there are none."""


@dataclass(frozen=True, eq=False)
class Choices:
    """Choices of simulated observers: risks, the number of answers, and the mean risk of each mode for other noises."""

    score: RiskScore
    answers: int
    by_noise: dict[float, dict[Mode, Risk]]


class Seconds(NamedTuple):
    """Time that something took: by the clock, and of the processors."""

    clock: float
    processor: float


@dataclass(frozen=True, eq=False)
class Hou2013:
    """All results, by part of the data: labels; systems under all truths, and changes of their order; forced choices.

    ``agreement`` is how labels lie to each other and to edges, ``segmenters`` who drew the images of which names are known, and
    ``stronger`` how much better each system is on consensus labels than on partial ones.
    ``choices`` are by part and observer; ``sets`` are those of the first detector (Fig. 2B). ``cells`` are what systems drew,
    ``samples`` the images of each part. ``seconds`` are those of this run by what was done; what lay in the folder was reused.
    ``notes`` say what was left out.
    """

    folder: Path
    protocol: AuditProtocol
    observer: Observer
    detectors: tuple[str, ...]
    samples: dict[str, tuple[Sample, ...]]
    labels: dict[str, LabelScore] = field(default_factory=dict)
    agreement: dict[str, LabelAgreement] = field(default_factory=dict)
    segmenters: dict[str, frozenset[str]] = field(default_factory=dict)
    cells: dict[str, list[Cell]] = field(default_factory=dict)
    audits: dict[str, dict[str, SystemAudit]] = field(default_factory=dict)
    changes: dict[str, list[Change]] = field(default_factory=dict)
    stronger: dict[str, dict[str, PairedResult]] = field(default_factory=dict)
    trials: dict[str, list[Trial]] = field(default_factory=dict)
    choices: dict[str, dict[str, Choices]] = field(default_factory=dict)
    sets: dict[str, SetSizes] = field(default_factory=dict)
    retrained: list[RetrainedPb] = field(default_factory=list)
    seconds: dict[str, Seconds] = field(default_factory=dict)
    failures: Failures = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def audit(self, part: str) -> AuditFindings:
        """The audit of a part on which systems were run."""
        return AuditFindings(self.protocol.signature, self.labels[part], self.audits[part], self.changes[part])

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Note the seconds that something takes."""
        start, work = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.seconds[what] = Seconds(time.perf_counter() - start, time.process_time() - work)


def hou2013(
    folder: Path,
    *,
    data: Path | None = None,
    detectors: str = DETECTORS,
    further: Mapping[str, Path] | None = None,
    observers: str = OBSERVERS,
    noise: float = NOISES[1],
    lapse: float = 0.02,
    count: int | None = None,
    train: int | None = TRAINED,
    seed: int = 0,
    stand_in: bool = False,
    workers: int | None = None,
) -> Hou2013:
    """Audit labels and systems on the paper's own images and on the 200 images that BSDS500 added.

    Maps, models and the run go to ``folder``, where all are resumed. ``further`` are systems by their folders of maps, of either
    part or both, by default gPb-ucm where it comes with BSDS500; ``observers`` are the detectors that simulated people look
    through; ``count`` takes the first images of each part only, ``train`` so many of those that ``pb`` learns from.

    Without the data sets it runs on scenes; ``UsageError`` where ``data`` names a folder without them, unless scenes may
    stand in.
    """
    samples = _parts(data, folder, count, stand_in=stand_in)
    chosen = {str(found): found for found in map(detector, split_names(detectors))}
    if not chosen:
        raise UsageError("`names=''` names no detector; for example `names='pb,canny'`")
    study = Hou2013(folder, AuditProtocol(seed=seed), Observer(noise, lapse), tuple(chosen), samples)
    if SCENES in samples:
        study.notes.append("BSDS500 was not found: run on scenes with simulated annotators")
    study.notes.extend(
        f"{part} was not found and is left out" for part in (TEST, NEW) if not {part, SCENES} & set(samples)
    )
    eyes = _usable_observers(observers, study)
    with study.timed("labels"):
        _read_labels(study, workers)
        with suppress(UsageError):
            study.segmenters.update(segmenters(find_data("bsds-fg", data)))
    for part in (part for part in (TEST, NEW, SCENES) if part in samples):
        looking = {name: one for name, one in eyes.items() if part not in SEEN.get(one.base, ())}
        with study.timed(f"detectors, {part}"):
            folders = _detect(study, part, {**chosen, **looking}, list(chosen), workers)
        study.cells[part][:0] = _further_cells(further or _shipped_systems(data), samples[part])
        with study.timed(f"benchmarks, {part}"):
            _benchmark(study, part, workers)
        with study.timed(f"forced choice, {part}"):
            _measure_sets(study, part, next(iter(chosen)), workers)
            _let_choose(study, part, {name: folders[name] for name in looking}, seed, workers)
    if further and not any(cell.system in further for cells in study.cells.values() for cell in cells):
        raise UsageError(
            f"{', '.join(further)}: none of the maps has the name of an image of {' or '.join(study.cells)}"
        )
    if TEST in samples:
        with study.timed("retraining pb"):
            _retrain(study, data, train, workers)
    return study


def slug(part: str) -> str:
    """A part's name as part of a file's.

    >>> slug("BSDS300 test")
    'bsds300-test'
    """
    return part.replace(" ", "-").lower()


def _read_labels(study: Hou2013, workers: int | None) -> None:
    """Score the labels of each part, and of BSDS300 as a whole."""
    job = job_for(task("strength"), StrengthProtocol(), LabelKind())
    tallies: dict[str, dict[str, Any]] = {}
    for part, samples in study.samples.items():
        cells = [Cell(LABELS, one.name, one.truths[0], one.truths, picture=one.image) for one in samples]
        drawn = tally_cells(job, cells, study.folder / "run", workers)
        study.failures.extend(failures_of(drawn))
        tallies[part] = dict(drawn.tallies[LABELS])
        if not tallies[part]:
            raise InputError(f"no image of {part} could be read")
    if TRAIN in tallies and TEST in tallies:
        tallies[OLD] = tallies[TRAIN] | tallies[TEST]
    study.labels.update({part: collect_strengths(found) for part, found in tallies.items()})
    part = TEST if TEST in study.samples else next(iter(study.samples))
    readable = [one for one in study.samples[part] if one.name in tallies[part]]
    study.agreement[part] = label_agreement(readable, workers)


def _detect(
    study: Hou2013, part: str, chosen: Mapping[str, Detector], systems: Sequence[str], workers: int | None
) -> dict[str, Path]:
    """Write the maps of detectors and observers; the folders of all, the cells of the systems among them."""

    def see(image: NDArray[Any], names: Sequence[str]) -> dict[str, SoftMap]:
        shared = global_maps(image, [name for name in names if name in GLOBAL])
        return {name: shared[name] if name in shared else chosen[name](image).thin for name in names}

    folders = map_folders(chosen, study.folder / "maps" / slug(part))
    keys = dict.fromkeys(folders, code_key(detector.__module__))
    cells, failed = detect_samples(study.samples[part], folders, see, workers, keys=keys)
    study.cells[part] = [cell for cell in cells if cell.system in systems]
    study.failures.extend(failed)
    return folders


def _benchmark(study: Hou2013, part: str, workers: int | None) -> None:
    """Every system under all truths."""
    job = job_for(task("audit"), study.protocol, ContourKind())
    position = {one.name: number for number, one in enumerate(study.samples[part])}
    # Systems of an image share its truths, so they come one after the other; there are as many images at a time as threads.
    group = workers or processors()
    by_image = sorted(study.cells[part], key=lambda cell: position[cell.image] // group)
    outcome = tally_cells(job, by_image, study.folder / "run", workers)
    study.failures.extend(failures_of(outcome))
    tallies: dict[str, dict[str, AuditTally]] = {}
    for cell in study.cells[part]:
        if cell.image in outcome.tallies[cell.system]:
            tallies.setdefault(cell.system, {})[cell.image] = outcome.tallies[cell.system][cell.image]
    audits = each(collect_audit, tallies.values(), workers, "scores")
    study.audits[part] = dict(zip(tallies, audits, strict=True))
    study.changes[part] = ranking_changes(study.audits[part], tallies)
    stronger = each(consensus_over_partial, tallies.values(), workers, "consensus and partial labels")
    study.stronger[part] = dict(zip(tallies, stronger, strict=True))


def _measure_sets(study: Hou2013, part: str, system: str, workers: int | None) -> None:
    """Measure people's labels, a system's detections at its best threshold, and their overlap, over all images of a part."""
    audit = study.audits[part].get(system)
    if audit is None:
        return

    def sizes(cell: Cell) -> SetSizes:
        given = ContourKind().read(cell, audit.protocol.protocol)
        return set_sizes(given.prediction, given.truths, audit.all.ods.threshold, audit.protocol.protocol)

    cells = [cell for cell in study.cells[part] if cell.system == system and cell.image in audit.all.images]
    study.sets[part] = SetSizes(*map(sum, zip(*each(sizes, cells, workers, "sets"), strict=True)))


def _let_choose(study: Hou2013, part: str, eyes: Mapping[str, Path], seed: int, workers: int | None) -> None:
    """Draw the trials, write them, and let each simulated observer answer those of the other systems."""
    reader = ContourKind()
    trials, skips = draw_trials(study.cells[part], reader, study.audits[part], seed, workers, progress=True)
    write_trials(output_folder(study.folder / "trials" / slug(part)), trials, skips)
    study.trials[part], study.choices[part] = trials, {}
    for name, folder in eyes.items():
        judged = [trial for trial in trials if trial.system != name]
        if not judged:
            continue
        seen = {image: reader.soft(folder / f"{image}.png") for image in sorted({trial.image for trial in judged})}
        answers = {
            noise: answers_through(name, judged, seen, Observer(noise, study.observer.lapse), seed=seed)
            for noise in dict.fromkeys((study.observer.noise, *NOISES))
        }
        scores = {noise: risk(judged, given) for noise, given in answers.items()}
        by_noise = {noise: scores[noise].mean for noise in sorted(scores)}
        noise = study.observer.noise
        study.choices[part][name] = Choices(scores[noise], len(answers[noise]), by_noise)


def _retrain(study: Hou2013, data: Path | None, train: int | None, workers: int | None) -> None:
    """Fig. 8, on the paper's own images; left out where there is nothing to learn from."""
    run, models = study.folder / "run", output_folder(study.folder / "pb")
    try:
        found = retrain_pb(
            models, study.samples[TEST], data=data, train=train, config=PbTrainingConfig(), run=run, workers=workers
        )
    except UsageError as error:
        study.notes.append(f"pb was not learned again: {error}")
        return
    study.failures.extend(found.failures)
    study.retrained.append(found)


def _usable_observers(names: str, study: Hou2013) -> dict[str, Detector]:
    found = {str(one): one for one in map(detector, split_names(names))}
    for name, one in list(found.items()):
        if one.base == "net" and importlib.util.find_spec("onnxruntime") is None:
            study.notes.append("the observer net was left out: it needs onnxruntime (extra see)")
            del found[name]
    return found


def _parts(
    data: Path | None, folder: Path, count: int | None, *, stand_in: bool = False
) -> dict[str, tuple[Sample, ...]]:
    """The images of each part that is there; scenes where none is."""
    wanted = {TRAIN: ("bsds300", "train"), TEST: ("bsds300", "test"), NEW: ("bsds500", "test")}
    found: dict[str, tuple[Sample, ...]] = {}
    missing: list[UsageError] = []
    for part, (name, split) in wanted.items():
        try:
            found[part] = load_dataset(name, data, split=split).samples[:count]
        except UsageError as error:
            missing.append(error)
    found = {part: samples for part, samples in found.items() if samples}
    if TEST in found or NEW in found:
        return found
    if data is not None and not stand_in:
        raise missing[0] if missing else UsageError(f"{data}: holds no image of BSDS300's or BSDS500's test set")
    scenes = folder / SCENES
    write_scenes(output_folder(scenes), range(1, N_SCENES + 1), size=(240, 160), leaves=16)
    return {SCENES: load_dataset("scenes", scenes).samples[:count]}


def _shipped_systems(data: Path | None) -> dict[str, Path]:
    """The results of gPb-owt-ucm that come with BSDS500, if any."""
    with suppress(UsageError):
        folder = find_data("bsds500", data) / "ucm2" / "test"
        return {UCM: folder} if folder.is_dir() else {}
    return {}


def _further_cells(systems: Mapping[str, Path], samples: Sequence[Sample]) -> list[Cell]:
    """Find the cells of further systems on these images; none if their maps are of others."""
    truths = {one.name: one.truths for one in samples}
    pictures = {one.name: one.image for one in samples}
    cells = []
    for name, folder in systems.items():
        with suppress(UsageError):
            pairs = pair_truths(folder, truths, of="the data set").pairs
            cells += [Cell(name, one.name, one.prediction, one.truths, picture=pictures[one.name]) for one in pairs]
    return cells
