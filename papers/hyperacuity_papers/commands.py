"""``hyperacuity study``: the papers' experiments, whose commands stand with each paper."""

from __future__ import annotations

import typer

from hyperacuity_papers import every
from hyperacuity_papers.abdulrahman2017 import command as abdulrahman2017
from hyperacuity_papers.cabezas2011 import command as cabezas2011
from hyperacuity_papers.hou2013 import command as hou2013
from hyperacuity_papers.maire2016 import command as maire2016
from hyperacuity_papers.palou2014 import command as palou2014

app = typer.Typer(
    help="Experiments that show what measures and detectors do, each with figures and a CSV file.", no_args_is_help=True
)
app.command("all")(every.study_all)
app.command("shift")(abdulrahman2017.shift)
app.command("sheet")(abdulrahman2017.sheet)
app.command("noise")(abdulrahman2017.noise)
app.command("blur")(abdulrahman2017.blur)
app.command("truth")(abdulrahman2017.truth_study)
app.command("abdulrahman2017")(abdulrahman2017.abdulrahman2017)
app.command("half-kernels")(abdulrahman2017.half_kernels)
app.command("risk")(hou2013.risk)
app.command("hou2013")(hou2013.hou2013)
app.command("cabezas2011")(cabezas2011.cabezas2011)
app.command("pb")(hou2013.pb)
app.command("gpb")(hou2013.gpb)
app.command("palou2014")(palou2014.palou2014)
app.command("maire2016")(maire2016.maire2016)
app.command("figure-ground")(maire2016.figure_ground)
app.command("whole-orders")(maire2016.whole_orders)
