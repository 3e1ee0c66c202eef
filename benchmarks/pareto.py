"""How long Pareto sets and groups take, beside the packages ``moocore`` and ``paretoset`` on the same vectors.

    python benchmarks/pareto.py [--quick] [--json FILE]

CPU time of the whole process, best of several calls, warm. Members must be the same; the ratio is ours to the faster of the two.
"anti-correlated" vectors are scattered about a simplex by 5 %, so that what is good in one cost is bad in another and the
front is large; "simplex" is that without scatter: every vector is optimal. ``paretoset`` compares each vector with the whole
front and is left out where that would take minutes. Peeling is compared with ``moocore.pareto_rank``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import moocore
import numpy as np
from numpy.typing import NDArray
from paretoset import paretoset

from hyperacuity.compare.pareto import groups, optimal
from measuring import Work, timed

CASES = [
    ("random", 1_000_000, 3),
    ("random", 100_000, 6),
    ("anti-correlated", 1_000_000, 3),
    ("anti-correlated", 100_000, 6),
    ("simplex", 100_000, 3),
    ("ties", 1_000_000, 3),
]
PEELED = [("random", 10_000, 4), ("anti-correlated", 10_000, 4), ("chain", 10_000, 4)]
LARGE_FRONT = 10_000


def _timed(work: Work, repeats: int) -> tuple[float, Any]:
    found = timed(work, repeats)
    return found.best, found.result


def vectors(kind: str, count: int, costs: int) -> NDArray[np.float64]:
    """Vectors of a kind, the same in every run."""
    random = np.random.default_rng(0)
    if kind == "random":
        return random.random((count, costs))
    if kind == "ties":
        return random.integers(0, 100, (count, costs)).astype(float)
    if kind == "chain":
        return np.repeat(random.permutation(count)[:, None], costs, axis=1).astype(float)
    scatter = 0.05 if kind == "anti-correlated" else 0.0
    return random.dirichlet(np.ones(costs), count) * random.normal(1, scatter, (count, 1))


def sets(kind: str, count: int, costs: int, repeats: int) -> dict[str, Any]:
    """The optimal set three ways."""
    table = vectors(kind, count, costs)
    ours, members = _timed(lambda: optimal(table), repeats)
    peers = {}
    peers["moocore"], theirs = _timed(lambda: moocore.is_nondominated(table, keep_weakly=True), repeats)
    assert np.array_equal(members, theirs), "moocore finds other members"
    if members.sum() < LARGE_FRONT:
        peers["paretoset"], theirs = _timed(lambda: paretoset(table, distinct=False), repeats)
        assert np.array_equal(members, theirs), "paretoset finds other members"
    return {
        "what": "set",
        "kind": kind,
        "size": [count, costs],
        "members": int(members.sum()),
        "seconds": ours,
        "peers": peers,
        "ratio": ours / min(peers.values()),
    }


def peeling(kind: str, count: int, costs: int, repeats: int) -> dict[str, Any]:
    """All groups, two ways."""
    table = vectors(kind, count, costs)
    ours, group = _timed(lambda: groups(table), repeats)
    peer, theirs = _timed(lambda: moocore.pareto_rank(table), repeats)
    assert np.array_equal(group, theirs), "moocore finds other groups"
    return {
        "what": "groups",
        "kind": kind,
        "size": [count, costs],
        "members": int(group.max()) + 1,
        "seconds": ours,
        "peers": {"moocore": peer},
        "ratio": ours / peer,
    }


def main() -> None:
    """Measure, print a table, and write the numbers where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the vectors")
    parser.add_argument("--json", type=Path, help="file to write the numbers to")
    options = parser.parse_args()
    less = 10 if options.quick else 1
    repeats = 3 if options.quick else 5
    for kind, _, costs in [*CASES, *PEELED]:  # compiled, and every package loaded, before the clock starts
        table = vectors(kind, 3000, costs)
        optimal(table), groups(table), moocore.is_nondominated(table), paretoset(table[:100])

    print(f"{'':8}{'vectors':28}{'found':>8}{'ours':>10}{'moocore':>10}{'paretoset':>11}{'ratio':>8}")
    rows = []
    for work, cases in ((sets, CASES), (peeling, PEELED)):
        for kind, count, costs in cases:
            row = work(kind, count // less, costs, repeats)
            rows.append(row)
            peers = [f"{row['peers'][name]:.4f}" if name in row["peers"] else "–" for name in ("moocore", "paretoset")]
            label = f"{count // less:,} × {costs} {kind}".replace(",", " ")
            print(
                f"{row['what']:8}{label:28}{row['members']:>8}{row['seconds']:>10.4f}{peers[0]:>10}{peers[1]:>11}{row['ratio']:>8.2f}",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps({"unit": "CPU seconds", "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
