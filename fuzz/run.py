"""Fuzz every reader for a while: ``python fuzz/run.py --seconds 60 [FORMAT …]``.

Each format runs in a process of its own with at most 2 GiB of memory, 20 s for one input, and inputs of up to 64 KiB. A failure
stops its format and saves the input in the folder ``--out``. Exit status 1 if there was any.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import fuzz_targets

HERE = Path(__file__).parent
MEMORY_MB, SECONDS_AN_INPUT, LONGEST = 2048, 20, 1 << 16


def main() -> int:
    """Run the formats one after another and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "formats", nargs="*", metavar="FORMAT", help=f"of {', '.join(fuzz_targets.READERS)}; default: all"
    )
    parser.add_argument("--seconds", type=int, default=60, help="how long each format runs")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "hyperacuity-fuzz")
    parser.add_argument("--json", action="store_true", help="one line of JSON per format")
    options = parser.parse_args()
    unknown = set(options.formats) - set(fuzz_targets.READERS)
    if unknown:
        parser.error(f"no such format: {', '.join(sorted(unknown))}")
    failed = False
    safe = [name for name in fuzz_targets.READERS if name != "mat73-here"]  # HDF5 alone is known to crash
    for name in options.formats or safe:
        result = fuzz(name, options.seconds, options.out)
        failed |= result["failure"] is not None
        line = "{format:12} {runs:>9,} runs  {features:>5} features  {failure}".format(**result)
        print(json.dumps(result) if options.json else line, flush=True)
    return int(failed)


def fuzz(name: str, seconds: int, out: Path) -> dict[str, object]:
    """Runs, features covered, and the first failure of a format."""
    corpus, found = out / "corpus" / name, out / "found"
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(fuzz_targets.SEEDS[name]):
        (corpus / f"seed-{i}").write_bytes(seed)
    call = [
        sys.executable,
        str(HERE / "fuzz_readers.py"),
        name,
        f"-max_total_time={seconds}",
        f"-timeout={SECONDS_AN_INPUT}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-max_len={LONGEST}",
        f"-artifact_prefix={found}/{name}-",
        "-print_final_stats=1",
        str(corpus),
    ]
    done = subprocess.run(call, capture_output=True, text=True, errors="replace")  # noqa: S603
    (out / f"{name}.log").write_text(done.stdout + done.stderr)
    runs = re.findall(r"stat::number_of_executed_units:\s*(\d+)", done.stderr) or re.findall(
        r"^#(\d+)", done.stderr, re.M
    )
    features = re.findall(r"\bft: (\d+)", done.stderr)
    return {
        "format": name,
        "runs": int(runs[-1]) if runs else 0,
        "features": int(features[-1]) if features else 0,
        "seconds": seconds,
        "failure": _failure(done) if done.returncode else None,
    }


def _failure(done: subprocess.CompletedProcess[str]) -> str:
    raised = re.findall(
        r"^(?:[\w.]+(?:Error|Exception|Warning)\b.*|==\d+== ?ERROR.*)$", done.stderr + done.stdout, re.M
    )
    return raised[0][:300] if raised else f"status {done.returncode}"


if __name__ == "__main__":
    sys.exit(main())
