"""Fig. 8 of Hou, Yuille & Koch (2013): ``pb`` learned from all labels and from those that everyone drew, both tested on both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from hyperacuity.audit import AuditProtocol, SystemAudit, collect_audit
from hyperacuity.console import output_folder
from hyperacuity.data import load_dataset
from hyperacuity.detect.pb_detector import detect_from, gradients, load_model
from hyperacuity.errors import UsageError
from hyperacuity.evaluation.jobs import job_for
from hyperacuity.evaluation.readers.contours import ContourReader
from hyperacuity.maps import SoftMap
from hyperacuity.studies.running import Failures, failures_of, tally_cells
from hyperacuity.studies.system_maps import detect_samples
from hyperacuity.studies.training import TRUTHS, LearnedPb, PbCourse, bsds500_drawn, evenly, learn_pb
from hyperacuity.tasks import task


@dataclass(frozen=True, eq=False)
class PbLabels:
    """The models by what they were learned from, what they score, and what failed."""

    learned: dict[str, LearnedPb]
    audits: dict[str, SystemAudit]
    failures: Failures

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        scores = {
            name: {
                "all": audit.all.ods.f,
                "ci": audit.all.ods.interval,
                "consensus": audit.consensus.ods.f,
                "consensus_ci": audit.consensus.ods.interval,
                "partial": {kind: f for kind, (f, _) in audit.partial_f.items()},
                "images": len(audit.all.images),
            }
            for name, audit in self.audits.items()
        }
        return {"models": {name: one.as_dict() for name, one in self.learned.items()}, "scores": scores}

    def rows(self) -> list[tuple[str, ...]]:
        """Model, images, F on all labels and on consensus labels with intervals, and F on partial labels, as text."""
        found = []
        for name, audit in self.audits.items():
            both = (audit.all.ods, audit.consensus.ods)
            cells = [cell for of in both for cell in (f"{of.f:.4f}", f"{of.interval[0]:.3f} – {of.interval[1]:.3f}")]
            found.append((name, str(len(audit.all.images)), *cells, f"{audit.partial_f['halfplane'][0]:.4f}"))
        return found


def pb_labels(
    folder: Path,
    *,
    data: Path | None,
    truth: str | None,
    train: int | None,
    test: int | None,
    course: PbCourse,
    workers: int | None,
) -> PbLabels:
    """Learn from BSDS500's training images that are not reserved and test on its test images; models and maps go to ``folder``.

    ``truth`` is one of :data:`~hyperacuity.studies.training.TRUTHS`, by default both; ``train`` and ``test`` are how many
    images are used, evenly chosen, by default all.
    """
    if truth is not None and truth not in TRUTHS:
        raise UsageError(f"--truth {truth}: expected all or consensus")
    learned = learn_pb(bsds500_drawn(data, train), TRUTHS if truth is None else (truth,), course, workers)
    # Tested is what was written, rounded as it is.
    models = {
        f"pb, {name} labels": load_model(one.model.save(folder / f"pb-{name}.json")) for name, one in learned.items()
    }
    if test == 0:
        return PbLabels(learned, {}, [])

    def see(image: NDArray[Any], names: Sequence[str]) -> dict[str, SoftMap]:
        cues = gradients(image, models[names[0]].textons)  # the same for all: so are the textons
        return {name: detect_from(cues, models[name].weights).thin for name in names}

    samples = evenly(load_dataset("bsds500", data, split="test").samples, test)
    folders = {f"pb, {name} labels": output_folder(folder / "maps" / f"pb-{name}") for name in learned}
    cells, failed = detect_samples(samples, folders, see, workers, reuse=False)
    protocol = AuditProtocol(strengths=(0, 1), repeats=1, seed=course.seed)
    outcome = tally_cells(job_for(task("audit"), protocol, ContourReader()), cells, None, workers)
    audits = {name: collect_audit(found) for name, found in outcome.tallies.items() if found}
    return PbLabels(learned, audits, [*failed, *failures_of(outcome)])
