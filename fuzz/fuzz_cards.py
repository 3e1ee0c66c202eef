"""Cards to fuzz with: small valid ones, sealed again after a change, and well-formed ones that mean harm."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import random
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from hyperacuity.boundary import Protocol
from hyperacuity.boundary.tallies import BoundaryTally
from hyperacuity.cards import About, Card, Made, digest_of, fingerprint, written
from hyperacuity.tally import Tally
from hyperacuity.tasks import task

ABOUT = About("A title", ("Ann", "Bo"), 2011, "https://example.org/a", "CC0", "Two\nlines", "@article{a}")
MADE = Made("truth", "hyperacuity boundary maps truth", "0.1.0", "2026-01-02")

DEEP = "@deep@"
"""Stands for lists within lists, many thousands deep."""

VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**70, -(2**63), 1e308, -0.0, 0.5, float("nan"), float("inf")),
    *(
        "",
        "a",
        "x" * 20_000,
        "a\nb",
        "\x1b[31mred",
        "\u202egnp",
        "\ud800",
        "\x00",
        "<script>boom()</script>",
        "../../etc/passwd",
    ),
    *(
        "javascript:alert(1)",
        "https://example.org/a\nb",
        "boundary|v:1",
        "edges|v:1",
        "9" * 5000,
        "auto",
        "levels",
        "none",
    ),
    *([], {}, [[]], [None], [1, 2, 3], ["a"] * 100, {"a": 1}, {"": {}}, DEEP, {"a": DEEP}, [0.1] * 50),
]

KINDS = ("<i8", "<f8", "<f4", "<f2", "<u8", "|u1", "|b1", "<i1", "|O8", "<f16", "<c8", "<V4", "<i0", "x")
SHAPES: list[Any] = [
    [],
    [0],
    [1],
    [5],
    [-1],
    [2, 3],
    [10**12],
    [10**6],
    [10**5],
    [1] * 40,
    [2**62, 4],
    ["5"],
    [True],
    [5.0],
    None,
]


def boundary_card() -> Card:
    """Two images, five thresholds."""
    agreed = Protocol(thresholds=5)
    counts = np.array([9, 8, 7, 4, 1])
    tallies = {
        image: BoundaryTally(counts, counts * 0 + 12, counts, counts + n, counts + n, counts + 5, protocol=agreed)
        for n, image in enumerate(("100007", "a b"))
    }
    truths = {image: (digest_of(image), digest_of([image])) for image in tallies}
    return Card("mine", tallies, truths, ABOUT, MADE, 3)


OTHERS = {"extra": 0, "inconsistent": 1 / 3}


def scalar_card(name: str, shapes: dict[str, tuple[int, ...]]) -> Card:
    """Two images of a task, whose arrays are of ones but where these would contradict each other."""
    known = task(name)
    tallies: dict[str, Tally] = {}
    for image in ("1", "2"):
        arrays = {
            field: np.full(shapes.get(field, ()), OTHERS.get(field, 1), _type_of(known.tally_type, field))
            for field in known.tally_type.names()
        }
        tallies[image] = known.tally_type(**arrays, protocol=known.protocol())
    return Card("mine", tallies, {image: (digest_of(image),) for image in tallies})


def _type_of(kind: type[Tally], field: str) -> type[Any]:
    return np.float64 if "Sums" in str(kind.__annotations__[field]) else np.int64


SHAPES_OF: dict[str, dict[str, tuple[int, ...]]] = {
    "ordering": {"contours": (6,), "pairs": (5,), "questions": (2, 4), "measured": (3,), "inconsistent": (3,)},
    "views": dict.fromkeys(("square", "added", "compared", "pixels"), (2,)),
    "whdr": {"wrong": (2,), "weight": (2,), "pairs": (3,)},
    "dbe": {},
    "edges": {"scores": (23, 101), "counted": (23, 101)}
    | dict.fromkeys(("minimum", "images", "threshold", "swept"), (23,)),
    "regions": dict.fromkeys(("covered", "covering", "machine_area", "rand", "variation"), (99,)),
    "masks": dict.fromkeys(task("masks").tally_type.names(), (1,)),
    "disparity": dict.fromkeys(task("disparity").tally_type.names(), (3,)) | {"bad": (3, 3), "quantile": (3, 4)},
}


def cards() -> list[bytes]:
    """Of several benchmarks."""
    every = [scalar_card(name, shapes) for name, shapes in SHAPES_OF.items()]
    return [written(card) for card in (boundary_card(), *every)]


def sealed(lines: list[bytes]) -> bytes:
    """Lines of JSON as a card, with checksums and the digest at the end."""
    checked = [hashlib.blake2b(line, digest_size=8).hexdigest().encode() + b" " + line for line in lines]
    body = b"\n".join([b"hyperacuity card 1", *checked]) + b"\n"
    return body + hashlib.blake2b(body, digest_size=32).hexdigest().encode() + b"  end\n"


def resealed(data: bytes) -> bytes:
    """A changed card with all checksums made right."""
    return sealed([line[17:] for line in data.split(b"\n")[1:-2]])


def hostile(data: bytes) -> bytes:
    """A well-formed card with up to four parts that mean harm; the bytes decide which."""
    chance = random.Random(hashlib.blake2b(data).digest())  # noqa: S311
    seed = chance.choice(_SEEDS)
    head, *images = copy.deepcopy([json.loads(line[17:]) for line in seed.split(b"\n")[1:-2]])
    for _ in range(chance.randint(1, 4)):
        chance.choice(CHANGES)(head, images, chance)
    if chance.random() < 0.9:
        try:
            head["data"] = fingerprint({one["image"]: one["truths"] for one in images})
            head["images"] = len(images)
        except (KeyError, TypeError, ValueError, RecursionError, AttributeError):
            pass
    lines = [json.dumps(one).encode() for one in (head, *images)]
    return sealed([line.replace(b'"@deep@"', b"[" * 20_000 + b"]" * 20_000) for line in lines])


def _somewhere(value: Any, chance: random.Random) -> tuple[Any, Any] | None:
    """A container in a value, and one of its keys."""
    places: list[tuple[Any, Any]] = []

    def walk(one: Any, depth: int) -> None:
        if depth < 6 and isinstance(one, dict | list):
            for key in one if isinstance(one, dict) else range(len(one)):
                places.append((one, key))
                walk(one[key], depth + 1)

    walk(value, 0)
    return chance.choice(places) if places else None


def _replace(head: Any, images: Any, chance: random.Random) -> None:
    place = _somewhere(head if chance.random() < 0.6 or not images else images, chance)
    if place:
        place[0][place[1]] = copy.deepcopy(chance.choice(VALUES))


def _drop(head: Any, images: Any, chance: random.Random) -> None:
    place = _somewhere(head if chance.random() < 0.6 or not images else images, chance)
    if place:
        del place[0][place[1]]


def _add(head: Any, images: Any, chance: random.Random) -> None:
    target = chance.choice([head, head.get("protocol"), head.get("about"), *images])
    if isinstance(target, dict):
        target[chance.choice(["people", "task", "version", "nms_of", "reading", "thresholds", "x"])] = chance.choice(
            VALUES
        )


def _signature(head: Any, images: Any, chance: random.Random) -> None:
    """Another protocol that is told rightly."""
    name = str(head.get("signature", "")).partition("|")[0]
    if isinstance(head.get("protocol"), dict) and head["protocol"]:
        head["protocol"][chance.choice(list(head["protocol"]))] = copy.deepcopy(chance.choice(VALUES))
    try:
        head["signature"] = str(task(name).protocol.from_dict(head["protocol"]).signature)
    except Exception:
        head["signature"] = chance.choice(["boundary|v:1", "x|v:1", name])


def _twice(head: Any, images: Any, chance: random.Random) -> None:
    if images:
        images.append(copy.deepcopy(chance.choice(images)))
        if chance.random() < 0.7 and isinstance(images[-1], dict):
            images[-1]["image"] = f"more {len(images)}"


def _arrays(head: Any, images: Any, chance: random.Random) -> None:
    """Arrays of other numbers, types and sizes, packed as they should be."""
    layout, body = _unpacked(images, chance)
    if layout is None:
        return
    for name in chance.sample(list(layout), chance.randint(1, len(layout))):
        kind, shape = chance.choice(KINDS[:8]), chance.choice([s for s in SHAPES[:10] if s is not None])
        shape = [abs(length) for length in shape]
        if np.prod(shape, dtype=float) < 2e6:
            values = chance.choice([0, 1, -1, 2**53, 2**62, -(2**63), 1e300, float("nan"), float("inf")])
            with np.errstate(all="ignore"):
                body[name] = (
                    np.full(shape, 0.0).astype(kind) if kind[1] != "f" else np.full(shape, values, float).astype(kind)
                )
                if kind[1] in "iu" and isinstance(values, int):
                    body[name] = np.full(shape, np.array(values % 2**63).astype(kind))
            layout[name] = [kind, shape]
    if chance.random() < 0.3:
        layout[chance.choice(["x", "protocol", "truth"])] = ["<i8", [1]]
    _pack(images, chance, layout, b"".join(array.tobytes() for array in body.values()))


def _lies(head: Any, images: Any, chance: random.Random) -> None:
    """Sizes and types that are not those of the bytes; bytes that inflate to far more than they are."""
    layout, body = _unpacked(images, chance)
    if layout is None:
        return
    raw = b"".join(array.tobytes() for array in body.values())
    for name in chance.sample(list(layout), chance.randint(1, len(layout))):
        layout[name] = chance.choice([[chance.choice(KINDS), chance.choice(SHAPES)], None, [], "x", [1, 2, 3], DEEP])
    if chance.random() < 0.3:
        raw = bytes(3_000_000)
    _pack(images, chance, layout, raw)


def _garbage(head: Any, images: Any, chance: random.Random) -> None:
    if images and isinstance(images[0], dict):
        images[0]["tally"] = chance.choice(["", "====", "é", "A" * 1000, base64.b64encode(bytes(50)).decode(), "e30K"])


def _unpacked(images: Any, chance: random.Random) -> Any:
    from hyperacuity.tally import unpacked_arrays

    try:
        data = base64.b64decode(images[0]["tally"])
        return json.loads(data.partition(b"\n")[0]), dict(unpacked_arrays(data))
    except Exception:
        return None, None


def _pack(images: Any, chance: random.Random, layout: Any, raw: bytes) -> None:
    line = json.dumps(layout, separators=(",", ":")).encode()
    stream = zlib.compressobj(1, zdict=line)
    packed = base64.b64encode(line + b"\n" + stream.compress(raw) + stream.flush()).decode()
    for one in images if chance.random() < 0.7 else images[:1]:
        if isinstance(one, dict):
            one["tally"] = packed


CHANGES: list[Callable[[Any, Any, random.Random], None]] = [
    *(_replace, _replace, _drop, _add, _signature, _signature, _twice, _arrays, _arrays, _lies, _garbage)
]

_SEEDS = cards()
