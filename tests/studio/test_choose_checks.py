"""Attention checks: nothing but the answer tells them from trials, whatever a script measures of what it is sent."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from hyperacuity.audit.trials import Candidates, Segment, Trial, draw_trial, read_trials, shuffled, write_trials
from hyperacuity.data import write_png
from hyperacuity.detect.gradient import canny
from hyperacuity.kernels.thinning import thin
from hyperacuity.studio.choose.plan import Design, draw_plan, inconspicuous
from hyperacuity.studio.choose.trials import as_dict, load_study

HEIGHT, WIDTH = 110, 150
TRIALS, OTHERS = 36, 24


def draw_leaves(rng):
    """A picture of leaves that lie on each other, and their outlines: many edges, some flat places."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    labels = np.zeros((HEIGHT, WIDTH), int)
    for leaf in range(1, 7):
        row, column, angle = rng.uniform(0, HEIGHT), rng.uniform(0, WIDTH), rng.uniform(0, np.pi)
        down, across = rows - row, columns - column
        along = down * np.cos(angle) + across * np.sin(angle)
        aside = across * np.cos(angle) - down * np.sin(angle)
        labels[(along / rng.uniform(10, 45)) ** 2 + (aside / rng.uniform(10, 45)) ** 2 < 1] = leaf
    shades = rng.permutation(np.linspace(20, 235, 7))
    picture = (shades[labels] + rng.normal(size=labels.shape)).clip(0, 255).astype(np.uint8)
    outlines = np.zeros(labels.shape, bool)
    outlines[:-1] |= labels[:-1] != labels[1:]
    outlines[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    return np.repeat(picture[..., None], 3, axis=2), thin(outlines)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """Trials as ``audit`` draws them, one per photograph, and further photographs without any."""
    folder = tmp_path_factory.mktemp("world")
    for name in ("photos", "more", "trials"):
        (folder / name).mkdir()
    trials = []
    for number in range(TRIALS + OTHERS):
        picture, outlines = draw_leaves(np.random.default_rng(number))
        name = f"leaves-{number:03d}"
        write_png(folder / "more" / f"{name}.png", picture)
        if number < TRIALS:
            write_png(folder / "photos" / f"{name}.png", picture)
            found = canny(picture, sigma=1.0).thin
            drawn = draw_trial(
                Candidates(thin(found > 0.1), [outlines]), image=name, system="canny", mode="hard", seed=number
            )
            assert isinstance(drawn, Trial)
            trials.append(drawn)
    write_trials(folder / "trials", shuffled(trials))
    return folder


@pytest.fixture(scope="module")
def study(world):
    return load_study(world / "trials", world / "more")


def asked(study, people, **design):
    """(is it a check, its name, what a script can measure of it) of all questions that several people are asked."""
    found = []
    for person in range(1, people + 1):
        plan = [entry for entry in draw_plan(study, Design(practice=0, **design), person, {}) if entry[0] != "practice"]
        seen = Counter(study.pictures[study.questions[name].image] for _, name, _ in plan)
        for position, (kind, name, mirrored) in enumerate(plan):
            question = study.questions[name]
            picture = study.pictures[question.image]
            told = as_dict(question, mirrored, study.size)
            facts = measure(told) | {"position": position, "times seen": seen[picture]}
            facts["shape"] = Image.open(io.BytesIO(picture)).size != (WIDTH, HEIGHT)
            found.append((kind == "check", name, facts))
    return found


def measure(told):
    marks = [np.array(told[side]["pixels"]) for side in ("left", "right")]
    corners = [mark.min(axis=0) for mark in marks]
    centres = [(mark.min(axis=0) + mark.max(axis=0)) / 2 for mark in marks]
    both = {
        "pixels": [len(mark) for mark in marks],
        "height": [np.ptp(mark[:, 0]) for mark in marks],
        "width": [np.ptp(mark[:, 1]) for mark in marks],
        "thickness": [len(mark) / (np.ptp(mark, axis=0).max() + 1) for mark in marks],
        "margin": [min(*mark.min(axis=0), *((HEIGHT - 1, WIDTH - 1) - mark.max(axis=0))) for mark in marks],
        "row": [centre[0] for centre in centres],
    }
    facts = {f"{which.__name__} {name}": which(pair) for name, pair in both.items() for which in (min, max)}
    return facts | {
        "alike": np.array_equal(*(mark - corner for mark, corner in zip(marks, corners, strict=True)))
        if len(marks[0]) == len(marks[1])
        else False,
        "difference": abs(len(marks[0]) - len(marks[1])),
        "distance": abs(centres[0] - centres[1]).max(),
        "bytes": len(json.dumps(told)),
        "size": told["size"],
        "mirrored": told["mirrored"],
        "names": list(told) != ["height", "width", "size", "mirrored", "left", "right"],
    }


def area(checks, trials):
    """The chance that a measurement is larger for a check than for a trial, ties by half: 0.5 tells nothing."""
    checks, trials = np.asarray(checks, float)[:, None], np.asarray(trials, float)[None]
    return float((checks > trials).mean() + (checks == trials).mean() / 2)


def learned(facts, is_check, names):
    """How well a linear classifier tells checks, when it has learned from the other questions."""
    scaled = np.c_[(facts - facts.mean(axis=0)) / (facts.std(axis=0) + 1e-9), np.ones(len(facts))]
    fold = np.array([sorted(set(names)).index(name) % 6 for name in names])
    guess = np.zeros(len(facts))
    for one in range(6):
        known = fold != one
        weight = np.where(is_check[known], 1 / is_check[known].sum(), 1 / (~is_check[known]).sum())[:, None]
        right = (scaled[known] * weight).T @ np.where(is_check[known], 1.0, -1.0)
        normal = (scaled[known] * weight).T @ scaled[known] + 0.01 * np.eye(scaled.shape[1])
        guess[~known] = scaled[~known] @ np.linalg.solve(normal, right)
    return area(guess[is_check], guess[~is_check])


@pytest.mark.parametrize(("folder", "design"), [("more", {}), ("photos", {"per_person": TRIALS // 2})])
def test_a_script_that_measures_what_it_is_sent_is_at_chance(world, study, folder, design):
    """Where there are photographs without trials, or everyone is asked some of the trials.

    With n different checks an area is 0.5 ± 0.29 / √n by chance; two dozen of them stay within four times that.
    """
    if folder == "photos":
        study = load_study(world / "trials", world / "photos")
    questions = asked(study, 20, check_every=6, **design)
    is_check = np.array([check for check, *_ in questions])
    names = [name for _, name, _ in questions]
    different = len({name for name, check in zip(names, is_check, strict=True) if check})
    assert different >= 15
    facts = {fact: np.array([one[fact] for *_, one in questions], float) for fact in questions[0][2]}
    slack = 4 * 0.29 / np.sqrt(different)
    areas = {fact: area(values[is_check], values[~is_check]) for fact, values in facts.items()}
    assert {fact: found for fact, found in areas.items() if abs(found - 0.5) > slack} == {}
    for fact in ("size", "shape", "names", "times seen"):
        assert set(facts[fact][is_check]) <= set(facts[fact][~is_check])
    assert learned(np.stack(list(facts.values()), axis=1), is_check, names) < 0.5 + slack


def test_a_position_tells_nothing_even_to_those_who_know_other_checks():
    names = [f"{number:02d}" for number in range(40)]
    obvious = [f"obvious {number}" for number in range(9)]
    questions = {name: SimpleNamespace(image=name) for name in (*names, *obvious)}
    study = SimpleNamespace(trials=dict.fromkeys(names), questions=questions, obvious=dict.fromkeys(obvious))
    plans = np.array(
        [[kind == "check" for kind, *_ in draw_plan(study, Design(seed, None, 0, 10), 1, {})] for seed in range(1500)]
    )
    assert plans.shape == (1500, 44)
    assert set(plans.sum(axis=1)) == {4}
    expected = 1500 * 4 / 44
    assert abs(plans.sum(axis=0) - expected).max() < 5 * np.sqrt(expected)
    for gap in (1, 5, 11):  # of 44 × 43 ordered pairs of positions 4 × 3 are checks
        pairs = (plans[:, gap:] & plans[:, :-gap]).sum()
        wanted = 1500 * (44 - gap) * 4 * 3 / (44 * 43)
        assert abs(pairs - wanted) < 5 * np.sqrt(wanted)


def test_checks_are_on_photographs_that_come_as_often_as_others():
    def images(*counts):
        return [
            f"{image}.{number}" for image, count in zip("abcdefgh", counts, strict=False) for number in range(count)
        ]

    def first(trials, checks):
        named = {name: SimpleNamespace(image=name.partition(".")[0]) for name in (*trials, *checks)}
        return inconspicuous(SimpleNamespace(questions=named), trials, checks)[0]

    assert first(images(1, 1, 1, 1), ["a.check", "other.check"]) == "other.check"
    assert first(images(2, 2, 2, 1), ["a.check", "d.check", "other.check"]) == "d.check"
    assert first(images(2, 2, 2, 2), ["other.check", "a.check"]) == "a.check"  # one in three rather than certain


@pytest.fixture
def few(world, tmp_path):
    """``few(change)``: a study of six photographs, whose trials were changed."""

    def make(change=lambda trials: trials):
        for path in sorted((world / "photos").iterdir())[:6]:
            write_png(tmp_path / path.name, np.asarray(Image.open(path)))
        (tmp_path / "trials").mkdir()
        write_trials(tmp_path / "trials", change([t for t in read_trials(world / "trials") if int(t.image[-3:]) < 6]))
        return load_study(tmp_path / "trials", tmp_path)

    return make


def test_squares_have_one_size_in_all_questions(few, study):
    long = Segment((50, 20), tuple((50, column) for column in range(20, 70)))
    assert few(lambda trials: [Trial(**{**vars(trials[0]), "first": long}), *trials[1:]]).size == 50 + 4
    assert study.size == 25 + 4


def test_photographs_of_another_size_are_not_used(world, tmp_path, few):
    turned = np.asarray(Image.open(world / "more" / f"leaves-{TRIALS:03d}.png")).swapaxes(0, 1)
    write_png(tmp_path / "turned.png", turned)
    questions = few().questions
    assert any(name.startswith("obvious") for name in questions)
    assert "obvious turned" not in questions
