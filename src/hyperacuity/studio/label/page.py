"""The page where people label edges: candidates of the masks [−1 0 1], of which a person takes away and to which they add."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import logging
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hyperacuity.data import read_image
from hyperacuity.errors import InputError, UsageError
from hyperacuity.studio.items import Item, png, reason
from hyperacuity.studio.label import store
from hyperacuity.studio.label.files import Finished, finish, is_written, write_own, write_together
from hyperacuity.studio.label.map import ACTIONS, TOP, Action, Candidates, are_runs, checksum, find_candidates
from hyperacuity.studio.people import People, Person
from hyperacuity.studio.state import State, StateError
from hyperacuity.studio.web import Page, Refused, answer, field, read_json, render

log = logging.getLogger("hyperacuity.studio")

MOST_PIXELS = 24_000_000
"""Largest image that can be labelled: a browser holds about ten bytes for each of its pixels."""

MOST_NUMBERS = 100_000
"""Longest list of runs that one request may carry."""

MOST_ENTRIES = 200
"""Most entries that one request may carry."""

_SHELF = 32_000_000
_THUMB = (220, 150)


@dataclass(frozen=True, eq=False)
class Prepared:
    """An image made ready: what the browser shows, where edges may be, and a digest that tells it from others."""

    picture: str
    photo: bytes
    gradient: bytes
    candidates: Candidates

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.candidates.level.shape
        return height, width


class LabelPage:
    """Labels of several people for several images, kept in a state and written to a folder when they are done.

    The state needs the tables of :data:`hyperacuity.studio.label.store.LAYOUT` and :data:`hyperacuity.studio.people.LAYOUT`.
    """

    def __init__(self, items: Mapping[str, Item], state: State, out: Path) -> None:
        self._items = dict(items)
        self._order = list(self._items)
        self._state = state
        self._out = out
        self._people = People(state, "label")
        self._ready: OrderedDict[str, Prepared] = OrderedDict()
        self._thumbs: dict[str, bytes] = {}
        self._broken: dict[str, str] = {}
        self._ahead: set[asyncio.Task[None]] = set()
        self._shelf = threading.Lock()
        self._at_work: dict[str, threading.Lock] = {item: threading.Lock() for item in self._items}

    @property
    def page(self) -> Page:
        """The page, to be served."""
        image = "/image/{item}"
        routes = [
            Route("/", self._list),
            Route(image, self._sheet),
            Route(f"{image}/photo", self._photo),
            Route(f"{image}/gradient", self._gradient),
            Route(f"{image}/thumb", self._thumb),
            Route(f"{image}/log", self._log),
            Route(f"{image}/entries", self._append, methods=["POST"]),
            Route(f"{image}/done", self._done, methods=["POST"]),
            *self._people.routes,
        ]
        return Page("label", "Label edges", routes, largest_body=2 << 20)

    def write_missing(self) -> list[tuple[str, str]]:
        """Write files of finished images that are missing or older: a server was killed, or writes elsewhere now.

        Returns (name, reason) of those that could not be written.
        """
        failed = []
        for item_id, person, name, finished in self._state.read_now(store.finishers):
            item = self._items.get(item_id)
            if item is None:
                continue
            folder = self._state.write_now(partial(store.folder_of, person=person, name=name))
            if is_written(self._out, folder, item.name, finished):
                continue
            try:
                self._write(item, Person(person, name), self._prepare(item))
            except (InputError, UsageError, Refused) as error:
                sentence = error.detail if isinstance(error, Refused) else str(error)
                failed.append((item.name, sentence.removeprefix(f"{item.path}: ")))
        return failed

    async def _list(self, request: Request) -> Response:
        person = await self._people.find(request)
        if person is None:
            return await self._people.welcome(request, title="Label edges")
        own, finishers = await self._state.read(lambda file: (store.states(file, person.id), store.finishers(file)))
        done_by: dict[str, list[str]] = {}
        for item, who, name, _ in finishers:
            if who != person.id:
                done_by.setdefault(item, []).append(name)
        images = [
            {
                "id": item.id,
                "name": item.name,
                "state": own.get(item.id, store.UNTOUCHED),
                "others": done_by.get(item.id, []),
                "broken": self._broken.get(item.id),
            }
            for item in self._items.values()
        ]
        counts = {
            state: sum(image["state"] == state for image in images)
            for state in (store.UNTOUCHED, store.BEGUN, store.DONE)
        }
        onward = next((i["id"] for i in images if i["state"] != store.DONE and not i["broken"]), None)
        return render(
            request,
            "label_list.html.j2",
            title="Label edges",
            person=person.name,
            images=images,
            counts=counts,
            onward=onward,
        )

    async def _sheet(self, request: Request) -> Response:
        person = await self._people.find(request)
        if person is None:
            return await self._people.welcome(request, title="Label edges")
        item = self._item(request)
        place = self._order.index(item.id)
        around: dict[str, Any] = {
            "place": place + 1,
            "count": len(self._order),
            "previous": self._beside(place, -1),
            "next": self._beside(place, 1),
        }
        try:
            ready = await self._ready_to_label(item)
        except InputError as error:
            sentence = reason(error, {item.path: item.name})
            return render(request, "label_broken.html.j2", status=422, title=item.name, sentence=sentence, **around)
        task = asyncio.create_task(self._look_ahead(place))
        self._ahead.add(task)
        task.add_done_callback(self._ahead.discard)
        height, width = ready.shape
        facts = {"id": item.id, "width": width, "height": height, "start": ready.candidates.start, "top": TOP, **around}
        facts |= {"most_numbers": MOST_NUMBERS, "most_entries": MOST_ENTRIES}
        return render(request, "label.html.j2", title=item.name, person=person.name, facts=facts, **around)

    async def _photo(self, request: Request) -> Response:
        ready = await self._named_or_refused(self._item(request))
        return Response(ready.photo, media_type="image/png")

    async def _gradient(self, request: Request) -> Response:
        """The levels (16 bit, low byte first), then for every pixel whether it survives suppression (one byte)."""
        ready = await self._named_or_refused(self._item(request))
        return Response(ready.gradient, media_type="application/octet-stream", headers={"Content-Encoding": "gzip"})

    async def _thumb(self, request: Request) -> Response:
        item = self._item(request)
        try:
            small = self._thumbs.get(item.id) or await asyncio.to_thread(self._make_thumb, item)
        except InputError as error:
            self._note(item, error)
            return Response(_CROSS, media_type="image/svg+xml")  # beside the name of the image, which says the rest
        return Response(small, media_type="image/png")

    async def _log(self, request: Request) -> Response:
        person = await self._people.require(request)
        item = self._item(request)
        ready = await self._named_or_refused(item)
        kept = await self._state.read(lambda file: store.read_log(file, person.id, item.id, ready.picture))
        return answer(
            {
                "entries": kept.entries,
                "state": kept.state,
                "actions": [_plain(action) for action in kept.actions],
                "undone": [_plain(action) for action in kept.undone],
            }
        )

    async def _append(self, request: Request) -> Response:
        person = await self._people.require(request)
        item = self._item(request)
        ready = await self._named_or_refused(item)
        listed = field(await read_json(request), "entries", list, low=1, high=MOST_ENTRIES)
        height, width = ready.shape
        entries = [_entry(values, height * width) for values in listed]
        count = await self._state.write(lambda file: store.append(file, person.id, item.id, ready.picture, entries))
        return answer({"entries": count})

    async def _done(self, request: Request) -> Response:
        person = await self._people.require(request)
        item = self._item(request)
        ready = await self._named_or_refused(item)
        values = await read_json(request)
        entry = store.Entry(*_numbered(values), Action("done"), _seconds(values))
        check = field(values, "checksum", int, low=0, high=2**32 - 1)

        def finish_once(file: sqlite3.Connection) -> None:
            count = store.append(file, person.id, item.id, ready.picture, [entry])
            if count != entry.number:
                raise Refused(409, "this image was changed in another window: reload the page to go on from there")

        kept = await self._state.read(lambda file: store.read_log(file, person.id, item.id, ready.picture))
        seen = await asyncio.to_thread(finish, ready.candidates, kept)
        if checksum(seen.drawn) != check:
            raise Refused(
                409, "the page shows another map than the one that was saved: reload the page, then look again"
            )
        await self._state.write(finish_once)
        told: dict[str, Any] = {"entries": entry.number, "state": store.DONE, "counts": seen.counts, "unwritten": None}
        try:
            await asyncio.to_thread(self._write, item, person, ready)
        except UsageError as error:
            if isinstance(error, StateError):
                raise
            log.error("%s", error)
            told["unwritten"] = "the files could not be written; the terminal of the server says why"
        own = await self._state.read(lambda file: store.states(file, person.id))
        told["next"] = self._next_open(item, own)
        return answer(told)

    def _write(self, item: Item, person: Person, ready: Prepared) -> Finished:
        """Write a person's last finished map, and the file that holds those of everyone."""
        with self._at_work[item.id]:  # two people may finish one image at the same time
            folder = self._state.write_now(lambda file: store.folder_of(file, person.id, person.name))
            everyone = self._state.read_now(
                lambda file: {
                    who: store.read_log(file, who, item.id, ready.picture, finished=True)
                    for _, who, *_ in store.finishers(file, item.id)
                }
            )
            maps = {who: finish(ready.candidates, kept) for who, kept in everyone.items()}
            own = maps[person.id]
            try:
                write_own(self._out, folder, item.name, person.name, ready.picture, ready.candidates, own)
                write_together(self._out, item.name, [one.edges for one in maps.values()])
            except OSError as error:
                raise UsageError(f"{self._out}: cannot be written ({error.strerror})") from error
            return own

    def _item(self, request: Request) -> Item:
        item = self._items.get(request.path_params["item"])
        if item is None:
            raise Refused(404, "there is no such image")
        return item

    def _beside(self, place: int, step: int) -> str | None:
        """The nearest image before or after one that is not known to be broken."""
        place += step
        while 0 <= place < len(self._order):
            if self._order[place] not in self._broken:
                return self._order[place]
            place += step
        return None

    def _next_open(self, item: Item, states: Mapping[str, str]) -> str | None:
        """The next image that someone is not done with: first those after this one, then from the beginning."""
        place = self._order.index(item.id)
        for other in self._order[place + 1 :] + self._order[:place]:
            if states.get(other) != store.DONE and other not in self._broken:
                return other
        return None

    async def _look_ahead(self, place: int) -> None:
        """Make the next image ready while someone works on this one; find out about those that cannot be read."""
        for other in self._order[place + 1 :]:
            with suppress(InputError):
                await self._ready_to_label(self._items[other])
                return

    async def _ready_to_label(self, item: Item) -> Prepared:
        ready = self._ready.get(item.id)
        try:
            return ready if ready is not None else await asyncio.to_thread(self._prepare, item)
        except InputError as error:
            self._note(item, error)
            raise

    async def _named_or_refused(self, item: Item) -> Prepared:
        try:
            return await self._ready_to_label(item)
        except InputError as error:
            raise Refused(422, reason(error, {item.path: item.name})) from error

    def _note(self, item: Item, error: InputError) -> None:
        sentence = reason(error, {item.path: item.name})
        if item.id not in self._broken:
            log.warning("%s", error)
        self._broken[item.id] = sentence.removeprefix(f"{item.name}: ")

    def _prepare(self, item: Item) -> Prepared:
        """Decode an image and find its candidates, once; the last few are kept."""
        with self._at_work[item.id]:
            with self._shelf:
                if item.id in self._ready:
                    self._ready.move_to_end(item.id)
                    return self._ready[item.id]
            ready = prepare(item.path)
            with self._shelf:
                self._broken.pop(item.id, None)
                self._ready[item.id] = ready
                while len(self._ready) > 1 and sum(one.candidates.level.size for one in self._ready.values()) > _SHELF:
                    self._ready.popitem(last=False)
            return ready

    def _make_thumb(self, item: Item) -> bytes:
        picture = Image.fromarray(_eight_bit(read_image(item.path)))
        picture.thumbnail(_THUMB, Image.Resampling.BOX)
        small = io.BytesIO()
        picture.save(small, format="PNG")
        self._thumbs[item.id] = small.getvalue()
        return small.getvalue()


def prepare(path: Path) -> Prepared:
    """Make an image ready to be labelled. ``InputError`` for one that cannot be read or is too large."""
    pixels = read_image(path)
    height, width = pixels.shape[:2]
    if height * width > MOST_PIXELS:
        raise InputError(f"{path}: has {width}×{height} pixels; the studio labels images of {MOST_PIXELS:,} at most")
    digest = hashlib.sha256(f"{pixels.dtype} {pixels.shape} ".encode())
    digest.update(pixels.tobytes())
    candidates = find_candidates(pixels)
    planes = candidates.level.astype("<u2").tobytes() + candidates.survives.tobytes()
    return Prepared(
        picture=digest.hexdigest(),
        photo=png(_eight_bit(pixels)),
        gradient=gzip.compress(planes, 1, mtime=0),
        candidates=candidates,
    )


def _eight_bit(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    return (pixels >> 8).astype(np.uint8) if pixels.dtype == np.uint16 else pixels


def _plain(action: Action) -> dict[str, Any]:
    return {"kind": action.kind, "runs": action.runs, "threshold": action.threshold}


def _entry(values: Any, size: int) -> store.Entry:
    """An entry as a page sends it, checked."""
    if not isinstance(values, dict):
        raise Refused(400, "entries: expected objects")
    kind = field(values, "kind", str, high=20)
    if kind in ("undo", "redo"):
        action = Action(kind)
    elif kind == "threshold":
        action = Action(kind, threshold=field(values, "threshold", int, low=1, high=TOP))
    elif kind in ACTIONS:
        runs = field(values, "runs", list, low=2, high=MOST_NUMBERS)
        if not are_runs(runs, size):
            raise Refused(400, "runs: expected pixels of the image, as starts and lengths in order")
        action = Action(kind, tuple(runs))
    else:
        raise Refused(400, "kind: there is no such action")
    return store.Entry(*_numbered(values), action, _seconds(values))


def _numbered(values: Mapping[str, Any]) -> tuple[int, str]:
    return field(values, "number", int, low=1, high=2**31), field(values, "key", str, low=8, high=64)


def _seconds(values: Mapping[str, Any]) -> float:
    return float(field(values, "seconds", float, low=0, high=86400))


_CROSS = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 150 100" width="150" height="100">'
    '<rect width="150" height="100" fill="#80808022"/><path d="M60 28l30 30M90 28l-30 30" stroke="#b34700" stroke-width="4"/>'
    '<text x="75" y="84" fill="#b34700" font-family="sans-serif" font-size="14" text-anchor="middle">cannot be read</text></svg>'
)
