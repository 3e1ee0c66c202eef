"""The experiments of Hou, Yuille & Koch (2013), Beyond F-measures, on the Berkeley data sets."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from hyperacuity.audit.benchmark import AuditProtocol, AuditTally, Change, SystemAudit, collect_audit, ranking_changes
from hyperacuity.audit.strength import LabelScore, StrengthProtocol, collect_strengths
from hyperacuity.data import Sample, find_data, load_dataset, pair_truths
from hyperacuity.detect import detector, split_names
from hyperacuity.errors import InputError
from hyperacuity.evaluation.audit_inputs import LABELS
from hyperacuity.evaluation.audits import AuditFindings
from hyperacuity.evaluation.jobs import job_for
from hyperacuity.evaluation.readers.contours import ContourReader, LabelReader
from hyperacuity.maps import SoftMap
from hyperacuity.run import Cell
from hyperacuity.studies.running import Failures, failures_of, tally_cells, write_csv
from hyperacuity.studies.system_maps import detect_samples, map_folders
from hyperacuity.tasks import task

UCM = "gPb-ucm"

PUBLISHED = {
    "pb": 0.65,
    "ucm": 0.67,
    "mincover": 0.65,
    "bel": 0.66,
    "gpb": 0.70,
    "xren": 0.67,
    "nmx": 0.71,
    "ccut": 0.45,
    "scg": 0.71,
}
"""F of the paper's Table 1, on the test set of BSDS300; the text says 0.6482 of pB and 0.7143 of SCG."""

RISKS = {"hard": 0.5017, "easy": 0.1082}
"""Mean risks of the paper."""

OLD, OLD_TEST, NEW = "BSDS300", "BSDS300 test", "new 200"
"""The parts of the data: the whole of BSDS300, its test set, and the 200 images that BSDS500 adds."""


@dataclass(frozen=True)
class PaperNumber:
    """A number of the paper and what it is here. A paper that has it in a figure only, or data that do not allow it: None."""

    quantity: str
    paper: float | None
    here: float | None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Hou2013:
    """Everything found: scores of the labels by part, audits by part and system, and the paper's numbers beside ours.

    ``changes`` are those of the order of the systems on the new images; ``label_cells`` are these images' labels.
    """

    protocol: AuditProtocol
    labels: dict[str, LabelScore]
    audits: dict[str, dict[str, SystemAudit]]
    changes: list[Change]
    table: list[PaperNumber]
    label_cells: list[Cell]
    failures: Failures

    @property
    def audit(self) -> AuditFindings:
        """The audit of the new images."""
        return AuditFindings(self.protocol.signature, self.labels[NEW], self.audits[NEW], self.changes)

    def write_table(self, path: Path) -> Path:
        """Write the paper's numbers beside ours as a CSV file."""
        return write_csv(path, [{**vars(row), "here": number_text(row.here, "")} for row in self.table])


def hou2013(
    folder: Path,
    *,
    data: Path | None = None,
    detectors: str = "pb,hk,sf5,canny,sobel",
    further: Mapping[str, Path] | None = None,
    count: int | None = None,
    seed: int = 0,
    workers: int | None = None,
) -> Hou2013:
    """Audit labels and systems on BSDS300 and on the 200 images that BSDS500 added.

    Maps and the run go to ``folder``, where both are resumed. ``further`` are systems with maps of the new images, by default
    gPb-ucm where it comes with BSDS500; ``count`` takes the first images of each part only.
    """
    parts = _parts(data, count)
    protocol = AuditProtocol(seed=seed)
    run = folder / "run"
    failures: Failures = []
    labels: dict[str, LabelScore] = {}
    for name in (OLD, NEW):
        job = job_for(task("strength"), StrengthProtocol(), LabelReader())
        drawn = tally_cells(job, _label_cells(parts[name]), run, workers)
        failures += failures_of(drawn)
        if not drawn.tallies[LABELS]:
            raise InputError(f"no image of {name} could be read")
        labels[name] = collect_strengths(drawn.tallies[LABELS])
    chosen = {str(found): found for found in map(detector, split_names(detectors))}

    def see(image: NDArray[Any], names: Sequence[str]) -> dict[str, SoftMap]:
        return {name: chosen[name](image).thin for name in names}

    cells: dict[str, list[Cell]] = {}
    for name in (OLD_TEST, NEW):
        folders = map_folders(chosen, folder / "maps" / name.replace(" ", "-").lower())
        cells[name], failed = detect_samples(parts[name], folders, see, workers, reuse=True)
        failures += failed
    cells[NEW] = [*_further_cells(further or _shipped_systems(data), parts[NEW]), *cells[NEW]]
    audits: dict[str, dict[str, SystemAudit]] = {}
    tallies: dict[str, dict[str, AuditTally]] = {}
    for name, grid in cells.items():
        outcome = tally_cells(job_for(task("audit"), protocol, ContourReader()), grid, run, workers)
        failures += failures_of(outcome)
        tallies = {system: found for system, found in outcome.tallies.items() if found}
        audits[name] = {system: collect_audit(found) for system, found in tallies.items()}
    return Hou2013(
        protocol,
        labels,
        audits,
        ranking_changes(audits[NEW], tallies),  # the last part: the new images
        paper_table(labels, audits),
        _label_cells(parts[NEW]),
        failures,
    )


def paper_table(labels: Mapping[str, LabelScore], audits: Mapping[str, Mapping[str, SystemAudit]]) -> list[PaperNumber]:
    """Every number of the paper that the data allow, beside what it is here."""
    old, new = labels[OLD], labels[NEW]
    fewer, other = "BSDS500's files of the same images hold fewer", "31.39 in the paper's section 3"
    rows = [
        PaperNumber("BSDS300: images", 300, len(old.images)),
        PaperNumber("BSDS300: boundary maps", 1667, sum(old.annotators), fewer),
        PaperNumber("BSDS300: orphan share of boundaries, %", 29.40, 100 * old.boundaries.orphan, other),
        PaperNumber("BSDS300: consensus share of boundaries, %", 28.99, 100 * old.boundaries.consensus),
        PaperNumber("200 new images: orphan share of boundaries, %", 30.58, 100 * new.boundaries.orphan),
        PaperNumber("200 new images: consensus share of boundaries, %", 30.15, 100 * new.boundaries.consensus),
    ]
    systems = audits[NEW]
    for name, audit in systems.items():
        rows += _scores_of(name, audit, audits[OLD_TEST].get(name))
    rows += _drops(audits[OLD_TEST], "BSDS300's test set")
    rows += _drops(systems, "200 new images")
    behind = _mean([a.consensus.ods.f - a.partial_f["halfplane"][0] for a in systems.values()])
    rows.append(PaperNumber("F on consensus minus F on partial labels (halfplane): mean", None, behind, '"no better"'))
    rows += _old_against_new(audits[OLD_TEST], systems)
    needs = "needs people: hyperacuity audit --trials, then hyperacuity study risk"
    rows += [PaperNumber(f"mean risk, {mode}", paper, None, needs) for mode, paper in RISKS.items()]
    return rows


def number_text(value: float | None, missing: str = "–") -> str:
    """A number with four significant digits, a count in full."""
    return missing if value is None else f"{value:d}" if isinstance(value, int) else f"{value:.4g}"


def _scores_of(name: str, audit: SystemAudit, old: SystemAudit | None) -> Iterator[PaperNumber]:
    """The numbers of one system: under each truth on the new images, and on BSDS300's test set where it was run."""
    known, note = _published(name)
    if old is not None:
        yield PaperNumber(f"{name}: F on BSDS300's test set, all labels", known, old.all.ods.f, note.rstrip("; "))
        yield PaperNumber(f"{name}: F on BSDS300's test set, consensus labels", None, old.consensus.ods.f)
        known, note = None, ""
    elif known is not None:
        note += "on BSDS300's test set"
    yield PaperNumber(f"{name}: F on the 200 new images, all labels", known, audit.all.ods.f, note)
    yield PaperNumber(f"{name}: F on the 200 new images, consensus labels", None, audit.consensus.ods.f)
    for kind, (mean, _) in audit.partial_f.items():
        yield PaperNumber(f"{name}: F on the 200 new images, partial labels ({kind})", None, mean)
    behind = audit.consensus.ods.f - audit.partial_f["halfplane"][0]
    says = "below 0 in the paper" if name == "pb" else ""
    yield PaperNumber(f"{name}: F on consensus minus F on partial labels (halfplane)", None, behind, says)
    yield PaperNumber(f"{name}: rank correlation of output and strength", None, audit.output.spearman, '"rather weak"')


def _published(name: str) -> tuple[float | None, str]:
    """The paper's F of a system, and what to know about it."""
    if name == UCM:
        return PUBLISHED["gpb"], "gPB in the paper, before the ucm; "
    return PUBLISHED.get(name.lower()), "the authors' own in the paper; " if name == "pb" else ""


def _drops(audits: Mapping[str, SystemAudit], where: str) -> Iterator[PaperNumber]:
    """What precision and recall lose when only consensus labels count (Fig. 4)."""
    many = f"on BSDS300's test set in the paper, mean of 9 systems; of {len(audits)} here"
    for measure, paper in (("precision", 28.7), ("recall", 9.0)):
        ends = [(getattr(a.all.ods, measure), getattr(a.consensus.ods, measure)) for a in audits.values()]
        share = _mean([100 * (first - last) / first for first, last in ends if first])
        points = _mean([100 * (first - last) for first, last in ends])
        note = many if points is None else f"{many}; {points:.1f} points"
        yield PaperNumber(f"drop of {measure} from all to consensus labels, {where}, %", paper, share, note)


def _old_against_new(old: Mapping[str, SystemAudit], new: Mapping[str, SystemAudit]) -> list[PaperNumber]:
    """Do the 200 new images give other scores than BSDS300's test set (Fig. 9)?"""
    both = [name for name in old if name in new]
    pairs = [(getattr(new[name], truth), getattr(old[name], truth)) for name in both for truth in ("all", "consensus")]
    differences = [ours.ods.f - theirs.ods.f for ours, theirs in pairs]
    note = f"gPB and SCG in the paper; {', '.join(both)} here" if both else "no system on both"
    spread = statistics.stdev(differences) if len(differences) > 1 else None
    what = "F on the 200 new images minus F on BSDS300's test set"
    return [
        PaperNumber(f"{what}: mean", 0.028, _mean(differences), note),
        PaperNumber(f"{what}: deviation", 0.0058, spread, note),
    ]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _parts(data: Path | None, count: int | None) -> dict[str, tuple[Sample, ...]]:
    train, test, new = (
        load_dataset(name, data, split=split).samples[:count]
        for name, split in (("bsds300", "train"), ("bsds300", "test"), ("bsds500", "test"))
    )
    return {OLD: (*train, *test), OLD_TEST: test, NEW: new}


def _shipped_systems(data: Path | None) -> dict[str, Path]:
    """The results of gPb-owt-ucm beside BSDS500, where they exist."""
    folder = find_data("bsds500", data) / "ucm2" / "test"
    return {UCM: folder} if folder.is_dir() else {}


def _label_cells(samples: Sequence[Sample]) -> list[Cell]:
    return [Cell(LABELS, one.name, one.truths[0], one.truths, picture=one.image) for one in samples]


def _further_cells(systems: Mapping[str, Path], samples: Sequence[Sample]) -> list[Cell]:
    truths = {one.name: one.truths for one in samples}
    return [
        Cell(name, pair.name, pair.prediction, pair.truths)
        for name, folder in systems.items()
        for pair in pair_truths(folder, truths, of="bsds500").pairs
    ]
