"""The overview of a page's work, and the place where two versions are compared and settled. For the organiser."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from operator import attrgetter, itemgetter
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperacuity.errors import HyperacuityError
from hyperacuity.studio.actions import WorkVersion
from hyperacuity.studio.flags import flags_on
from hyperacuity.studio.items import Item, png
from hyperacuity.studio.outputs import are_whole, write_outputs
from hyperacuity.studio.overview.agreement import Confusion
from hyperacuity.studio.overview.work import CHOICES, SideBySide, Work
from hyperacuity.studio.people import Supervisor
from hyperacuity.studio.state import State, insert, now
from hyperacuity.studio.web import Refused, field, log, read_json, render

PATIENCE = 2.0
"""Seconds that a page waits for comparisons; what takes longer is there the next time it is opened."""

Compared = tuple[dict[tuple[int, int], Confusion], str]
"""Confusion matrices of an image's versions, by two indices, and a note."""

By = dict[str, list[WorkVersion]]


class Overview:
    """The overview of some work. Its :attr:`routes` belong among the page's. Decisions are written below ``out``."""

    def __init__(self, work: Work[Any], state: State, out: Path) -> None:
        self._work = work
        self._state = state
        self._out = out
        self.supervisor = Supervisor(state, work.name)
        self._compared: dict[tuple[Any, ...], Compared] = {}
        self._counting = threading.Lock()
        self._tasks: set[asyncio.Future[None]] = set()

    @property
    def routes(self) -> list[Route]:
        """The overview, and for each image two versions side by side."""
        compare = "/overview/{item}"
        return [
            *self.supervisor.routes,
            Route("/overview", self._front),
            Route(compare, self._compare),
            Route(f"{compare}/sides", self._sides),
            Route(f"{compare}/side/{{side}}", self._side),
            Route(f"{compare}/decision", self._decide, methods=["POST"]),
        ]

    async def _front(self, request: Request) -> Response:
        self.supervisor.require(request)
        versions, decided, flags = await self._state.read(
            lambda file: (self._work.versions(file), self._decided(file), flags_on(file, self._work.name))
        )
        by_item = _grouped(versions, attrgetter("item"))
        finished = {item: _finished(by_item[item]) for item in self._work.items if len(_finished(by_item[item])) > 1}
        waiting = await self._count(finished)
        people = _people_rows(versions, len(self._work.items))
        return render(
            request,
            "overview/overview.html.j2",
            title=f"Overview: {self._work.title.lower()}",
            people=people,
            images=[
                self._image_row(item, by_item[item.id], decided) | {"flags": flags.get(item.id, [])}
                for item in self._work.items.values()
            ],
            measures=list(self._work.measures),
            about=self._work.about,
            agreement=self._agreement(finished),
            pairs=self._pair_rows(finished),
            waiting=waiting,
            done=sum(row["done"] for row in people),
            total=len(self._work.items),
            seconds=sum(version.seconds for version in versions),
        )

    async def _compare(self, request: Request) -> Response:
        item, (a, b), everyone = await self._two(request)
        facts: dict[str, Any] = {"item": item.id, "a": a.person, "b": b.person, "names": [a.name, b.name]}
        facts |= {"photo": self._work.photo(item.id), **await self._around(item)}
        pairs = list(combinations(everyone, 2))
        return render(
            request, "overview/compare.html.j2", title=item.title, facts=facts, a=a, b=b, pairs=pairs, item=item.id
        )

    async def _around(self, item: Item) -> dict[str, str | None]:
        """The images before and after one of which two versions can be compared; None where there is none."""
        by_item = _grouped(await self._state.read(self._work.versions), attrgetter("item"))
        ids = [one for one in self._work.items if one == item.id or self._may_compare(one, _finished(by_item[one]))]
        before, _, after = [None, *ids, None][ids.index(item.id) : ids.index(item.id) + 3]
        return {"before": before, "after": after}

    def _may_compare(self, item: str, finished: Sequence[WorkVersion]) -> bool:
        """True if there are two versions to compare; those that turned out not to be comparable do not count."""
        matrices, _ = self._compared.get(_key(item, finished), (None, ""))
        return len(finished) > 1 and matrices != {}

    async def _sides(self, request: Request) -> Response:
        item, (a, b), _ = await self._two(request)
        both = await self._load(item, a, b)
        height, width = both.pictures[0].shape[:2]
        decision = await self._state.read(lambda file: self._decided(file).get(item.id))
        choices = [None] * len(both.differences)
        if decision is not None and decision["between"] == _between(a, b):
            choices = decision["choices"]
        facts = {"width": width, "height": height, "differences": [asdict(one) for one in both.differences]}
        return JSONResponse(facts | {"choices": choices, "decided": decision is not None})

    async def _side(self, request: Request) -> Response:
        item, (a, b), _ = await self._two(request)
        side = request.path_params["side"]
        if side not in ("a", "b"):
            raise Refused(404, "there are two sides, a and b")
        both = await self._load(item, a, b)
        picture = both.pictures["ab".index(side)]
        return Response(await asyncio.to_thread(png, picture), media_type="image/png")

    async def _decide(self, request: Request) -> Response:
        item, (a, b), _ = await self._two(request)
        values = await read_json(request)
        choices = field(values, "choices", list, high=100_000)
        both = await self._load(item, a, b)
        if len(choices) != len(both.differences) or any(one not in CHOICES for one in choices):
            raise Refused(400, "choices: expected a, b or mark for every difference")
        decision = {
            "between": _between(a, b),
            "names": [a.name, b.name],
            "choices": choices,
            "note": field({"note": "", **values}, "note", str, high=1000),
            "made": now(),
        }
        decision["files"] = await asyncio.to_thread(self._write, item, a, b, decision)
        await self._state.write(lambda file: self._store(file, item.id, decision))
        a_count, b_count, marked = map(choices.count, CHOICES)
        return JSONResponse({"decided": True, "a": a_count, "b": b_count, "marked": marked})

    def write_missing(self) -> list[tuple[str, str]]:
        """Write files of decisions that are missing or damaged; (name, reason) of those that could not be written."""
        failed = []
        for item_id, decision in self._state.read_now(self._decided).items():
            item = self._work.items.get(item_id)
            if item is None or are_whole(self._state, [self._out / name for name in decision["files"]]):
                continue
            a, b = (
                WorkVersion(person, name, item_id, number, "", changed=False, complete=True, seconds=0, last="")
                for (person, number), name in zip(decision["between"], decision["names"], strict=True)
            )
            try:
                self._write(item, a, b, decision)
            except Refused as error:
                failed.append((item.title, error.detail))
        return failed

    def _write(self, item: Item, a: WorkVersion, b: WorkVersion, decision: dict[str, Any]) -> list[str]:
        """Write the files of a decision, always the same from the same decision; returns their names below the folder."""
        choices = decision["choices"]
        facts = {
            "between": decision["names"],
            "made": decision["made"],
            "note": decision["note"],
            "differences": len(choices),
            "taken_from_first": choices.count("a"),
            "taken_from_second": choices.count("b"),
            "marked": [number for number, choice in enumerate(choices, start=1) if choice == "mark"],
            "complete": "mark" not in choices,
        }
        try:
            outputs = self._work.settle(item.id, a, b, choices, facts)
            write_outputs(self._state, self._out, outputs)
        except (HyperacuityError, OSError) as error:
            log.error("%s", error)
            raise Refused(422, "the files cannot be written: the server's terminal says why") from error
        return [path.relative_to(self._out).as_posix() for path in outputs]

    async def _two(self, request: Request) -> tuple[Item, tuple[WorkVersion, WorkVersion], list[WorkVersion]]:
        """The image of a request, the two finished versions it asks for (or the first two), and all there are."""
        self.supervisor.require(request)
        item = self._work.items.get(request.path_params["item"])
        if item is None:
            raise Refused(404, "there is no such image")
        versions = await self._state.read(self._work.versions)
        everyone = _finished([version for version in versions if version.item == item.id])
        if len(everyone) < 2:
            raise Refused(404, f"{item.title}: fewer than two people are done with it")
        by_person = {version.person: version for version in everyone}
        asked = [request.query_params.get(name) for name in "ab"]
        if asked == [None, None]:
            return item, (everyone[0], everyone[1]), everyone
        if asked[0] == asked[1] or any(one not in by_person for one in asked):
            raise Refused(404, "expected two people who are done with this image")
        return item, (by_person[asked[0] or ""], by_person[asked[1] or ""]), everyone

    async def _load(self, item: Item, a: WorkVersion, b: WorkVersion) -> SideBySide:
        try:
            return await asyncio.to_thread(self._work.side_by_side, item.id, a, b)
        except HyperacuityError as error:
            log.error("%s", error)
            raise Refused(422, f"{item.title}: cannot be compared; the server's terminal says why") from error

    async def _count(self, finished: By) -> int:
        """Compare versions that have not been compared yet, for as long as a page waits; how many images are left."""
        task = asyncio.ensure_future(asyncio.to_thread(self._count_all, dict(finished)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait([task], timeout=PATIENCE)
        return sum(_key(item, versions) not in self._compared for item, versions in finished.items())

    def _count_all(self, finished: By) -> None:
        with self._counting:  # one image at a time, whoever asks
            for item, versions in finished.items():
                key = _key(item, versions)
                if key in self._compared:
                    continue
                try:
                    self._compared[key] = self._work.compare(item, versions), self._work.note(item, versions)
                except (HyperacuityError, Refused) as error:
                    log.warning("%s cannot be compared: %s", self._work.items[item].name, error)
                    self._compared[key] = {}, "cannot be compared: the terminal says why"

    def _image_row(self, item: Item, versions: Sequence[WorkVersion], decided: dict[str, Any]) -> dict[str, Any]:
        finished = _finished(versions)
        matrices, note = self._compared.get(_key(item.id, finished), ({}, ""))
        return {
            "id": item.id,
            "name": item.title,
            "versions": versions,
            "comparable": len(matrices) > 0,
            "agreement": self._measure(list(matrices.values())),
            "note": note,
            "decided": decided.get(item.id),
        }

    def _measure(self, matrices: Sequence[Confusion]) -> dict[str, float]:
        """The measures of several matrices together; empty without any."""
        if not matrices:
            return {}
        total = np.sum(matrices, axis=0)
        return {name: measure(total) for name, measure in self._work.measures.items()}

    def _matrices(self, finished: By) -> Iterator[tuple[WorkVersion, WorkVersion, Confusion]]:
        """Each two versions that were compared, and their confusion matrix."""
        for item, versions in finished.items():
            matrices, _ = self._compared.get(_key(item, versions), ({}, ""))
            yield from ((versions[i], versions[j], matrix) for (i, j), matrix in matrices.items())

    def _agreement(self, finished: By) -> dict[str, Any] | None:
        """Agreement of everyone on everything, and how it grew with each two versions that could be compared."""
        timed = [(max(one.finished, other.finished), matrix) for one, other, matrix in self._matrices(finished)]
        if not timed:
            return None
        timed.sort(key=itemgetter(0))
        sums = np.cumsum([matrix for _, matrix in timed], axis=0)
        growth = {name: [measure(total) for total in sums] for name, measure in self._work.measures.items()}
        return {
            "growth": {name: _line(values) for name, values in growth.items()},
            "pairs": len(timed),
            "now": {name: values[-1] for name, values in growth.items()},
        }

    def _pair_rows(self, finished: By) -> list[dict[str, Any]]:
        """Agreement of each two people, over the images that both are done with."""
        by_pair: defaultdict[tuple[str, str], list[Confusion]] = defaultdict(list)
        for a, b, matrix in self._matrices(finished):
            one, other = sorted((a.name, b.name))
            by_pair[one, other].append(matrix if one == a.name else matrix.T)
        return [
            {"names": names, "images": len(matrices), "agreement": self._measure(matrices)}
            for names, matrices in sorted(by_pair.items())
        ]

    def _decided(self, file: sqlite3.Connection) -> dict[str, Any]:
        """The last decision of each image."""
        query = "SELECT item, value FROM studio_adjudications WHERE page = ? ORDER BY number"
        return {item: json.loads(value) for item, value in file.execute(query, (self._work.name,))}

    def _store(self, file: sqlite3.Connection, item: str, decision: dict[str, Any]) -> None:
        query = "SELECT count(*) FROM studio_adjudications WHERE page = ? AND item = ?"
        (count,) = file.execute(query, (self._work.name, item)).fetchone()
        row = (self._work.name, item, count + 1, json.dumps(decision), decision["made"])
        insert(file, "studio_adjudications", *row)


def _grouped(versions: Sequence[WorkVersion], by: Callable[[WorkVersion], str]) -> By:
    groups: By = defaultdict(list)
    for version in versions:
        groups[by(version)].append(version)
    return groups


def _finished(versions: Sequence[WorkVersion]) -> list[WorkVersion]:
    return [version for version in versions if version.number]


def _key(item: str, versions: Sequence[WorkVersion]) -> tuple[Any, ...]:
    """Key of a comparison: versions that are finished again are compared again."""
    return item, *((version.person, version.number) for version in versions)


def _between(a: WorkVersion, b: WorkVersion) -> list[list[Any]]:
    return [[a.person, a.number], [b.person, b.number]]


def _people_rows(versions: Sequence[WorkVersion], total: int) -> list[dict[str, Any]]:
    """Work of each person: images done, incomplete and started, seconds in all and per image, when they were last here."""
    rows = []
    for theirs in _grouped(versions, attrgetter("person")).values():
        done = [version for version in theirs if version.state == "done"]
        rows.append(
            {
                "name": theirs[0].name,
                "done": len(done),
                "incomplete": sum(not version.complete for version in done),
                "started": len(theirs) - len(done),
                "left": total - len(theirs),
                "seconds": sum(version.seconds for version in theirs),
                "median": median(version.seconds for version in done) if done else None,
                "last": max(version.last for version in theirs),
            }
        )
    return rows


def _line(values: Sequence[float]) -> str:
    """Points of a line in a drawing of 100 by 100, from the first value to the last, 1 at the top and 0 at the bottom.

    >>> _line([0.5, 1.0])
    '0,50 100,0'
    """
    last = max(1, len(values) - 1)
    points = (
        (100 * index / last, 100 * (1 - min(1, max(0, value)))) for index, value in enumerate(values) if value == value
    )
    return " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
