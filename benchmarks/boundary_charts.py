"""Charts of the boundary benchmark's cost, in the look of the reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt

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
    """Time and peak memory over size, tolerance and number of annotators."""
    theme.register()
    axes = {
        "size": ("megapixels", "image size, Mpx", alt.Scale(type="log", domain=[0.1, 20])),
        "tolerance": ("tolerance", "tolerance, share of the diagonal", alt.Scale(domain=[0, 0.02])),
        "annotators": ("annotators", "annotators", alt.Scale(domain=[0, 20])),
    }
    maps = list(dict.fromkeys(row["map"] for row in rows))
    styles = theme.systems(maps)
    colour = alt.Scale(domain=maps, range=[styles[name].colour for name in maps])
    shape = alt.Scale(domain=maps, range=[styles[name].marker for name in maps])
    panels = []
    for field, title in (("cpu_s", "CPU, s"), ("peak_mb", "peak memory, MB")):
        line = []
        for varied, (x, x_title, x_scale) in axes.items():
            values = [row for row in rows if row["varied"] == varied]
            ticks = {"values": [0.1, 1, 10], "format": "~g"} if varied == "size" else {"tickCount": 5}
            y_scale = alt.Scale(type="log") if varied == "size" else alt.Scale(zero=True)
            base = alt.Chart(alt.Data(values=values)).encode(
                x=alt.X(f"{x}:Q", title=x_title, scale=x_scale, axis=alt.Axis(**ticks)),
                y=alt.Y(f"{field}:Q", title=title, scale=y_scale, axis=alt.Axis(tickCount=5)),
                color=alt.Color("map:N", title=None, scale=colour),
            )
            marks = base.mark_point().encode(shape=alt.Shape("map:N", title=None, scale=shape))
            line.append(alt.layer(base.mark_line(), marks).properties(width=150, height=110))
        panels.append(alt.hconcat(*line))
    theme.save(alt.vconcat(*panels), path, signature="boundary, 99 thresholds, thinned; one thread, warm")
