"""The page on which people order regions by depth, so that the orders are consistent as a whole.

Every action is kept in the order in which it was made (undo and redo are actions too), numbered by the page that sends it: one
that arrives twice counts once, and one that builds on a state that another tab has changed is refused. The server answers each
with all that follows from it. Files are written when a person says that an image is done, never while there is a contradiction.

References
----------
Palou & Salembier (2014), section 5.1: regions annotated with relative depth, "creating a consistent depth map".
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sqlite3
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hyperacuity.errors import HyperacuityError, InputError
from hyperacuity.studio.items import Item, png, reason
from hyperacuity.studio.order.files import coverage, write_files
from hyperacuity.studio.order.regions import Material, Picture, Regions, load_picture, regions_at
from hyperacuity.studio.order.relations import Arrangement, arrange, find_contradiction, in_words
from hyperacuity.studio.order.sheet import History, OrderState, act, checked, replay
from hyperacuity.studio.order.shelf import Shelf
from hyperacuity.studio.people import People, Person
from hyperacuity.studio.state import Layout, State, now
from hyperacuity.studio.web import Page, Refused, answer, field, log, read_json, render

TITLE = "Order regions by depth"

LAYOUT = Layout(
    "order",
    1,
    (
        "CREATE TABLE order_sheets (person TEXT, item TEXT, source TEXT NOT NULL, version INTEGER NOT NULL, "
        "ordered INTEGER NOT NULL, regions INTEGER NOT NULL, tangled INTEGER NOT NULL, written INTEGER NOT NULL, "
        "PRIMARY KEY (person, item)) WITHOUT ROWID",
        "CREATE TABLE order_log (person TEXT, item TEXT, version INTEGER, tab TEXT NOT NULL, action TEXT NOT NULL, "
        "made TEXT NOT NULL, PRIMARY KEY (person, item, version)) WITHOUT ROWID",
    ),
)

ELSEWHERE = "this image was changed in another tab or browser; the page now shows how it stands"
LONGEST_PAUSE = 60.0
"""Seconds: what a pause between two actions counts at most as time at work."""

KEPT = 256
"""How many histories are kept at hand; others are read again from the file."""

Key = tuple[str, str]


class Order:
    """The page for some images. Finished orders are written to the folder ``out``."""

    def __init__(self, material: Material, state: State, out: Path) -> None:
        self._material = material
        self._state = state
        self._out = out
        self._people = People(state, "order")
        self._locks: defaultdict[Key, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._histories: OrderedDict[Key, tuple[int, History]] = OrderedDict()
        self._shelf = Shelf()

    @property
    def page(self) -> Page:
        """What is served."""
        routes = [
            Route("/", self._overview),
            Route("/items/{item}", self._front),
            Route("/items/{item}/photograph", self._photograph),
            Route("/items/{item}/thumbnail", self._thumbnail),
            Route("/items/{item}/regions/{cut}", self._regions_told),
            Route("/items/{item}/labels/{cut}", self._labels),
            Route("/items/{item}/sheet", self._sheet),
            Route("/items/{item}/actions", self._act, methods=["POST"]),
            *self._people.routes,
        ]
        return Page("order", TITLE, routes, largest_body=4096)

    async def _overview(self, request: Request) -> Response:
        person = await self._people.find(request)
        if person is None:
            return await self._people.welcome(request, title=TITLE)
        standing = await self._state.read(lambda file: _standing(file, person))
        rows = [
            {
                "id": item.id,
                "name": shown(item.name),
                "failed": shown(self._material.failed.get(item.id, "")).removeprefix(f"{shown(item.name)}: "),
                **standing.get(item.id, {"begun": False}),
            }
            for item in self._material.items.values()
        ]
        following = next((row["id"] for row in rows if not row["failed"] and not row.get("written")), None)
        facts = {"done": sum(bool(row.get("written")) for row in rows), "total": len(self._usable)}
        return render(
            request, "order/overview.html.j2", title=TITLE, rows=rows, person=person.name, next=following, facts=facts
        )

    async def _front(self, request: Request) -> Response:
        item = self._item(request)
        person = await self._people.find(request)
        if person is None:
            return await self._people.welcome(request, title=TITLE)
        await self._loaded(item)
        usable = self._usable
        place = usable.index(item.id)
        facts = {
            "item": item.id,
            "before": usable[place - 1] if place else None,
            "after": usable[place + 1] if place + 1 < len(usable) else None,
        }
        title = shown(item.name)
        return render(
            request,
            "order/order.html.j2",
            title=title,
            person=person.name,
            place=place + 1,
            total=len(usable),
            facts=facts,
        )

    async def _photograph(self, request: Request) -> Response:
        picture = await self._loaded(self._item(request))
        content = await asyncio.to_thread(png, picture.pixels)
        return Response(content, media_type="image/png", headers={"Cache-Control": "private, max-age=600"})

    async def _thumbnail(self, request: Request) -> Response:
        item = self._item(request)
        content = self._material.thumbnails.get(item.id)
        if content is None:
            raise Refused(404, "there is no such image")
        return Response(content, media_type="image/png", headers={"Cache-Control": "private, max-age=600"})

    async def _regions_told(self, request: Request) -> Response:
        regions, cut = await self._regions_asked(request)
        height, width = regions.labels.shape
        return answer(
            {
                "cut": cut,
                "width": width,
                "height": height,
                "anchors": regions.anchors.tolist(),
                "areas": regions.areas.tolist(),
                "pairs": np.column_stack([regions.pairs, regions.lengths]).tolist(),
            }
        )

    async def _labels(self, request: Request) -> Response:
        """The regions' numbers, 16 bit, lowest byte first, line by line; 65535 where there is none."""
        regions, _ = await self._regions_asked(request)
        content = await asyncio.to_thread(lambda: gzip.compress(regions.labels.astype("<u2").tobytes(), 1, mtime=0))
        headers = {"Content-Encoding": "gzip"}
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def _sheet(self, request: Request) -> Response:
        item, person = self._item(request), await self._people.require(request)
        picture = await self._loaded(item)
        version, written, history = await self._history(person, item, picture)
        told = await asyncio.to_thread(self._told, item, history, version, written)
        return answer(told | {"cuts": [[cut.level, cut.regions] for cut in picture.cuts]})

    async def _act(self, request: Request) -> Response:
        item, person = self._item(request), await self._people.require(request)
        values = await read_json(request)
        tab = field(values, "tab", str, low=8, high=64)
        sequence = field(values, "sequence", int, low=1, high=1 << 40)
        action = checked(field(values, "action", dict))
        picture = await self._loaded(item)
        kept = json.dumps(action)
        async with self._locks[person.id, item.id]:
            version, written, history = await self._history(person, item, picture)
            if sequence != version + 1:
                if not await self._state.read(lambda file: _is_kept(file, person, item, sequence, tab, kept)):
                    raise Refused(409, ELSEWHERE)
            elif (updated := act(history, action, picture.cuts)) is not history or action["kind"] == "done":
                history = updated
                regions, found = await asyncio.to_thread(self._arranged, item, history.sheet)
                version = sequence
                if action["kind"] == "done":
                    await self._write(person, item, picture, history, regions, found, version)
                    written = version
                summary = (picture.digest, version, *_counts(found, regions), written)
                await self._state.write(lambda file: _keep(file, person, item, summary, tab, kept))
                self._remember((person.id, item.id), (version, history))
            told = await asyncio.to_thread(self._told, item, history, version, written)
        return answer(told)

    async def _write(
        self,
        person: Person,
        item: Item,
        picture: Picture,
        history: History,
        regions: Regions,
        found: Arrangement,
        version: int,
    ) -> None:
        """Write an image's files, unless there is a contradiction or nothing to write."""
        sheet = history.sheet
        if found.tangled:
            words = in_words(find_contradiction(sheet.said, found.tangled), sheet.said.places)
            raise Refused(422, f"this order is not written, because it contradicts itself: {words}")
        if found.known_pairs == 0:
            raise Refused(422, "this order is not written: no two regions are ordered yet")
        times = await self._state.read(lambda file: _times(file, person, item))
        paths = () if self._material.segmentations is None else self._material.segmentations[item.id]
        facts = {
            "made": now(),
            "begun": times[0] if times else None,
            "actions": version,
            "seconds": seconds_at_work(times),
            "segmentation": [path.name for path in paths] or "hierarchy",
            "segmentation_number": self._material.annotator,
            "level": picture.cuts[sheet.cut].level,
            "digest": picture.digest,
            "coverage": coverage(found, regions),
        }

        def write() -> None:
            write_files(self._out, person.name, item.name, said=sheet.said, regions=regions, found=found, facts=facts)

        try:
            await asyncio.to_thread(write)
        except (HyperacuityError, OSError) as error:
            log.error("%s", error)
            raise Refused(
                422, "this order is kept, but its files cannot be written: the server's terminal says why"
            ) from error

    def _told(self, item: Item, history: History, version: int, written: int) -> dict[str, Any]:
        """All that the page shows, after an action."""
        sheet = history.sheet
        regions, found = self._arranged(item, sheet)
        circle = find_contradiction(sheet.said, found.tangled)
        contradiction = None
        if circle:
            steps = [[step.near, step.far, step.same, step.placed] for step in circle]
            contradiction = {"words": in_words(circle, sheet.said.places), "steps": steps}
        return {
            "version": version,
            "cut": sheet.cut,
            "places": sorted([region, there] for region, there in sheet.said.places.items()),
            "pairs": [[a, b, r] if r >= 0 else [b, a, 1] for (a, b), r in sheet.said.pairs.items()],
            "layer": found.layer,
            "layers": found.layers,
            "groups": found.groups,
            "tangled": sorted(found.tangled),
            "contradiction": contradiction,
            "coverage": coverage(found, regions),
            "undo": history.head,
            "redo": len(history.sheets) - 1 - history.head,
            "written": "no" if written == 0 else "yes" if written == version else "changed",
        }

    def _arranged(self, item: Item, sheet: OrderState) -> tuple[Regions, Arrangement]:
        regions = self._regions(item, sheet.cut)
        return regions, arrange(sheet.said, regions.count)

    async def _history(self, person: Person, item: Item, picture: Picture) -> tuple[int, int, History]:
        """The version, the version that was written to files (0: none), and the history."""

        kept = self._histories.get((person.id, item.id))

        def look(file: sqlite3.Connection) -> tuple[str, int, int, list[str]]:
            source, version, written = file.execute(
                "SELECT source, version, written FROM order_sheets WHERE person = ? AND item = ?", (person.id, item.id)
            ).fetchone() or (picture.digest, 0, 0)
            if kept is not None and kept[0] == version:
                return source, version, written, []
            rows = file.execute(
                "SELECT action FROM order_log WHERE person = ? AND item = ? ORDER BY version", (person.id, item.id)
            )
            return source, version, written, [action for (action,) in rows]

        source, version, written, actions = await self._state.read(look)
        if source != picture.digest:
            raise Refused(
                409, f"{shown(item.name)}: its regions are not those that were ordered before; use another --state"
            )
        if kept is not None and kept[0] == version:
            return version, written, kept[1]
        history = await asyncio.to_thread(replay, actions, picture.first, picture.cuts)
        self._remember((person.id, item.id), (version, history))
        return version, written, history

    def _remember(self, key: Key, kept: tuple[int, History]) -> None:
        self._histories[key] = kept
        self._histories.move_to_end(key)
        while len(self._histories) > KEPT:
            self._histories.popitem(last=False)

    @property
    def _usable(self) -> list[str]:
        return [item for item in self._material.items if item not in self._material.failed]

    def _item(self, request: Request) -> Item:
        item = self._material.items.get(request.path_params["item"])
        if item is None:
            raise Refused(404, "there is no such image")
        if item.id in self._material.failed:
            raise Refused(422, shown(self._material.failed[item.id]))
        return item

    def _picture(self, item: Item) -> Picture:
        return self._shelf.get(item, lambda: load_picture(self._material, item), Picture.size)

    def _regions(self, item: Item, cut: int) -> Regions:
        return self._shelf.get((item, cut), lambda: regions_at(self._picture(item), cut), Regions.size)

    async def _loaded(self, item: Item) -> Picture:
        """The picture; ``Refused``, with the item's name, where it cannot be read any more."""
        try:
            return await asyncio.to_thread(self._picture, item)
        except InputError as error:
            paths = () if self._material.segmentations is None else self._material.segmentations.get(item.id, ())
            names = {item.path: item.name} | {path: path.name for path in paths}
            raise Refused(422, shown(reason(error, names))) from error

    async def _regions_asked(self, request: Request) -> tuple[Regions, int]:
        item, cut = self._item(request), request.path_params["cut"]
        picture = await self._loaded(item)
        if not (cut.isascii() and cut.isdecimal() and len(cut) < 6 and int(cut) < len(picture.cuts)):
            raise Refused(404, "there is no such level")
        return await asyncio.to_thread(self._regions, item, int(cut)), int(cut)


def shown(name: str) -> str:
    """A name with what cannot be written in UTF-8 replaced."""
    return name.encode("utf-8", "replace").decode()


def seconds_at_work(times: Sequence[str]) -> float:
    """The time between the first and the last of some moments, a pause counting for at most a minute.

    >>> seconds_at_work(["2020-01-01T10:00:00+00:00", "2020-01-01T10:00:02+00:00", "2020-01-01T11:00:00+00:00"])
    62.0
    """
    moments = [datetime.fromisoformat(time) for time in times]
    pauses = (later - sooner for sooner, later in pairwise(moments))
    return round(sum(min(max(pause.total_seconds(), 0.0), LONGEST_PAUSE) for pause in pauses), 3)


def _counts(found: Arrangement, regions: Regions) -> tuple[int, int, int]:
    return sum(layer is not None for layer in found.layer), regions.count, len(found.tangled)


def _standing(file: sqlite3.Connection, person: Person) -> dict[str, dict[str, Any]]:
    rows = file.execute(
        "SELECT item, version, ordered, regions, tangled, written FROM order_sheets WHERE person = ?", (person.id,)
    )
    return {
        item: {
            "begun": True,
            "ordered": ordered,
            "regions": regions,
            "tangled": tangled > 0,
            "written": written == version,
            "changed": 0 < written < version,
        }
        for item, version, ordered, regions, tangled, written in rows
    }


def _times(file: sqlite3.Connection, person: Person, item: Item) -> list[str]:
    rows = file.execute(
        "SELECT made FROM order_log WHERE person = ? AND item = ? ORDER BY version", (person.id, item.id)
    )
    return [made for (made,) in rows]


def _is_kept(file: sqlite3.Connection, person: Person, item: Item, version: int, tab: str, action: str) -> bool:
    """Whether this very action, from this very tab, has been kept already."""
    row = file.execute(
        "SELECT tab, action FROM order_log WHERE person = ? AND item = ? AND version = ?", (person.id, item.id, version)
    ).fetchone()
    return row is not None and tuple(row) == (tab, action)


def _keep(
    file: sqlite3.Connection, person: Person, item: Item, summary: tuple[Any, ...], tab: str, action: str
) -> None:
    """Keep an action, unless another server has kept one in its place."""
    key, version = (person.id, item.id), summary[1]
    (latest,) = file.execute("SELECT max(version) FROM order_log WHERE person = ? AND item = ?", key).fetchone()
    if version != (latest or 0) + 1:
        raise Refused(409, ELSEWHERE)
    file.execute("INSERT INTO order_log VALUES (?, ?, ?, ?, ?, ?)", (*key, version, tab, action, now()))
    file.execute("INSERT OR REPLACE INTO order_sheets VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*key, *summary))
