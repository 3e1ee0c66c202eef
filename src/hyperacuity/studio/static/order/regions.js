// The regions of a picture at one level: which region a pixel is in, who borders on whom, lines to draw.
import { ask, root } from "../studio.js";

const NONE = 65535;

/** Fetch the regions of an item, by the name of their shape: a level, and how they were merged and split. */
export async function loadRegions(item, shape) {
  const [facts, bytes] = await Promise.all([
    ask(`/items/${item}/regions/${shape}`),
    fetch(`${root}/items/${item}/labels/${shape}`).then((response) => {
      if (!response.ok) throw new Error("the regions cannot be read");
      return response.arrayBuffer();
    }),
  ]);
  const labels = new Uint16Array(bytes);
  const { width, height } = facts;
  const boxes = boxesOf(labels, width, facts.anchors.length);
  const beside = facts.anchors.map(() => []);
  for (const [a, b] of facts.pairs) {
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
    const [row, column] = facts.anchors[region];
    const best = (among) => {
      let found = null;
      let least = Infinity;
      for (const other of among) {
        const right = facts.anchors[other][1] - column;
        const down = facts.anchors[other][0] - row;
        const along = right * dx + down * dy;
        const across = Math.abs(right * dy - down * dx);
        const cost = along + 2 * across;
        if (other !== region && along > 0 && across <= 2 * along && cost < least) [found, least] = [other, cost];
      }
      return found;
    };
    return best(beside[region]) ?? best(facts.anchors.keys());
  }

  return {
    shape, width, height, labels, beside, at, towards,
    count: facts.anchors.length,
    areas: facts.areas,
    anchors: facts.anchors.map(([row, column]) => [column + 0.5, row + 0.5]),
    borders: cracks(labels, width, [1, 1, width - 1, height - 1], (a, b) => a !== b),
    outline: remembered((region) => cracks(labels, width, boxes[region], (a, b) => (a === region) !== (b === region))),
  };
}

function remembered(make) {
  const kept = new Map();
  return (key) => {
    if (!kept.has(key)) kept.set(key, make(key));
    return kept.get(key);
  };
}

/** The box of each region: the first and the last edge across and down between which it lies. */
function boxesOf(labels, width, count) {
  const boxes = Array.from({ length: count }, () => [Infinity, Infinity, 0, 0]);
  for (let i = 0, x = 0, y = 0; i < labels.length; i++) {
    const box = boxes[labels[i]];
    if (box) {
      if (x < box[0]) box[0] = x;
      if (y < box[1]) box[1] = y;
      if (x >= box[2]) box[2] = x + 1;
      if (y >= box[3]) box[3] = y + 1;
    }
    if (++x === width) [x, y] = [0, y + 1];
  }
  return boxes;
}

/** The edges between pixels that differ, as a path; straight runs are one line. Only edges from the first to the last of a
 * box are looked at; what lies outside of the picture differs from all regions. */
function cracks(labels, width, [left, top, right, bottom], differ) {
  const path = new Path2D();
  const height = labels.length / width;
  const value = (x, y) => (x < 0 || y < 0 || x >= width || y >= height ? -1 : labels[y * width + x]);
  for (let y = top; y <= bottom; y++) {
    for (let x = left - 1, start = null; x <= right; x++) {
      const here = x < right && differ(value(x, y - 1), value(x, y));
      if (here && start === null) start = x;
      if (!here && start !== null) {
        path.moveTo(start, y);
        path.lineTo(x, y);
        start = null;
      }
    }
  }
  for (let x = left; x <= right; x++) {
    for (let y = top - 1, start = null; y <= bottom; y++) {
      const here = y < bottom && differ(value(x - 1, y), value(x, y));
      if (here && start === null) start = y;
      if (!here && start !== null) {
        path.moveTo(x, start);
        path.lineTo(x, y);
        start = null;
      }
    }
  }
  return path;
}
