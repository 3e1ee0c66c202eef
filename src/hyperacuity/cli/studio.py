"""``hyperacuity studio``: pages where people label and judge. One module per page; this one lists them."""

from __future__ import annotations

import typer

from hyperacuity.cli import studio_choose, studio_label, studio_order

app = typer.Typer(help="Pages where people label and judge, in the browser.", no_args_is_help=True)
app.command("choose")(studio_choose.choose)
app.command("label")(studio_label.label)
app.command("order")(studio_order.order)
