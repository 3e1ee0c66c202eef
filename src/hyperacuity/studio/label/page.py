"""The page on which people label edges: candidates of a gradient or a network, from which they erase and to which they add."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hyperacuity.data import read_image
from hyperacuity.errors import HyperacuityError, InputError, UsageError
from hyperacuity.studio import actions
from hyperacuity.studio.cache import Cache
from hyperacuity.studio.flags import Flag
from hyperacuity.studio.image_page import ImagePage, ImageRoute, first_open
from hyperacuity.studio.items import Item, eight_bit, png, reason, thumbnail
from hyperacuity.studio.label.files import Finished, finish, output_files, outputs_of
from hyperacuity.studio.label.log import PAGE, Log, as_dict, read_log
from hyperacuity.studio.label.map import (
    ACTIONS,
    GRADIENT,
    TOP,
    Action,
    EdgeCandidates,
    are_runs,
    checksum,
    find_candidates,
)
from hyperacuity.studio.label.sources import NET, CandidateSource, known_sources
from hyperacuity.studio.label.work import LabelWork
from hyperacuity.studio.outputs import write_outputs
from hyperacuity.studio.overview.page import Overview
from hyperacuity.studio.people import Person, folders
from hyperacuity.studio.state import State, StateError
from hyperacuity.studio.web import Refused, field, log, read_json, render

MAX_PIXELS = 24_000_000
"""Largest image that can be labelled: a browser holds about ten bytes for each of its pixels."""

MAX_NUMBERS = 100_000
"""Longest list of runs that one request may carry."""

MAX_ENTRIES = 200
"""Most entries that one request may carry."""

ROOM = 1 << 28
"""Bytes of prepared images in memory."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A prepared image: what the browser shows, where edges may be, and a digest that tells it from others."""

    digest: str
    photo: bytes
    candidates: EdgeCandidates

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes."""
        return len(self.photo) + self.candidates.nbytes


class LabelPage(ImagePage):
    """Labels of several people for several images.

    ``sources`` of candidates are offered in this order (by default the gradient alone); the first is the one to start with.
    """

    NAME, TITLE, ADDRESS, MAX_BODY = PAGE, "Label edges", "/image/{item}", 2 << 20

    def __init__(
        self, items: Mapping[str, Item], state: State, out: Path, sources: Sequence[CandidateSource] = ()
    ) -> None:
        super().__init__(items, state, out)
        self._order = list(self._items)
        self._offered = tuple(source.id for source in sources) or (GRADIENT,)
        self._sources = known_sources(sources)
        self._prepared: Cache[Prepared] = Cache(attrgetter("nbytes"), room=ROOM)
        # One thread looks with the network, an image at a time, whoever asks; the server goes on meanwhile.
        self._candidates: Cache[EdgeCandidates] = Cache(attrgetter("nbytes"), room=ROOM, workers=1)
        self._thumbnails: dict[str, bytes] = {}
        self._broken: dict[str, str] = {}
        self._writing = {item: threading.Lock() for item in self._items}
        self.overview = Overview(LabelWork(self._items, self.map_of, out), state, out)

    def _routes(self) -> Sequence[ImageRoute]:
        return (
            ("GET", "/photo", self._photo),
            ("GET", "/gradient", self._planes),
            ("GET", "/candidates/{source}", self._planes),
            ("GET", "/thumb", self._thumbnail),
            ("GET", "/log", self._log),
            ("POST", "/entries", self._append),
            ("POST", "/done", self._done),
        )

    def _files(self, folder: str, name: str) -> Sequence[Path]:
        return output_files(self._out, folder, name)

    def _write_finished(self, item: Item, log: actions.FinishedLog) -> None:
        self._write(item, Person(log.person, log.name), self._prepared.get(item.id, partial(prepare, item.path)))

    async def _list(self, request: Request, person: Person) -> Response:
        states, finished, flags = await self._state.read(
            lambda file: (_states(file, person), actions.finished_logs(file, PAGE), self._flags.of(file, person.id))
        )
        done_by: defaultdict[str, list[str]] = defaultdict(list)
        for one in finished:
            if one.person != person.id:
                done_by[one.item].append(one.name)
        images = [
            {
                "id": item.id,
                "name": item.title,
                "state": states.get(item.id, actions.NOT_STARTED),
                "others": done_by[item.id],
                "broken": self._broken.get(item.id),
                "flag": flags.get(item.id),
            }
            for item in self._items.values()
        ]
        shown = [image["state"] for image in images]
        return render(
            request,
            "label/list.html.j2",
            title=self.TITLE,
            person=person.name,
            link=self._people.link(request, person),
            newcomer=not states,
            images=images,
            counts={state: shown.count(state) for state in (actions.NOT_STARTED, actions.STARTED, actions.DONE)},
            next=self._next_open(0, states, flags),
        )

    async def _front(self, request: Request, person: Person) -> Response:
        item = self._item(request)
        index = self._order.index(item.id)
        around: dict[str, Any] = {
            "number": index + 1,
            "count": len(self._order),
            "previous": next((other for other in self._order[:index][::-1] if other not in self._broken), None),
            "next": next((other for other in self._order[index + 1 :] if other not in self._broken), None),
        }
        try:
            ready = await self._prepare(item)
        except Refused as why:
            return render(request, "label/broken.html.j2", status=422, title=item.title, sentence=why.detail, **around)
        self._meanwhile(self._look_ahead(index))
        height, width = ready.candidates.level.shape
        facts = {"id": item.id, "width": width, "height": height, "start": ready.candidates.start, "top": TOP, **around}
        facts |= {"max_numbers": MAX_NUMBERS, "max_entries": MAX_ENTRIES}
        flag = await self._state.read(lambda file: self._flags.of(file, person.id).get(item.id))
        around |= {"title": item.title, "person": person.name}
        return render(request, "label/label.html.j2", facts=facts, flag=flag, **around)

    async def _photo(self, request: Request) -> Response:
        return Response((await self._prepare(self._item(request))).photo, media_type="image/png")

    async def _planes(self, request: Request) -> Response:
        """The levels (16 bit, low byte first), then for every pixel whether it survives suppression (one byte)."""
        item, source = self._item(request), request.path_params.get("source", GRADIENT)
        if source not in self._sources:
            raise Refused(404, "there is no such source of candidates")
        candidates = await self._find(item, await self._prepare(item), source)
        planes = candidates.level.astype("<u2").tobytes() + candidates.survives.tobytes()
        start = {"X-Threshold": str(candidates.start)}
        return Response(planes, media_type="application/octet-stream", headers=start)

    async def _thumbnail(self, request: Request) -> Response:
        item = self._item(request)
        if item.id not in self._thumbnails:
            try:
                pixels = await asyncio.to_thread(read_image, item.path)
            except InputError as error:
                self._note_broken(item, error)
                return Response(_CROSS, media_type="image/svg+xml")  # beside the name of the image, which says the rest
            self._thumbnails[item.id] = await asyncio.to_thread(thumbnail, eight_bit(pixels))
        return Response(self._thumbnails[item.id], media_type="image/png")

    async def _log(self, request: Request) -> Response:
        person, item, ready = await self._work(request)
        labels = await self._state.read(lambda file: read_log(file, person.id, item.id, ready.digest))
        in_effect, undone = ([as_dict(action) for action in part] for part in (labels.actions, labels.undone))
        answer = {"entries": labels.entries, "state": labels.state, "actions": in_effect, "undone": undone}
        if self._offered != (GRADIENT,) or labels.used != (GRADIENT,):
            answer |= {"sources": self._offers(labels), "offered": labels.offered if labels.entries else []}
        return JSONResponse(answer)

    async def _append(self, request: Request) -> Response:
        person, item, ready = await self._work(request)
        listed = field(await read_json(request), "entries", list, low=1, high=MAX_ENTRIES)
        entries = [_entry(values, ready.candidates.level.size, self._sources) for values in listed]
        key = self._key(person, item)
        summary = await self._state.write(lambda file: actions.append(file, key, ready.digest, entries))
        return JSONResponse({"entries": summary.entries})

    async def _done(self, request: Request) -> Response:
        person, item, ready = await self._work(request)
        values = await read_json(request)
        entry = _numbered(values, Action("done"))
        check = field(values, "checksum", int, low=0, high=2**32 - 1)

        def finish_once(file: sqlite3.Connection) -> tuple[dict[str, str], dict[str, Flag]]:
            if actions.append(file, self._key(person, item), ready.digest, [entry]).entries != entry.number:
                raise Refused(409, actions.ELSEWHERE)
            return _states(file, person), self._flags.of(file, person.id)

        labels = await self._state.read(lambda file: read_log(file, person.id, item.id, ready.digest))
        candidates = {source: await self._find(item, ready, source) for source in labels.used}
        finished = await asyncio.to_thread(finish, candidates, labels)
        if checksum(finished.drawn) != check:
            raise Refused(409, "the page and the saved map differ: reload the page, then check the map again")
        if finished.missing and not field({"anyway": False, **values}, "anyway", bool):
            raise Refused(422, f"this is not complete: {', and '.join(finished.missing)}. Continue, or finish anyway")
        states, flags = await self._state.write(finish_once)
        unwritten = None
        try:
            await asyncio.to_thread(self._write, item, person, ready)
        except StateError:
            raise
        except UsageError as error:
            log.error("%s", error)
            unwritten = "the files could not be written; the terminal of the server says why"
        return JSONResponse(
            {
                "entries": entry.number,
                "state": actions.DONE,
                "counts": finished.counts,
                **({"accepted": self._accepted(finished)} if labels.offered != (GRADIENT,) else {}),
                "unwritten": unwritten,
                "next": self._next_open(self._order.index(item.id) + 1, states, flags),
            }
        )

    def _write(self, item: Item, person: Person, ready: Prepared) -> None:
        """Write a person's last finished map, and the file that holds those of everyone."""

        def look(file: sqlite3.Connection) -> tuple[dict[str, Log], str]:
            people = [one.person for one in actions.finished_logs(file, PAGE, item.id)]
            logs = {who: read_log(file, who, item.id, ready.digest, finished=True) for who in people}
            return logs, folders(file)[person.id]

        with self._writing[item.id]:  # two people may finish one image at the same time
            everyone, folder = self._state.read_now(look)
            try:
                maps = {who: finish(self._find_now(item, ready, labels), labels) for who, labels in everyone.items()}
            except (InputError, Refused) as error:  # somebody's candidates are not to be had
                raise UsageError(error.detail if isinstance(error, Refused) else str(error)) from error
            outputs = outputs_of(
                self._out,
                folder,
                item.name,
                annotator=person.name,
                digest=ready.digest,
                sources=self._sources,
                finished=maps[person.id],
                everyone=[one.edges for one in maps.values()],
            )
            try:
                write_outputs(self._state, self._out, outputs)
            except OSError as error:
                raise UsageError(f"{self._out}: cannot be written ({error.strerror})") from error

    def map_of(self, item: str, person: str, number: int) -> Finished:
        """A person's map of an image, as it was after the entry ``number`` of the log."""
        ready = self._prepared.get(item, partial(prepare, self._items[item].path))
        labels = self._state.read_now(lambda file: read_log(file, person, item, ready.digest, until=number))
        return finish(self._find_now(self._items[item], ready, labels), labels)

    async def _work(self, request: Request) -> tuple[Person, Item, Prepared]:
        """The person and the image of a request."""
        person = await self._people.require(request)
        item = self._item(request)
        return person, item, await self._prepare(item)

    def _next_open(self, index: int, states: Mapping[str, str], flags: Mapping[str, Flag]) -> str | None:
        """The next unfinished image from this index on, then from the beginning; those that they skip come last."""
        order = self._order[index:] + self._order[:index]
        return first_open([one for one in order if states.get(one) != actions.DONE and one not in self._broken], flags)

    async def _look_ahead(self, index: int) -> None:
        """Prepare the next image while someone works on this one, and note those that cannot be read."""
        await self._find_offered(self._items[self._order[index]])
        for other in self._order[index + 1 :]:
            with suppress(Refused):
                await self._prepare(self._items[other])
                await self._find_offered(self._items[other])
                return

    async def _prepare(self, item: Item) -> Prepared:
        """Prepare an image; ``Refused``, with its name, for one that cannot be read."""
        try:
            ready = await self._prepared.fetch(item.id, partial(prepare, item.path))
        except InputError as error:
            raise Refused(422, f"{item.title}: {self._note_broken(item, error)}") from error
        self._broken.pop(item.id, None)
        return ready

    async def _find(self, item: Item, ready: Prepared, source: str) -> EdgeCandidates:
        """The candidates of a source; ``Refused``, with the name of the image, where there are none to be had."""
        if source == GRADIENT:
            return ready.candidates
        self._check_known(source)
        try:
            return await self._candidates.fetch((item.id, source), partial(self._sources[source].find, item))
        except InputError as error:
            raise Refused(422, f"{item.title}: {reason(error, item)}") from error
        except HyperacuityError as error:
            raise Refused(422, str(error)) from error

    async def _find_offered(self, item: Item) -> None:
        """Prepare the candidates of all sources before anyone asks for them; those who ask hear what goes wrong."""
        for source in self._offered:
            with suppress(Refused):
                await self._find(item, await self._prepare(item), source)

    def _find_now(self, item: Item, ready: Prepared, labels: Log) -> dict[str, EdgeCandidates]:
        """The candidates that it takes to replay a log, for code outside of the server's loop."""
        candidates = {}
        for source in labels.used:
            self._check_known(source)
            find = partial(self._sources[source].find, item)
            candidates[source] = (
                ready.candidates if source == GRADIENT else self._candidates.get((item.id, source), find)
            )
        return candidates

    def _accepted(self, finished: Finished) -> dict[str, int]:
        """Origins of the edges, in words for the page."""

        def words(source: str) -> str:
            if source not in self._sources:
                return source
            name, title = self._sources[source].name, self._sources[source].title
            return f"from the {title.lower()}" if name in (GRADIENT, NET) else f"from {title}"

        return {words(source): count for source, count in finished.accepted.items()}

    def _check_known(self, source: str) -> None:
        if source not in self._sources:
            why = f"was started with candidates that this studio does not have ({source})"
            raise Refused(409, f"this image {why}: ask the organiser to start it with the same candidates and version")

    def _offers(self, labels: Log) -> list[dict[str, str]]:
        """The sources for a page: those that a log began with and has used, then what else is offered."""
        for source in labels.used:
            self._check_known(source)
        ids = dict.fromkeys((*labels.used, *self._offered) if labels.entries else self._offered)
        return [{"id": one, "title": self._sources[one].title} for one in ids]

    def _note_broken(self, item: Item, error: InputError) -> str:
        if item.id not in self._broken:
            log.warning("%s", error)
        self._broken[item.id] = reason(error, item)
        return self._broken[item.id]


def prepare(path: Path) -> Prepared:
    """Prepare an image for labelling. ``InputError`` for one that cannot be read or is too large."""
    pixels = read_image(path)
    height, width = pixels.shape[:2]
    if height * width > MAX_PIXELS:
        raise InputError(f"{path}: has {width}×{height} pixels; the studio labels images of {MAX_PIXELS:,} at most")
    digest = hashlib.sha256(f"{pixels.dtype} {pixels.shape} ".encode())
    digest.update(pixels.tobytes())
    return Prepared(digest.hexdigest(), png(eight_bit(pixels)), find_candidates(pixels))


def _states(file: sqlite3.Connection, person: Person) -> dict[str, str]:
    """The images that a person has started or is done with."""
    return {item: sheet.state for item, sheet in actions.summaries(file, PAGE, person.id).items()}


def _entry(values: Any, size: int, sources: Mapping[str, Any]) -> actions.Entry:
    """Validate an entry from a page."""
    if not isinstance(values, dict):
        raise Refused(400, "entries: expected objects")
    kind = field(values, "kind", str, high=20)
    if kind in ("undo", "redo"):
        action = Action(kind)
    elif kind == "threshold":
        action = Action(kind, threshold=field(values, "threshold", int, low=1, high=TOP))
    elif kind in ("source", "offer"):
        named = field(values, "sources", list, low=1, high=1 if kind == "source" else len(sources))
        if any(not isinstance(one, str) or one not in sources for one in named) or len(set(named)) < len(named):
            raise Refused(400, "sources: expected sources of candidates that are offered")
        action = Action(kind, sources=tuple(named))
    elif kind in ACTIONS:
        runs = field(values, "runs", list, low=2, high=MAX_NUMBERS)
        if not are_runs(runs, size):
            raise Refused(400, "runs: expected pixels of the image, as starts and lengths in order")
        action = Action(kind, tuple(runs))
    else:
        raise Refused(400, "kind: there is no such action")
    return _numbered(values, action)


def _numbered(values: Mapping[str, Any], action: Action) -> actions.Entry:
    number = field(values, "number", int, low=1, high=2**31)
    key = field(values, "key", str, low=8, high=64)
    return actions.Entry(number, key, as_dict(action), field(values, "seconds", float, low=0, high=86400))


_CROSS = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 150 100" width="150" height="100">'
    '<rect width="150" height="100" fill="#80808022"/><path d="M60 28l30 30M90 28l-30 30" stroke="#b34700" stroke-width="4"/>'
    '<text x="75" y="84" fill="#b34700" font-family="sans-serif" font-size="14" text-anchor="middle">cannot be read</text></svg>'
)
