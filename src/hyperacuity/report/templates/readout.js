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
    const { places, pixels, targets, times } = layer.ready;
    const pixel = find(places, at);
    if (pixel < 0) return 0;
    const until = layer.count - 1 - step;
    let now = 0;
    for (let n = 0; n < pixels.length; n++) if (pixels[n] === pixel && times[n] <= until) now = targets[n];
    return now;
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
    const people = Array.from({ length: most }, (_, person) => person + 1).filter((person) => who[n] >> (person - 1) & 1);
    return `by ${people.length > 1 ? "people" : "person"} ${people.join(", ")} of ${most}`;
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
    return [
      `x ${x}, y ${y}`,
      ...(value === null ? [] : [`value about ${value.toFixed(2)}`]),
      ...(state ? [own || words[state]] : state === 0 && value !== null ? ["not detected"] : []),
      ...label(truth, size[0], at),
    ].join(" · ");
  }
  return { describe };
})();
