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
  function describe({ prediction, match, truth, step, size, x, y, legend }) {
    const at = y * size[0] + x;
    const value = valueAt(prediction, size, at);
    const state = stateAt(match, step, at);
    const own = legend.find(([key]) => names[key] === state)?.[2];
    const whom = state === names.hit ? matchedWith(match, truth, step, at) : "";
    return [
      `x ${x}, y ${y}`,
      ...(value === null ? [] : [`value about ${value.toFixed(2)}`]),
      ...(state ? [`${own || words[state]}${whom}`] : state === 0 && value !== null ? ["not detected"] : []),
      ...label(truth, size[0], at),
    ].join(" · ");
  }
  return { describe };
})();
