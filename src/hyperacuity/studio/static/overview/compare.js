// Two versions side by side: for each difference one of them is taken, or it is marked. Done writes the third version.
import { $, ask, facts, insist, lettersAct, problem, root, say } from "../studio.js";

const given = facts();
const base = `/overview/${given.item}`;
const query = `?a=${given.a}&b=${given.b}`;
const [nameA, nameB] = given.names;
const WORDS = { a: `taken from ${nameA}`, b: `taken from ${nameB}`, mark: "marked for discussion" };

let differences = [];
let choices = [];
let current = 0;
let saved = true;
let share = null; // how much of the image is shown, of its width; null is the surroundings of the difference
const past = [];
const future = [];
const pictures = {};

async function picture(path) {
  const image = new Image();
  image.src = root + path;
  await image.decode();
  return image;
}

/** How much of the image to show: as much as was chosen, or else the surroundings of a difference; all where there is none. */
function shownShare() {
  if (share !== null || !differences.length) return share ?? 1;
  const [, , tall, wide] = differences[current].box;
  return Math.min(1, Math.max(3 * tall / pictures.height, 3 * wide / pictures.width, 0.35));
}

/** The part of the image to show, about the difference in question, or about the middle. */
function shownPart() {
  const { width, height } = pictures;
  const [top, left, tall, wide] = differences[current]?.box ?? [0, 0, height, width];
  const [w, h] = [shownShare() * width, shownShare() * height];
  const clamp = (middle, size, whole) => Math.max(0, Math.min(whole - size, middle - size / 2));
  return [clamp(left + wide / 2, w, width), clamp(top + tall / 2, h, height), w, h];
}

function draw(side) {
  const canvas = $(`side-${side}`);
  const { width, height } = pictures;
  canvas.width = Math.round(canvas.clientWidth * devicePixelRatio);
  canvas.height = Math.round(canvas.width * height / width);
  const [x, y, w, h] = shownPart();
  const context = canvas.getContext("2d");
  const scale = canvas.width / w;
  context.imageSmoothingEnabled = scale < 2;
  context.drawImage(pictures.photo, x, y, w, h, 0, 0, canvas.width, canvas.height);
  context.fillStyle = "rgb(0 0 0 / .45)";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingEnabled = false;
  context.drawImage(pictures[side], x, y, w, h, 0, 0, canvas.width, canvas.height);
  differences.forEach(({ box: [top, left, tall, wide] }, index) => {
    context.lineWidth = (index === current ? 3 : 1) * devicePixelRatio;
    context.strokeStyle = index === current ? "#F0E442" : choices[index] ? "rgb(255 255 255 / .35)" : "rgb(255 255 255 / .8)";
    context.strokeRect((left - 2 - x) * scale, (top - 2 - y) * scale, (wide + 4) * scale, (tall + 4) * scale);
  });
}

function show() {
  const decided = choices.filter(Boolean).length;
  const one = differences[current];
  $("asked").textContent = one
    ? `Difference ${current + 1} of ${differences.length}${choices[current] ? `: ${WORDS[choices[current]]}` : ""}`
    : "No differences";
  $("words-a").textContent = one ? `${one.a[0].toUpperCase()}${one.a.slice(1)}.` : "\u00a0";
  $("words-b").textContent = one ? `${one.b[0].toUpperCase()}${one.b.slice(1)}.` : "\u00a0";
  for (const button of document.querySelectorAll("[data-choice]")) {
    button.disabled = !one;
    button.setAttribute("aria-pressed", String(choices[current] === button.dataset.choice));
  }
  $("before").disabled = $("after").disabled = differences.length < 2;
  $("undo").disabled = !past.length;
  $("redo").disabled = !future.length;
  $("done").disabled = decided < differences.length;
  $("left").textContent = decided < differences.length ? `${differences.length - decided} of ${differences.length} not decided yet`
    : saved ? "" : "writes the third version";
  draw("a");
  draw("b");
}

/** Zoom by a factor; 0 shows the whole image. */
function zoom(factor) {
  if (!pictures.a) return;
  share = factor ? Math.min(1, Math.max(0.02, shownShare() / factor)) : 1;
  show();
}

function go(step) {
  if (!differences.length) return;
  share = null;
  current = (current + step + differences.length) % differences.length;
  show();
  say(`${$("asked").textContent}. ${nameA}: ${differences[current].a}. ${nameB}: ${differences[current].b}.`);
}

/** Decide differences, so that it can be undone; then go on to the next that is open. */
function decide(fresh) {
  past.push(choices);
  future.length = 0;
  choices = fresh;
  saved = false;
  const open = [...choices.keys()].map((n) => (current + n) % choices.length).find((n) => !choices[n]);
  if (open !== undefined && open !== current) [current, share] = [open, null];
  show();
  say(open === undefined ? "All are decided" : $("asked").textContent);
}

const choose = (choice) => differences.length && decide(choices.map((one, index) => (index === current ? choice : one)));

function step(from, to) {
  if (!from.length) return;
  to.push(choices);
  choices = from.pop();
  saved = false;
  show();
  say($("asked").textContent);
}

async function done() {
  if ($("done").disabled) return;
  try {
    const answer = await insist(`${base}/decision${query}`, { method: "POST", body: { choices, note: $("note").value } });
    saved = true;
    const marked = answer.marked ? `, ${answer.marked} marked` : "";
    $("lead").textContent = `Written: ${answer.a} from ${nameA}, ${answer.b} from ${nameB}${marked}.`;
    show();
  } catch (error) {
    problem(error.message);
  }
}

const presses = {
  before: () => go(-1), after: () => go(1), undo: () => step(past, future), redo: () => step(future, past), done,
  "help-open": () => $("help").showModal(), "zoom-in": () => zoom(1.5), "zoom-out": () => zoom(1 / 1.5), fit: () => zoom(0),
};
for (const [id, press] of Object.entries(presses)) $(id).addEventListener("click", press);
for (const button of document.querySelectorAll("[data-choice]")) button.addEventListener("click", () => choose(button.dataset.choice));
for (const button of document.querySelectorAll("[data-all]")) {
  button.addEventListener("click", () => differences.length && decide(choices.map(() => button.dataset.all)));
}
const KEYS = { ArrowLeft: presses.before, ArrowRight: presses.after, "?": presses["help-open"], d: done,
  a: () => choose("a"), b: () => choose("b"), m: () => choose("mark"),
  "+": presses["zoom-in"], "=": presses["zoom-in"], "-": presses["zoom-out"], "−": presses["zoom-out"], 0: presses.fit,
  PageUp: () => $("previous")?.click(), PageDown: () => $("next")?.click() };
document.addEventListener("keydown", (event) => {
  // A dialog keeps the focus for a moment after it has closed: keys are the page's again at once.
  if (event.altKey || event.target.closest("input, dialog[open]")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const control = event.ctrlKey || event.metaKey;
  if (key === "z" && (control || lettersAct())) event.shiftKey ? presses.redo() : presses.undo();
  else if (control || !(key in KEYS) || (/^[a-z]$/.test(key) && !lettersAct())) return;
  else KEYS[key]();
  event.preventDefault();
});
addEventListener("resize", () => differences && pictures.a && show());
addEventListener("beforeunload", (event) => { if (!saved) event.preventDefault(); });

try {
  const sides = await ask(`${base}/sides${query}`);
  [pictures.photo, pictures.a, pictures.b] = await Promise.all(
    [given.photo, `${base}/side/a${query}`, `${base}/side/b${query}`].map(picture));
  Object.assign(pictures, { width: sides.width, height: sides.height });
  ({ differences, choices } = sides);
  current = Math.max(0, choices.findIndex((one) => !one));
  $("lead").textContent = differences.length ? `${nameA} and ${nameB} differ in ${differences.length} place${differences.length > 1 ? "s" : ""}. For each, take one of them, or mark it.`
    : `${nameA} and ${nameB} agree. Done writes what they agree on.`;
  show();
  document.body.dataset.ready = "true";
} catch (error) {
  problem(error.message);
}
