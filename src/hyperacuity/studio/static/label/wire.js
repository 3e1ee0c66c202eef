// The live wire: the cheapest 8-connected path between two pixels, where strong gradient is cheap. It snaps to edges because
// leaving them costs. Costs are whole numbers, so that the frontier is a ring of buckets (Dial's form of Dijkstra's algorithm)
// and the path is the same on every machine. The search stays within a window around the first pixel and goes on only as far
// as the pixel that is asked for; moving the pointer continues it.

const RADIUS = 384; // of the window, in pixels
const STRAIGHT = 5, DIAGONAL = 7; // about 1 : √2
const STRONGEST = 10, WEAKEST = 100; // what a pixel costs: an edge is worth a detour, but not any
const BESIDE = 60; // more where suppression left nothing
const BUCKETS = 2048; // more than the dearest step, DIAGONAL · (WEAKEST + BESIDE)
const FAR = 0x7fffffff;

/** What a level costs: its rank among the candidates counts, so that faint edges of a dark image attract as well. */
export function costs({ level, survives }) {
  const histogram = new Uint32Array(65536);
  let total = 0;
  for (let pixel = 0; pixel < level.length; pixel++) {
    if (survives[pixel]) {
      histogram[level[pixel]]++;
      total++;
    }
  }
  let below = 0;
  return Uint8Array.from(histogram, (count) => {
    const rank = total ? (below + count / 2) / total : 0;
    below += count;
    return WEAKEST - Math.round((WEAKEST - STRONGEST) * rank);
  });
}

export class Wire {
  constructor(map) {
    this.map = map;
    this.origin = null;
  }

  /** Begin paths at a pixel. */
  begin(pixel) {
    const { width, height } = this.map;
    const x = pixel % width, y = Math.floor(pixel / width);
    if (this.source !== this.map.source) [this.source, this.costs] = [this.map.source, costs(this.map)];
    this.origin = pixel;
    this.left = Math.max(0, x - RADIUS);
    this.top = Math.max(0, y - RADIUS);
    this.columns = Math.min(width, x + RADIUS + 1) - this.left;
    this.rows = Math.min(height, y + RADIUS + 1) - this.top;
    const size = this.columns * this.rows;
    this.spent = new Int32Array(size).fill(FAR);
    this.from = new Int32Array(size).fill(-1);
    this.settled = new Uint8Array(size);
    this.buckets = Array.from({ length: BUCKETS }, () => []);
    this.reached = 0; // what the settled pixels cost at most
    this.waiting = 1;
    const index = this.#index(pixel);
    this.spent[index] = 0;
    this.buckets[0].push(index);
  }

  /** Forget the beginning. */
  end() {
    this.origin = null;
    this.buckets = this.spent = this.from = this.settled = null;
  }

  /** The pixels from the beginning to another pixel, or to the pixel of the window that is nearest to it. */
  to(pixel) {
    const { width } = this.map;
    const column = Math.min(Math.max(pixel % width, this.left), this.left + this.columns - 1) - this.left;
    const row = Math.min(Math.max(Math.floor(pixel / width), this.top), this.top + this.rows - 1) - this.top;
    const target = row * this.columns + column;
    this.#search(target);
    const path = [];
    for (let index = target; index >= 0; index = this.from[index]) path.push(this.#pixel(index));
    return path.reverse();
  }

  #search(target) {
    const { columns, rows, spent, from, settled, buckets } = this;
    while (!settled[target] && this.waiting) {
      const bucket = buckets[this.reached % BUCKETS];
      if (!bucket.length) {
        this.reached++;
        continue;
      }
      const index = bucket.pop();
      this.waiting--;
      if (settled[index]) continue;
      settled[index] = 1;
      const x = index % columns, y = (index - x) / columns;
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) {
          if (x + dx < 0 || x + dx >= columns || y + dy < 0 || y + dy >= rows) continue;
          const beside = index + dy * columns + dx;
          if (settled[beside]) continue;
          const sum = spent[index] + (dx && dy ? DIAGONAL : STRAIGHT) * this.#cost(beside);
          if (sum < spent[beside]) {
            spent[beside] = sum;
            from[beside] = index;
            buckets[sum % BUCKETS].push(beside);
            this.waiting++;
          }
        }
      }
    }
  }

  #cost(index) {
    const pixel = this.#pixel(index);
    return this.costs[this.map.level[pixel]] + (this.map.survives[pixel] || this.map.edges[pixel] ? 0 : BESIDE);
  }

  #index(pixel) {
    const { width } = this.map;
    return (Math.floor(pixel / width) - this.top) * this.columns + (pixel % width) - this.left;
  }

  #pixel(index) {
    const column = index % this.columns;
    return ((index - column) / this.columns + this.top) * this.map.width + this.left + column;
  }
}
