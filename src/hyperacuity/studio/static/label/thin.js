// Thinning to one pixel, by the rule that the server applies when it writes the map (Guo & Hall; kernels/thinning.py): here so that
// people see what will be written.

/** A map (one byte per pixel) with its lines thinned to one pixel. */
export function thin(edges, width, height) {
  const stride = width + 2; // a frame of zeros around the map, so that every pixel has eight neighbours
  const framed = new Uint8Array(stride * (height + 2));
  for (let y = 0; y < height; y++) framed.set(edges.subarray(y * width, (y + 1) * width), (y + 1) * stride + 1);
  let left = [];
  framed.forEach((edge, index) => edge && left.push(index));
  for (let quiet = 0, first = true; quiet < 2; first = !first) {
    const gone = left.filter((index) => goes(framed, index, stride, first));
    for (const index of gone) framed[index] = 0;
    if (gone.length) left = left.filter((index) => framed[index]);
    quiet = gone.length ? 0 : quiet + 1;
  }
  const thinned = new Uint8Array(edges.length);
  for (const index of left) thinned[(Math.floor(index / stride) - 1) * width + (index % stride) - 1] = 1;
  return thinned;
}

/** Whether one of the two alternating passes deletes a pixel. */
function goes(map, at, stride, first) {
  const e = map[at + 1], ne = map[at + 1 - stride], n = map[at - stride], nw = map[at - 1 - stride];
  const w = map[at - 1], sw = map[at - 1 + stride], s = map[at + stride], se = map[at + 1 + stride];
  const crossings = ((e ^ 1) & (ne | n)) + ((n ^ 1) & (nw | w)) + ((w ^ 1) & (sw | s)) + ((s ^ 1) & (se | e));
  if (crossings !== 1) return false;
  const fewest = Math.min((e | ne) + (n | nw) + (w | sw) + (s | se), (ne | n) + (nw | w) + (sw | s) + (se | e));
  if (fewest < 2 || fewest > 3) return false;
  return !(first ? (ne | n | (se ^ 1)) & e : (sw | s | (nw ^ 1)) & w);
}

/** Edge pixels of a map that have no edge among their eight neighbours. */
export function lonePixels(edges, width, height) {
  const found = [];
  for (let pixel = 0; pixel < edges.length; pixel++) {
    if (!edges[pixel]) continue;
    const x = pixel % width, y = Math.floor(pixel / width);
    let near = 0;
    for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row++) {
      for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column++) near += edges[row * width + column];
    }
    if (near === 1) found.push(pixel);
  }
  return found;
}
