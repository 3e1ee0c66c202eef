// The picture: drawn with its regions, arrows and depths; zoomed, moved, clicked and dragged on.
import { UNKNOWN, colourOf, depthOf } from "./colours.js";

const FEW = 60; // so many regions at most show what is suggested all the time
const ASKED = "#F0E442";
const APART = 90; // pixels between the names of two regions that are asked about
const WARN = "#ff7a1a";
const FAR_ENOUGH = { mouse: 6, pen: 8, touch: 12 }; // pixels that a pointer moves before it drags

/** A stage on a canvas. `hooks` are called: click(region, shift), drag(a, b, shift), hover(region), cut(points). */
export function createStage(canvas, hooks) {
  const context = canvas.getContext("2d");
  const tint = document.createElement("canvas");
  const view = { scale: 1, x: 0, y: 0, fitted: true };
  const pointers = new Map();
  let photograph = null;
  let regions = null;
  let sheet = null;
  let look = "both";
  let tool = "order";
  let space = false;
  let hovered = null;
  let selected = null;
  let question = null; // the suggestion that is asked about: [near, far]
  let link = null; // where a drag or a link by keys begins: { from, x, y } in the picture
  let cut = null; // a line along which a region is to be split: points of the picture
  let pressed = null;
  let asked = false;

  const ratio = () => window.devicePixelRatio || 1;
  const toPicture = (x, y) => [(x - view.x) / view.scale, (y - view.y) / view.scale];

  function pointerAt(event) {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  }

  function fit() {
    if (!regions) return;
    const { clientWidth: width, clientHeight: height } = canvas;
    view.scale = Math.min(width / regions.width, height / regions.height) * 0.985;
    view.x = (width - regions.width * view.scale) / 2;
    view.y = (height - regions.height * view.scale) / 2;
    view.fitted = true;
    redraw();
  }

  /** Zoom by a factor about a point of the canvas (its middle if none is given). */
  function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const scale = Math.min(64, Math.max(0.05, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    view.fitted = false;
    redraw();
  }

  function move(dx, dy) {
    view.x += dx;
    view.y += dy;
    view.fitted = false;
    redraw();
  }

  /** Bring a region's anchor into sight. */
  function reveal(region) {
    const [x, y] = onCanvas(regions.anchors[region]);
    if (view.fitted) return;
    const margin = 40;
    const dx = Math.max(0, margin - x) + Math.min(0, canvas.clientWidth - margin - x);
    const dy = Math.max(0, margin - y) + Math.min(0, canvas.clientHeight - margin - y);
    if (dx || dy) move(dx, dy);
  }

  const onCanvas = ([x, y]) => [x * view.scale + view.x, y * view.scale + view.y];

  function paintTint() {
    tint.width = regions.width;
    tint.height = regions.height;
    const pixels = new ImageData(regions.width, regions.height);
    const words = new Uint32Array(pixels.data.buffer);
    const pack = ([r, g, b], alpha) => ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
    const { layer: layerOf, layers } = sheet?.suggestion ?? sheet ?? { layer: [], layers: 0 };
    const tangled = new Set(sheet?.tangled);
    const colours = Array.from({ length: regions.count }, (_, region) => {
      const layer = tangled.has(region) ? null : layerOf[region] ?? null;
      if (layer !== null) return pack(colourOf(layer, layers), look === "colours" ? 255 : sheet.layer[region] === null ? 110 : 165);
      return look === "colours" ? pack(UNKNOWN, 255) : 0;
    });
    for (let i = 0; i < words.length; i++) words[i] = colours[regions.labels[i]] ?? 0;
    tint.getContext("2d").putImageData(pixels, 0, 0);
  }

  function draw() {
    const scale = ratio();
    const width = Math.round(canvas.clientWidth * scale);
    const height = Math.round(canvas.clientHeight * scale);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    if (!regions) return;
    context.setTransform(scale * view.scale, 0, 0, scale * view.scale, scale * view.x, scale * view.y);
    context.imageSmoothingEnabled = view.scale < 2;
    if (photograph && look !== "colours") context.drawImage(photograph, 0, 0, regions.width, regions.height);
    if (look !== "photograph") context.drawImage(tint, 0, 0);
    const line = (path, colour, points) => {
      context.strokeStyle = colour;
      context.lineWidth = points / view.scale;
      context.stroke(path);
    };
    context.lineCap = "square";
    line(regions.borders, "rgb(0 0 0 / .6)", 2.4);
    line(regions.borders, "rgb(255 255 255 / .9)", 1);
    const circle = new Set((sheet?.contradiction?.steps ?? []).flatMap(([a, b]) => [a, b]));
    for (const region of circle) {
      line(regions.outline(region), "#16181d", 6);
      line(regions.outline(region), WARN, 3.5);
    }
    if (hovered !== null && hovered !== selected) {
      line(regions.outline(hovered), "rgb(0 0 0 / .7)", 4);
      line(regions.outline(hovered), "#fff", 2.2);
    }
    if (selected !== null) {
      line(regions.outline(selected), "#16181d", 6);
      line(regions.outline(selected), "#fff", 4.2);
      line(regions.outline(selected), "#0072B2", 2.2);
    }
    for (const region of question ?? []) {
      line(regions.outline(region), "#16181d", 5.5);
      line(regions.outline(region), ASKED, 3);
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    if (sheet) drawSaid(circle);
    if (question) drawQuestion();
    if (cut?.length > 1) drawCut();
    if (link) {
      const end = link.to === null || link.to === undefined ? [link.x, link.y] : regions.anchors[link.to];
      arrow(onCanvas(regions.anchors[link.from]), onCanvas(end), "#fff", { same: link.same, width: 3 });
    }
  }

  function drawCut() {
    for (const [colour, width] of [["rgb(0 0 0 / .75)", 5], [ASKED, 2.5]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      cut.map(onCanvas).forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.stroke();
    }
  }

  function drawSaid(circle) {
    const key = (a, b) => `${a} ${b}`;
    const steps = sheet.contradiction?.steps ?? [];
    const bad = new Set(steps.flatMap(([a, b, same]) => (same ? [key(a, b), key(b, a)] : [key(a, b)])));
    for (const [near, far, relation] of sheet.pairs) {
      if (!bad.has(key(near, far))) between(near, far, "#fff", { same: relation === 0, width: 2 });
    }
    for (const [near, far, same, placed] of steps) between(near, far, WARN, { same, width: 3.5, dashed: placed });
    const tangled = new Set(sheet.tangled);
    const few = regions.count <= FEW; // else the picture would be all numbers
    const isNear = (region) => region === hovered || region === selected;
    regions.anchors.forEach((anchor, region) => {
      const layer = sheet.layer[region];
      const shown = sheet.suggestion?.layer[region] ?? null;
      if (question?.includes(region)) return; // its name is shown
      if (circle.has(region)) badge(onCanvas(anchor), `R${region + 1}`, WARN, "#16181d");
      else if (tangled.has(region)) badge(onCanvas(anchor), "?", "#fff", "#16181d");
      else if (layer !== null) badge(onCanvas(anchor), `${shown === null ? depthOf(layer, sheet.layers) : depthOf(shown, sheet.suggestion.layers)}`, "rgb(22 24 29 / .85)", "#fff");
      else if (shown !== null && (few || isNear(region))) badge(onCanvas(anchor), `${depthOf(shown, sheet.suggestion.layers)}?`, "rgb(255 255 255 / .85)", "#16181d");
    });
  }

  /** The two regions that are asked about, by the names that the question uses. */
  function drawQuestion() {
    let [from, to] = question.map((region) => onCanvas(regions.anchors[region]));
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const more = Math.max(0, APART - length) / 2; // names of small regions stand apart
    const step = [0, 1].map((axis) => ((to[axis] - from[axis]) / length) * more);
    [from, to] = [from.map((at, axis) => at - step[axis]), to.map((at, axis) => at + step[axis])];
    arrow(towards(from, to, 20), towards(to, from, 20), ASKED, { width: 3, dashed: true });
    [from, to].forEach((at, i) => badge(at, `R${question[i] + 1}`, ASKED, "#16181d"));
  }

  /** The point at some distance from another on the way to a third. */
  function towards([x, y], [u, v], distance) {
    const length = Math.hypot(u - x, v - y) || 1;
    return [x + ((u - x) * distance) / length, y + ((v - y) * distance) / length];
  }

  function between(a, b, colour, options) {
    const [from, to] = [onCanvas(regions.anchors[a]), onCanvas(regions.anchors[b])];
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const gap = Math.min(15, length / 4); // leaves the badges free
    const cut = ([x, y], towards) => [
      x + ((towards[0] - x) * gap) / length,
      y + ((towards[1] - y) * gap) / length,
    ];
    arrow(cut(from, to), cut(to, from), colour, options);
  }

  function arrow([x, y], [u, v], colour, { same = false, width = 2, dashed = false } = {}) {
    const angle = Math.atan2(v - y, u - x);
    const head = 6 + 2 * width;
    const wing = (turn) => [u - head * Math.cos(angle + turn), v - head * Math.sin(angle + turn)];
    for (const [stroke, points] of [["rgb(0 0 0 / .75)", width + 2.5], [colour, width]]) {
      context.strokeStyle = stroke;
      context.lineWidth = points;
      context.lineCap = "round";
      context.beginPath();
      context.setLineDash(same || dashed ? [2, 7] : []);
      context.moveTo(x, y);
      context.lineTo(u, v);
      context.stroke();
      context.setLineDash([]);
      if (same) continue;
      context.beginPath();
      context.moveTo(...wing(0.5));
      context.lineTo(u, v);
      context.lineTo(...wing(-0.5));
      context.stroke();
    }
    if (same) badge([(x + u) / 2, (y + v) / 2], "=", colour, "#16181d");
  }

  function badge([x, y], text, ground, ink) {
    context.font = "600 13px system-ui, sans-serif";
    const half = Math.max(10, context.measureText(text).width / 2 + 6);
    context.beginPath();
    context.roundRect(x - half, y - 10, 2 * half, 20, 10);
    context.fillStyle = ground;
    context.fill();
    context.lineWidth = 1.2;
    context.strokeStyle = ink === "#fff" ? "rgb(255 255 255 / .85)" : "rgb(0 0 0 / .7)";
    context.stroke();
    context.fillStyle = ink;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(text, x, y + 0.5);
  }

  function hover(region) {
    if (region === hovered) return;
    hovered = region;
    hooks.hover(region);
    redraw();
  }

  const moves = (event) => tool === "move" || space || event.button === 1;

  canvas.addEventListener("pointerdown", (event) => {
    if (!regions || event.button > 1) return;
    event.preventDefault();
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = pointerAt(event);
    pointers.set(event.pointerId, [x, y]);
    if (pointers.size > 1) {
      pressed = link = cut = null; // two fingers move and zoom
      redraw();
      return;
    }
    pressed = { region: regions.at(...toPicture(x, y)), x, y, pan: moves(event), moved: false };
  });

  canvas.addEventListener("pointermove", (event) => {
    if (!regions) return;
    const [x, y] = pointerAt(event);
    const before = pointers.get(event.pointerId);
    if (!before) return hover(regions.at(...toPicture(x, y)));
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const spread = ([a, b]) => Math.hypot(a - other[0], b - other[1]);
      move((x - before[0]) / 2, (y - before[1]) / 2);
      zoom(spread([x, y]) / Math.max(1, spread(before)), (x + other[0]) / 2, (y + other[1]) / 2);
    } else if (pressed?.pan) {
      move(x - before[0], y - before[1]);
    } else if (pressed) {
      pressed.moved ||= Math.hypot(x - pressed.x, y - pressed.y) > (FAR_ENOUGH[event.pointerType] ?? 6);
      const [px, py] = toPicture(x, y);
      const under = regions.at(px, py);
      hover(under);
      if (tool === "split") {
        cut = [...(cut ?? [toPicture(pressed.x, pressed.y)]), [px, py]];
        redraw();
      } else if (pressed.moved && pressed.region !== null) {
        link = { from: pressed.region, x: px, y: py, same: event.shiftKey || hooks.tie() };
        redraw();
      }
    }
    pointers.set(event.pointerId, [x, y]);
  });

  function release(event, given) {
    if (!pointers.delete(event.pointerId)) return;
    const was = pressed;
    pressed = null;
    const line = cut;
    if (link || cut) {
      link = cut = null;
      redraw();
    }
    if (given && was?.moved && line) return hooks.cut(line);
    if (!given || !was || was.pan || was.region === null) return;
    const end = regions.at(...toPicture(...pointerAt(event)));
    if (!was.moved) hooks.click(was.region, event.shiftKey);
    else if (end !== null && end !== was.region) hooks.drag(was.region, end, event.shiftKey); // back home is thinking again
  }

  canvas.addEventListener("pointerup", (event) => release(event, true));
  canvas.addEventListener("pointercancel", (event) => release(event, false));
  canvas.addEventListener("pointerleave", () => hover(null));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pace = event.deltaMode === 1 ? 0.05 : event.ctrlKey ? 0.01 : 0.0016; // lines; a pinch on a touchpad; pixels
    zoom(Math.exp(-event.deltaY * pace), ...pointerAt(event));
  }, { passive: false });
  new ResizeObserver(() => (view.fitted ? fit() : redraw())).observe(canvas);

  return {
    fit, zoom, reveal, redraw,
    setPhotograph(image) { photograph = image; redraw(); },
    setRegions(found) {
      const first = regions === null;
      [regions, hovered, selected, link, cut, question] = [found, null, null, null, null, null];
      paintTint();
      if (first) fit();
      redraw();
    },
    setSheet(current) { sheet = current; if (regions) paintTint(); redraw(); },
    setLook(name) { look = name; if (regions) paintTint(); redraw(); },
    setTool(name) { tool = name; canvas.dataset.tool = name; },
    setSpace(held) { space = held; canvas.dataset.tool = held ? "move" : tool; },
    select(region) { selected = region; redraw(); },
    setQuestion(pair) { question = pair; redraw(); },
    setLink(given) { link = given; redraw(); },
    setCut(points) { cut = points; redraw(); },
  };
}
