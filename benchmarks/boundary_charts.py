"""Charts of the boundary benchmark's cost, in the look of the reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt

from boundary_growth import AXES
from boundary_inputs import KINDS
from boundary_peers import PEERS, TITLES
from hyperacuity.report import theme

Row = dict[str, Any]


def ratios(summary: list[Row], path: Path, data: str) -> None:
    """How many times more CPU each peer needs, per kind of map, on a logarithmic axis."""
    theme.register()
    styles = theme.systems(list(PEERS))
    n = summary[0]["thresholds"]
    values = [
        {
            "maps": KINDS[row["kind"]].title,
            "peer": TITLES[row["peer"]],
            "ratio": row["ratio_same"],
            "label": f"{row['ratio_same']:,.0f} ×",
        }
        for row in summary
    ]
    names = [name for name in PEERS if any(row["peer"] == name for row in summary)]
    titles = [TITLES[name] for name in names]
    decades = [10**power for power in range(6) if 10**power <= 10 * max(row["ratio"] for row in values)]
    times = alt.X(
        "ratio:Q",
        title="times our CPU time",
        scale=alt.Scale(type="log", domain=[1, decades[-1]]),
        axis=alt.Axis(values=decades, format=",d"),
    )
    base = alt.Chart(alt.Data(values=values)).encode(x=times, y=alt.Y("peer:N", title=None, sort=titles))
    points = base.mark_point(size=60).encode(
        color=alt.Color("peer:N", legend=None, scale=alt.Scale(domain=titles, range=[styles[n].colour for n in names])),
        shape=alt.Shape("peer:N", legend=None, scale=alt.Scale(domain=titles, range=[styles[n].marker for n in names])),
    )
    labels = base.mark_text(align="left", dx=8).encode(text="label:N")
    chart = (
        alt.layer(points, labels)
        .properties(width=theme.TWO_COLUMNS - 320, height=18 * len(titles))
        .facet(
            row=alt.Row(
                "maps:N",
                title=None,
                sort=[facts.title for facts in KINDS.values()],
                header=alt.Header(labelAngle=0, labelAlign="left", labelLimit=200),
            ),
            spacing=12,
        )
    )
    pictures = max(row["pictures"] for row in summary)
    note = f"{data}, {pictures} pictures, {n} of 99 thresholds for peers and for us, all annotators, one thread"
    theme.save(chart, path, signature=note)


def growth(rows: list[Row], path: Path) -> None:
    """CPU time over size, tolerance, annotators, thresholds and classes, both axes logarithmic: a slope is an exponent."""
    theme.register()
    maps = list(dict.fromkeys(row["map"] for row in rows))
    styles = theme.systems(maps)
    colour = alt.Scale(domain=maps, range=[styles[name].colour for name in maps])
    shape = alt.Scale(domain=maps, range=[styles[name].marker for name in maps])
    below = alt.Legend(title=None, orient="bottom", columns=3, columnPadding=30)
    panels = []
    for varied, x in AXES.items():
        values = [{key: row.get(key) for key in (x, "cpu_s", "map")} for row in rows if row["varied"] == varied]
        if not values:
            continue
        ends = [min(row[x] for row in values), max(row[x] for row in values)]
        base = alt.Chart(alt.Data(values=values)).encode(
            x=alt.X(
                f"{x}:Q",
                title=TITLE_OF[varied],
                scale=alt.Scale(type="log", domain=ends),
                axis=alt.Axis(tickCount=4, format="~g"),
            ),
            y=alt.Y("cpu_s:Q", title="CPU, s", scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=4, format="~g")),
            color=alt.Color("map:N", scale=colour, legend=below),
        )
        marks = base.mark_point().encode(shape=alt.Shape("map:N", scale=shape, legend=below))
        panels.append(alt.layer(base.mark_line(), marks).properties(width=150, height=130))
    lines = [alt.hconcat(*panels[:3]), alt.hconcat(*panels[3:])] if len(panels) > 3 else [alt.hconcat(*panels)]
    theme.save(
        alt.vconcat(*lines),
        path,
        signature="99 thresholds and tolerance 0.0075 of the diagonal where not varied; one thread, warm",
    )


TITLE_OF = {
    "size": "image size, Mpx",
    "tolerance": "tolerance, px",
    "annotators": "annotators",
    "thresholds": "thresholds",
    "classes": "classes",
}
