// Depth in colours: warm is near, cool is far; the same as in the reports.

const STOPS = ["#1f2f6b", "#4a6fae", "#9fb4c4", "#ecdcb0", "#f0a860", "#c8481e"].map((text) =>
  [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));

export const UNKNOWN = [184, 186, 192];

/** The colour [r, g, b] of a layer, 1 the farthest of all. One layer alone is near. */
export function colourOf(layer, layers) {
  const share = layers > 1 ? (layer - 1) / (layers - 1) : 1;
  const position = share * (STOPS.length - 1);
  const low = Math.min(Math.floor(position), STOPS.length - 2);
  return STOPS[low].map((value, channel) => Math.round(value + (STOPS[low + 1][channel] - value) * (position - low)));
}

/** How deep a layer is for people: 1 is the nearest. */
export const depthOf = (layer, layers) => layers - layer + 1;
