"""Fig. 8 of Hou, Yuille & Koch (2013): ``pb`` learned from all labels and from those that everyone drew, both tested on both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from hyperacuity.audit import AuditProtocol, SystemAudit, collect_audit
from hyperacuity.data import Sample, load_dataset
from hyperacuity.detect.pb_detector import CUES, PbModel, detect_from, gradients, load_model
from hyperacuity.errors import UsageError, option
from hyperacuity.kinds.contours import ContourKind
from hyperacuity.maps import SoftMap
from hyperacuity.outputs import output_file, output_folder
from hyperacuity.run.jobs import job_for
from hyperacuity.run.keeping import code_key, file_digest, keep_files, key_of
from hyperacuity.run.many import Failures, failures_of, tally_cells
from hyperacuity.systems.maps import detect_samples
from hyperacuity.tasks import task
from hyperacuity.train.drawings import bsds500_drawn, evenly
from hyperacuity.train.pb import TRUTHS, LearnedPb, PbTrainingConfig, learn_pb


@dataclass(frozen=True, eq=False)
class PbLabels:
    """The models by what they were learned from, what they score, and what failed."""

    learned: dict[str, LearnedPb]
    audits: dict[str, SystemAudit]
    failures: Failures

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""
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
    config: PbTrainingConfig,
    workers: int | None,
) -> PbLabels:
    """Learn from BSDS500's training images that are not reserved and test on its test images; models and maps go to ``folder``.

    ``truth`` is one of :data:`~hyperacuity.train.pb.TRUTHS`, by default both; ``train`` and ``test`` are how many
    images are used, evenly chosen, by default all.
    """
    if truth is not None and truth not in TRUTHS:
        raise UsageError(f"{option('truth', truth)}: expected all or consensus")
    learned = learn_pb(bsds500_drawn(data, train), TRUTHS if truth is None else (truth,), config, workers)
    # Tested is what was written, rounded as it is.
    models = {}
    for name, one in learned.items():
        file = folder / f"pb-{name}.json"
        with output_file(file) as part:
            one.model.save(part)
        models[f"pb, {name} labels"] = load_model(file)
    if test == 0:
        return PbLabels(learned, {}, [])
    samples = evenly(load_dataset("bsds500", data, split="test").samples, test)
    folders = {f"pb, {name} labels": output_folder(folder / "maps" / f"pb-{name}") for name in learned}
    audits, failures = _tested(models, samples, folders, None, config.seed, workers)
    return PbLabels(learned, audits, failures)


@dataclass(frozen=True, eq=False)
class RetrainedPb:
    """``pb`` learned from all labels and from consensus labels: models and scores by what they were learned from.

    ``train`` and ``test`` are how many images it was learned from and tested on.
    """

    models: dict[str, PbModel]
    audits: dict[str, SystemAudit]
    train: int
    test: int
    failures: Failures

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""
        scores = {
            name: {
                "weights": dict(zip(("constant", *CUES), self.models[name].weights.tolist(), strict=True)),
                "all": audit.all.ods.f,
                "ci": audit.all.ods.interval,
                "consensus": audit.consensus.ods.f,
                "consensus_ci": audit.consensus.ods.interval,
            }
            for name, audit in self.audits.items()
        }
        return {"train": self.train, "test": self.test, "learned from": scores}


def retrain_pb(
    folder: Path,
    samples: Sequence[Sample],
    *,
    data: Path | None,
    train: int | None = None,
    config: PbTrainingConfig,
    run: Path | None = None,
    workers: int | None = None,
) -> RetrainedPb:
    """Learn ``pb`` from BSDS500's training images that are not reserved, from both kinds of labels, and test on ``samples``.

    Models and maps lie in ``folder`` and are reused; a model that was learned otherwise is learned again.
    """
    drawings = bsds500_drawn(data, train)
    count = len(drawings.pictures)
    files = {truth: folder / f"pb-{truth}-{count}.json" for truth in TRUTHS}

    def learn(parts: Sequence[Path]) -> None:
        learned = learn_pb(drawings, TRUTHS, config, workers)
        for truth, part in zip(TRUTHS, parts, strict=True):
            learned[truth].model.save(part)

    given = [(one.inverted, *map(file_digest, (one.image, *one.truths))) for one in drawings.pictures]
    keep_files(list(files.values()), key_of(code_key(learn_pb.__module__), config, drawings.source, given), learn)
    models = {truth: load_model(file) for truth, file in files.items()}
    folders = {truth: output_folder(folder / "maps" / f"pb-{truth}-{count}") for truth in TRUTHS}
    audits, failures = _tested(models, samples, folders, run, config.seed, workers)
    return RetrainedPb(models, audits, count, len(samples), failures)


def _tested(
    models: Mapping[str, PbModel],
    samples: Sequence[Sample],
    folders: Mapping[str, Path],
    run: Path | None,
    seed: int,
    workers: int | None,
) -> tuple[dict[str, SystemAudit], Failures]:
    """The models' scores on all, consensus and partial labels; with a ``run``, maps and tallies are reused."""

    def see(image: NDArray[Any], names: Sequence[str]) -> dict[str, SoftMap]:
        cues = gradients(image, models[names[0]].textons)  # the same for all: so are the textons
        return {name: detect_from(cues, models[name].weights).thin for name in names}

    keys = {name: key_of(code_key(detect_from.__module__), *vars(model).values()) for name, model in models.items()}
    cells, failed = detect_samples(samples, folders, see, workers, keys=None if run is None else keys)
    protocol = AuditProtocol(strengths=(0, 1), repeats=1, seed=seed)
    outcome = tally_cells(job_for(task("audit"), protocol, ContourKind()), cells, run, workers)
    audits = {name: collect_audit(found) for name, found in outcome.tallies.items() if found}
    return audits, [*failed, *failures_of(outcome)]
