// The regions of a picture at one level: which region a pixel is in, who borders on whom, lines to draw.
import { ask } from "../studio.js";

const NONE = 65535;

/** Fetch the regions of an item at a cut. */
export async function loadRegions(item, cut) {
  const [told, bytes] = await Promise.all([
    ask(`/items/${item}/regions/${cut}`),
    fetch(`/items/${item}/labels/${cut}`).then((response) => {
      if (!response.ok) throw new Error("the regions cannot be read");
      return response.arrayBuffer();
    }),
  ]);
  const labels = new Uint16Array(bytes);
  const { width, height } = told;
  const beside = told.anchors.map(() => []);
  for (const [a, b] of told.pairs) {
    beside[a].push(b);
    beside[b].push(a);
  }

  /** The region at a point of the picture, or null. */
  function at(x, y) {
    const column = Math.floor(x);
    const row = Math.floor(y);
    if (column < 0 || row < 0 || column >= width || row >= height) return null;
    const region = labels[row * width + column];
    return region === NONE ? null : region;
  }

  /** The nearest region whose anchor lies in a direction (dx, dy) from a region's; neighbours go first. */
  function towards(region, dx, dy) {
    const [row, column] = told.anchors[region];
    const best = (among) => {
      let found = null;
      let least = Infinity;
      for (const other of among) {
        const right = told.anchors[other][1] - column;
        const down = told.anchors[other][0] - row;
        const along = right * dx + down * dy;
        const across = Math.abs(right * dy - down * dx);
        const cost = along + 2 * across;
        if (other !== region && along > 0 && across <= 2 * along && cost < least) [found, least] = [other, cost];
      }
      return found;
    };
    return best(beside[region]) ?? best(told.anchors.keys());
  }

  return {
    cut, width, height, labels, beside, at, towards,
    count: told.anchors.length,
    areas: told.areas,
    anchors: told.anchors.map(([row, column]) => [column + 0.5, row + 0.5]),
    borders: cracks(labels, width, height, (a, b) => a !== b),
    outline: remembered((region) => cracks(labels, width, height, (a, b) => (a === region) !== (b === region), true)),
  };
}

function remembered(make) {
  const kept = new Map();
  return (key) => {
    if (!kept.has(key)) kept.set(key, make(key));
    return kept.get(key);
  };
}

/** The edges between pixels that differ, as a path; straight runs are one line. With frame, the picture's own edge too. */
function cracks(labels, width, height, differ, frame = false) {
  const path = new Path2D();
  const value = (x, y) => (x < 0 || y < 0 || x >= width || y >= height ? -1 : labels[y * width + x]);
  const from = frame ? 0 : 1;
  for (let y = from; y <= height - from; y++) {
    for (let x = 0, start = -1; x <= width; x++) {
      const here = x < width && differ(value(x, y - 1), value(x, y));
      if (here && start < 0) start = x;
      if (!here && start >= 0) {
        path.moveTo(start, y);
        path.lineTo(x, y);
        start = -1;
      }
    }
  }
  for (let x = from; x <= width - from; x++) {
    for (let y = 0, start = -1; y <= height; y++) {
      const here = y < height && differ(value(x - 1, y), value(x, y));
      if (here && start < 0) start = y;
      if (!here && start >= 0) {
        path.moveTo(x, start);
        path.lineTo(x, y);
        start = -1;
      }
    }
  }
  return path;
}
