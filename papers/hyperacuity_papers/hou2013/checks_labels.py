"""Checks of what Hou, Yuille & Koch (2013) claim of labels alone: who drew them, and how they agree."""

from __future__ import annotations

from hyperacuity.audit.strength import LabelScore
from hyperacuity_papers.common.claims import Finding, NotRunError, drawn, expect, incomparable, near
from hyperacuity_papers.hou2013.checks import ILLUSTRATION, NEEDS, ON_SCENES, first_part
from hyperacuity_papers.hou2013.label_agreement import LabelAgreement
from hyperacuity_papers.hou2013.study import NEW, OLD, SCENES, TEST, TRAIN, Hou2013

POINTS = 0.2

"""Tolerance of label shares, in points of per cent: Berkeley's matching is partly random, and 34 of 1667 maps are not here."""

IMAGES = {OLD: 300, TRAIN: 200, TEST: 100, NEW: 200}

"""Number of images of each part in the paper."""


def labels_of(study: Hou2013, part: str) -> LabelScore:
    if part not in study.labels:
        raise NotRunError(NEEDS)
    return study.labels[part]


def label_share(study: Hou2013, part: str, kind: str, published: float) -> Finding:
    """A share of the labels, in per cent."""
    share = 100 * getattr(labels_of(study, part).boundaries, kind)
    if (count := len(study.labels[part].images)) < IMAGES[part]:
        return incomparable(f"{share:.2f} %", f"of {count} of the {IMAGES[part]} images")
    return near(share, published, within=POINTS, digits=2, unit=" %")


def recognised(study: Hou2013) -> Finding:
    """Find the part of BSDS300 whose orphan share is 31.39 %."""
    found = {part: 100 * labels_of(study, part).boundaries.orphan for part in (TRAIN, TEST, OLD)}
    if len(study.labels[OLD].images) < IMAGES[OLD]:
        return incomparable(f"{found[TEST]:.2f} %", f"of {len(study.labels[TEST].images)} of the {IMAGES[TEST]} images")
    nearest = min(found, key=lambda part: abs(found[part] - 31.39))
    text = ", ".join(f"{part} {share:.2f} %" for part, share in found.items())
    holds = nearest == TEST and abs(found[TEST] - 31.39) <= POINTS
    return expect(holds, f"{text}: that of the test half", "no half of BSDS300 has this share")


def counted(study: Hou2013, part: str) -> Finding:
    """Count the images of a part."""
    return near(len(labels_of(study, part).images), IMAGES[part], within=0, digits=0)


def maps_drawn(study: Hou2013) -> Finding:
    """Count the maps of BSDS300."""
    count = sum(labels_of(study, OLD).annotators)
    because = "BSDS500's files of the same 300 images hold fewer than BSDS300's own"
    return near(count, 1667, within=0, digits=0) if count == 1667 else incomparable(str(count), because)


def perfect_matches(study: Hou2013) -> Finding:
    """Count the images on which all people agree."""
    part = OLD if OLD in study.labels else next(iter(study.labels))
    shares = [shares.consensus for shares in study.labels[part].by_image.values()]
    text = f"{sum(share == 1 for share in shares)} of {len(shares)} images; the best has {100 * max(shares):.0f} % consensus"
    if part == SCENES:
        return incomparable(text, ON_SCENES)
    return expect(max(shares) < 1, text, "there is one")


def people(study: Hou2013) -> Finding:
    """Count the people who are named as annotators of BSDS300."""
    if not study.segmenters:
        raise NotRunError(
            "BSDS500's files do not name the annotators, and bsds-fg, which does for 150 images, is not here"
        )
    names = set().union(*study.segmenters.values())
    because = f"bsds-fg names who drew {len(study.segmenters)} of the 300 images; BSDS500's files name nobody"
    return incomparable(f"{len(names)} of 28", because)


def _agreement(study: Hou2013) -> tuple[str, LabelAgreement]:
    return next(iter(study.agreement.items()))


def refined(study: Hou2013) -> Finding:
    """Check that dense labels refine sparse ones: they contradict them less than half as often as by chance."""
    part, found = _agreement(study)
    error, chance = (100 * share for share in found.contradicted)
    text = (
        f"{part}, {found.pairs} pairs of people: {error:.1f} % of the denser segmentation's regions lie outside of the sparser "
        f"one's, {chance:.1f} % if that one is turned upside down"
    )
    if part == SCENES:
        return incomparable(text, ON_SCENES)
    return expect(error < chance / 2, text, "half as often as by chance or more")


def on_edges(study: Hou2013) -> Finding:
    """Measure how much of people's lines has an edge nearby."""
    part, found = _agreement(study)
    near, chance = (100 * share for share in found.on_edges)
    text = (
        f"{part}: {near:.0f} % within the tolerance of an edge of the masks [−1 0 1], {chance:.0f} % turned upside down"
    )
    because = "an impression, without a number; and our edges, those above Rosin's threshold, leave out faint and texture edges"
    return incomparable(text, because)


def two_largest(study: Hou2013) -> Finding:
    """Check that orphans are the most frequent labels, and consensus labels next."""
    found = labels_of(study, OLD)
    middle = {name: found.by_strength[n, 0] for n, name in ((2, "[0.4, 0.6)"), (3, "[0.6, 0.8)"), (4, "[0.8, 1)"))}
    orphan, consensus = found.boundaries.orphan, found.boundaries.consensus
    text = f"orphan {100 * orphan:.1f} %, consensus {100 * consensus:.1f} %, " + ", ".join(
        f"{name} {100 * share:.1f} %" for name, share in middle.items()
    )
    return expect(orphan > consensus > max(middle.values()), text, "they are not the two largest")


def figure_1(study: Hou2013) -> Finding:
    """Count the people who drew the pictures."""
    people = study.labels[first_part(study)].annotators
    text = f"{min(people)} to {max(people)} maps of a picture"
    return incomparable(drawn(study, "fig-1-labellers.png", text), ILLUSTRATION)


def figure_5_labels(study: Hou2013) -> Finding:
    """Measure how much of the labels is left."""
    left = 100 * study.labels[first_part(study)].pixels.consensus
    text = f"{left:.0f} % of the pixels that people drew are consensus, and as many are partial labels"
    return incomparable(drawn(study, "fig-5-labels.png", text), ILLUSTRATION)
