"""The page on which people order regions by depth, so that the orders are consistent as a whole.

References
----------
Palou & Salembier (2014), section 5.1: regions annotated with relative depth, "creating a consistent depth map".
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hyperacuity.detect.net.network import card
from hyperacuity.errors import HyperacuityError, InputError
from hyperacuity.studio import actions
from hyperacuity.studio.actions import Key, LogSummary
from hyperacuity.studio.cache import Cache
from hyperacuity.studio.image_page import ImagePage, ImageRoute, first_open
from hyperacuity.studio.items import Item, png
from hyperacuity.studio.order.edits import check_edit, count_parts, edit_facts, edited, shape_of
from hyperacuity.studio.order.files import output_files, outputs_of
from hyperacuity.studio.order.history import EditHistory, Snapshot, act, replay, validate
from hyperacuity.studio.order.image_order import ImageOrder, image_order
from hyperacuity.studio.order.regions import OrderInputs, Regions, SegmentedImage, load_image, regions_at, regions_of
from hyperacuity.studio.order.relations import as_sentence, find_contradiction
from hyperacuity.studio.order.suggestions import answers, longest_first, open_suggestions, preview, suggest
from hyperacuity.studio.order.work import OrderWork
from hyperacuity.studio.outputs import write_outputs
from hyperacuity.studio.overview.page import Overview
from hyperacuity.studio.people import Person, folders
from hyperacuity.studio.state import State, now
from hyperacuity.studio.web import Refused, field, log, read_json, render

ELSEWHERE = "this image was changed in another tab or browser; the page now shows how it stands"

ROOM = 1 << 29
"""Bytes of images, and of their regions, in memory."""

KEPT_HISTORIES = 256
"""Number of histories in memory; others are read again from the file."""

Done = tuple[int, str]
"""The number of the action that says *done*, and its time."""

BRIEFLY = {"Cache-Control": "private, max-age=600"}


class OrderPage(ImagePage):
    """Orders of several people for several images.

    The server answers each action with all that follows from it. Files are written when a person says that an image is done,
    never while there is a contradiction.
    """

    NAME, TITLE, ADDRESS, MAX_BODY = "order", "Order regions by depth", "/items/{item}", 1 << 17

    def __init__(self, inputs: OrderInputs, state: State, out: Path) -> None:
        super().__init__(inputs.items, state, out)
        self._inputs = inputs
        self._usable = [item for item in inputs.items if item not in inputs.failed]
        self._locks: defaultdict[Key, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._histories: OrderedDict[Key, tuple[int, EditHistory]] = OrderedDict()
        # One thread looks with the network, an image at a time, whoever asks; the server goes on meanwhile.
        self._images: Cache[SegmentedImage] = Cache(attrgetter("nbytes"), room=ROOM, workers=int(inputs.net))
        self._shapes: OrderedDict[tuple[str, str], Snapshot] = OrderedDict()
        self._regions: Cache[Regions] = Cache(attrgetter("nbytes"), room=ROOM)
        usable = {item: inputs.items[item] for item in self._usable}
        self.overview = Overview(OrderWork(usable, self.order_of, out), state, out)

    def _routes(self) -> Sequence[ImageRoute]:
        return (
            ("GET", "/photograph", self._photograph),
            ("GET", "/thumbnail", self._thumbnail),
            ("GET", "/regions/{level}", self._describe_regions),
            ("GET", "/labels/{level}", self._labels),
            ("GET", "/sheet", self._sheet),
            ("POST", "/actions", self._act),
        )

    def order_of(self, item: str, person: str, number: int) -> ImageOrder:
        """A person's order of an image, as it was after the action ``number``."""
        one = self._items[item]
        image, key = self._image(one), Key(self.NAME, person, item)
        summary, entries = self._state.read_now(
            lambda file: (actions.read_summary(file, key), actions.read_entries(file, key, number))
        )
        if summary is None or summary.digest != image.digest:
            raise InputError(f"{one.path}: its regions are not those that were ordered before")
        current = replay([entry.action for entry in entries], image.first, image.levels).current
        return self._order(one, current)

    def _files(self, folder: str, name: str) -> Sequence[Path]:
        return list(output_files(self._out, folder, name).values())

    def _write_finished(self, item: Item, log: actions.FinishedLog) -> None:
        if item.id in self._inputs.failed:
            raise InputError(self._inputs.failed[item.id])
        order, person = self.order_of(item.id, log.person, log.number), Person(log.person, log.name)
        self._write_now(person, item, self._image(item), order, (log.number, log.made))

    def _reason(self, error: InputError, item: Item) -> str:
        return self._inputs.reason(error, item)

    async def _list(self, request: Request, person: Person) -> Response:
        summaries, flags = await self._state.read(
            lambda file: (actions.summaries(file, self.NAME, person.id), self._flags.of(file, person.id))
        )
        rows = [
            {
                "id": item.id,
                "name": item.title,
                "failed": self._inputs.failed.get(item.id),
                "flag": flags.get(item.id),
                **_progress(summaries.get(item.id)),
            }
            for item in self._items.values()
        ]
        left = [row["id"] for row in rows if not row["failed"] and not row.get("written")]
        return render(
            request,
            "order/overview.html.j2",
            title=self.TITLE,
            rows=rows,
            person=person.name,
            link=self._people.link(request, person),
            newcomer=not summaries,
            next=first_open(left, flags),
            done=sum(bool(row.get("written")) for row in rows),
            total=len(self._usable),
        )

    async def _front(self, request: Request, person: Person) -> Response:
        item = self._item(request)
        index, total = self._usable.index(item.id), len(self._usable)
        if self._inputs.net:  # which takes seconds: the page says so while it waits
            self._meanwhile(self._look_ahead(index))
        else:
            await self._load(item)
        before, _, after = [None, *self._usable, None][index : index + 3]
        return render(
            request,
            "order/order.html.j2",
            title=item.title,
            person=person.name,
            number=index + 1,
            total=total,
            facts={"item": item.id, "before": before, "after": after},
            net=self._inputs.net,
            flag=await self._state.read(lambda file: self._flags.of(file, person.id).get(item.id)),
        )

    async def _photograph(self, request: Request) -> Response:
        image = await self._load(self._item(request))
        return Response(await asyncio.to_thread(png, image.pixels), media_type="image/png", headers=BRIEFLY)

    async def _thumbnail(self, request: Request) -> Response:
        return Response(self._inputs.thumbnails[self._item(request).id], media_type="image/png", headers=BRIEFLY)

    async def _describe_regions(self, request: Request) -> Response:
        regions = await self._requested_regions(request)
        height, width = regions.labels.shape
        return JSONResponse(
            {
                "width": width,
                "height": height,
                "anchors": regions.anchors.tolist(),
                "areas": regions.areas.tolist(),
                "pairs": np.column_stack([regions.pairs, regions.lengths]).tolist(),
            }
        )

    async def _labels(self, request: Request) -> Response:
        """The regions' numbers, 16 bit, lowest byte first, line by line; 65535 where there is none."""
        regions = await self._requested_regions(request)
        return Response(regions.labels.astype("<u2").tobytes(), media_type="application/octet-stream")

    async def _sheet(self, request: Request) -> Response:
        item, person = self._item(request), await self._people.require(request)
        image = await self._load(item)
        summary, history = await self._history(self._key(person, item), item, image)
        answer = await asyncio.to_thread(self._as_dict, item, history, summary)
        return JSONResponse(answer | {"levels": [[level.height, level.regions] for level in image.levels]})

    async def _act(self, request: Request) -> Response:
        item, person = self._item(request), await self._people.require(request)
        values = await read_json(request)
        tab = field(values, "tab", str, low=8, high=64)
        sequence = field(values, "sequence", int, low=1, high=1 << 40)
        action = validate(field(values, "action", dict))
        image = await self._load(item)
        key, done = self._key(person, item), action["kind"] == "done"
        async with self._locks[key]:
            summary, history = await self._history(key, item, image)
            entry = actions.Entry(sequence, tab, action, None, now())
            if sequence != summary.entries + 1:
                if not await self._state.read(lambda file: actions.is_stored(file, key, entry)):
                    raise Refused(409, ELSEWHERE)
            elif (updated := await self._updated(item, image, history, action)) is not history or done:
                history = updated
                order = await asyncio.to_thread(self._order, item, history.current)
                arrangement, complete = order.arrangement, summary.complete
                if done:
                    complete = order.missing.complete
                    await self._write(person, item, image, order, (sequence, entry.made), anyway=action["anyway"])
                facts = {
                    "ordered": arrangement.ordered,
                    "regions": order.regions.count,
                    "tangled": len(arrangement.tangled),
                }
                summary = await self._state.write(
                    lambda file: actions.append(file, key, image.digest, [entry], complete=complete, facts=facts)
                )
                self._remember(key, sequence, history)
            answer = await asyncio.to_thread(self._as_dict, item, history, summary)
        return JSONResponse(answer)

    async def _updated(
        self, item: Item, image: SegmentedImage, history: EditHistory, action: dict[str, Any]
    ) -> EditHistory:
        """The history after an action. Of a region that is split, the parts are counted, and noted in the action."""
        if action["kind"] in ("merge", "split"):
            regions = await asyncio.to_thread(self._regions_of, item, history.current)
            check_edit(regions, action)
            if action["kind"] == "split":
                action["parts"] = await asyncio.to_thread(count_parts, regions, action)
        return act(history, action, image.levels)

    async def _write(
        self, person: Person, item: Item, image: SegmentedImage, order: ImageOrder, done: Done, *, anyway: bool
    ) -> None:
        """Write an image's files, unless there is a contradiction, nothing to write, or a gap of which the person has to know."""
        if order.arrangement.tangled:
            statements = order.current.statements
            why = as_sentence(find_contradiction(statements, order.arrangement.tangled), statements.positions)
            raise Refused(422, f"this order is not written, because it contradicts itself: {why}")
        if order.arrangement.known_pairs == 0:
            raise Refused(422, "this order is not written: no two regions are ordered yet")
        if not (anyway or order.missing.complete):
            why = ", and ".join(order.missing.words)
            raise Refused(422, f"this order is not complete: {why}. Continue, or finish anyway")
        try:
            await asyncio.to_thread(self._write_now, person, item, image, order, done)
        except (HyperacuityError, OSError) as error:
            log.error("%s", error)
            why = "this order is kept, but its files cannot be written: the server's terminal says why"
            raise Refused(422, why) from error

    def _write_now(self, person: Person, item: Item, image: SegmentedImage, order: ImageOrder, done: Done) -> None:
        """Write an image's files: the same from the same log, whenever that is."""
        number, made = done
        key = self._key(person, item)
        before, folder = self._state.read_now(
            lambda file: (actions.read_entries(file, key, number - 1), folders(file)[person.id])
        )
        facts = {
            "annotator": person.name,
            "made": made,
            "started": before[0].made if before else None,
            "actions": number,
            "seconds": round(sum(one.seconds or 0.0 for one in before), 3),
            "segmentation": [path.name for path in self._inputs.segmentation(item)]
            or ("hierarchy of the network" if self._inputs.net else "hierarchy"),
            "segmentation_number": self._inputs.annotator,
            "level": image.levels[order.current.level].height,
            **({"edits": edit_facts(order.current.edits)} if order.current.edits else {}),
            "digest": image.digest,
            "coverage": order.coverage,
            "complete": order.missing.complete,
            "missing": order.missing.facts,
            **self._start(order),
        }
        write_outputs(self._state, self._out, outputs_of(self._out, folder, item.name, order, facts))

    def _start(self, order: ImageOrder) -> dict[str, Any]:
        """Provenance of an order that was started from a suggestion, and what became of it."""
        if not self._inputs.net:
            return {}
        counts = asdict(answers(suggest(order.regions), order.current, order.arrangement))
        network = {"from": "net", "setting": "best", "network_sha256": card()["sha256"], "level": self._inputs.level}
        names = {"total": "suggested", "together": "kept_together"}
        return {"start": network | {names.get(name, name): count for name, count in counts.items()}}

    def _as_dict(self, item: Item, history: EditHistory, summary: LogSummary) -> dict[str, Any]:
        """Everything on the page, after an action."""
        current, statements = history.current, history.current.statements
        order = self._order(item, current)
        regions, arrangement = order.regions, order.arrangement
        cycle = find_contradiction(statements, arrangement.tangled)
        contradiction = None
        if cycle:
            steps = [[step.near, step.far, step.same, step.placed] for step in cycle]
            contradiction = {"words": as_sentence(cycle, statements.positions), "steps": steps}
        suggestion = None
        if regions.depths is not None:
            suggested = suggest(regions)
            waiting = open_suggestions(suggested, current, arrangement)
            shown = preview(statements, waiting, regions.count)
            suggestion = {
                **asdict(answers(suggested, current, arrangement)),
                "waiting": [
                    [a, b] if waiting[a, b] > 0 else [b, a] for a, b in longest_first(regions) if (a, b) in waiting
                ],
                "layer": shown.layer,
                "layers": shown.layers,
            }
        return {
            "version": summary.entries,
            "level": current.level,
            "shape": self._shape(item, current),
            "edits": len(current.edits),
            "positions": sorted([region, position] for region, position in statements.positions.items()),
            "pairs": [[a, b, r] if r >= 0 else [b, a, 1] for (a, b), r in statements.pairs.items()],
            "layer": arrangement.layer,
            "layers": arrangement.layers,
            "groups": arrangement.groups,
            "tangled": sorted(arrangement.tangled),
            "contradiction": contradiction,
            "coverage": order.coverage,
            "missing": order.missing.words,
            "undo": history.head,
            "redo": len(history.snapshots) - 1 - history.head,
            "suggestion": suggestion,
            "written": "no" if summary.finished == 0 else "yes" if summary.state == actions.DONE else "changed",
            "complete": summary.complete,
        }

    def _order(self, item: Item, current: Snapshot) -> ImageOrder:
        return image_order(current, self._regions_of(item, current))

    async def _history(self, key: Key, item: Item, image: SegmentedImage) -> tuple[LogSummary, EditHistory]:
        version, history = self._histories.get(key, (-1, None))

        def look(file: sqlite3.Connection) -> tuple[LogSummary, list[actions.Entry]]:
            summary = actions.read_summary(file, key) or LogSummary(image.digest)
            return summary, [] if summary.entries == version else actions.read_entries(file, key)

        summary, entries = await self._state.read(look)
        if summary.digest != image.digest:
            raise Refused(409, f"{item.title}: its regions are not those that were ordered before; ask the organiser")
        if history is None or version != summary.entries:
            taken = [one.action for one in entries]
            history = await asyncio.to_thread(replay, taken, image.first, image.levels)
            self._remember(key, summary.entries, history)
        return summary, history

    def _remember(self, key: Key, version: int, history: EditHistory) -> None:
        self._histories[key] = (version, history)
        self._histories.move_to_end(key)
        while len(self._histories) > KEPT_HISTORIES:
            self._histories.popitem(last=False)

    def _item(self, request: Request) -> Item:
        item = super()._item(request)
        if item.id in self._inputs.failed:
            raise Refused(422, f"{item.title}: {self._inputs.failed[item.id]}")
        return item

    def _image(self, item: Item) -> SegmentedImage:
        return self._images.get(item, lambda: load_image(self._inputs, item))

    def _regions_of(self, item: Item, current: Snapshot) -> Regions:
        """The regions at the level that was chosen, after all edits."""

        def make() -> Regions:
            image = self._image(item)
            regions = regions_at(image, current.level)
            return regions_of(edited(regions.labels, current.edits), image.depth) if current.edits else regions

        return self._regions.get((item, current.level, current.edits), make)

    def _shape(self, item: Item, current: Snapshot) -> str:
        """Name of the regions to show, by which the page then asks for them."""
        shape = shape_of(current.level, current.edits)
        if current.edits:
            self._shapes[item.id, shape] = current
            while len(self._shapes) > KEPT_HISTORIES:
                self._shapes.popitem(last=False)
        return shape

    async def _load(self, item: Item) -> SegmentedImage:
        """The image; ``Refused``, with its name, where it cannot be read any more."""
        try:
            return await self._images.fetch(item, lambda: load_image(self._inputs, item))
        except InputError as error:
            raise Refused(422, f"{item.title}: {self._inputs.reason(error, item)}") from error

    async def _look_ahead(self, index: int) -> None:
        """Prepare this image, and the next one while someone works on it; those who ask hear what goes wrong."""
        for item in self._usable[index : index + 2]:
            with suppress(Refused):
                await self._load(self._items[item])

    async def _requested_regions(self, request: Request) -> Regions:
        item, level = self._item(request), request.path_params["level"]
        image = await self._load(item)
        if (item.id, level) in self._shapes:
            return await asyncio.to_thread(self._regions_of, item, self._shapes[item.id, level])
        if not (level.isascii() and level.isdecimal() and len(level) < 6 and int(level) < len(image.levels)):
            raise Refused(404, "there is no such level")
        return await asyncio.to_thread(self._regions_of, item, Snapshot(int(level)))


def _progress(summary: LogSummary | None) -> dict[str, Any]:
    """Progress with an image, for the list."""
    if summary is None:
        return {"started": False, "tangled": False, "changed": False}
    return {
        "started": True,
        "ordered": summary.facts["ordered"],
        "regions": summary.facts["regions"],
        "tangled": summary.facts["tangled"] > 0,
        "written": summary.state == actions.DONE,
        "complete": summary.complete,
        "changed": 0 < summary.finished < summary.entries,
    }
