"""The Berkeley data sets: BSDS500, BSDS300, and the figure/ground labels of Fowlkes, Martin & Malik (2007)."""

from __future__ import annotations

import gzip
import lzma
import tarfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.datasets.pairing import files_in, folders_in, stem_of
from hyperacuity.data.datasets.samples import Dataset, Sample, by_stem, samples_of
from hyperacuity.data.files import MAX_BYTES, check_file, first_line, folder_at, printable, read_bytes, read_head
from hyperacuity.data.formats.berkeley import parse_fg, parse_seg
from hyperacuity.errors import InputError, UsageError
from hyperacuity.maps import LabelMap, OrderMap, same_size

RESERVED = Path(__file__).with_name("bsds_reserved.txt")


def bsds500(folder: Path, split: str = "test") -> Dataset:
    """BSDS500: ``images/SPLIT/*.jpg`` and ``groundTruth/SPLIT/*.mat``, all annotators in one file."""
    samples = samples_of(by_stem(folder / "images" / split), by_stem(folder / "groundTruth" / split))
    return Dataset("bsds500", folder, samples)


def bsds300(folder: Path, split: str = "test") -> Dataset:
    """BSDS300, as distributed or as the part of BSDS500 that it became (its test set is BSDS500's val).

    As distributed: ``images/SPLIT/*.jpg`` and one ``human/color/USER/IMAGE.seg`` per annotator.
    """
    if folder_at(folder / "groundTruth"):
        part = bsds500(folder, "val" if split == "test" else split)
        return Dataset("bsds300", folder, part.samples)
    truths: dict[str, list[Path]] = {}
    for path in files_of_people(folder / "human" / "color", ".seg"):
        truths.setdefault(stem_of(path), []).append(path)
    images = by_stem(folder / "images" / split)
    samples = (Sample(name, path, tuple(truths[name])) for name, path in sorted(images.items()) if name in truths)
    return Dataset("bsds300", folder, tuple(samples))


def files_of_people(folder: Path, suffix: str) -> list[Path]:
    """The files with this ending in the folders of annotators that a folder holds; none where there is no such folder.

    A folder without such a file is an ``InputError``, as is what is neither a file nor a folder.
    """
    result: list[Path] = []
    for person in folders_in(folder) if folder_at(folder) else []:
        files = [path for path in files_in(person, required=False) if path.suffix == suffix]
        if not files:
            raise InputError(f"{person}: holds no {suffix} file, expected those of an annotator")
        result += files
    return result


@cache
def reserved() -> frozenset[str]:
    """The 100 training images of BSDS500 that are reserved for measuring: nothing learns from them, nothing is chosen on them.

    >>> len(reserved()), "100098" in reserved()
    (100, True)
    """
    lines = RESERVED.read_text(encoding="ascii").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def without_reserved(names: Iterable[str]) -> list[str]:
    """The names that may be learned from, in the order given.

    >>> without_reserved(["100075", "100098", "my-photo"])
    ['100075', 'my-photo']
    """
    return [name for name in names if name not in reserved()]


def refuse_reserved(names: Iterable[str], *, allow: bool = False) -> None:
    """Raise ``UsageError`` if a reserved image is among those to learn from, except where that is allowed.

    >>> refuse_reserved(["100075"])
    >>> refuse_reserved(["100075", "100098"])
    Traceback (most recent call last):
    hyperacuity.errors.UsageError: 1 of the images to learn from is reserved for measuring (100098): leave it out, or allow it \
    with `allow_reserved=True`
    """
    result = sorted(set(names) & reserved())
    if not result or allow:
        return
    listed = ", ".join([*result[:3], *(["…"] if len(result) > 3 else [])])
    verb, them = ("is", "it") if len(result) == 1 else ("are", "them")
    raise UsageError(
        f"{len(result)} of the images to learn from {verb} reserved for measuring ({listed}): "
        f"leave {them} out, or allow {them} with `allow_reserved=True`"
    )


@dataclass(frozen=True, eq=False)
class FigureGround:
    """One subject's labels of one segmentation.

    ``order`` is +1 on the figure side of a labelled contour, −1 on the ground side, NaN elsewhere; ``contours`` has a row per
    contour, (1, −1), (−1, 1) or (0, 0); ``segmentation`` is what was labelled, drawn by ``segmenter``.
    """

    image: str
    segmenter: str
    subject: str
    order: OrderMap
    contours: NDArray[np.float64]
    segmentation: LabelMap


def figure_ground(source: Path, images: Collection[str] | None = None) -> Iterator[FigureGround]:
    """The figure/ground labels in an unpacked folder or straight from the ``.tar.xz``, in the order of images and subjects.

    ``fg/SEGMENTER/IMAGE-SUBJECT.fg`` and ``seg/SEGMENTER/IMAGE.seg``. With ``images`` only these are read. Nothing is written
    to disk; an archive is read once (390 MB unpacked, about a second).
    """
    return _put_together(source, _members(source, images))


def figure_ground_of(files: Sequence[Path]) -> Iterator[FigureGround]:
    """Figure/ground labels from given files of an unpacked folder: labels, and the segmentations that they belong to."""
    folder = files[0].parents[2]
    return _put_together(folder, ((PurePosixPath(*path.parts[-3:]), read_bytes(path)) for path in files))


def _put_together(source: Path, members: Iterable[tuple[PurePath, bytes]]) -> Iterator[FigureGround]:
    segmentations: dict[tuple[str, str], LabelMap] = {}
    labels: list[tuple[str, str, str, NDArray[np.int8], NDArray[np.float64]]] = []
    for path, data in members:
        name, segmenter, image = f"{source.name}, {printable(str(path))}", path.parent.name, labelled_image(path)
        if path.suffix == ".seg":
            segmentations[segmenter, image] = parse_seg(data, name)
        else:
            subject = path.stem.rpartition("-")[2]
            order, contours = parse_fg(data, name)
            # One byte per pixel until its segmentation is read.
            labels.append((image, subject, segmenter, np.nan_to_num(order).astype(np.int8), contours))
    if not labels:
        raise UsageError(f"{source}: holds no fg/SEGMENTER/IMAGE-SUBJECT.fg, expected figure/ground labels")
    for image, subject, segmenter, small, contours in sorted(labels, key=lambda entry: entry[:3]):
        name = f"{source.name}, {printable(f'fg/{segmenter}/{image}-{subject}.fg')}"
        segmentation = segmentations.get((segmenter, image))
        if segmentation is None:
            raise InputError(f"{name}: its segmentation {printable(f'seg/{segmenter}/{image}.seg')} is missing")
        same_size(small, segmentation, names=(name, "its segmentation"))
        order = np.where(small == 0, np.float32(np.nan), small.astype(np.float32))
        yield FigureGround(image, segmenter, subject, order, contours, segmentation)


def labelled_image(path: PurePath) -> str:
    """The image that a file of figure/ground labels, or the segmentation that was labelled, is of.

    >>> labelled_image(PurePath("fg/1103/100075-1105.fg")), labelled_image(PurePath("seg/1103/100075.seg"))
    ('100075', '100075')
    """
    stem = stem_of(path)
    return stem.rpartition("-")[0] if path.suffix == ".fg" else stem


def label_names(source: Path) -> list[PurePath]:
    """The files ``fg/SEGMENTER/IMAGE-SUBJECT.fg`` of a folder or an archive, in the order of their names."""
    if source.is_dir():
        return [*files_of_people(source / "fg", ".fg")]
    check_file(source)
    facts = source.stat()
    return list(_names_in(source, (facts.st_mtime_ns, facts.st_size, facts.st_ino)))


@lru_cache(maxsize=1)
def _names_in(source: Path, stamp: tuple[int, ...]) -> tuple[PurePath, ...]:
    """The names of the labels in an archive, cached while its stamp stays the same: it has to be unpacked to find them."""
    return tuple(sorted(path for path, _ in _archived(source) if path.suffix == ".fg"))


def segmenters(source: Path) -> dict[str, frozenset[str]]:
    """The annotators of the segmentations with figure/ground labels, by image: ``seg/SEGMENTER/IMAGE.seg``; empty without any."""
    result: dict[str, set[str]] = {}
    for path, _ in _members(source, None):
        if path.suffix == ".seg":
            result.setdefault(labelled_image(path), set()).add(path.parent.name)
    return {image: frozenset(names) for image, names in result.items()}


def _members(source: Path, images: Collection[str] | None) -> Iterator[tuple[PurePath, bytes]]:
    """The wanted files of a folder or an archive, as path within it and bytes."""

    def is_wanted(path: PurePath) -> bool:
        return images is None or labelled_image(path) in images

    if source.is_dir():
        for file in [*files_of_people(source / "fg", ".fg"), *files_of_people(source / "seg", ".seg")]:
            if is_wanted(file):
                yield file.relative_to(source), read_bytes(file)
        return
    for path, read in _archived(source):
        if is_wanted(path):
            yield path, read()


def _archived(source: Path) -> Iterator[tuple[PurePath, Callable[[], bytes]]]:
    """The labels and segmentations in an archive, each with what reads it, before the next one is asked for."""
    check_file(source)
    try:
        # As a stream, which is only read forward; no member may go beyond the limit.
        with _decompressed(source) as stream, tarfile.open(fileobj=cast(Any, _Limited(stream)), mode="r|") as archive:
            for member in archive:
                if member.offset_data + member.size > MAX_BYTES:
                    raise InputError(f"unpacks to more than the limit of {MAX_BYTES:,} bytes")
                path = PurePosixPath(member.name)
                if member.isfile() and path.suffix in (".fg", ".seg") and len(path.parts) > 2:
                    content = archive.extractfile(member)
                    yield path, content.read if content else bytes
    except InputError as error:
        raise InputError(f"{source}: {error}") from error
    except Exception as error:  # tarfile and lzma raise many kinds; all of them mean that the archive is bad
        raise InputError(f"{source}: is damaged or not a .tar.xz archive ({first_line(error)})") from error


def _decompressed(source: Path) -> IO[bytes]:
    head = read_head(source, 6)
    if head.startswith(b"\xfd7zXZ"):
        return lzma.open(source)
    return cast(IO[bytes], gzip.open(source)) if head.startswith(b"\x1f\x8b") else source.open("rb")


class _Limited:
    """A stream that raises an error rather than read beyond ``MAX_BYTES``."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.left = file, MAX_BYTES

    def read(self, count: int) -> bytes:
        self.left -= count
        if self.left < 0:
            raise InputError(f"unpacks to more than the limit of {MAX_BYTES:,} bytes")
        return self.file.read(count)
