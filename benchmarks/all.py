"""Every task in one table: cold, cached and warm, beside named peers, and slower than last time or not.

    python benchmarks/all.py [TASK …] [--quick] [--repeats N] [--note TEXT] [--no-history] [--out DIR]

*cold* is the CPU time of a new process that imports the task and counts one image with nothing compiled; *cached* the same with
compiled kernels kept from the process before; *warm* a further call, the best of several. Kernels that are needed to make the
inputs only are compiled before the clock starts. *peer* is the best of two calls of a named library in the same process on the
same arrays; what it computes must be equal where it can be. Every task has processes of its own, with one thread.

Beside each time stands its spread: how far the median of the calls lies above the best. The table goes to ``all.json`` and
``all.md`` in the --out folder, and a line to ``benchmarks/history.jsonl``: commit, date, machine, and every warm time, in seconds
and in units of a calibration (a sort that has nothing to do with this package). A row is called slower when its time in these
units exceeds the last one of the same machine by more than a tenth and by more than both spreads; then the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from cases import CASES
from measuring import Timing, calibration, commit, cpu_seconds, load, machine, timed

HISTORY = Path(__file__).with_name("history.jsonl")
NOISE = 0.1
"""A row is not called slower for less than this, whatever the spreads."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

HEADINGS = ("task", "what", "cold", "cached", "warm", "±", "peer", "× ours", "peer is")

Row = dict[str, Any]
console = Console(width=None if os.isatty(1) else 160)


def measure(task: str, quick: bool, repeats: int) -> list[Row]:
    """The rows of one task: its first case in new processes, then all cases in one."""
    with tempfile.TemporaryDirectory() as cache:
        cold, cached = (_child("first", task, quick, repeats, {"NUMBA_CACHE_DIR": cache})["s"] for _ in range(2))
    rows: list[Row] = _child("warm", task, quick, repeats, {})["rows"]
    rows[0] |= {"cold_s": cold, "cached_s": cached}
    return rows


def _child(what: str, task: str, quick: bool, repeats: int, environment: dict[str, str]) -> Row:
    command = [
        sys.executable,
        __file__,
        task,
        "--child",
        what,
        "--repeats",
        str(repeats),
        *(["--quick"] if quick else []),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **ONE_THREAD, **environment}
    )
    if done.returncode:
        raise SystemExit(f"{task}: {done.stderr.strip()}")
    found: Row = json.loads(done.stdout.splitlines()[-1])
    return found


def first(task: str, quick: bool) -> Row:
    """CPU seconds of this process for importing a task and one call; those for making the inputs are not counted."""
    from hyperacuity import tasks

    import_module(tasks.BUILT_IN.get(task, f"hyperacuity.{task}"))
    started = time.process_time()
    case = next(CASES[task](quick))
    return {"s": started + cpu_seconds(case.ours, repeats=1)}


def warm(task: str, quick: bool, repeats: int) -> Row:
    """Every case of a task, and its peers."""
    rows = []
    for case in CASES[task](quick):
        case.ours()
        ours = timed(case.ours, repeats)
        peers = {name: timed(work, 2) for name, work in case.peers.items()}
        for name, peer in peers.items():
            if case.agree and not case.agree(ours.result, peer.result):
                raise SystemExit(f"{task}, {case.what}: {name} finds something else than we do")
        rows.append(
            {"task": task, "what": case.what, **_facts(ours), "peers": {n: _facts(p) for n, p in peers.items()}}
        )
    return {"rows": rows}


def _facts(timing: Timing) -> Row:
    return {"s": timing.best, "spread": round(timing.spread, 3)}


def lines_of(rows: list[Row]) -> list[list[str]]:
    """The table: a line for each row and each further peer of it."""
    lines = []
    for row in rows:
        own = [_seconds(row.get("cold_s")), _seconds(row.get("cached_s")), _seconds(row["s"]), f"{row['spread']:.0%}"]
        cells = [row["task"], row["what"], *own]
        for name, peer in row["peers"].items() or [("", None)]:
            ratio = _ratio(peer["s"] / row["s"]) if peer else ""
            lines.append([*cells, _seconds(peer["s"] if peer else None), ratio, name])
            cells = [""] * len(cells)
    return lines


def show(rows: list[Row], unit: float, path: Path) -> None:
    """Print the table, and write it for a page."""
    table = Table(*HEADINGS[:2], title="CPU time, one thread", title_justify="left")
    for heading in HEADINGS[2:-1]:
        table.add_column(heading, justify="right")
    table.add_column(HEADINGS[-1])
    lines = lines_of(rows)
    for line in lines:
        table.add_row(*line)
    console.print(table)
    console.print(f"One unit of calibration took {_seconds(unit)}.")
    rule = ["---", "---", *["---:"] * (len(HEADINGS) - 3), "---"]
    path.write_text("".join(f"| {' | '.join(line)} |\n" for line in (HEADINGS, rule, *lines)), encoding="utf-8")


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f} s" if value >= 1 else f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.0f} µs"


def entry_of(rows: list[Row], facts: Row, unit: float, note: str) -> Row:
    """What the history keeps of a run."""
    kept = {}
    for row in rows:
        ratios = {name: round(peer["s"] / row["s"], 2) for name, peer in row["peers"].items()}
        kept[f"{row['task']}: {row['what']}"] = {
            "s": _short(row["s"]),
            "spread": row["spread"],
            "units": _short(row["s"] / unit),
            **{key: _short(row[key]) for key in ("cold_s", "cached_s") if key in row},
            **({"times_ours": ratios} if ratios else {}),
        }
    head = {"commit": commit(), "date": datetime.now(UTC).isoformat(timespec="minutes"), "note": note}
    return {**head, "machine": facts, "unit_s": _short(unit), "rows": kept}


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def slower(new: Row, old: Row) -> list[tuple[str, float, float]]:
    """The rows that take longer than in an older entry by more than noise: (row, how many times as long, what noise would be)."""
    found = []
    for name, row in new["rows"].items():
        if before := old["rows"].get(name):
            ratio = row["units"] / before["units"]
            noise = 1 + max(NOISE, row["spread"] + before["spread"])
            if ratio > noise:
                found.append((name, ratio, noise))
    return found


def last_of(fingerprint: str, path: Path = HISTORY) -> Row | None:
    """The last entry of a machine."""
    if not path.exists():
        return None
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return next((one for one in reversed(entries) if one["machine"]["fingerprint"] == fingerprint), None)


def tell_change(new: Row, old: Row | None) -> bool:
    """Say what is slower than in the last entry of this machine; whether something is."""
    if old is None:
        console.print("No entry of this machine in the history yet: nothing to compare with.")
        return False
    rows = slower(new, old)
    for name, ratio, noise in rows:
        console.print(
            f"slower than {old['commit']} of {old['date']}: {name}, {ratio:.2f} times (noise up to {noise:.2f})"
        )
    if not rows:
        console.print(f"No row is slower than {old['commit']} of {old['date']} by more than noise.")
    return bool(rows)


def main() -> None:
    """Measure, print, keep."""
    sys.stdout.reconfigure(line_buffering=True)
    options = _options()
    if options.child:
        task = options.tasks[0]
        made = first(task, options.quick) if options.child == "first" else warm(task, options.quick, options.repeats)
        print(json.dumps(made))
        return
    facts = machine() | {"load_before": load()}
    libraries = ", ".join(f"{name} {number}" for name, number in facts["libraries"].items())
    console.print(
        f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gb']} GB; {facts['system']}, load {facts['load_before']}"
    )
    console.print(f"Python {facts['python']}, {libraries}; commit {commit()}")
    before = calibration()
    rows = []
    for task in options.tasks or CASES:
        rows += measure(task, options.quick, options.repeats)
        console.print(f"{task}: {', '.join(_seconds(row['s']) for row in rows if row['task'] == task)}")
    unit = min(before.best, calibration().best)
    options.out.mkdir(parents=True, exist_ok=True)
    show(rows, unit, options.out / "all.md")
    entry = entry_of(rows, facts, unit, options.note)
    is_slower = tell_change(entry, last_of(facts["fingerprint"]))
    path = options.out / "all.json"
    path.write_text(
        json.dumps({"machine": facts, "unit_s": unit, "rows": rows}, indent=1, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )
    if options.history:
        with HISTORY.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
    console.print(f"written: {path}{f' and a line of {HISTORY.name}' if options.history else ''}")
    sys.exit(int(is_slower))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(CASES)}; all if none is named")
    parser.add_argument("--quick", action="store_true", help="smaller inputs and fewer peers")
    parser.add_argument("--repeats", type=int, default=7, help="calls of which the best counts (default 7)")
    parser.add_argument("--note", default="", help="a remark for the history")
    parser.add_argument("--no-history", dest="history", action="store_false", help="append nothing to the history")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"), help="folder for the numbers")
    parser.add_argument("--child", choices=["first", "warm"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if wrong := set(options.tasks) - set(CASES):
        parser.error(f"{', '.join(sorted(wrong))}: expected some of {', '.join(CASES)}")
    return options


if __name__ == "__main__":
    main()
