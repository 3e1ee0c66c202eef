"""Cards of results: every benchmark's numbers come back to the last digit, and a card's system is a row like the others."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

import hyperacuity as ha
from hyperacuity import boundary, tasks
from hyperacuity.cards import About, against, digest_of, parsed, written
from hyperacuity.cards.checking import as_json
from hyperacuity.cards.making import redact_paths
from hyperacuity.console import wide_console
from hyperacuity.data import write_png
from hyperacuity.errors import InputError, UsageError
from hyperacuity.evaluation.result_cards import result_of_card, show_scores
from hyperacuity.kinds import kind_of
from hyperacuity.tally import plain

from .conftest import inputs

IMAGES = 3
FEW = {
    "boundary": {"thresholds": 9},
    "semantic": {"thresholds": 3},
    "occlusion": {"thresholds": 9},
    "regions": {"levels": 9},
}
FEW |= {
    "audit": {"protocol": {"protocol": boundary.Protocol(thresholds=5), "repeats": 1}},
    "edges": {"names": ("psi",), "thresholds": 9},
}


def given(task):
    """Two systems and truths: the second sees the images of the first in another order, or one pixel more, or all equal."""
    found = [inputs(task, seed) for seed in range(IMAGES)]
    one, truths = [prediction for prediction, _, _ in found], [truth for _, truth, _ in found]
    if not kind_of(tasks.task(task)).prediction_is:
        return {"one": None}, truths
    two = [more + 1 for more in one] if task in ("disparity", "views") else [*one[1:], one[0]]
    two = [0 * nearer + 1 for nearer in one] if task == "whdr" else two
    return {"one": one, "two": two}, truths


@functools.cache
def evaluated(task):
    return ha.evaluate(task, *given(task), **FEW.get(task, {}))


def again(card):
    return parsed(written(card), "a.card")


def values(score):
    """A score as text that has every digit of every number."""
    if is_dataclass(score):
        return {part.name: values(getattr(score, part.name)) for part in fields(score) if part.name != "protocol"}
    if isinstance(score, Mapping):
        return {str(key): values(one) for key, one in score.items()}
    if isinstance(score, np.ndarray | np.generic):
        return repr(score.tolist())
    return [values(one) for one in score] if isinstance(score, Sequence) and not isinstance(score, str) else repr(score)


@pytest.mark.parametrize("task", tasks.BUILT_IN)
def test_scores_intervals_and_p_values_come_back_to_the_last_digit(task):
    result = evaluated(task)
    assert not result.failures
    card, tallies = again(result.card("one")), list(result.tallies("one").values())
    assert list(card.tallies.values()) == [replace(one, protocol=card.protocol) for one in tallies]
    assert json.dumps(values(card.score)) == json.dumps(values(result.score("one")))
    overall = result.task.criteria(result.protocol).overall(tallies).tolist()
    assert repr(list(card.numbers.values())) == repr(overall)
    if len(result.systems) > 1:
        systems, truths = given(task)
        beside = ha.evaluate(task, {"two": systems["two"]}, truths, against=card, **FEW.get(task, {}))
        assert sorted(beside.systems) == ["one", "two"]
        assert repr(beside.verdicts) == repr(result.verdicts)
        assert values(beside.score("one")) == values(result.score("one"))
        assert beside.signature == result.signature


def test_a_cards_system_is_a_row_of_the_table_and_of_json():
    systems, truths = given("boundary")
    card = again(evaluated("boundary").card("one"))
    result = ha.evaluate("boundary", {"mine": systems["two"]}, truths, against=[card], thresholds=9)
    whole = ha.evaluate("boundary", {"mine": systems["two"], "one": systems["one"]}, truths, thresholds=9)
    assert str(result) == f"{whole}\none: from a card, {card.digest[:16]}"
    found = result.json()
    assert found["against"] == {
        "one": {"system": "one", "digest": card.digest, "data": card.fingerprint, "images": IMAGES}
    }
    assert {**found, "against": None} == {**whole.json(), "against": None}
    assert result.card("one") is card
    assert result.compare().systems == whole.compare().systems


def test_a_name_that_is_taken_says_that_it_is_a_cards():
    systems, truths = given("edges")
    card = again(evaluated("edges").card("one"))
    result = ha.evaluate("edges", {"one": systems["one"]}, truths, against=[card], **FEW["edges"])
    assert result.systems == ["one", "one (card)"]
    assert result.verdicts["psi"][0].p == 1, "the same maps"


def test_another_protocol_is_refused_with_what_differs_part_by_part():
    systems, truths = given("boundary")
    card = evaluated("boundary").card("one")
    said = r"^the card of one: was scored under another protocol, .*: tol is 0.0075diag on the card and 0.02diag here; thr is 9"
    with pytest.raises(UsageError, match=said):
        ha.evaluate("boundary", systems, truths, against=card, tolerance=0.02, thresholds=19)
    with pytest.raises(UsageError, match="task is boundary on the card and edges here"):
        ha.evaluate("edges", systems, truths, against=card)


def test_other_truths_are_refused_with_the_annotators_that_differ():
    systems, truths = given("boundary")
    card = evaluated("boundary").card("one")
    other = [list(people) for people in truths]
    other[1][1] = other[1][1].copy()
    other[1][1][0, 0] ^= True
    said = rf"^the card of one: was scored against other truths: truth of 2 differs: annotator 2 of {len(other[1])}$"
    with pytest.raises(UsageError, match=said):
        ha.evaluate("boundary", systems, other, against=card, thresholds=9)
    other[0] = other[0][:-1]
    count = len(truths[0])
    with pytest.raises(
        UsageError, match=rf"truth of 1 differs: {count} annotators on the card, {count - 1} here, and 1 more image"
    ):
        ha.evaluate("boundary", systems, other, against=card, thresholds=9)
    with pytest.raises(UsageError, match=r"has no image in common .*: 1, 2, 3 on the card, a here"):
        ha.evaluate("boundary", {"a": systems["one"][0]}, {"a": truths[0]}, against=card, thresholds=9)


def test_images_that_only_one_side_has_are_told_and_left_out_of_the_test(caplog):
    systems, truths = given("edges")
    card = evaluated("edges").card("one")
    caplog.set_level("INFO")
    few = {str(n): truths[n - 1] for n in (1, 2)}
    result = ha.evaluate(
        "edges", {"mine": {n: systems["two"][int(n) - 1] for n in few}}, few, against=card, **FEW["edges"]
    )
    assert "the card of one: has 3 images, here are 2: tests are over the 2 that both have" in caplog.text
    assert result.verdicts["psi"][0].images == 2


def test_systems_treated_each_in_its_own_way_take_cards_that_were():
    systems, truths = given("boundary")
    suppressed = ha.evaluate("boundary", systems, truths, thresholds=9, nms_of={"one": "structured"})
    card = again(suppressed.card("one"))
    assert dict(card.signature.parts)["nms"] == "structured-s1-r1"
    assert dict(again(suppressed.card("two")).signature.parts)["nms"] == "none"
    with pytest.raises(UsageError, match="nms is structured-s1-r1 on the card and none here"):
        ha.evaluate("boundary", {"two": systems["two"]}, truths, against=card, thresholds=9)
    mixed = ha.evaluate("boundary", {"two": systems["two"]}, truths, against=card, thresholds=9, nms="auto")
    assert dict(mixed.signature.parts)["nms"] == "none,one=structured-s1-r1"
    assert repr(mixed.verdicts) == repr(suppressed.verdicts)
    assert "structured-s1-r1" in str(mixed)
    same = ha.evaluate("boundary", {"two": systems["two"]}, truths, against=card, thresholds=9, nms="structured")
    assert same.systems == ["two", "one"]


def test_people_have_a_card_that_is_the_row_of_people():
    systems, truths = given("boundary")
    people = ha.evaluate("boundary", {"one": systems["one"]}, truths, thresholds=9, human=True)
    card = again(people.card(people=True))
    assert (card.system, card.people, values(card.score)) == ("people", True, values(people.people))
    result = ha.evaluate("boundary", {"one": systems["one"]}, truths, thresholds=9, against=card)
    assert str(result) == str(people)
    with pytest.raises(UsageError, match="edges does not hold annotators against each other"):
        evaluated("edges").card(people=True)


def test_a_card_of_the_package_goes_by_its_name_and_similar_ones_are_named():
    (entry,) = against.card_entries("middlebury-v2-sgm")
    assert (entry.card.system, entry.optional) == ("sgm", False)
    with pytest.raises(UsageError, match="there is no card sgm; with the package come middlebury-v2-sgm"):
        against.card_entries(["sgm"])
    with pytest.raises(InputError, match="no-such-card: cannot be read"):
        against.card_entries("no-such-card")


def test_all_are_the_cards_of_the_package_that_fit(monkeypatch, tmp_path, caplog):
    cards = {"fits": evaluated("edges").card("one"), "other": evaluated("boundary").card("one")}
    systems, truths = given("edges")
    cards["apart"] = ha.evaluate("edges", {"one": systems["one"]}, truths, names=("psi",), thresholds=3).card()
    for name, card in cards.items():
        (tmp_path / f"{name}.card").write_bytes(written(card))
    monkeypatch.setattr(against, "shipped", lambda: sorted(tmp_path.iterdir()))
    caplog.set_level("INFO")
    result = ha.evaluate("edges", {"mine": systems["two"]}, truths, against="all", **FEW["edges"])
    assert result.systems == ["mine", "one"]
    assert "left out: apart.card: was scored under another protocol" in caplog.text
    assert "other.card" not in caplog.text, "which is of another benchmark"


KINDS = {
    "edges": ("edge map", lambda path, truth: write_png(path.with_suffix(".png"), np.uint8(truth[0] * 255))),
    "masks": ("label map", lambda path, truth: write_png(path.with_suffix(".png"), np.uint8(truth))),
    "regions": ("segmentation", lambda path, truth: np.save(path.with_suffix(".npy"), truth[0])),
    "ordering": ("order map", lambda path, truth: np.save(path.with_suffix(".npy"), truth[0])),
    "disparity": ("disparity map", lambda path, truth: np.save(path.with_suffix(".npy"), truth)),
    "semantic": ("class truth", lambda path, truth: write_png(path.with_suffix(".png"), np.uint8(truth))),
}


@pytest.mark.parametrize("task", KINDS)
def test_a_truth_has_one_digest_from_files_and_from_memory(task, tmp_path):
    write = KINDS[task][1]
    prediction, truth, _ = inputs(task)
    for folder in ("maps", "truth"):
        (tmp_path / folder).mkdir()
    write(tmp_path / "truth/a", truth)
    np.save(tmp_path / "maps/a.npy", prediction)
    truth = truth[:1] if task in ("edges", "regions", "ordering") else truth
    files = ha.evaluate(task, tmp_path / "maps", tmp_path / "truth", progress=False, **FEW.get(task, {}))
    arrays = ha.evaluate(task, {"a": prediction}, {"a": truth}, **FEW.get(task, {}))
    assert not files.failures
    one, other = again(files.card()), again(arrays.card())
    assert one.truths == other.truths
    if task != "semantic":  # whose files have classes that the arrays do not name
        assert one.signature == other.signature
        beside = ha.evaluate(task, {"mine": {"a": prediction}}, {"a": truth}, against=one, **FEW.get(task, {}))
        assert beside.systems == ["mine", "maps"]


@pytest.fixture
def orders(tmp_path):
    """An ordering system at two values of a parameter, of which 0.5 is the better one; truths, and regions to ask about."""
    for folder in ("mine/0.1", "mine/0.5", "truth", "regions"):
        (tmp_path / folder).mkdir(parents=True)
    for n in range(2):
        order, (truth,), _ = inputs("ordering", 2 * n)
        np.save(tmp_path / f"mine/0.1/{n}.npy", order[::-1])
        np.save(tmp_path / f"mine/0.5/{n}.npy", order)
        np.save(tmp_path / f"truth/{n}.npy", truth)
        np.save(tmp_path / f"regions/{n}.npy", (np.indices(truth.shape).sum(axis=0) // 40).astype(np.int32))
    return tmp_path


def test_a_system_with_a_parameter_has_a_card_of_its_best_value(orders):
    result = ha.evaluate("ordering", orders / "mine", orders / "truth", progress=False)
    card = again(result.card())
    assert card.system == "mine/0.5"
    assert card.score.accuracy == result.score().accuracy
    kept = ha.evaluate("ordering", orders / "mine", orders / "truth", run=orders / "run", progress=False)
    assert kept.card().truths == card.truths
    assert kept.card().tallies == card.tallies
    assert kept.card().made.data == "truth"


def test_regions_that_are_asked_about_are_part_of_what_a_card_is_scored_against(orders):
    def evaluate(**options):
        return ha.evaluate(
            "ordering", orders / "mine/0.5", orders / "truth", regions=orders / "regions", progress=False, **options
        )

    card = evaluate().card()
    assert [len(digests) for digests in card.truths.values()] == [2, 2]
    assert evaluate(against=card).systems == ["0.5", "0.5 (card)"]
    np.save(orders / "regions/1.npy", np.eye(80, 64, dtype=np.int32))
    with pytest.raises(UsageError, match=r"truth of 1 differs: the regions that are asked about$"):
        evaluate(against=card)


def test_one_mask_is_the_same_truth_whatever_its_label():
    mask = np.zeros((20, 20), bool)
    mask[5:12, 5:12] = True
    cards = [ha.evaluate("masks", mask, truth).card() for truth in (mask, np.uint8(mask * 255), mask * 7)]
    assert len({card.fingerprint for card in cards}) == 1
    apart = [ha.evaluate("masks", mask, truth, by="label").card() for truth in (mask, mask * 7)]
    assert len({card.fingerprint for card in apart}) == 2


def test_a_digest_is_of_what_is_counted():
    truth = inputs("boundary")[1][0]
    card = ha.evaluate("boundary", {"a": truth * 0.5}, {"a": truth * 3.0}, thresholds=3).card(about=About("T"))
    assert card.truths == {"a": (digest_of(truth),)}
    assert card.about.title == "T"


def test_a_card_prints_as_its_result_does():
    result = evaluated("boundary")
    systems, truths = given("boundary")
    alone = ha.evaluate("boundary", {"one": systems["one"]}, truths, thresholds=9)
    assert str(result_of_card(again(result.card("one")))) == str(alone)
    assert plain(result_of_card(result.card("one")).json()) == plain(alone.json())


@pytest.mark.parametrize("task", ["audit", "edges", "masks", "strength", "views"])
def test_a_card_of_any_benchmark_can_be_shown(task):
    text = io.StringIO()
    card = again(evaluated(task).card("one"))
    show_scores(card, wide_console(text))
    assert str(card.signature) in text.getvalue()
    assert json.loads(json.dumps(plain(as_json(card))))["system"] == "one"


@pytest.mark.parametrize(
    ("command", "redacted"),
    [
        ("/usr/bin/hyperacuity boundary /home/me/my\\ maps bsds500", "hyperacuity boundary 'my maps' bsds500"),
        ("/x/src/hyperacuity/__main__.py edges maps truth --run=/tmp/r", "hyperacuity edges maps truth --run=r"),
        ("hyperacuity masks s3://key:secret@bucket/maps/ C:\\\\data\\\\truth", "hyperacuity masks maps truth"),
        ("hyperacuity boundary 'unfinished", ""),
    ],
)
def test_a_command_is_redacted_of_where_files_lie(command, redacted):
    assert redact_paths(command) == redacted
