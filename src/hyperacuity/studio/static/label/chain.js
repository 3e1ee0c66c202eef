// Edges that are connected: all that a pixel is connected to, or only its chain, which ends where edges meet.

/** The pixels around one, anticlockwise from the east, 8 of them; -1 outside of the map. */
function around(pixel, { width, height }) {
  const x = pixel % width, y = Math.floor(pixel / width);
  return RING.map(([dx, dy]) => {
    const inside = x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height;
    return inside ? pixel + dy * width + dx : -1;
  });
}

const RING = [[1, 0], [1, -1], [0, -1], [-1, -1], [-1, 0], [-1, 1], [0, 1], [1, 1]];

/** Everything that is connected (8 neighbours) to an edge pixel; empty where there is no edge. */
export function connected(map, start) {
  return spread(map, start, () => true);
}

/** The chain through an edge pixel: the edges on both sides of it, up to where three or more meet. Those remain. */
export function chain(map, start) {
  const meets = remember((pixel) => {
    const ring = around(pixel, map).map((beside) => beside >= 0 && map.edges[beside]);
    return ring.filter((edge, i) => edge && !ring[(i + 7) % 8]).length >= 3;
  });
  // Pixels beside a meeting point touch each other diagonally: a chain comes up to it, but does not go on from there.
  const isEnd = remember((pixel) => around(pixel, map).some((beside) => beside >= 0 && map.edges[beside] && meets(beside)));
  const startIsEnd = map.edges[start] === 1 && isEnd(start);
  return spread(map, start, (from, to) => {
    if (meets(from) || meets(to)) return false;
    return from === start ? !(startIsEnd && isEnd(to)) : !isEnd(from);
  });
}

function spread(map, start, mayGo) {
  if (!map.edges[start]) return [];
  const found = new Set([start]);
  for (const pixel of found) {
    for (const beside of around(pixel, map)) {
      if (beside >= 0 && map.edges[beside] && !found.has(beside) && mayGo(pixel, beside)) found.add(beside);
    }
  }
  return [...found];
}

function remember(question) {
  const known = new Map();
  return (pixel) => {
    if (!known.has(pixel)) known.set(pixel, question(pixel));
    return known.get(pixel);
  };
}
