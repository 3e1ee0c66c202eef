"""Someone who labels the photographs of the fixture ``photos``, without a browser."""

from __future__ import annotations

import zlib

from hyperacuity.data import read_image
from hyperacuity.studio.items import item_id
from hyperacuity.studio.label.map import GRADIENT, find_candidates, replay_sources

WIDTH, HEIGHT = 96, 64
ONE, TWO, TORN = (item_id(name) for name in ("one", "two", "torn"))


def replay(candidates, actions):
    """The map of the gradient's candidates after some actions, and the threshold in force."""
    replayed = replay_sources({GRADIENT: candidates}, actions)
    return replayed.edges, replayed.threshold


class Annotator:
    """Someone with a browser, less the browser."""

    def __init__(self, client, name, *, item=ONE):
        self.client, self.item, self.number = client, item, 0
        assert client.post("/people", json={"name": name}).status_code == 200

    def entry(self, kind, **more):
        self.number += 1
        return {"number": self.number, "key": f"key-{self.number:06}", "kind": kind, "seconds": 1.5, **more}

    def send(self, *entries):
        return self.client.post(f"/image/{self.item}/entries", json={"entries": list(entries)})

    def act(self, kind, **more):
        done = self.send(self.entry(kind, **more))
        assert done.status_code == 200, done.text
        return done.json()["entries"]

    def log(self):
        return self.client.get(f"/image/{self.item}/log").json()

    def done(self, edges, **changes):
        body = self.entry("done", checksum=zlib.crc32(edges.tobytes()), anyway=True) | changes
        return self.client.post(f"/image/{self.item}/done", json=body)


def edges_of(photos, name, *actions):
    return replay(find_candidates(read_image(photos / f"{name}.png")), actions)[0]
