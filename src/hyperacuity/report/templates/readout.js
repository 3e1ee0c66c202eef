// What is to be said of one pixel of an image: the system's value, what the pixel counts as, and the nearest label.
const readout = (() => {
  const words = [null, "hit", "false alarm", "miss"];
  const names = { hit: 1, false: 2, miss: 3 };
  // The value of a soft map, back from the ink of its picture, which is kept with a little loss.
  function valueAt(layer, [width, height], at) {
    if (!layer?.ink || !layer.ready) return null;
    if (!layer.values) {
      const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
      context.drawImage(layer.ready, 0, 0, width, height);
      layer.values = context.getImageData(0, 0, width, height).data;
    }
    return 1 - layer.values[4 * at] / 255;
  }
  const rgb = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  // The colours of a scale from end to end, then those of what has no value.
  function paletteOf({ colours, steps, others }) {
    const stops = colours.map(rgb);
    const mixed = Array.from({ length: steps }, (_, n) => {
      const at = n / (steps - 1) * (stops.length - 1), left = Math.min(Math.floor(at), stops.length - 2);
      return stops[left].map((value, channel) => value + (at - left) * (stops[left + 1][channel] - value));
    });
    return [...mixed, ...others.map(([colour]) => rgb(colour))];
  }
  // A value of a scale, back from its colour, to the nearest of its steps; or the word for what has none.
  function scaledAt(layer, [width, height], at) {
    if (!layer?.scale || !layer.ready) return null;
    const { others, steps, low, high, unit } = layer.scale;
    layer.palette ||= paletteOf(layer.scale);
    const { palette } = layer;
    if (!layer.values) {
      const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
      context.imageSmoothingEnabled = false;
      context.drawImage(layer.ready, 0, 0, width, height);
      layer.values = context.getImageData(0, 0, width, height).data;
    }
    const far = ([red, green, blue]) => Math.abs(red - layer.values[4 * at]) + Math.abs(green - layer.values[4 * at + 1]) + Math.abs(blue - layer.values[4 * at + 2]);
    const found = palette.reduce((best, colour, n) => far(colour) < far(palette[best]) ? n : best, 0);
    if (found >= steps) return { word: others[found - steps][1] };
    const step = (high - low) / (steps - 1);
    const value = low + found * step;
    if (unit === "level") return { word: `level ${Math.round(value)} of ${Math.round(high)}` };
    const digits = step ? Math.min(3, Math.max(0, Math.ceil(-Math.log10(step)))) : 1;
    return { word: `about ${value.toFixed(digits)}${unit ? ` ${unit}` : ""}`, most: found === steps - 1 };
  }
  function scales({ prediction, truth, errors }, size, at) {
    const [found, real, off] = [prediction, truth, errors].map((layer) => scaledAt(layer, size, at));
    const told = [found && `estimate ${found.word}`, real && `truth ${real.word}`];
    if (off && off.word.startsWith("about")) told.push(`off by ${off.word}${off.most ? " or more" : ""}`);
    return told.filter(Boolean);
  }
  // The places of a layer are in raster order.
  function find(places, at) {
    let [low, high] = [0, places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places[middle] < at) low = middle + 1;
      else high = middle;
    }
    return places[low] === at ? low : -1;
  }
  function stateAt(layer, step, at) {
    if (layer?.kind !== "states" || !layer.ready) return null;
    const pixel = find(layer.ready.places, at);
    return pixel < 0 ? 0 : statesAt(layer, step)[pixel];
  }
  // The states of all places of a layer at a step; those looked at last are kept.
  function statesAt(layer, step) {
    const { places, pixels, targets, times, latest } = layer.ready;
    if (latest?.step === step) return latest.now;
    const until = layer.count - 1 - step;
    const now = new Uint8Array(places.length);
    for (let n = 0; n < pixels.length; n++) if (times[n] <= until) now[pixels[n]] = targets[n];
    layer.ready.latest = { step, now };
    return now;
  }
  const people = (bits, most) => Array.from({ length: most }, (_, person) => person + 1).filter((person) => bits >> (person - 1) & 1);
  const named = (some) => `${some.length > 1 ? "people" : "person"} ${some.join(", ")}`;
  // With whose labels a hit is matched, at thresholds of which this is kept: a byte for each hit, in raster order.
  function matchedWith(layer, truth, step, at) {
    const partners = layer?.ready?.partners?.[step];
    if (!partners || truth?.kind !== "strength") return "";
    const now = statesAt(layer, step), pixel = find(layer.ready.places, at);
    let hits = 0;
    for (let n = 0; n < pixel; n++) if (now[n] === names.hit) hits++;
    const some = people(partners[hits], truth.most);
    return some.length === truth.most ? `, matched with all ${truth.most} people` : `, matched with ${named(some)} of ${truth.most}`;
  }
  function nearest(places, width, at) {
    const [x, y] = [at % width, Math.floor(at / width)];
    let [least, found] = [Infinity, -1];
    for (let n = 0; n < places.length; n++) {
      const far = (places[n] % width - x) ** 2 + (Math.floor(places[n] / width) - y) ** 2;
      if (far < least) [least, found] = [far, n];
    }
    return [Math.sqrt(least), found];
  }
  // Who drew a label, or one so near that it counts as the same.
  function drawnBy({ most, ready: { many, who } }, n) {
    if (many[n] === most) return `by all ${most} people`;
    if (!who) return `by ${many[n]} of ${most} people`;
    return `by ${named(people(who[n], most))} of ${most}`;
  }
  function label(truth, width, at) {
    if (truth?.kind !== "strength" || !truth.ready) return [];
    const [far, n] = nearest(truth.ready.places, width, at);
    if (n < 0) return ["no label in this image"];
    const who = truth.most > 1 ? `, ${drawnBy(truth, n)}` : "";
    return [`${far ? `nearest label ${far.toFixed(1)} px away` : "label here"}${who}`];
  }
  // `legend` has the task's own words for hits, false alarms and misses.
  function describe({ prediction, match, truth, errors, step, size, x, y, legend }) {
    const at = y * size[0] + x;
    const value = valueAt(prediction, size, at);
    const state = stateAt(match, step, at);
    const own = legend.find(([key]) => names[key] === state)?.[2];
    const whom = state === names.hit ? matchedWith(match, truth, step, at) : "";
    return [
      `x ${x}, y ${y}`,
      ...scales({ prediction, truth, errors }, size, at),
      ...(value === null ? [] : [`value about ${value.toFixed(2)}`]),
      ...(state ? [`${own || words[state]}${whom}`] : state === 0 && value !== null ? ["not detected"] : []),
      ...label(truth, size[0], at),
    ].join(" · ");
  }
  return { describe };
})();
