"""Contents of a page over time, as values that JSON knows: findings, charts, points, and the scores of images."""

from __future__ import annotations

import math
from typing import Any

from hyperacuity.compare.verdict import Verdict
from hyperacuity.report.over_time.series import TimeSeries
from hyperacuity.report.over_time.timelines import Timeline, TimePoint, WatchedRuns
from hyperacuity.report.sheets.sheet import interval_text
from hyperacuity.tally import plain

MOST_FAILURES = 50
MOST_TESTS = 300
"""Pairs whose tests a page without a server holds."""


def state_of(runs: WatchedRuns, since: int = -1) -> dict[str, Any]:
    """Data for the page's script, as ``plain`` takes them; images' scores only of points changed after version ``since``."""
    return {
        "version": runs.version,
        "runs": [folder.label for folder in runs.folders],
        "problems": list(runs.problems),
        "timelines": [_timeline(runs, one, since) for one in runs.timelines],
    }


def _timeline(runs: WatchedRuns, one: Timeline, since: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "signature": str(one.signature),
        "title": one.title,
        "notes": list(one.notes),
        "failures": [[f.system, f.image, f.reason] for f in one.failures[:MOST_FAILURES]],
        "failed": len(one.failures),
        "series": [],
    }
    if not one.columns:
        return said
    pictures, kind = runs.picture_paths(one), _axis(one, runs.order)[0]
    places = {name: _x(one, series, n, kind) for series in moving(one) for n, name in enumerate(series.names)}
    return said | {
        "columns": [
            {"key": c.key, "title": c.title, "better": c.better, "digits": c.digits, "unit": c.unit, "note": c.note}
            for c in one.columns
        ],
        "findings": findings(runs, one),
        "charts": charts_of(one, runs.order),
        "series": [
            {"title": series.title, "alone": series.alone, "points": list(series.names), **_ends(runs, one, series)}
            for series in one.series
        ],
        "points": {name: _point(one, name, since) | {"x": places.get(name)} for name in one.points},
        "images": list(one.images),
        "pictures": [int(image in pictures) for image in one.images],
        "latest": one.latest(),
        "people": one.people,
        "chance": one.chance,
    }


def _point(one: Timeline, name: str, since: int) -> dict[str, Any]:
    point = one.points[name]
    said = _counts(point) | {"expected": point.expected, "values": point.score.values, "changed": point.changed}
    if point.changed > since:
        pairs = ((n, point.score.images.get(image, math.nan)) for n, image in enumerate(one.images))
        said["scores"] = {n: round(score, 5) for n, score in pairs if math.isfinite(score)}
    return said


def _counts(point: TimePoint) -> dict[str, Any]:
    return {
        "interval": list(point.score.interval),
        "images": point.images,
        "failed": point.failed,
        "waiting": point.waiting,
        "started": point.started,
    }


def _ends(runs: WatchedRuns, one: Timeline, series: TimeSeries) -> dict[str, Any]:
    """The latest and the best point of a series, and the test of the two."""
    latest, best = one.latest(series), one.best(series)
    verdict = runs.test(one, latest, best) if latest and best and latest != best else None
    return {"latest": latest, "best": best, "test": verdict_facts(verdict)}


def verdict_facts(verdict: Verdict | None) -> dict[str, Any] | None:
    """A test for JSON; None where there is none."""
    if verdict is None:
        return None
    ends = {"difference": verdict.difference, "low": verdict.low, "high": verdict.high}
    return ends | {"p": verdict.p_single, "images": verdict.images, "words": str(verdict)}


def findings(runs: WatchedRuns, one: Timeline) -> list[str]:
    """Sentences on the latest point, how it moved, whether that may be chance, and on people and guessing."""
    name = one.latest()
    if not name:
        return ["No image has been evaluated yet."]
    main = one.main
    interval = interval_text(main, one.points[name].score.interval)
    said = [f"{name} is the latest: {main.title} {main.as_text(one.value(name))}{interval}{_since(runs, one, name)}."]
    best = one.best(one.series_with(name))
    if best and best != name:
        gap = abs(one.value(best) - one.value(name))
        shown = main.as_text(gap) if float(main.number(gap)) else f"less than {main.as_text(10.0**-main.digits)}"
        verdict = runs.test(one, best, name)
        test = "" if verdict is None else f" ({verdict})"
        said.append(f"The best so far is {best} with {main.as_text(one.value(best))}, {shown} ahead{test}.")
    elif best and len(one.series_with(name).names) > 1:
        said.append("It is the best so far.")
    levels = (("People reach", one.people), ("Chance is", one.chance))
    known = [f"{words} {main.as_text(value)}." for words, value in levels if not math.isnan(value)]
    return [*said, *([" ".join(known)] if known else [])]


def _since(runs: WatchedRuns, one: Timeline, name: str) -> str:
    before = one.previous(name)
    if not before:
        return ""
    verdict = runs.test(one, name, before)
    if verdict is None:
        return f", after {before} with {one.main.as_text(one.value(before))}"
    gain = verdict.difference
    if not float(one.main.number(gain)):  # which the decimals do not show
        return f", within {one.main.as_text(10.0**-one.main.digits)} of {before}"
    side = "better" if gain > 0 else "worse"
    others = {one.points[name].images, one.points[before].images, verdict.images}
    common = f" on the {verdict.images} images of both" if len(others) > 1 else ""
    return f", {one.main.as_text(abs(gain))} {side} than {before}{common} ({verdict})"


def charts_of(one: Timeline, order: str) -> list[dict[str, Any]]:
    """The chart of scores, and the empty one of images, which the page fills."""
    from hyperacuity.report.charts.over_time import images_over_time, score_over_time

    kind, along = _axis(one, order)
    rows = [
        {
            "series": series.title,
            "x": _x(one, series, place, kind),
            "place": place,
            "point": name,
            "score": one.value(name),
            "low": one.points[name].score.interval[0],
            "high": one.points[name].score.interval[1],
            "images": one.points[name].images,
            "state": "whole" if one.points[name].whole else f"so far, {one.points[name].waiting} images to go",
        }
        for series in moving(one)
        for place, name in enumerate(series.names)
        if math.isfinite(one.value(name))
    ]
    still = [series.names[0] for series in one.series if series not in moving(one)]
    levels = [(name, one.value(name), "system") for name in still if math.isfinite(one.value(name))]
    levels += [("people", one.people, "people"), ("chance", one.chance, "chance")]
    how: Any = {"title": one.main.title, "along": along, "kind": kind, "digits": one.main.digits}
    return [
        {"spec": score_over_time(rows, levels, **how).to_dict(), "fluid": True},
        {"spec": images_over_time(rows, **how).to_dict(), "fluid": True},
    ]


def moving(one: Timeline) -> list[TimeSeries]:
    """The series that are drawn as curves; the others do not change. Where nothing moves, all."""
    return [series for series in one.series if not series.alone] or list(one.series)


def _axis(one: Timeline, order: str) -> tuple[str, str]:
    """The type of the axis, and what it counts."""
    curves = moving(one)
    if order == "time" and all(one.points[name].started for series in curves for name in series.names):
        return "T", "start of the run"
    words = {series.word for series in curves}
    single = all(series.numbers and all(len(n) == 1 for n in series.numbers) for series in curves)
    if single and len(words) == 1:
        return "Q", words.pop()
    return ("O", words.pop() if len(words) == 1 else "point") if len(curves) == 1 else ("Q", "point of the series")


def _x(one: Timeline, series: TimeSeries, place: int, kind: str) -> Any:
    name = series.names[place]
    if kind == "T":
        return one.points[name].started
    if kind == "O":
        return name
    numbered = series.numbers and len(series.numbers[place]) == 1 and len({s.word for s in moving(one)}) == 1
    return series.numbers[place][0] if numbered else place + 1


def tests_of(runs: WatchedRuns, one: Timeline) -> list[list[Any]]:
    """Tests of pairs for a page without a server: with the latest and the best points first, then neighbours, then all."""
    names = [name for series in one.series for name in series.names if one.points[name].images]
    ends = dict.fromkeys(filter(None, (one.latest(), *(one.best(series) for series in one.series))))
    pairs = [(end, other) for end in ends for other in names]
    pairs += list(zip(names[1:], names, strict=False))
    pairs += [(second, first) for n, first in enumerate(names) for second in names[n + 1 :]]
    wanted: dict[frozenset[str], tuple[str, str]] = {}
    for first, second in pairs:
        if first != second and len(wanted) < MOST_TESTS:
            wanted.setdefault(frozenset((first, second)), (first, second))
    return [[first, second, verdict_facts(runs.test(one, first, second))] for first, second in wanted.values()]


def summary(runs: WatchedRuns) -> dict[str, Any]:
    """Timelines for programs: series with their points, the latest and the best, and images from the best change to the worst."""
    return {"timelines": [_summary(runs, one) for one in runs.timelines], "problems": list(runs.problems)}


def _summary(runs: WatchedRuns, one: Timeline) -> dict[str, Any]:
    said: dict[str, Any] = {
        "task": one.signature.task,
        "signature": str(one.signature),
        "notes": list(one.notes),
        "failed": [{"system": f.system, "image": f.image, "reason": f.reason} for f in one.failures],
    }
    if not one.columns:
        return said
    latest = one.latest()
    before = one.previous(latest) if latest else ""
    whole: dict[str, Any] = plain(
        said
        | {
            "score": one.main.key,
            "findings": findings(runs, one),
            "people": one.people,
            "chance": one.chance,
            "series": [
                {
                    "title": series.title,
                    **_ends(runs, one, series),
                    "points": [
                        {"system": name, **one.points[name].score.values, **_counts(one.points[name])}
                        for name in series.names
                    ],
                }
                for series in one.series
            ],
            "change": {"from": before, "to": latest, "images": changes(one, before, latest)} if before else None,
        }
    )
    return whole


def changes(one: Timeline, before: str, after: str) -> list[dict[str, Any]]:
    """The images that both points have, from what got better most to what got worse most."""
    first, second = one.points[before].score.images, one.points[after].score.images
    rows = [
        {"image": image, "before": first[image], "after": second[image], "gain": one.gain(second[image], first[image])}
        for image in second
        if image in first and not math.isnan(first[image]) and not math.isnan(second[image])
    ]
    return sorted(rows, key=lambda row: -row["gain"])
