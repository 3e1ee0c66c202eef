"""Base of the pages on which people work through images."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hyperacuity.errors import InputError, UsageError
from hyperacuity.studio import actions
from hyperacuity.studio.flags import Flag, Flags
from hyperacuity.studio.items import Item, reason
from hyperacuity.studio.outputs import Watch, are_current
from hyperacuity.studio.overview.page import Overview
from hyperacuity.studio.people import People, Person, folders
from hyperacuity.studio.state import State
from hyperacuity.studio.web import Page, Refused

ImageRoute = tuple[str, str, Callable[[Request], Awaitable[Response]]]
"""A method, the end of an address after that of an image, and a handler."""


class ImagePage(ABC):
    """A page on which people work through images, each in their logs. Finished work is written to the folder ``out``.

    The state needs the tables of :data:`hyperacuity.studio.actions.SCHEMA` and :data:`hyperacuity.studio.people.SCHEMA`.
    ``ADDRESS`` is that of an image; a request of more than ``MAX_BODY`` bytes is refused.
    """

    NAME: ClassVar[str]
    TITLE: ClassVar[str]
    ADDRESS: ClassVar[str]
    MAX_BODY: ClassVar[int]
    overview: Overview

    def __init__(self, items: Mapping[str, Item], state: State, out: Path) -> None:
        self._items = dict(items)
        self._state = state
        self._out = out
        self._people = People(state, self.NAME)
        self._flags = Flags(state, self.NAME, self._people, self.ADDRESS, self._item)
        self._ahead: set[asyncio.Task[None]] = set()

    @property
    def page(self) -> Page:
        """The page to serve."""
        routes = [
            Route("/", self._signed_in(self._list)),
            Route(self.ADDRESS, self._signed_in(self._front)),
            *(Route(self.ADDRESS + end, handler, methods=[method]) for method, end, handler in self._routes()),
            *self._people.routes,
            *self._flags.routes,
            *self.overview.routes,
        ]
        return Page(self.TITLE, routes, max_body=self.MAX_BODY)

    @abstractmethod
    def _routes(self) -> Sequence[ImageRoute]:
        """Further routes of an image."""

    @abstractmethod
    async def _list(self, request: Request, person: Person) -> Response:
        """The list of images."""

    @abstractmethod
    async def _front(self, request: Request, person: Person) -> Response:
        """The page of an image."""

    def write_missing(self, watch: Watch = iter) -> list[tuple[str, str]]:
        """Write files of finished work that are missing, damaged or older; (name, reason) of those that cannot be written.

        ``watch`` sees the progress.
        """
        failed = []
        finished, folder = self._state.read_now(lambda file: (actions.finished_logs(file, self.NAME), folders(file)))
        for one in watch(finished):
            item = self._items.get(one.item)
            if item is None:
                continue
            if are_current(self._state, self._files(folder[one.person], item.name), one.number):
                continue
            try:
                self._write_finished(item, one)
            except InputError as error:
                failed.append((item.title, self._reason(error, item)))
            except (UsageError, Refused, OSError) as error:
                failed.append((item.title, error.detail if isinstance(error, Refused) else str(error)))
        return failed + self.overview.write_missing()

    @abstractmethod
    def _files(self, folder: str, name: str) -> Sequence[Path]:
        """Paths of the files of someone's finished image, the provenance last."""

    @abstractmethod
    def _write_finished(self, item: Item, log: actions.FinishedLog) -> None:
        """Write the files of someone's finished image."""

    def _reason(self, error: InputError, item: Item) -> str:
        return reason(error, item)

    def _item(self, request: Request) -> Item:
        item = self._items.get(request.path_params["item"])
        if item is None:
            raise Refused(404, "there is no such image")
        return item

    def _key(self, person: Person, item: Item) -> actions.Key:
        return actions.Key(self.NAME, person.id, item.id)

    def _signed_in(
        self, handler: Callable[[Request, Person], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """A handler for people who have said who they are; others are asked."""

        async def handle(request: Request) -> Response:
            person = await self._people.find(request)
            if person is None:
                return await self._people.welcome(request, title=self.TITLE)
            return await handler(request, person)

        return handle

    def _meanwhile(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a task in the background."""
        task = asyncio.create_task(work)
        self._ahead.add(task)
        task.add_done_callback(self._ahead.discard)


def first_open(left: Collection[str], flags: Mapping[str, Flag]) -> str | None:
    """The first of the images that are left; those that someone skips come last."""
    unskipped = (one for one in left if not (one in flags and flags[one].skipped))
    return next(unskipped, next(iter(left), None))
