"""What the pages of ``hyperacuity studio`` share on the command line: options, and how a server is started."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from hyperacuity.cli import common
from hyperacuity.errors import UsageError

if TYPE_CHECKING:
    from hyperacuity.studio.server import Address
    from hyperacuity.studio.web import Page

Host = Annotated[
    str, typer.Option(help="Address to listen on; any but loopback can be reached by others, and asks for a token.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on (0: a free one).")]
Token = Annotated[
    str | None, typer.Option(help="Token that visitors need (default: a new one, where needed).", show_default=False)
]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")]


def require() -> None:
    """Refuse with a sentence that helps when the packages for pages are not installed."""
    try:
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UsageError(f'the studio needs the package {error.name}: pip install "hyperacuity[studio]"') from error


def open_page(
    page: Page, *, host: str, port: int, token: str | None, browser: bool, tell: Callable[[Address], None] | None = None
) -> None:
    """Serve a page until Ctrl-C, having said where it is. ``token`` is the one that
    :func:`~hyperacuity.studio.server.choose_token` gave."""
    from hyperacuity.studio.server import serve

    def say(address: Address) -> None:
        common.messages.print(f"{page.title}: {address.front}", markup=False, soft_wrap=True)
        if tell is not None:
            tell(address)
        common.messages.print("Ctrl-C stops the server; everything is saved as it happens.", markup=False)

    serve(page, host=host, port=port, token=token, browser=browser, tell=say)
    common.messages.print("stopped", markup=False)
