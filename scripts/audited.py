"""What an audit found: ``python scripts/audited.py LOCK REPORT``. Status 0: all of LOCK was looked up and nothing found."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path


def verdict(lock: Path, report: Path) -> tuple[bool, list[str]]:
    """Whether the locked versions are known to be without vulnerabilities, and what to say of it."""
    text = lock.read_text(encoding="utf-8")
    locked = {re.sub(r"[-_.]+", "-", name).lower() for name in re.findall(r"^([A-Za-z0-9._-]+)==", text, re.M)}
    try:
        packages = json.loads(report.read_text(encoding="utf-8"))["dependencies"]
    except (OSError, ValueError, KeyError, TypeError):
        packages = []
    audited = {re.sub(r"[-_.]+", "-", one["name"]).lower(): one for one in packages if "vulns" in one}
    bad = {name: one for name, one in audited.items() if one["vulns"]}
    lines = [f"{name} {one['version']}: {', '.join(v['id'] for v in one['vulns'])}" for name, one in bad.items()]
    missing = sorted(locked - audited.keys())
    lines.append(f"{lock}: {len(bad)} vulnerable of {len(audited)} looked up; {len(missing)} could not be looked up")
    if missing:
        lines.append(
            "not looked up, so this audit fails: " + ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
        )
    return not bad and not missing and bool(locked), lines


def main() -> int:
    """Say what was found."""
    sound, lines = verdict(Path(sys.argv[1]), Path(sys.argv[2]))
    print(*lines, sep="\n")
    return int(not sound)


if __name__ == "__main__":
    sys.exit(main())
