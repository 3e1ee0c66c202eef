// The viewer: panes that show one layer of one system each, and move together.
const viewer = (() => {
  const dialog = $("viewer");
  const colours = { hit: [0, 158, 115], false: [213, 94, 0], miss: [0, 114, 178] };
  const state = { looking: false, sheet: 0, place: 0, layer: "", kind: "", ground: "faded", paired: true, zoom: 1, x: 0, y: 0, pixel: null, shown: new Set(["hit", "false", "miss"]) };
  let panes = [];
  let payload = null;
  let turn = 0;

  async function inflate(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  function picture(uri) {
    return new Promise((resolve, reject) => {
      const image = new Image();
      image.onload = () => resolve(image);
      image.onerror = () => reject(new Error("a picture cannot be shown"));
      image.src = uri;
    });
  }
  // A layer made ready to paint: a picture, the pixels that somebody drew, or the pixels that change and their changes.
  async function ready(layer, size) {
    if (!layer || layer.ready) return layer;
    if (layer.see) Object.assign(layer, await load(layer.see));  // a photograph that several tasks share
    if (layer.kind === "picture") layer.ready = await picture(layer.uri);
    else if (layer.kind === "strength") layer.ready = { places: await marked(layer.where, size), many: await inflate(layer.many), who: layer.who && await inflate(layer.who) };
    else {
      const places = await marked(layer.where, size);
      const partners = {};
      for (const [step, text] of Object.entries(layer.partners || {})) partners[step] = await inflate(text);
      layer.ready = { places, partners, ...changes(places.length, await inflate(layer.into), await inflate(layer.when)) };
    }
    return layer;
  }
  async function marked(where, [width, height]) {
    const bits = await inflate(where);
    const places = [];
    for (let at = 0; at < width * height; at++) if (bits[at >> 3] & (128 >> (at & 7))) places.push(at);
    return places;
  }
  // The changes of all pixels, turn by turn, so that those of one pixel stand in their order in time.
  function changes(count, into, when) {
    const pixels = [], targets = [], byKind = Array.from({ length: 16 }, () => []);
    const state = new Uint8Array(count);
    const change = (pixel, target) => {
      byKind[4 * state[pixel] + target].push(pixels.length);
      pixels.push(pixel);
      targets.push(target);
      state[pixel] = target;
    };
    for (let pixel = 0; pixel < count; pixel++) change(pixel, into[pixel] >> 2);
    let going = [];
    for (let pixel = 0; pixel < count; pixel++) if ((into[pixel] & 3) !== state[pixel]) going.push([pixel, into[pixel] & 3]);
    for (let read = count; going.length;) {
      for (const [pixel, target] of going) change(pixel, target);
      going = going.map(([pixel]) => [pixel, into[read++]]).filter(([pixel, target]) => target !== state[pixel]);
    }
    const times = new Uint8Array(pixels.length);
    let at = 0;
    for (const kind of byKind) for (const number of kind) times[number] = when[at++];
    return { pixels, targets, times };
  }
  function painted(layer, step, [width, height]) {
    const image = new ImageData(width, height);
    const { places } = layer.ready;
    const set = (at, [red, green, blue]) => { image.data.set([red, green, blue, 255], 4 * at); };
    const counts = { hit: 0, false: 0, miss: 0 };
    if (layer.kind === "states") {
      const names = [null, "hit", "false", "miss"];
      const { pixels, targets, times } = layer.ready;
      const now = new Uint8Array(places.length);
      const until = layer.count - 1 - step;  // changes go from the strictest threshold to the weakest
      for (let n = 0; n < pixels.length; n++) if (times[n] <= until) now[pixels[n]] = targets[n];
      for (let n = 0; n < places.length; n++) {
        const name = names[now[n]];
        if (!name) continue;
        counts[name]++;
        if (state.shown.has(name)) set(places[n], colours[name]);
      }
    } else {
      for (let n = 0; n < places.length; n++) set(places[n], shade(layer.ready.many[n], layer.most));
    }
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext("2d").putImageData(image, 0, 0);
    return { canvas, counts };
  }
  // Light to dark in one hue, by how many of all people drew a pixel.
  function shade(many, most) {
    const share = most > 1 ? (many - 1) / (most - 1) : 1;
    return [Math.round(178 - 170 * share), Math.round(210 - 162 * share), Math.round(238 - 131 * share)];
  }

  // A system may have layers of several kinds (the classes of a semantic map), of which one is looked at.
  const kindOf = (made) => made?.kinds ? made.kinds[state.kind] || { missing: `no ${state.kind} in this image` } : made;
  function systemOf(pane) { return kindOf(payload?.systems?.[pane.system.value]); }
  const sharedLayer = (key) => payload.shared.kinds?.[state.kind]?.[key] || payload.shared[key];
  function makeKinds() {
    const names = Object.keys(payload?.shared?.kinds || {});
    $("kinds").hidden = !names.length;
    if (!names.includes(state.kind)) state.kind = names[0] || "";
    $("kind").replaceChildren(...names.map((name) => new Option(name, name, false, name === state.kind)));
  }
  async function paint(pane) {
    const mine = turn;
    if (!payload || !payload.size) return;
    const size = payload.size;
    const own = systemOf(pane) || {};
    const layer = await ready(own[state.layer] || sharedLayer(state.layer), size).catch(() => null);
    const photo = await ready(payload.shared.photo, size).catch(() => null);
    if (mine !== turn) return;
    const [width, height] = size;
    const canvas = pane.canvas;
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    const context = canvas.getContext("2d");
    context.globalAlpha = 1;
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height);
    const ground = state.layer === "photo" ? "full" : state.ground;
    if (photo && ground !== "plain") {
      context.globalAlpha = ground === "faded" ? 0.3 : 1;
      context.drawImage(photo.ready, 0, 0, width, height);
      context.globalAlpha = 1;
    }
    const steps = own.steps || [];
    const step = Number(pane.slider.value);
    let counts = null;
    if (layer && state.layer !== "photo") {
      if (layer.kind === "picture") {
        context.globalCompositeOperation = layer.ink ? "multiply" : "source-over";
        context.drawImage(layer.ready, 0, 0, width, height);
        context.globalCompositeOperation = "source-over";
      } else {
        const made = painted(layer, step, size);
        context.drawImage(made.canvas, 0, 0);
        if (layer.kind === "states") counts = made.counts;
      }
    }
    $("ground").disabled = !photo || state.layer === "photo" || (layer?.kind === "picture" && !layer.ink);
    pane.at.textContent = steps.length ? `${steps[step]}${step === own.start && own.best ? `, ${own.best}` : ""}` : "";
    pane.slider.setAttribute("aria-valuetext", steps.length ? `${(own.what || "threshold").toLowerCase()} ${steps[step]}` : "");
    const each = `${(own.what || "threshold").toLowerCase()}s`;
    pane.fewer.textContent = own.of > steps.length && steps.length > 1 ? `${steps.length} of ${own.of} ${each}: the report has no room for more; scores use all ${each}.` : "";
    const numbers = own.numbers || {};
    const text = Object.entries(numbers).map(([name, values]) =>
      `${name} ${Array.isArray(values) ? values[step]?.toFixed(3) : values}`);
    if (counts) text.push(`${counts.hit} hits, ${counts.false} false alarms, ${counts.miss} misses`);
    // What is not there is said, so that an empty pane is not taken for an empty map.
    const absent = state.layer === "photo" ? "there is no photograph of this image" : "nothing to draw here";
    pane.numbers.textContent = own.missing || (layer ? text.join(" · ") : own.without?.[state.layer] || absent);
    const title = facts[state.sheet].layers.find(([key]) => key === state.layer)?.[1] || "";
    const name = facts[state.sheet].systems[pane.system.value] || "";
    pane.window.setAttribute("aria-label", `${title}, ${name}, ${state.kind ? `${state.kind}, ` : ""}${facts[state.sheet].images[state.place].name}`);
    pane.node.dataset.painted = `${state.sheet}-${state.place}-${state.layer}-${step}`;
    pane.node.dataset.hits = counts ? counts.hit : "";
    if (state.pixel) inspect(pane);
  }
  // The pixel under the pointer, or where Shift and the arrow keys moved to, in words; the same one in both panes.
  async function inspect(pane) {
    const mine = turn;
    const { size } = payload, own = systemOf(pane) || {};
    const layers = [own.prediction, own.match, sharedLayer("truth"), own.errors];
    const [prediction, match, truth, errors] = await Promise.all(layers.map((layer) => ready(layer, size).catch(() => null)));
    if (mine !== turn || !state.pixel) return;
    const [x, y] = state.pixel;
    pane.readout.textContent = readout.describe({ prediction, match, truth, errors, step: Number(pane.slider.value), size, x, y, legend: facts[state.sheet].legend });
  }
  function point(x, y) {
    if (!payload?.size) return;
    const inside = (value, most) => Math.min(most - 1, Math.max(0, Math.floor(value)));
    const pixel = [inside(x, payload.size[0]), inside(y, payload.size[1])];
    if (state.pixel && pixel.every((value, n) => value === state.pixel[n])) return;
    state.pixel = pixel;
    place();
    panes.forEach(inspect);
  }
  // The threshold at which this image's own score is best, of those that the slider has.
  function bestStep(own) {
    const all = Object.entries(own.numbers || {}).filter(([, values]) => Array.isArray(values));
    const [, values] = all.find(([name]) => name === "F") || all[0] || [];
    if (!values) return null;
    const sign = facts[state.sheet].better === "min" ? -1 : 1;
    return values.reduce((best, value, n) => value !== null && (best === null || sign * value > sign * values[best]) ? n : best, null);
  }
  function settle(pane) {
    const own = systemOf(pane) || {};
    const steps = own.steps || [];
    pane.slider.max = Math.max(steps.length - 1, 0);
    pane.slider.value = own.start ?? 0;
    pane.slide.hidden = steps.length < 2;
    pane.what.textContent = own.what || "Threshold";
    pane.best.hidden = bestStep(own) === null;
    pane.best.textContent = `Best ${(own.what || "threshold").toLowerCase()} here`;
    return paint(pane);
  }
  const paintAll = () => Promise.all(panes.map(paint));

  function place() {
    for (const pane of panes) {
      const box = pane.window.getBoundingClientRect();
      if (!payload?.size || !box.width) continue;
      const [width, height] = payload.size;
      const scale = Math.min(box.width / width, box.height / height) * state.zoom;
      const spare = (room, length) => (room - length * scale) / 2;
      const x = spare(box.width, width) + state.x * width * scale;
      const y = spare(box.height, height) + state.y * height * scale;
      pane.canvas.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
      pane.window.classList.toggle("near", scale > 2);
      pane.mark.hidden = !state.pixel;
      if (state.pixel) {
        const side = Math.max(scale, 7);
        const corner = (start, at) => start + (at + 0.5) * scale - side / 2;
        Object.assign(pane.mark.style, { width: `${side}px`, height: `${side}px`, transform: `translate(${corner(x, state.pixel[0])}px, ${corner(y, state.pixel[1])}px)` });
      }
    }
    $("zoom").textContent = `${state.zoom.toFixed(state.zoom < 10 ? 1 : 0).replace(/\.0$/, "")}×`;
  }
  // Positions are shares of the image, measured from its middle, so that panes of any size move together.
  function zoomTo(factor, pane, clientX, clientY) {
    const before = state.zoom;
    state.zoom = Math.min(40, Math.max(1, factor));
    if (pane && payload?.size) {
      const box = pane.window.getBoundingClientRect();
      const [width, height] = payload.size;
      const base = Math.min(box.width / width, box.height / height);
      const u = (clientX - box.left - box.width / 2) / (width * base);
      const v = (clientY - box.top - box.height / 2) / (height * base);
      state.x = u / state.zoom - (u / before - state.x);
      state.y = v / state.zoom - (v / before - state.y);
    }
    bound();
  }
  function bound() {
    const most = Math.max(0, (1 - 1 / state.zoom) / 2) + (state.zoom > 1 ? 0.1 : 0);
    state.x = Math.min(most, Math.max(-most, state.x));
    state.y = Math.min(most, Math.max(-most, state.y));
    place();
  }
  function reset() { state.zoom = 1; state.x = 0; state.y = 0; place(); }

  function movable(pane) {
    const held = new Map();
    let span = 0;
    const box = pane.window;
    const pointAt = (event) => {
      if (!payload?.size) return;
      const drawn = pane.canvas.getBoundingClientRect();
      const at = [(event.clientX - drawn.left) / drawn.width * payload.size[0], (event.clientY - drawn.top) / drawn.height * payload.size[1]];
      if (at.every((value, n) => value >= 0 && value < payload.size[n])) point(...at);
    };
    box.addEventListener("pointerdown", (event) => {
      held.set(event.pointerId, [event.clientX, event.clientY]);
      box.setPointerCapture(event.pointerId);
      if (held.size < 2) pointAt(event);  // a finger has nowhere to hover
    });
    const gone = (event) => { held.delete(event.pointerId); span = 0; };
    box.addEventListener("pointerup", gone);
    box.addEventListener("pointercancel", gone);
    box.addEventListener("pointermove", (event) => {
      const from = held.get(event.pointerId);
      if (held.size < 2) pointAt(event);
      if (!from || !payload?.size) return;
      const [width, height] = payload.size;
      const room = box.getBoundingClientRect();
      const scale = Math.min(room.width / width, room.height / height) * state.zoom;
      if (held.size === 1) {
        state.x += (event.clientX - from[0]) / (width * scale);
        state.y += (event.clientY - from[1]) / (height * scale);
        bound();
      }
      held.set(event.pointerId, [event.clientX, event.clientY]);
      if (held.size === 2) {
        const [[ax, ay], [bx, by]] = [...held.values()];
        const now = Math.hypot(ax - bx, ay - by);
        if (span) zoomTo(state.zoom * now / span, pane, (ax + bx) / 2, (ay + by) / 2);
        span = now;
      }
    });
    box.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoomTo(state.zoom * Math.exp(-event.deltaY / 400), pane, event.clientX, event.clientY);
    }, { passive: false });
    box.addEventListener("keydown", (event) => {
      const step = 0.1 / state.zoom;
      const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (event.shiftKey && event.key in ways && payload?.size) {
        const [x, y] = state.pixel || payload.size.map((length) => length >> 1);
        point(x + ways[event.key][0], y + ways[event.key][1]);
        event.preventDefault();
        event.stopPropagation();
        return;
      }
      const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (state.zoom > 1 && event.key in moves) {
        state.x += moves[event.key][0];
        state.y += moves[event.key][1];
        bound();
        event.preventDefault();
        event.stopPropagation();
      }
    });
  }

  function makePanes() {
    const sheet = facts[state.sheet];
    const count = state.paired && sheet.systems.length > 1 ? 2 : 1;
    const before = panes.map((pane) => pane.system.value);
    $("panes").replaceChildren();
    panes = [];
    for (let n = 0; n < count; n++) {
      const node = $("pane").content.firstElementChild.cloneNode(true);
      const pane = {
        node, canvas: node.querySelector("canvas"), window: node.querySelector(".window"), system: node.querySelector(".system"),
        slide: node.querySelector(".slide"), slider: node.querySelector("input"), at: node.querySelector(".at"), fewer: node.querySelector(".fewer"), what: node.querySelector(".what"), numbers: node.querySelector(".numbers"),
        best: node.querySelector(".best"), readout: node.querySelector(".readout"), mark: node.querySelector(".mark"),
      };
      for (const [place, name] of sheet.systems.entries()) pane.system.add(new Option(name, place));
      pane.system.value = before[n] ?? Math.min(n, sheet.systems.length - 1);
      pane.system.addEventListener("change", () => settle(pane));
      pane.slider.addEventListener("input", () => paint(pane));
      pane.best.addEventListener("click", () => { pane.slider.value = bestStep(systemOf(pane) || {}); paint(pane); });
      movable(pane);
      new ResizeObserver(place).observe(pane.window);
      $("panes").append(node);
      panes.push(pane);
    }
    $("pair").hidden = sheet.systems.length < 2;
    for (const pane of panes) pane.node.querySelector(".which").hidden = sheet.systems.length < 2;
    $("pair").setAttribute("aria-pressed", String(count === 2));
  }
  function makeTools() {
    const sheet = facts[state.sheet];
    const layers = $("layers");
    layers.replaceChildren(layers.firstElementChild);
    if (!sheet.layers.some(([key]) => key === state.layer)) state.layer = sheet.layers[0]?.[0] || "";
    for (const [key, title, note] of sheet.layers) {
      const label = document.createElement("label");
      const radio = Object.assign(document.createElement("input"), { type: "radio", name: "layer", value: key, checked: key === state.layer });
      radio.addEventListener("change", () => { state.layer = key; legend(); paintAll(); });
      label.title = note;
      label.append(radio, title);
      layers.append(label);
    }
    $("most").textContent = sheet.layers.length;
    const fields = $("legend");
    fields.replaceChildren(fields.firstElementChild);
    for (const [key, colour, word, meaning] of sheet.legend) {
      const label = Object.assign(document.createElement("label"), { title: meaning });
      const box = Object.assign(document.createElement("input"), { type: "checkbox", value: key, checked: state.shown.has(key) });
      box.addEventListener("change", () => { state.shown[box.checked ? "add" : "delete"](key); paintAll(); });
      const chip = document.createElement("span");
      chip.className = "chip";
      chip.style.background = colour;
      const more = Object.assign(document.createElement("span"), { className: "meaning", textContent: meaning });
      label.append(box, chip, word, more);
      fields.append(label);
    }
    legend();
  }
  function legend() {
    const { layers, legend: entries } = facts[state.sheet];
    const first = entries.length > 0 && state.layer === layers[0]?.[0];
    const states = payload?.systems?.some((system) => system[state.layer]?.kind === "states");
    $("legend").hidden = !first && !(entries.length && states);
    $("about").textContent = first ? facts[state.sheet].note : layers.find(([key]) => key === state.layer)?.[2] || "";
  }

  async function open(number, at) {
    const image = facts[number]?.images[at];
    if (!image?.key) return close();
    const mine = ++turn;
    const another = number !== state.sheet || !panes.length;
    state.sheet = number;
    state.place = at;
    state.pixel = null;
    $("tags").value = tags.of(image.name).join(", ");
    if (another) { panes = []; state.layer = ""; makeTools(); makePanes(); }
    $("viewer-title").textContent = image.name;
    $("problem").textContent = "";
    if (!dialog.open) dialog.showModal();
    state.looking = true;
    try {
      payload = await load(image.key);
      if (mine !== turn) return;
      if (payload.missing) throw new Error(payload.missing);
      makeKinds();
      for (const pane of panes) pane.readout.textContent = "";
      reset();
      await Promise.all(panes.map(settle));
    } catch (error) {
      if (mine === turn) $("problem").textContent = `This image cannot be shown: ${error.message}`;
    }
  }
  function follow() {
    const found = /^#s(\d+)-(\d+)$/.exec(location.hash);
    if (found && !facts[found[1]]) return;  // on another page
    if (found) open(Number(found[1]), Number(found[2]));
    else {
      if (dialog.open) dialog.close();
      if (state.looking) document.querySelector(`.images a[href="#s${state.sheet}-${state.place}"]`)?.focus();
      state.looking = false;
    }
  }
  function close() { if (/^#s\d+-\d+$/.test(location.hash)) location.hash = `s${state.sheet}-images`; else if (dialog.open) dialog.close(); }
  function step(by) {
    const sheet = facts[state.sheet];
    const order = (sheet.order || sheet.images.map((_, place) => place)).filter((place) => sheet.images[place].key);
    const next = order[(order.indexOf(state.place) + by + order.length) % order.length];
    location.replace(`#s${state.sheet}-${next}`);
  }
  dialog.addEventListener("close", close);
  addEventListener("hashchange", follow);
  $("close").addEventListener("click", close);
  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  $("fit").addEventListener("click", reset);
  $("tags").addEventListener("change", (event) => tags.put(facts[state.sheet].images[state.place].name, event.target.value));
  $("in").addEventListener("click", () => zoomTo(state.zoom * 1.5));
  $("out").addEventListener("click", () => zoomTo(state.zoom / 1.5));
  $("ground").addEventListener("change", (event) => { state.ground = event.target.value; paintAll(); });
  $("kind").addEventListener("change", (event) => { state.kind = event.target.value; panes.map(settle); });
  $("pair").addEventListener("click", () => { state.paired = !state.paired; makePanes(); place(); panes.map(settle); });
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input[type=text]")) return;
    if (event.target.matches("select, input[type=range], input[type=radio]") && event.key.startsWith("Arrow")) return;
    const radios = [...document.querySelectorAll("#layers input")];
    if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "ArrowRight") step(1);
    else if (event.key === "+" || event.key === "=") zoomTo(state.zoom * 1.5);
    else if (event.key === "-") zoomTo(state.zoom / 1.5);
    else if (event.key === "0") reset();
    else if (event.key.toLowerCase() === "b") for (const pane of panes) pane.best.click();
    else if (/^[1-9]$/.test(event.key) && radios[event.key - 1]) radios[event.key - 1].click();
    else return;
    event.preventDefault();
  });
  return { fit: () => { if (dialog.open) place(); }, follow };
})();
