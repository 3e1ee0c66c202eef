"""``hyperacuity studio label``: semi-automatic edge truth, made by people in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyperacuity.cli import common
from hyperacuity.cli.studio_options import Browser, Host, Port, Token, open_page, require
from hyperacuity.evaluation.inputs import pictures_of

if TYPE_CHECKING:
    from hyperacuity.studio.items import Item


def label(
    images: Annotated[
        list[Path], typer.Argument(metavar="IMAGES", help="Pictures, or folders of pictures.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="Folder for edge maps, MAT files and provenance.", show_default=False
        ),
    ],
    state: Annotated[
        Path | None, typer.Option(help="File that keeps every action (default: DIR/studio.sqlite).", show_default=False)
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    token: Token = None,
    browser: Browser = True,
) -> None:
    """Label edges: candidates of the masks [-1 0 1], from which people erase and to which they add.

    Everyone works under a name of their own. When someone is done with an image, DIR gets edges/ANNOTATOR/NAME.png (one pixel
    wide), groundTruth/NAME.mat (all annotators, as in BSDS) and provenance/ANNOTATOR/NAME.json. DIR/edges and DIR/groundTruth
    are truths for the verbs edges and boundary. After Abdulrahman, Magnier & Montesinos (2017), section 3.1.

    Example: [bold]hyperacuity studio label photos --out labels[/bold]
    """
    require()
    items = _items(images)
    folder = common.output_folder(out)

    from hyperacuity.studio import people
    from hyperacuity.studio.label import store as label_store
    from hyperacuity.studio.label.page import LabelPage
    from hyperacuity.studio.server import choose_token
    from hyperacuity.studio.state import State

    own = choose_token(host, token)
    with State(state or folder / "studio.sqlite", [people.LAYOUT, label_store.LAYOUT]) as kept:
        page = LabelPage(items, kept, folder)
        common.tell_failures(page.write_missing())
        open_page(page.page, host=host, port=port, token=own, browser=browser)


def _items(paths: list[Path]) -> dict[str, Item]:
    """The pictures that were named and those in folders that were named, by id."""
    from hyperacuity.data.datasets.pairing import stem_of
    from hyperacuity.studio.items import Item, by_id, item_id

    files = pictures_of(paths)
    return by_id(Item(item_id(stem_of(file)), stem_of(file), file) for file in files)
