"""Damage what the package keeps and use it again: ``python fuzz/kept.py --damages 1000``.

Tallies of a run, arrays and JSON of studies, maps listed with their keys, compiled kernels, cards, checkpoints (their seal), and
the studio's state are made once, small. Then one of them is changed at random (bytes flipped, cut, repeated, overwritten,
continued with another file) and used as a command would use it. The result must be that from before the damage, or an error of
the package that names a file; a miss is computed again. No other exception may come up. Exit status 1 if one does.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_changes import some_file

from hyperacuity.cards import read_card, write_card
from hyperacuity.cards.making import card_of_run
from hyperacuity.errors import HyperacuityError, InputError
from hyperacuity.evaluation import evaluate
from hyperacuity.kernels import bits, kernel
from hyperacuity.outputs import LIST, sealed, unsealed
from hyperacuity.run.keeping import Kept, keep_file, kept
from hyperacuity.studio import actions, people
from hyperacuity.studio.state import State

VALUES = {"total": np.arange(400.0).reshape(20, 20), "names": np.array(["a", "b"])}
MARK = b"hyperacuity checkpoint 1"


@dataclass(frozen=True)
class Artefact:
    """Something that is kept: ``make`` fills a folder, ``use`` says what is in it, ``files`` (a pattern) are damaged."""

    make: Callable[[Path], object]
    use: Callable[[Path], Any]
    files: str


def make_run(folder: Path) -> None:
    """Two systems × two images, evaluated into ``run``."""
    rng = np.random.default_rng(5)
    for place in ("truth", "one", "two"):
        (folder / place).mkdir()
        for name in "ab":
            values = rng.random((16, 20))
            np.save(folder / place / f"{name}.npy", values < 0.1 if place == "truth" else values.astype(np.float32))
    use_run(folder)


def use_run(folder: Path) -> Any:
    """The scores of both systems, with tallies from the run where they are sound."""
    systems = {name: folder / name for name in ("one", "two")}
    result = evaluate("boundary", systems, folder / "truth", run=folder / "run", workers=1, progress=False)
    return {name: (score.ods.f, score.ap) for name, score in result.scores.items()}


def make_card(folder: Path) -> None:
    """The card of one system."""
    make_run(folder)
    write_card(card_of_run(folder / "run", "one"), folder / "one.card")


def use_card(folder: Path) -> Any:
    """All that a card says, and the score counted from it."""
    card = read_card(folder / "one.card")
    card.check()
    return card.digest, card.system, card.truths, card.score.ods.f


def use_arrays(folder: Path) -> Any:
    """Arrays that are kept, computed where they are not."""
    arrays = Kept(folder, ("hyperacuity.edges",))(["input"], lambda: dict(VALUES))
    return {name: array.tolist() for name, array in arrays.items()}


def use_json(folder: Path) -> Any:
    """JSON that is kept, computed where it is not."""
    return kept(folder / "one.json", "key", lambda: [1.5, {"a": "text"}], lambda value: value, lambda value: value)


def use_map(folder: Path) -> Any:
    """A map that is kept with its key."""
    path = folder / "maps" / "a.npy"
    path.parent.mkdir(exist_ok=True)
    keep_file(path, "key", lambda part: np.save(part, VALUES["total"]))
    return np.load(path).tolist()


def make_checkpoint(folder: Path) -> None:
    """A file as checkpoints are sealed; PyTorch is not needed for that."""
    (folder / "net.checkpoint").write_bytes(sealed(MARK, np.random.default_rng(1).bytes(3000)))


def use_checkpoint(folder: Path) -> Any:
    """The bytes that a resumed training would read."""
    body = unsealed(MARK, (folder / "net.checkpoint").read_bytes())
    if body is None:
        raise InputError(f"{folder / 'net.checkpoint'}: is damaged")
    return body


def make_state(folder: Path) -> None:
    """The state of a page on which eight things were done."""
    key = actions.Key("label", "ada", "item")
    entries = [actions.Entry(n, f"key-{n}", {"kind": "add", "runs": [n, 1]}, 1.0, "then") for n in range(1, 9)]
    with State(folder / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        state.write_now(lambda file: actions.append(file, key, "digest", entries))


def use_state(folder: Path) -> Any:
    """All rows of all tables."""

    def look(file: Any) -> Any:
        tables = [one for (one,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: file.execute(f"SELECT * FROM {table}").fetchall() for table in sorted(tables)}  # noqa: S608

    path = folder / "studio.sqlite"
    if path.exists() and path.stat().st_size == 0:
        raise InputError(f"{path}: is empty")  # as a new one: it starts over, and says so by having nobody's work
    with State(path, [people.SCHEMA, actions.SCHEMA]) as state:
        return state.read_now(look)


def use_kernels(folder: Path) -> Any:
    """The words of a small map, packed by machine code from disk or compiled anew."""
    before = os.environ.get("NUMBA_CACHE_DIR")
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    try:
        mask = np.eye(3, 70, dtype=bool)
        words = bits.empty(*mask.shape)
        kernel(bits.pack.py_func)(mask, words)  # type: ignore[attr-defined]  # numba's dispatcher
        return words.tolist()
    finally:
        if before is None:
            del os.environ["NUMBA_CACHE_DIR"]
        else:
            os.environ["NUMBA_CACHE_DIR"] = before


ARTEFACTS = {
    "kernels": Artefact(use_kernels, use_kernels, "kernels/bits-*/pack-*.kernel"),
    "tallies": Artefact(make_run, use_run, "run/run.sqlite*"),
    "arrays": Artefact(use_arrays, use_arrays, "*.npz"),
    "json": Artefact(use_json, use_json, "one.json"),
    "maps": Artefact(use_map, use_map, "maps/a.npy"),
    "lists": Artefact(use_map, use_map, f"maps/{LIST}"),
    "cards": Artefact(make_card, use_card, "one.card"),
    "checkpoints": Artefact(make_checkpoint, use_checkpoint, "net.checkpoint"),
    "state": Artefact(make_state, use_state, "studio.sqlite"),
}


def outcome(artefact: Artefact, folder: Path, expected: Any) -> str:
    """How the use of a damaged folder ended; begins with ``WRONG`` where it must not."""
    try:
        found = artefact.use(folder)
    except HyperacuityError as error:
        text = str(error)
        return "named" if str(folder) in text and "\n" not in text else f"WRONG: names no file: {text[:200]}"
    except Exception as error:
        return f"WRONG: {type(error).__name__}: {error}"[:300]
    return "right" if found == expected else f"WRONG: other values: {str(found)[:200]}"


def fuzz(damages: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Damage each kind in turn; how often each ended how, and what went wrong."""
    chance, endings, wrong = random.Random(seed), Counter[str](), []  # noqa: S311
    with tempfile.TemporaryDirectory() as place:
        whole = {}
        for name, artefact in ARTEFACTS.items():
            folder = Path(place, name)
            folder.mkdir()
            artefact.make(folder)
            spare = Path(place, f"{name} whole")
            shutil.copytree(folder, spare)
            whole[name] = spare, artefact.use(folder)
        names = list(ARTEFACTS)
        for number in range(damages):
            name = names[number % len(names)]
            artefact, (spare, expected), folder = ARTEFACTS[name], whole[name], Path(place, name)
            shutil.rmtree(folder)
            shutil.copytree(spare, folder)
            files = sorted(folder.glob(artefact.files))
            file = chance.choice(files)
            before = file.read_bytes()
            file.write_bytes(some_file([before], chance))
            ended = outcome(artefact, folder, expected)
            endings[f"{name}: {ended.split(':')[0]}"] += 1
            if ended.startswith("WRONG"):
                wrong.append(f"damage {number}, seed {seed}, {name}, {file.name}: {ended}")
    return endings, wrong


def main() -> int:
    """Damage, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damages", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    endings, wrong = fuzz(options.damages, options.seed)
    for line in wrong:
        print(line)
    for ending, count in sorted(endings.items()):
        print(f"{ending}: {count}")
    print(f"{options.damages:,} damages, {len(wrong)} found")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
