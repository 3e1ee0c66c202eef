"""How many files of the package three walks touch: a map to a score, a card made and used, a photograph through ``see``.

Each walk is a process of its own with compiled kernels at hand. A profiler notes every function that is called in a file of the
package (imported modules, whose top level runs, count too)::

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
from hyperacuity.data import write_png
from hyperacuity.data.scenes import make_scene
folder = Path(sys.argv[1])
for n in (1, 2):
    scene = make_scene(n, size=(96, 64), leaves=6)
    for name, array in {"maps": np.uint8(255 * scene.boundaries), "truth": np.uint8(255 * scene.boundaries)}.items():
        (folder / name).mkdir(exist_ok=True)
        write_png(folder / name / f"{n}.png", array)
(folder / "images").mkdir()
write_png(folder / "images" / "1.png", scene.image)
"""

WALKS = {
    "a map to a score": ["boundary maps truth"],
    "a card made and used": ["card run --out mine.card", "card check mine.card"],
    "a photograph through see": ["see images/1.png --setting fast --out seen"],
}
"""The commands of each walk, in a folder that holds two maps, their truths and a photograph."""

TRACE = """
import json, sys, threading
seen, marked = set(), "/hyperacuity/"
def note(frame, event, argument):
    name = frame.f_code.co_filename
    if event != "call" or name in seen or marked not in name or not frame.f_code.co_flags & 1:
        return
    while frame := frame.f_back:
        if frame.f_code.co_name == "<module>" and marked in frame.f_code.co_filename:
            return  # while a module is imported
    seen.add(name)
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
import hyperacuity, pathlib
home = pathlib.Path(hyperacuity.__file__).parent
files = sorted(str(pathlib.Path(name).relative_to(home)) for name in seen if name.startswith(str(home)))
with open("trace.json", "w") as out:
    json.dump(files, out)
sys.exit(code)
"""


def touched(folder: Path, words: str) -> set[str]:
    """The files that one call touches."""
    call = [sys.executable, "-c", TRACE, "walk", *words.split()]
    done = subprocess.run(call, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stderr}")
    return set(json.loads((folder / "trace.json").read_text(encoding="utf-8")))


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="name the files, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-c", PREPARE, name], check=True)
        subprocess.run(
            [sys.executable, "-m", "hyperacuity", *["boundary", "maps", "truth", "--run", "run"]],
            cwd=folder,
            check=True,
        )
        for walk, calls in WALKS.items():
            for words in calls:
                subprocess.run(
                    [sys.executable, "-m", "hyperacuity", *words.split()], cwd=folder, capture_output=True, check=False
                )
            for made in ():
                if walk == "a map to a score":
                    subprocess.run(["rm", "-rf", made], cwd=folder, check=True)
            files = set[str]().union(*(touched(folder, words) for words in calls))
            print(f"{walk}: {len(files)} files")
            if options.list:
                print("\n".join(f"    {file}" for file in sorted(files)))


if __name__ == "__main__":
    main()
