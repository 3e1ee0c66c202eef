"""What an audit reads: truths, with or without systems; and the jobs that tally them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperacuity.cli import common
from hyperacuity.errors import UsageError
from hyperacuity.evaluate.inputs import Inputs, told_apart

if TYPE_CHECKING:
    from hyperacuity.audit import AuditProtocol, AuditTally, StrengthTally
    from hyperacuity.run import Cell

Truths = Mapping[str, tuple[Path, ...]]


@dataclass(frozen=True)
class Audited:
    """The labels (a grid with the one system ``labels``) and the systems to evaluate on them."""

    labels: Inputs
    systems: Inputs
    inverted: bool


def audit_inputs(
    truth: str,
    systems: Sequence[str],
    *,
    images: Path | None = None,
    data: Path | None = None,
    split: str | None = None,
) -> Audited:
    """Find the truths of every image, all annotators of each, and the predictions of the systems for them.

    A folder of truths is read by itself: a file with all annotators per image, or a sub-folder per annotator. Where its files
    have other names than the systems' or the photographs' (``NAME_1``, ``NAME_2``), it is paired with those.
    """
    from hyperacuity.data import load_dataset, pair_truths
    from hyperacuity.data.datasets.layouts import LAYOUTS
    from hyperacuity.run import Cell

    folders = common.named_systems(systems)
    path = Path(truth)
    inverted = False
    pictures: dict[str, Path] = {}
    unpaired: list[Path] = []
    if path.exists():
        if split is not None:
            raise UsageError(f"--split {split} is for known data sets; {truth} is a path")
        if not path.is_dir():
            raise UsageError(f"{truth} is a file, expected a folder of truths")
        reference = images or next(iter(folders.values()), None)
        truths, unpaired = _truths_in(path, reference)
        if images is not None:
            pictures = {pair.name: pair.prediction for pair in pair_truths(images, truths, of=truth).pairs}
    elif truth in LAYOUTS:
        dataset = load_dataset(truth, data, split=split)
        inverted = dataset.inverted
        truths = {sample.name: sample.truths for sample in dataset.samples}
        pictures = {sample.name: sample.image for sample in dataset.samples if sample.image is not None}
    else:
        raise UsageError(f"there is no folder {truth}, nor a data set of that name ({', '.join(LAYOUTS)})")
    labels = [Cell("labels", name, files[0], files, picture=pictures.get(name)) for name, files in truths.items()]
    cells: list[Cell] = []
    without: dict[Path, None] = {}
    for name, folder in folders.items():
        found = pair_truths(folder, truths, of=truth)
        cells += [Cell(name, p.name, p.prediction, p.truths, picture=pictures.get(p.name)) for p in found.pairs]
        without.update(dict.fromkeys((*found.unpaired_predictions, *found.unpaired_truths)))
    return Audited(
        labels=Inputs({}, labels, inverted, unpaired),
        systems=Inputs(folders, cells, inverted, list(without)),
        inverted=inverted,
    )


def _truths_in(folder: Path, reference: Path | None) -> tuple[Truths, list[Path]]:
    """The truths of a folder by image, and those that have no image in the reference folder if it had to be asked."""
    from hyperacuity.data import pair_folders, pair_truths
    from hyperacuity.data.datasets.pairing import files_in, stem_of

    places = [folder]
    if not files_in(folder, required=False):
        places = sorted(place for place in folder.iterdir() if place.is_dir())
    named: dict[str, list[Path]] = {}
    for place in places:
        for file in files_in(place, required=False):
            named.setdefault(stem_of(file), []).append(file)
    if not named:
        raise UsageError(f"{folder}: neither the folder nor its sub-folders hold a file")
    truths = {name: tuple(files) for name, files in sorted(named.items())}
    if reference is None:
        return truths, []
    try:
        pair_truths(reference, truths)
    except UsageError:
        found = pair_folders(reference, folder)
        return {pair.name: pair.truths for pair in found.pairs}, list(found.unpaired_truths)
    return truths, []


@dataclass(frozen=True)
class StrengthJob:
    """All annotators of one image, matched with each other."""

    tolerance: float
    inverted: bool = False

    @property
    def signature(self) -> str:
        """The protocol as one line."""
        return f"strength|tol:{self.tolerance:g}diag{'|truth:inverted' if self.inverted else ''}|v:1"

    @property
    def tally_type(self) -> type[StrengthTally]:
        """What :meth:`evaluate` returns."""
        from hyperacuity.audit import StrengthTally

        return StrengthTally

    def evaluate(self, cell: Cell) -> StrengthTally:
        """Count one image."""
        from hyperacuity.audit import strengths
        from hyperacuity.data import read_boundary_truths

        return strengths(read_boundary_truths(cell.truths, inverted=self.inverted), self.tolerance).tally


@dataclass(frozen=True)
class AuditJob:
    """One prediction under all truths of the protocol."""

    protocol: AuditProtocol
    inverted: bool = False

    @property
    def signature(self) -> str:
        """The protocol's; truths read the other way round are told apart, since their files are the same."""
        return told_apart(self.protocol.signature, self.inverted)

    @property
    def tally_type(self) -> type[AuditTally]:
        """What :meth:`evaluate` returns."""
        from hyperacuity.audit import AuditTally

        return AuditTally

    def evaluate(self, cell: Cell) -> AuditTally:
        """Count one image."""
        from hyperacuity.audit import tally_audit
        from hyperacuity.data import read_boundary_truths, read_soft

        truths = read_boundary_truths(cell.truths, inverted=self.inverted)
        return tally_audit(read_soft(cell.prediction), truths, self.protocol, image=cell.image)
