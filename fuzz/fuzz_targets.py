"""What is fuzzed: one target per format, each a function of bytes that fails unless a reader reads or refuses them.

A target writes the bytes to a file, where need be wrapped so that they pass a checksum, and calls readers. Besides a value, only
:class:`~hyperacuity.errors.InputError` or ``UsageError`` may come back, in one line, and no warning but ``DataWarning``.
"""

from __future__ import annotations

import struct
import tempfile
import warnings
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import fuzz_cards
import fuzz_seeds

from hyperacuity.cards import read_card
from hyperacuity.data import (
    DataWarning,
    holds_ucm,
    read_boundary_truths,
    read_directions,
    read_disparity,
    read_edges,
    read_image,
    read_labels,
    read_mask,
    read_order,
    read_point_pairs,
    read_segmentations,
    read_soft,
    read_table,
    read_ucm,
)
from hyperacuity.data.datasets.bsds import figure_ground
from hyperacuity.data.datasets.stereo import largest_disparity, scale_of
from hyperacuity.data.formats import mat73
from hyperacuity.errors import HyperacuityError, InputError
from hyperacuity.run.pages import pages_of, rows_of
from hyperacuity.studio import people
from hyperacuity.studio.choose import plan
from hyperacuity.studio.outputs import are_whole
from hyperacuity.studio.server import last_address
from hyperacuity.studio.state import State
from hyperacuity.tally import Signature, unpacked_arrays

Reader = Callable[[Path], Any]


class BrokenPromiseError(Exception):
    """A reader warned or complained in a way it must not."""


def target(name: str) -> Callable[[bytes], None]:
    """The function to fuzz for a format."""
    readers = READERS[name]
    wrap = WRAPPED.get(name, lambda data: data)
    folder = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())  # noqa: S108
    path = Path(tempfile.mkdtemp(dir=folder, prefix="hyperacuity-fuzz-")) / "file"

    def run(data: bytes) -> None:
        path.write_bytes(wrap(data))
        for read in readers:
            check(read, path)

    return run


def check(read: Reader, path: Path) -> None:
    """Call a reader and see that it keeps its promises."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            read(path)
        except HyperacuityError as error:
            if (str(path) not in str(error) and path.name not in str(error)) or "\n" in str(error):
                raise BrokenPromiseError(f"unhelpful: {error}") from error
    for warning in caught:
        if not issubclass(warning.category, DataWarning):
            raise BrokenPromiseError(f"{warning.category.__name__}: {warning.message}")


def _with_checksums(data: bytes) -> bytes:
    """The PNG with the checksum of every chunk made right."""
    parts, at = [data[:8]], 8
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        body = data[at + 4 : at + 8 + length]
        parts.append(data[at : at + 4] + body + struct.pack(">I", zlib.crc32(body)))
        at += 12 + length
    return b"".join([*parts, data[at:]])


def _hdf5_here(path: Path) -> None:
    """HDF5 in this process instead of a separate one; h5py may raise any exception."""
    with suppress(Exception):
        for variable in mat73.variables(path):
            mat73.decode(path, variable.name)


def _truths(path: Path) -> None:
    read_boundary_truths([path])


def _segmentations(path: Path) -> None:
    read_segmentations([path])


def _archive(path: Path) -> None:
    list(figure_ground(path))


def _tally(path: Path) -> None:
    """The bytes of a tally as a store has them; the message is completed by whoever knows the cell."""
    with suppress(InputError):
        unpacked_arrays(path.read_bytes())


def _store(path: Path) -> None:
    """A damaged store, page by page."""
    list(rows_of(pages_of(path)))


def _studio(path: Path) -> None:
    """The studio's file: opened, read and written to."""
    for end in ("-wal", "-shm", "-journal"):  # of the one before
        path.with_name(path.name + end).unlink(missing_ok=True)
    with State(path, [people.SCHEMA, plan.SCHEMA]) as state:
        people.People(state, "label").everybody()
        last_address(state, "label")
        are_whole(state, [path.with_name("one.txt")])
        state.read_now(plan.tokens)
        state.write_now(lambda file: plan.store_setting(file, "seed", 1))


def _card(path: Path) -> None:
    """A card, and what is counted from it."""
    card = read_card(path)
    try:
        card.check()
    except HyperacuityError as error:
        raise InputError(f"{path}: {error}") from error


def _signature(path: Path) -> None:
    with suppress(InputError):
        Signature.parse(path.read_bytes().decode(errors="replace"))


WRAPPED: dict[str, Callable[[bytes], bytes]] = {
    "png": _with_checksums,
    "png-pixels": lambda data: fuzz_seeds.png(data[:13].ljust(13, b"\0"), data[13:]),
    "mat5-packed": fuzz_seeds.packed,
    "card-sealed": fuzz_cards.resealed,
    "card-hostile": fuzz_cards.hostile,
}

MAPS: list[Reader] = [read_soft, read_edges, read_labels, read_order, read_disparity, read_mask]

READERS: dict[str, list[Reader]] = {
    "png": [read_soft, read_labels, read_image],
    "png-pixels": [read_soft, read_labels, read_image],
    "jpeg": [read_soft, read_image],
    "bmp": [read_edges, read_labels],
    "tiff": [read_order, read_labels, read_image],
    "pnm": [read_disparity, read_labels],
    "npy": [*MAPS, read_directions, _segmentations],
    "npz": [read_soft, _segmentations],
    "mat5": [read_soft, read_ucm, holds_ucm, _truths, _segmentations, read_order, read_directions],
    "mat5-packed": [read_soft, read_ucm, _truths, _segmentations],
    "mat73": [read_soft, read_ucm, _truths, _segmentations],
    "mat73-here": [_hdf5_here],
    "pfm": MAPS,
    "seg": [read_labels, _truths, _segmentations],
    "fg": [read_order],
    "csv": [read_table, read_point_pairs],
    "info": [scale_of, largest_disparity],
    "archive": [_archive],
    "tally": [_tally],
    "store": [_store],
    "studio": [_studio],
    "card": [_card],
    "card-sealed": [_card],
    "card-hostile": [_card],
    "signature": [_signature],
    "any": [*MAPS, read_ucm, read_image, read_table, _truths, _segmentations],
}

SEEDS = {name: fuzz_seeds.SEEDS[name.removesuffix("-here")] for name in READERS}
