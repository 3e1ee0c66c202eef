"""Figures of the study of Hou, Yuille & Koch (2013), each a file named after the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy import ndimage

from hyperacuity.audit.partial import number_of, partial_labels
from hyperacuity.audit.risk import RiskScore
from hyperacuity.audit.strength import Strengths, strengths
from hyperacuity.audit.trials import RADIUS, Trial, candidates
from hyperacuity.data import Sample, read_boundary_truths, read_image, write_png
from hyperacuity.kinds.contours import ContourKind
from hyperacuity.maps import EdgeMap
from hyperacuity.outputs import output_file
from hyperacuity.report import theme
from hyperacuity.report.charts import audit as charts
from hyperacuity.report.pictures.colours import Picture, plain, rgb
from hyperacuity.report.pictures.layers import as_picture
from hyperacuity.report.pictures.ordering import panel_sheet
from hyperacuity.run import Cell
from hyperacuity_papers.common.saving import boxed, save_both
from hyperacuity_papers.hou2013.charts import learned_chart, risk_chart, sets_chart, venn_chart
from hyperacuity_papers.hou2013.risk_of_trials import PEOPLE, RISK_SIGNATURE, signature_of
from hyperacuity_papers.hou2013.study import NEW, TEST, Hou2013, slug

EXAMPLES = 6
"""Number of photographs in Fig. 2C."""

LARGER = 2
"""Enlargement of a trial."""


def draw_hou2013(study: Hou2013) -> list[Path]:
    """Every figure of the paper that the data allow; charts as SVG and PNG, pictures as PNG, in the study's folder."""
    paths = [path for part in study.audits for path in _of_part(study, part)]
    first = next(iter(study.audits))
    sample = most_annotated(study.samples[first])
    for name, picture in {
        "fig-1-labellers": labellers_sheet(sample),
        "fig-5-labels": truths_sheet(sample, study.protocol.seed),
        **_of_trials(study, first),
    }.items():
        with output_file(study.folder / f"{name}.png") as part:
            write_png(part, picture)
        paths.append(study.folder / f"{name}.png")
    for found in study.retrained:
        signature = next(iter(found.audits.values())).protocol.signature
        paths += save_both(learned_chart(found.audits), study.folder / "fig-8-retrained", str(signature))
    if TEST in study.audits and NEW in study.audits:
        both = {part: study.audits[part] for part in (TEST, NEW)}
        paths += save_both(sets_chart(both), study.folder / "fig-9-old-and-new", str(study.protocol.signature))
    return paths


def draw_risk(score: RiskScore, stem: Path, signature: str = RISK_SIGNATURE) -> list[Path]:
    """Risks by system and mode (Fig. 3 of Hou et al.)."""
    return save_both(risk_chart(score), stem, signature)


def labellers_sheet(sample: Sample) -> Picture:
    """A photograph, what each person drew, and all together, the darker the more people drew it (Fig. 1)."""
    people = strengths(read_boundary_truths(sample.truths))
    panels = [(_read(sample.image), f"image {sample.name}")]
    panels += [(_lines(drawn > 0), f"person {n}") for n, drawn in enumerate(people.drawn_by, 1)]
    panels.append((charts.strength_picture(people), f"all {people.annotators}: the darker, the more people drew it"))
    return panel_sheet([(boxed(picture), text) for picture, text in panels], columns=4)


def truths_sheet(sample: Sample, seed: int = 0) -> Picture:
    """A photograph with its original, consensus and partial labels, the first repeat of the half planes (Fig. 5)."""
    people = strengths(read_boundary_truths(sample.truths))
    maps = people.at_least(0)
    keep = [int(np.count_nonzero(kept)) for kept in people.consensus]
    parts = partial_labels(maps, keep, seed=(seed, number_of(sample.name), 0))
    count = f"{sum(keep):,} of {sum(int(np.count_nonzero(one)) for one in maps):,} pixels"
    panels = [
        (_read(sample.image), f"image {sample.name}"),
        (charts.strength_picture(people), "original labels: the darker, the more people drew it"),
        (charts.strength_picture(_kept(people, people.consensus)), f"consensus labels: {count}"),
        (charts.strength_picture(_kept(people, parts)), f"partial labels: {count}"),
    ]
    return panel_sheet([(boxed(picture), text) for picture, text in panels], columns=2)


def trial_picture(photograph: NDArray[np.uint8], trial: Trial) -> Picture:
    """A trial as people see it, enlarged: both pieces in red, each in a square of high contrast (Fig. 2A)."""
    picture = _enlarged(photograph)
    pen = ImageDraw.Draw(picture)
    for piece in (trial.first, trial.second):
        y, x = (LARGER * (at + 0.5) for at in piece.centre)
        for grow, colour in ((4, "#000000"), (2, "#ffffff")):
            reach = LARGER * (RADIUS + 2) + grow
            pen.rectangle((x - reach, y - reach, x + reach, y + reach), outline=colour, width=3)
        for row, column in piece.pixels:
            left, top = LARGER * column, LARGER * row
            pen.rectangle((left, top, left + LARGER - 1, top + LARGER - 1), fill="#ff1010")
    return np.asarray(picture)


def orphans_picture(photograph: NDArray[np.uint8], orphans: EdgeMap, alarms: EdgeMap) -> Picture:
    """Orphan labels in green and false alarms in red on a faded photograph (Fig. 2C)."""
    grey = photograph if photograph.ndim == 2 else photograph.mean(axis=2)
    picture = plain(orphans.shape, theme.GROUND)
    picture[:] = (120 + grey / 255 * 135).astype(np.uint8)[..., None]
    for marks, colour in ((alarms, theme.FALSE), (orphans, theme.HIT)):
        picture[ndimage.binary_dilation(marks, np.ones((2, 2)))] = rgb(colour)
    return picture


def most_annotated(samples: tuple[Sample, ...]) -> Sample:
    """The first image that most people drew; of the first few dozen, as files are opened to see."""
    return max(samples[:36], key=lambda one: len(read_boundary_truths(one.truths)))


def _of_part(study: Hou2013, part: str) -> Iterator[Path]:
    """The charts that the paper has for its images, for one part of ours."""
    audits, signature = study.audits[part], str(study.protocol.signature)
    for name, chart in {
        "labels": charts.label_chart(study.labels[part]),
        "fig-4-strength": charts.strength_chart(audits),
        "fig-5-curves": charts.label_curves_chart(audits),
        "fig-6-optimal": charts.optimal_chart(audits),
        "fig-7-output": charts.output_chart(audits),
    }.items():
        yield from save_both(chart, study.folder / f"{name}-{slug(part)}", signature)
    if part in study.sets:
        venn = venn_chart(study.sets[part], study.detectors[0])
        yield from save_both(venn, study.folder / f"fig-2b-sets-{slug(part)}", signature)
    for name, found in study.choices[part].items():
        told = signature_of(name, study.observer, PEOPLE, study.protocol.seed)
        yield from draw_risk(found.score, study.folder / f"fig-3-risk-{slug(part)}-{name}", told)


def _of_trials(study: Hou2013, part: str) -> dict[str, Picture]:
    """A hard trial (Fig. 2A), and orphans with false alarms on several photographs (Fig. 2C), both of the first detector."""
    system, reader = study.detectors[0], ContourKind()
    audit = study.audits[part].get(system)
    cells = {cell.image: cell for cell in study.cells[part] if cell.system == system and cell.picture}
    if audit is None or not cells:
        return {}
    benchmark, images = audit.protocol.protocol, _wide(cells) or list(cells)
    panels = []
    for image in images[:: max(1, len(images) // EXAMPLES)][:EXAMPLES]:
        given = reader.read(cells[image], benchmark)
        found = candidates(given.prediction, given.truths, audit.all.ods.threshold, "hard", benchmark)
        orphans = np.logical_or.reduce(found.labels)
        panels.append((orphans_picture(_read(cells[image].picture), orphans, found.false_alarms), f"image {image}"))
    sheets = {"fig-2c-orphans": panel_sheet([(boxed(picture), text) for picture, text in panels])}
    trial = next(
        (one for one in study.trials[part] if (one.system, one.mode) == (system, "hard") and one.image in images), None
    )
    if trial is not None:
        photograph = _read(cells[trial.image].picture)
        alone = np.asarray(_enlarged(photograph))
        panels = [(trial_picture(photograph, trial), "Which piece is stronger?"), (alone, "the photograph alone")]
        sheets["fig-2a-trial"] = panel_sheet(panels, columns=2)
    return sheets


def _wide(cells: Mapping[str, Cell]) -> list[str]:
    """The images that are wider than high, which fill their panels."""

    def is_wide(cell: Cell) -> bool:
        height, width = _read(cell.picture).shape[:2]
        return bool(width > height)

    return [image for image, cell in cells.items() if is_wide(cell)]


def _enlarged(photograph: Picture) -> Image.Image:
    picture = Image.fromarray(photograph)
    return picture.resize((LARGER * picture.width, LARGER * picture.height), Image.Resampling.BICUBIC)


def _read(photograph: Path | None) -> Picture:
    """A photograph in colour, white where there is none."""
    if photograph is None:
        return plain((2, 3), theme.GROUND)
    return np.asarray(as_picture(read_image(photograph)).convert("RGB"))


def _kept(people: Strengths, keep: list[EdgeMap]) -> Strengths:
    """Return the people as if they had drawn only a part, of the strength that it has."""
    return replace(people, drawn_by=tuple(np.where(k, d, 0) for k, d in zip(keep, people.drawn_by, strict=True)))


def _lines(drawn: NDArray[np.bool_]) -> Picture:
    picture = plain(drawn.shape, theme.GROUND)
    picture[ndimage.binary_dilation(drawn, np.ones((3, 3)))] = rgb(theme.INK)
    return picture
