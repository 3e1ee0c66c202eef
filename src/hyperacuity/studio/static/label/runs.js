// Sets of pixels. A pixel is a number, row by row; a set travels as runs: start, length, start, length and so on, in order.

/** The runs of pixels given in any order, which may repeat. */
export function toRuns(pixels) {
  const sorted = Int32Array.from(pixels).sort();
  const runs = [];
  for (const pixel of sorted) {
    const end = runs.length ? runs.at(-2) + runs.at(-1) : -1;
    if (pixel === end) runs[runs.length - 1]++;
    else if (pixel > end) runs.push(pixel, 1);
  }
  return runs;
}

/** Call a function with every pixel of the runs. */
export function eachPixel(runs, visit) {
  for (let i = 0; i < runs.length; i += 2) {
    for (let pixel = runs[i]; pixel < runs[i] + runs[i + 1]; pixel++) visit(pixel);
  }
}

/** How many pixels the runs hold. */
export function sizeOf(runs) {
  let size = 0;
  for (let i = 1; i < runs.length; i += 2) size += runs[i];
  return size;
}

/** The rows that runs reach, first and last; every column may be touched, since a run may go round the end of a row. */
export function rowsOf(runs, width) {
  if (!runs.length) return [0, -1];
  return [Math.floor(runs[0] / width), Math.floor((runs.at(-2) + runs.at(-1) - 1) / width)];
}

/** The runs of the pixels whose centres lie within a polygon of [x, y] corners (even-odd rule). */
export function insideOf(corners, width, height) {
  const ys = corners.map(([, y]) => y);
  const first = Math.max(0, Math.ceil(Math.min(...ys) - 0.5));
  const last = Math.min(height - 1, Math.floor(Math.max(...ys) - 0.5));
  const runs = [];
  for (let row = first; row <= last; row++) {
    const y = row + 0.5;
    const crossings = [];
    corners.forEach(([x0, y0], i) => {
      const [x1, y1] = corners[(i + 1) % corners.length];
      if (y0 <= y !== y1 <= y) crossings.push(x0 + ((y - y0) / (y1 - y0)) * (x1 - x0));
    });
    crossings.sort((a, b) => a - b);
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const from = Math.max(0, Math.ceil(crossings[i] - 0.5));
      const to = Math.min(width, Math.ceil(crossings[i + 1] - 0.5));
      if (to <= from) continue;
      const start = row * width + from;
      if (runs.length && runs.at(-2) + runs.at(-1) === start) runs[runs.length - 1] += to - from;
      else runs.push(start, to - from);
    }
  }
  return runs;
}

/** The pixels of a straight line between two, 8-connected. */
export function lineOf(from, to, width) {
  const [x0, y0, x1, y1] = [from % width, Math.floor(from / width), to % width, Math.floor(to / width)];
  const steps = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0));
  const pixels = [from];
  for (let i = 1; i <= steps; i++) {
    pixels.push(Math.round(y0 + ((y1 - y0) * i) / steps) * width + Math.round(x0 + ((x1 - x0) * i) / steps));
  }
  return pixels;
}
