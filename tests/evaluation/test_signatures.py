"""No path from arrays to a printed signature can differ from the protocol that was used."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

import hyperacuity as ha
from hyperacuity import boundary, tasks
from hyperacuity.errors import UsageError
from hyperacuity.kinds.class_maps import SemanticKind
from hyperacuity.kinds.contours import ContourKind, SoftKind
from hyperacuity.kinds.depth import DepthKind
from hyperacuity.kinds.disparity import DisparityKind, ViewKind
from hyperacuity.kinds.occlusion import OcclusionKind
from hyperacuity.kinds.orders import OrderKind
from hyperacuity.kinds.regions import RegionKind
from hyperacuity.tally import Signature

from .conftest import inputs

CHANGES = {
    "boundary": {
        "tolerance": 0.02,
        "thin": False,
        "thresholds": (0.25, 0.5),
        "nms": boundary.Suppression(),
        "precision": "mean",
    },
    "semantic": {
        "tolerance": 0.02,
        "thin": False,
        "thresholds": (0.25, 0.5),
        "truth": "raw",
        "radius": 2.0,
        "instances": False,
        "internal": "drop",
        "absent": "skip",
        "border": 5,
        "half": True,
        "repeated": "higher",
        "classes": ("leaf", "table"),
    },
    "edges": {"names": ("psi",), "thresholds": 11, "thin": "structured", "norm": "none"},
    "regions": {"levels": 50},
    "masks": {
        "tolerance": 0.02,
        "band": 0.01,
        "by": "instance",
        "pair": "iou",
        "extra": "ignore",
        "background": 1,
        "ignore": 255,
        "frames": "inner",
    },
    "ordering": {
        "radius": 5.0,
        "radius_share": 0.01,
        "angle": 30.0,
        "window": 5,
        "cost": "distance+angle",
        "tie": "ignore",
        "truth_tie": "exclude",
        "annotators": "sum",
        "equal_pairs": "exclude",
        "missed_pairs": "literal",
        "same_depth": 0.5,
        "question_tie": "half",
        "cut": "floor",
        "length": "front-pixels",
        "adjacency": 8,
        "middle": "low",
        "reach": 1,
        "aggregate": "mean",
    },
    "occlusion": {
        "tolerance": 0.02,
        "angle": 30.0,
        "thin": False,
        "thresholds": (0.25, 0.5),
        "nms": None,
        "recall": "found",
    },
    "whdr": {"delta": 0.1, "equality": "difference", "aggregate": "mean"},
    "dbe": {"sigma": 1.0, "low": 0.1, "high": 0.2, "reach": 5.0},
    "disparity": {"deltas": (1.0,), "regions": ("all",), "invalid": "skip", "masks": "mixed"},
    "views": {"tolerant": True},
    "audit": {"protocol": boundary.Protocol(thresholds=9), "strengths": (0.0, 1.0), "repeats": 1, "seed": 1},
    "strength": {"tolerance": 0.02, "tolerance_px": 2.0},
}
EVERY = [(task, option) for task, changes in CHANGES.items() for option in changes]


def test_every_option_of_every_benchmark_is_tried():
    assert {task: set(changes) for task, changes in CHANGES.items()} == {
        name: {part.name for part in fields(tasks.task(name).protocol)}
        - {"reading", "nms_of"}  # of systems, not of arrays
        for name in tasks.BUILT_IN
    }


@pytest.mark.parametrize(("name", "option"), EVERY)
def test_an_option_is_told_by_every_signature_and_mixtures_are_refused(name, option):
    task = tasks.task(name)
    prediction, truths, extras = inputs(name)
    changed = replace(task.protocol(), **{option: CHANGES[name][option]})
    expected = changed.signature
    assert expected != task.protocol().signature
    judge, usual = ha.Evaluator(name, {option: CHANGES[name][option]}), ha.Evaluator(name)
    for each in (judge, usual):
        each.update(prediction, truths, **extras)
    score = judge.score(resamples=0)
    signatures = {
        "evaluator": judge.signature,
        "tally": next(iter(judge.tallies.values())).protocol.signature,
        "score": getattr(score, "protocol", changed).signature,
        "parsed": Signature.parse(str(judge.signature)),
        "restored": task.protocol.from_dict(changed.to_dict()).signature,
    }
    assert set(signatures.values()) == {expected}, signatures
    if not extras:
        result = ha.evaluate(name, [prediction], [truths], protocol=changed)
        assert result.signature == expected
        if name != "audit":  # whose table is of labels and systems together
            assert result.json()["signature"] == str(expected)
            printed = [line for line in str(result).splitlines() if "|v:" in line]
            assert printed == [str(expected)]
    mine, other = next(iter(judge.tallies.values())), next(iter(usual.tallies.values()))
    with pytest.raises(UsageError, match="different protocols"):
        task.collect({"a": mine, "b": other})
    with pytest.raises(UsageError, match="different protocols"):
        mine + other
    with pytest.raises(UsageError, match="different protocols"):
        judge.merge(usual)
    with pytest.raises(UsageError, match="different protocols"):
        judge.add(other)
    assert len(judge.tallies) == 1


def test_masks_that_are_derived_and_masks_that_are_given_do_not_mix():
    prediction, truth, extras = inputs("disparity")
    judge = ha.Evaluator("disparity")
    judge.update(prediction, truth)
    assert "masks:derived" in str(judge.signature)
    assert judge.score().protocol.signature == judge.signature
    with pytest.raises(UsageError, match="masks is derived in one and given in the other"):
        judge.update(prediction, truth, **extras)
    with pytest.raises(UsageError, match=r"^the protocol derives the masks, but some were given"):
        ha.Evaluator("disparity", masks="derived").update(prediction, truth, **extras)


def test_questions_on_other_regions_are_another_protocol():
    prediction, truths, _ = inputs("ordering")
    labels = inputs("regions")[1][:1]
    judge, own = ha.Evaluator("ordering"), ha.Evaluator("ordering")
    judge.update(prediction, truths, regions=labels)
    own.update(prediction, truths)
    assert judge.signature == own.signature.with_parts(regions="given")
    with pytest.raises(UsageError, match="regions is given in one and missing in the other"):
        judge.update(prediction, truths)
    judge.reset()
    judge.update(prediction, truths, regions=labels, on_regions=True)
    assert judge.signature == own.signature.with_parts(regions="given,transfer")
    with pytest.raises(UsageError, match="different protocols"):
        judge.merge(own)


READINGS = [
    (SoftKind(), {}),
    (SoftKind(invert_prediction=True), {"prediction": "inverted"}),
    (SoftKind(value_range=(0.0, 0.1 + 0.2)), {"range": "0,0.30000000000000004"}),
    (SoftKind(force=True), {"checks": "off"}),
    (ContourKind(invert_truth=True, force=True), {"truth": "inverted", "checks": "off"}),
    (RegionKind(form="ucm"), {"from": "ucm"}),
    (RegionKind(form="soft", invert_prediction=True), {"from": "soft", "prediction": "inverted"}),
    (SemanticKind(truth_as="labels"), {"truth-as": "labels"}),
    (SemanticKind(first_label=0), {"first-label": 0}),
    (SemanticKind(ignore_label=254), {"ignore-label": 254}),
    (DepthKind(), {}),
    (DepthKind(farther=True), {"farther": "pred"}),
    (DepthKind(zero_unknown=True), {"zero": "unknown"}),
    (OcclusionKind(direction="tangent"), {"direction": "tangent"}),
    (OcclusionKind(truth_direction="tangent"), {"truth-direction": "tangent"}),
    (OrderKind(), {"regions": "truth"}),
    (OrderKind(given=True, level=0.12341, transfer=True), {"regions": "given,level0.12341,transfer"}),
    (OrderKind(farther="pred"), {"regions": "truth", "farther": "pred"}),
    (DisparityKind(), {}),
    (DisparityKind(scale=4.0), {"scale": "4"}),
    (DisparityKind(truth_scale=0.5), {"truth-scale": "0.5"}),
    (DisparityKind(zero="unknown"), {"zero": "unknown"}),
    (ViewKind(), {}),
    (ViewKind(scale=4.0, truth_scale=8.0), {"scale": "4"}),
]


@pytest.mark.parametrize(("reader", "said"), READINGS, ids=lambda one: type(one).__name__)
def test_how_files_are_read_is_told_by_the_signature(reader, said):
    assert {name: value for name, value in reader.reading().items() if value is not None} == said
