"""``hyperacuity study``: the papers' experiments, a module per paper."""

from __future__ import annotations

import typer

from hyperacuity.cli.study import (
    abdulrahman2017,
    cabezas2011,
    edges,
    every,
    figure_ground,
    gpb,
    hou2013,
    maire2016,
    palou2014,
)

app = typer.Typer(
    help="Experiments that show what measures and detectors do, each with figures and a CSV file.", no_args_is_help=True
)
app.command("all")(every.study_all)
app.command("shift")(edges.shift)
app.command("sheet")(edges.sheet)
app.command("noise")(edges.noise)
app.command("blur")(edges.blur)
app.command("truth")(edges.truth_study)
app.command("abdulrahman2017")(abdulrahman2017.abdulrahman2017)
app.command("half-kernels")(abdulrahman2017.half_kernels)
app.command("risk")(hou2013.risk)
app.command("hou2013")(hou2013.hou2013)
app.command("cabezas2011")(cabezas2011.cabezas2011)
app.command("pb")(hou2013.pb)
app.command("gpb")(gpb.gpb)
app.command("palou2014")(palou2014.palou2014)
app.command("maire2016")(maire2016.maire2016)
app.command("figure-ground")(figure_ground.figure_ground)
app.command("whole-orders")(figure_ground.whole_orders)
