"""``hyperacuity study``: experiments that show what measures and systems do. One module per room; this one lists them."""

from __future__ import annotations

import typer

from hyperacuity.cli import edge_studies, study_cabezas2011, study_palou2014, study_risk

app = typer.Typer(
    help="Experiments that show what measures and detectors do, each with figures and a CSV file.", no_args_is_help=True
)
app.command("shift")(edge_studies.shift)
app.command("sheet")(edge_studies.sheet)
app.command("noise")(edge_studies.noise)
app.command("blur")(edge_studies.blur)
app.command("truth")(edge_studies.truth_study)
app.command("risk")(study_risk.risk)
app.command("cabezas2011")(study_cabezas2011.cabezas2011)
app.command("palou2014")(study_palou2014.palou2014)
