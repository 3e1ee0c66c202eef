"""``hyperacuity studio order``: a page on which people order the regions of images by depth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperacuity.cli import common, studio_options
from hyperacuity.cli.studio_options import Browser, Host, Port, Token


def order(
    images: Annotated[Path, typer.Argument(metavar="IMAGES", help="Folder of images.", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for the orders; made if need be.", show_default=False)
    ],
    segmentation: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Segmentations by name: label maps, .seg, BSDS .mat, or ucm2. Without: regions with a level to choose.",
            show_default=False,
        ),
    ] = None,
    annotator: Annotated[
        int, typer.Option(min=1, metavar="N", help="Which segmentation, where an image has several.")
    ] = 1,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where all actions are kept.", show_default="DIR/studio.sqlite"),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    token: Token = None,
    browser: Browser = True,
) -> None:
    """Order regions by depth: click them from near to far, or drag from a region to one behind it.

    Every action is kept as it happens. Done writes an order map and who owns which boundary; never a contradiction.

    DIR/order is a truth for the verb ordering, with one annotator per person.

    Example: [bold]hyperacuity studio order photos --out orders[/bold]

    Example: [bold]hyperacuity studio order photos --segmentation labels --out o[/bold]
    """
    studio_options.require()
    from hyperacuity.studio import people
    from hyperacuity.studio.order import page as pages
    from hyperacuity.studio.order.regions import find_material
    from hyperacuity.studio.server import choose_token
    from hyperacuity.studio.state import State

    token = choose_token(host, token)
    material = find_material(images, segmentation, annotator=annotator)
    common.output_folder(out)
    names = {item: material.items[item].name for item in material.failed}
    common.tell_failures((name, material.failed[item].removeprefix(f"{name}: ")) for item, name in names.items())
    with State(state or out / "studio.sqlite", [pages.LAYOUT, people.LAYOUT]) as opened:
        page = pages.Order(material, opened, out).page
        studio_options.open_page(page, host=host, port=port, token=token, browser=browser)
