"""How long the boundary benchmark takes, against Berkeley's C++ and two solvers of scipy.

    python benchmarks/boundary.py [peers] [growth] [start] [testset] [--full] [--pictures N] [--peers LIST] [--out DIR]

Without arguments: everything, in about two minutes; with --full, 12 megapixels too. Same inputs, same process, CPU time of the
thread (growth, start and testset: processes of their own). Ours is the best of several warm calls; a peer is called once.

*What is compared.* Ours is one call per picture: all thresholds, all annotators, thinning included. A peer is called once per
threshold and annotator, on maps thinned by our kernel; that thinning is timed apart and charged to every peer alike.

The short run calls the peers at every ninth threshold only and gives two ratios: theirs at these 11 thresholds against ours at
the same 11, and theirs at these 11 against ours at all 99. Nothing is extrapolated. The ratio that matters, 99 against 99,
comes from ``--full``: about a minute per picture for Berkeley's program alone. Where a map is the same at two neighbouring
thresholds we do no work; "repeats left out" is the ratio against a peer that did none either.

Needs ``pip install 'hyperacuity[bench,report]'``. Writes ``boundary.json`` and charts to the --out folder.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import boundary_charts
import boundary_growth
from boundary_inputs import KINDS, Picture, bsds500, pictures, soft_map_of
from boundary_peers import PEERS, STEADY, TITLES
from hyperacuity.boundary import tally
from hyperacuity.kernels.thinning import thin
from measuring import cpu_seconds

EVERY = 9
"""The short run calls peers at every ninth threshold, from the fifth on: 0.05, 0.14 … 0.95."""

REPEATS = 7

BARS = {"berkeley": 2000, "scipy": 300}
"""How many times less CPU than these peers we want to need on ucm maps, all thresholds."""

Row = dict[str, Any]
console = Console(width=None if os.isatty(1) else 150)


def measure(kind: str, picture: Picture, peers: list[str], every: int) -> Row | None:
    """Seconds of ours and of every peer for one picture; None where it has no map of this kind."""
    soft = soft_map_of(picture, kind)
    if soft is None:
        return None
    protocol = KINDS[kind].protocol
    levels = protocol.levels
    chosen = levels[every // 2 :: every]
    same = replace(protocol, thresholds=tuple(chosen))
    counts = tally(soft, picture.truths, same)
    row: Row = {
        "kind": kind,
        "picture": picture.name,
        "annotators": len(picture.truths),
        "thresholds": len(chosen),
        "ours_s": cpu_seconds(lambda: tally(soft, picture.truths, same), repeats=REPEATS),
        "ours_all_s": cpu_seconds(lambda: tally(soft, picture.truths, protocol), repeats=REPEATS),
    }
    start = time.thread_time()
    maps = [soft >= np.float32(level) for level in chosen]
    if protocol.thin:
        maps = [thin(one) for one in maps]
    row["thinning_s"] = time.thread_time() - start
    repeated = [i > 0 and np.array_equal(maps[i], maps[i - 1]) for i in range(len(maps))]
    row["different_maps"] = repeated.count(False)
    row["peers"] = {}
    for name in peers:
        seconds, different_s, pairs = 0.0, 0.0, np.zeros(len(maps), np.int64)
        for i, one in enumerate(maps):
            for truth in picture.truths:
                start = time.thread_time()
                found = PEERS[name](one, truth, protocol.tolerance)
                taken = time.thread_time() - start
                pairs[i] += found
                seconds += taken
                different_s += 0.0 if repeated[i] else taken
        missing = counts.truth_matched - pairs
        # All but Berkeley's are exact: they must find as many pairs as we do. Berkeley's may miss some, never find more.
        assert (missing >= 0).all(), f"{name} found more pairs than we did, on {picture.name}"
        assert name == "berkeley" or not missing.any(), f"{name} found fewer pairs than we did, on {picture.name}"
        row["peers"][name] = {
            "calls": len(maps) * len(picture.truths),
            "s": seconds,
            "different_s": different_s,
            "most_pairs_missed": int(missing.max()),
        }
    return row


def summarise(rows: list[Row]) -> list[Row]:
    """Per kind of map and peer: means per picture in milliseconds, and ratios of the sums."""
    found = []
    for kind in KINDS:
        of_kind = [row for row in rows if row["kind"] == kind]
        for name in of_kind[0]["peers"] if of_kind else []:
            n = len(of_kind)
            ours, ours_all, thinning = (
                sum(row[key] for row in of_kind) for key in ("ours_s", "ours_all_s", "thinning_s")
            )
            theirs, different = (sum(row["peers"][name][key] for row in of_kind) for key in ("s", "different_s"))
            found.append(
                {
                    "kind": kind,
                    "peer": name,
                    "pictures": n,
                    "thresholds": of_kind[0]["thresholds"],
                    "calls": sum(row["peers"][name]["calls"] for row in of_kind),
                    "peer_ms": (theirs + thinning) / n * 1e3,
                    "thinning_ms": thinning / n * 1e3,
                    "ours_ms": ours / n * 1e3,
                    "ours_all_ms": ours_all / n * 1e3,
                    "ratio_same": (theirs + thinning) / ours,
                    "ratio_against_all": (theirs + thinning) / ours_all,
                    "ratio_repeats_left_out": (different + thinning) / ours,
                }
            )
    return found


def show_peers(summary: list[Row], every: int) -> None:
    """Print the ratios, with what each of them includes."""
    n = summary[0]["thresholds"]
    table = Table(
        "maps", "peer", title=f"CPU ms per picture; {n} of 99 thresholds, all annotators", title_justify="left"
    )
    headings = ["calls", "peer", f"ours, {n}", "ours, 99", f"× {n} : {n}"]
    headings += [f"× {n} : 99"] if every > 1 else []
    headings += ["× repeats left out"]
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in summary:
        ratios = [row["ratio_same"], *([row["ratio_against_all"]] if every > 1 else []), row["ratio_repeats_left_out"]]
        cells = [f"{row['calls']}", f"{row['peer_ms']:.0f}", f"{row['ours_ms']:.1f}", f"{row['ours_all_ms']:.1f}"]
        table.add_row(KINDS[row["kind"]].title, TITLES[row["peer"]], *cells, *(f"{ratio:,.0f}" for ratio in ratios))
    console.print(table)
    console.print(f"Peers include {_thinning(summary)} of thinning by our kernel. Ratios are of sums over pictures.\n")


def _thinning(summary: list[Row]) -> str:
    values = [row["thinning_ms"] for row in summary]
    return f"{min(values):.1f} to {max(values):.1f} ms"


def show_growth(rows: list[Row]) -> None:
    """Print time and memory of each point, and how steeply each curve rises."""
    table = Table("varied", "map", title="Growth: one picture", title_justify="left")
    for heading in ("Mpx", "tolerance px", "annotators", "thresholds", "classes", "CPU s", "peak MB"):
        table.add_column(heading, justify="right")
    for row in rows:
        cells = [
            f"{row['megapixels']:.2f}",
            f"{row['tolerance_px']:.1f}",
            str(row["annotators"]),
            str(row["thresholds"]),
        ]
        memory = f"{row['peak_mb']:.0f}" if "peak_mb" in row else ""
        table.add_row(row["varied"], row["map"], *cells, str(row.get("classes", "")), f"{row['cpu_s']:.3f}", memory)
    console.print(table)
    table = Table("varied", "map", title="CPU time grows as what is varied to the power of", title_justify="left")
    for heading in ("from", "to", "exponent", "at the end"):
        table.add_column(heading, justify="right")
    for row in boundary_growth.exponents(rows):
        ends = [f"{row['from']:.3g}", f"{row['to']:.3g}"]
        table.add_row(row["varied"], row["map"], *ends, f"{row['exponent']:.2f}", f"{row['at_the_end']:.2f}")
    console.print(table)


def verdicts(results: Row) -> list[tuple[str, str, str, bool]]:
    """What was wanted, measured, and whether it is met; only of what this run measured in full."""
    found = []
    rows = results.get("pictures", [])
    for kind, facts in KINDS.items():
        times = [row["ours_all_s"] * 1e3 for row in rows if row["kind"] == kind]
        if times and np.isfinite(facts.bar_ms):
            mean = statistics.mean(times)
            measured = f"{mean:.1f} ms ({min(times):.1f} to {max(times):.1f})"
            found.append((f"{facts.title}, mean", f"≤ {facts.bar_ms:g} ms", measured, mean <= facts.bar_ms))
    for row in results.get("ratios", []):
        if row["kind"] == "ucm" and row["peer"] in BARS and row["thresholds"] == 99:
            bar = BARS[row["peer"]]
            met = row["ratio_same"] >= bar
            found.append((f"ucm maps, {TITLES[row['peer']]}", f"≥ {bar} ×", f"{row['ratio_same']:,.0f} ×", met))
    if whole := results.get("testset"):
        met = whole["wall_s"] <= 10 and whole["peak_mb"] <= 600
        measured = f"{whole['wall_s']:.1f} s wall, {whole['cpu_s']:.1f} s CPU, {whole['peak_mb']:.0f} MB"
        found.append(("whole test set, 2 threads", "≤ 10 s, 600 MB", measured, met))
    if start := results.get("start"):
        cold = start["cold_cpu_s"]
        measured = f"{cold:.1f} s CPU (warm {start['warm_cpu_s']:.1f})"
        found.append(("first call, nothing compiled", "≤ 12 s CPU", measured, cold <= 12))
    for row in results.get("growth", []):
        if row["megapixels"] > 11 and row["annotators"] == 1:
            met = row["cpu_s"] <= 45 and row["peak_mb"] <= 2500
            measured = f"{row['cpu_s']:.1f} s, {row['peak_mb'] / 1e3:.2f} GB"
            found.append((f"12 Mpx, {row['map']}", "≤ 45 s, 2.5 GB", measured, met))
    return found


def show_verdicts(found: list[tuple[str, str, str, bool]]) -> None:
    """Print what is met and what is not."""
    table = Table("what", "bar", "measured", "", title="Against the bars", title_justify="left")
    for what, bar, measured, met in found:
        table.add_row(what, bar, measured, "met" if met else "NOT met")
    console.print(table)


def main() -> None:
    """Measure, print tables, write numbers and charts."""
    sys.stdout.reconfigure(line_buffering=True)  # a long run shows how far it is, in a log too
    options = _options()
    parts = options.parts or ["peers", "growth", "start", "testset"]
    options.out.mkdir(parents=True, exist_ok=True)
    results: Row = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}",
        "data": "BSDS500 test" if bsds500() else "made scenes",
    }
    if hasattr(os, "getloadavg"):
        results["load"] = os.getloadavg()[0]
    busy = results.get("load", 0) > (os.cpu_count() or 1) / 2
    console.print(f"{results['data']}; {results['machine']}")
    if busy:
        console.print(
            f"The machine is busy (load {results['load']:.1f}): wall times say nothing, CPU times are a little high."
        )
    if "peers" in parts:
        every = 1 if options.full else EVERY
        rows = []
        for picture in pictures(options.pictures):
            for kind in options.maps:
                if row := measure(kind, picture, options.peers, every):
                    rows.append(row)
                    theirs = ", ".join(f"{name} {peer['s']:.1f} s" for name, peer in row["peers"].items())
                    console.print(f"{picture.name}, {kind}: ours {row['ours_all_s'] * 1e3:.1f} ms; {theirs}")
        results |= {"pictures": rows, "ratios": summarise(rows)}
        if results["ratios"]:
            show_peers(results["ratios"], every)
            boundary_charts.ratios(results["ratios"], options.out / "boundary-ratios.svg", results["data"])
    if "growth" in parts:
        results["growth"] = list(boundary_growth.growth(full=options.full))
        results["exponents"] = boundary_growth.exponents(results["growth"])
        show_growth(results["growth"])
        boundary_charts.growth(results["growth"], options.out / "cost-curves.svg")
    if "start" in parts:
        results["start"] = boundary_growth.first_call()
    if "testset" in parts and (whole := boundary_growth.whole_test_set()):
        results["testset"] = whole
    show_verdicts(verdicts(results))
    path = options.out / "boundary.json"
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    console.print(f"written: {path}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = ["peers", "growth", "start", "testset"]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(known)}; all if none is named")
    parser.add_argument(
        "--full", action="store_true", help="peers at all 99 thresholds (minutes per picture), growth up to 12 Mpx"
    )
    parser.add_argument("--pictures", type=int, default=3, help="how many (default 3)")
    parser.add_argument("--peers", default=",".join(STEADY), help=f"of {', '.join(PEERS)}, with commas; '' for none")
    parser.add_argument("--maps", default=",".join(KINDS), help=f"of {', '.join(KINDS)}, with commas")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"), help="folder for numbers and charts")
    options = parser.parse_args()
    options.peers, options.maps = (list(filter(None, text.split(","))) for text in (options.peers, options.maps))
    for given, allowed in ((options.parts, known), (options.peers, list(PEERS)), (options.maps, list(KINDS))):
        if wrong := set(given) - set(allowed):
            parser.error(f"{', '.join(sorted(wrong))}: expected some of {', '.join(allowed)}")
    return options


if __name__ == "__main__":
    main()
