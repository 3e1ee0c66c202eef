"""Files of finished labels, ready for the benchmarks: edge maps, BSDS files, and how each map came about.

::

    OUT/edges/ANNOTATOR/NAME.png         one-pixel-wide edges, 0 and 255
    OUT/groundTruth/NAME.mat             the same edges of all annotators, as groundTruth{i}.Boundaries
    OUT/provenance/ANNOTATOR/NAME.json   sources of candidates, settings, threshold, counts, time, every action

``OUT/edges`` and ``OUT/groundTruth`` are truths for ``hyperacuity edges`` and ``hyperacuity boundary`` as they stand. Every file
is written whole or not at all.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity import __version__
from hyperacuity.data.formats.images import encode_png
from hyperacuity.data.formats.matlab import encode
from hyperacuity.kernels.thinning import thin
from hyperacuity.maps import EdgeMap
from hyperacuity.studio.label.log import Log
from hyperacuity.studio.label.map import DRAWN, TOP, Action, EdgeCandidates, pixels, replay_sources
from hyperacuity.studio.label.sources import CandidateSource
from hyperacuity.studio.outputs import Outputs


@dataclass(frozen=True, eq=False)
class Finished:
    """A finished map: what was drawn, and the one-pixel-wide edges that are written; the source and its threshold at the end, and
    how many of the written pixels come from each source or were drawn."""

    log: Log
    drawn: EdgeMap
    edges: EdgeMap
    source: str
    start: int
    threshold: int
    counts: Mapping[str, int]
    accepted: Mapping[str, int]

    @property
    def missing(self) -> list[str]:
        """Things that a finished map should have and this one lacks, a sentence each; empty for a complete one."""
        unchanged = ["nothing was changed: these are the candidates as they were found"] if not self.log.actions else []
        return unchanged + ([] if self.counts["edges"] else ["there is no edge"])


def finish(candidates: Mapping[str, EdgeCandidates], log: Log) -> Finished:
    """The map that a log describes, thinned, with its counts. ``candidates`` are those of the sources that the log uses.

    *candidates* reach the final threshold; *added* and *removed* are the pixels by which the drawn map differs from them;
    *thinned* were taken away to make it one pixel wide; *edges* remain.
    """
    replayed = replay_sources(candidates, log.actions)
    drawn = replayed.edges
    edges = thin(drawn)  # Guo & Hall, as in the benchmark: thinning it again takes nothing away
    last = candidates[replayed.source]
    automatic = last.above(replayed.threshold)
    counts = {
        "candidates": int(automatic.sum()),
        "added": int((drawn & ~automatic).sum()),
        "removed": int((automatic & ~drawn).sum()),
        "thinned": int(drawn.sum() - edges.sum()),
        "edges": int(edges.sum()),
    }
    accepted = replayed.accepted(edges)
    return Finished(log, drawn, edges, replayed.source, last.start, replayed.threshold, counts, accepted)


def output_files(out: Path, folder: str, name: str) -> tuple[Path, Path, Path]:
    """Paths of the edges, the BSDS file and the provenance of an annotator's image."""
    edges, provenance = out / "edges" / folder / f"{name}.png", out / "provenance" / folder / f"{name}.json"
    return edges, out / "groundTruth" / f"{name}.mat", provenance


def outputs_of(
    out: Path,
    folder: str,
    name: str,
    *,
    annotator: str,
    digest: str,
    sources: Mapping[str, CandidateSource],
    finished: Finished,
    everyone: Sequence[EdgeMap],
) -> Outputs:
    """Files of an annotator's finished image; ``everyone`` are the edges of all annotators, including this one's."""
    edges, bsds, provenance = output_files(out, folder, name)
    facts = provenance_of(name, annotator, digest, sources, finished)
    return {
        edges: encode_png(finished.edges.astype(np.uint8) * np.uint8(255)),
        # There are no regions, so there is no Segmentation.
        bsds: encode({"groundTruth": [{"Boundaries": one} for one in everyone]}),
        provenance: (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode(),
    }


def provenance_of(
    name: str, annotator: str, digest: str, sources: Mapping[str, CandidateSource], finished: Finished
) -> dict[str, Any]:
    """Provenance of an annotator's map."""
    height, width = finished.edges.shape
    log = finished.log
    return {
        "made_by": f"hyperacuity {__version__}",
        "image": name,
        "image_sha256": digest,
        "width": width,
        "height": height,
        "annotator": annotator,
        "started": log.started,
        "finished": log.ended,
        "seconds_spent": round(log.seconds, 1),
        "complete": not finished.missing,
        "missing": finished.missing,
        "settings": dict(sources[finished.source].settings),
        "candidates": _candidate_facts(sources, finished),
        "threshold": finished.threshold / TOP,
        "threshold_level": finished.threshold,
        "threshold_level_at_start": finished.start,
        "counts": dict(finished.counts),
        "entries": log.entries,
        "actions_by_kind": dict(sorted(Counter(action.kind for action in log.actions).items())),
        "actions": [
            {"kind": action.kind, "made": made} | _action_facts(action, sources)
            for action, made in zip(log.actions, log.times, strict=True)
        ],
    }


def _candidate_facts(sources: Mapping[str, CandidateSource], finished: Finished) -> dict[str, Any]:
    """Sources that were offered, the one in force at the end, how each finds candidates, and where the edges come from."""
    offered = [sources[one] for one in finished.log.offered if one in sources]
    accepted = {sources[one].name: 0 for one in finished.log.offered if one in sources}
    accepted |= {one if one == DRAWN else sources[one].name: count for one, count in finished.accepted.items()}
    return {
        "offered": [source.name for source in offered],
        "at_the_end": sources[finished.source].name,
        "accepted": accepted,
        "settings": {source.name: dict(source.settings) for source in offered},
    }


def _action_facts(action: Action, sources: Mapping[str, CandidateSource]) -> dict[str, Any]:
    if action.kind == "source":
        return {"source": sources[action.sources[0]].name}
    return {"pixels": pixels(action.runs).size} if action.threshold is None else {"level": action.threshold}
