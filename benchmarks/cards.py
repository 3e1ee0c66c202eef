"""How large a card is, and how long it takes to load: ``python benchmarks/cards.py [IMAGES]``.

The tallies are made up, of 99 thresholds whose counts all differ, so that nothing is easy to compress; five annotators. Loading
verifies every checksum; times are the best and the median of thirty, with the package imported.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from hyperacuity.boundary import Protocol
from hyperacuity.boundary.tallies import BoundaryTally
from hyperacuity.cards import Card, digest_of, read_card, write_card

THRESHOLDS, ANNOTATORS, TIMES = 99, 5, 30


def made_up(random: np.random.Generator, protocol: Protocol) -> BoundaryTally:
    """Counts as an image of BSDS500 has them."""
    marked = np.sort(random.integers(200, 60_000, THRESHOLDS))[::-1]
    detected = (marked * random.uniform(0.2, 0.9, THRESHOLDS)).astype(np.int64)
    matched = (detected * random.uniform(0.3, 0.9, THRESHOLDS)).astype(np.int64)
    truth = np.full(THRESHOLDS, random.integers(5_000, 25_000))
    counts = (np.minimum(truth, matched * 4), truth, matched, detected, detected * ANNOTATORS, marked)
    return BoundaryTally(*counts, protocol=protocol)


def main() -> None:
    """Print size and times."""
    images = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    random, protocol = np.random.default_rng(1), Protocol()
    tallies = {str(100_000 + n): made_up(random, protocol) for n in range(images)}
    truths = {image: tuple(digest_of([image, n]) for n in range(ANNOTATORS)) for image in tallies}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "made-up.card"
        write_card(Card("made up", tallies, truths), path)
        read_card(path)
        times, processor = [], time.process_time()
        for _ in range(TIMES):
            start = time.perf_counter()
            read_card(path)
            times.append(1000 * (time.perf_counter() - start))
        processor = 1000 * (time.process_time() - processor) / TIMES
        size = path.stat().st_size / 1000
    print(
        f"{images} images: {size:.0f} KB, loads in {min(times):.1f} ms (median {statistics.median(times):.1f} ms; "
        f"{processor:.1f} ms of the processor's time)"
    )


if __name__ == "__main__":
    main()
