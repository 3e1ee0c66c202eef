"""Files of the package in which functions are called on three walks: a map to a score, a card made and used, a photograph seen.

Each call is a process of its own, with compiled kernels at hand and under a profiler. Functions that are called only while a
module is imported are counted apart::

    python benchmarks/walks.py            # the three counts
    python benchmarks/walks.py --list     # with the files
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PREPARE = """
import sys
from pathlib import Path
import numpy as np
import hyperacuity as ha
from hyperacuity.data import write_png
from hyperacuity.data.scenes import make_scene
folder = Path(sys.argv[1])
for n in (1, 2):
    scene = make_scene(n, size=(96, 64), leaves=6)
    for name in ("maps", "truth"):
        (folder / name).mkdir(exist_ok=True)
        write_png(folder / name / f"{n}.png", np.uint8(255 * scene.boundaries))
write_png(folder / "photo.png", scene.image)
ha.evaluate("boundary", str(folder / "maps"), str(folder / "truth"), run=folder / "run", progress=False)
"""

WALKS = {
    "a map to a score": ["boundary maps truth"],
    "a card made and used": ["card run --out mine.card", "card check mine.card"],
    "a photograph through see": ["see photo.png --setting fast --out seen"],
}
"""The commands of each walk, in a folder that holds two maps, their truths, a run of them and a photograph."""

TRACE = """
import json, pathlib, sys, threading
seen, marked = {}, "/hyperacuity/"
def note(frame, event, argument):
    name = frame.f_code.co_filename
    if event != "call" or marked not in name or seen.get(name) or not frame.f_code.co_flags & 1:
        return  # a module, or the body of a class, is no function
    while (frame := frame.f_back) and (frame.f_code.co_name != "<module>" or marked not in frame.f_code.co_filename):
        pass
    seen[name] = frame is None  # else a module is being imported
threading.setprofile(note)
sys.setprofile(note)
from hyperacuity.cli import main
sys.argv = ["hyperacuity", *sys.argv[2:]]
code = 0
try:
    main()
except SystemExit as error:
    code = error.code or 0
sys.setprofile(None)
import hyperacuity
home = pathlib.Path(hyperacuity.__file__).parent
files = {str(pathlib.Path(name).relative_to(home)): of for name, of in seen.items() if name.startswith(str(home))}
pathlib.Path("trace.json").write_text(json.dumps(files))
sys.exit(code)
"""


def touched(folder: Path, words: str) -> dict[str, bool]:
    """The files that one call touches, and whether otherwise than while a module is imported."""
    call = [sys.executable, "-c", TRACE, "walk", *words.split()]
    done = subprocess.run(call, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stderr}")
    found: dict[str, bool] = json.loads((folder / "trace.json").read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="name the files, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-c", PREPARE, name], check=True)
        for walk, calls in WALKS.items():
            for words in calls:
                touched(folder, words)  # compiles what is not compiled yet
            found: dict[str, bool] = {}
            for words in calls:
                found = {key: of or found.get(key, False) for key, of in (found | touched(folder, words)).items()}
            used = sum(found.values())
            print(f"{walk}: {used} files, and {len(found) - used} while modules are imported")
            if options.list:
                print("\n".join(f"    {file}{'' if of else ' (import)'}" for file, of in sorted(found.items())))


if __name__ == "__main__":
    main()
