// Ordering one image: what is pressed, clicked and dragged becomes an action; the server says what follows from it.
import { $, ask, facts, insist, listenToFlag, problem, root, say } from "../studio.js";
import { depthOf } from "./colours.js";
import { listenToKeys } from "./keys.js";
import { started, showSheet } from "./panel.js";
import { loadRegions } from "./regions.js";
import { createStage } from "./stage.js";

const { item, before, after } = facts();
const base = `/items/${item}`;
const tab = crypto.getRandomValues(new Uint32Array(4)).join("-");
const looks = ["both", "photograph", "colours"];

let sheet = null;
let regions = null;
let levels = [];
let selected = null;
let from = null; // a link by keys starts at this region
let joins = false; // whether that link merges two regions
let knife = null; // a cut by keys: the region, the line's angle in degrees and how far it is from the region's middle
let cursor = null; // the position after which the next click puts a region; null is the end
let look = "both";
let asked = null; // the suggestion that is asked about: [near, far]
const skipped = new Set();
let unlocked = false; // whether the level may be changed although regions have been ordered
let queue = Promise.resolve();
let unanswered = 0;

const stage = createStage($("stage"), { click, drag, hover: describe, cut, tie: () => pressed("tie") });

const pressed = (id) => $(id).getAttribute("aria-pressed") === "true";
const last = () => sheet.positions.reduce((most, [, position]) => Math.max(most, position), 0);
const positionOf = (region) => sheet.positions.find(([other]) => other === region)?.[1] ?? null;
const name = (region) => `region ${region + 1}`;

/** Do something about the sheet as it is once all that was done before has been answered. */
function act(make) {
  unanswered += 1;
  queue = queue.then(async () => {
    try {
      const action = sheet && make();
      if (!action) return;
      const answer = await insist(`${base}/actions`, {
        method: "POST",
        body: { tab, sequence: sheet.version + 1, action },
      });
      await show(answer);
      announce(action);
      if (sheet.suggestion && ["relate", "dismiss", "accept"].includes(action.kind)) say(`${$("said").textContent}${question()}`);
    } catch (error) {
      if (error.status === 409) await ask(`${base}/sheet`).then(show).catch(() => {}); // the queue goes on, whatever happens
      problem(error.message);
    } finally {
      unanswered -= 1;
    }
  });
}

addEventListener("beforeunload", (event) => {
  if (unanswered) event.preventDefault();
});

/** Show what the server has answered. */
async function show(answer) {
  sheet = answer;
  levels = answer.levels ?? levels;
  if (regions?.shape !== sheet.shape) await showRegions(sheet.shape);
  if (cursor !== null && cursor >= last()) cursor = null;
  stage.setSheet(sheet);
  showSheet(sheet, { say: relate, takeBack, point, choose });
  askNext();
  showLevels();
  showHint();
  describe(null);
  document.body.dataset.version = sheet.version;
}

async function showRegions(shape) {
  const found = await loadRegions(item, shape);
  [regions, selected, from, knife] = [found, null, null, null];
  skipped.clear();
  stage.setRegions(found);
}

/** Ask about a suggestion: that with the longest boundary, of those not skipped; once all were skipped, from the beginning. */
function askNext() {
  const waiting = sheet.suggestion?.waiting ?? [];
  asked = waiting.find((pair) => !skipped.has(String(pair))) ?? null;
  if (asked === null && waiting.length) {
    skipped.clear();
    asked = waiting[0];
  }
  stage.setQuestion(asked);
  if (asked) stage.reveal(asked[1]);
  if (asked) $("suggestion-words").replaceChildren(...words(`Is region ${asked[0] + 1} in front of region ${asked[1] + 1}?`));
}

/** A sentence, its regions in bold. */
const words = (sentence) => sentence.split(/(region \d+)/).map((part) => {
  if (!part.startsWith("region")) return part;
  const bold = document.createElement("strong");
  bold.textContent = part;
  return bold;
});

/** Answer what is asked. An answer given before the one before it has arrived waits, and is about what is asked then. */
function answer(make) {
  if (sheet?.suggestion?.open) act(() => asked && make(...asked));
}

function skip() {
  if (!asked) return;
  skipped.add(String(asked));
  askNext();
  say($("suggestion-words").textContent);
}

function acceptRest() {
  act(() => (sheet.suggestion?.open ? { kind: "accept", pairs: sheet.suggestion.waiting } : null));
}

function announce(action) {
  if (sheet.contradiction) say(`Contradiction: ${sheet.contradiction.words}.`);
  else if (action.kind === "place") say(`Region ${action.region + 1} is at depth ${depth(action.region)}.`);
  else if (action.kind === "relate") say({
    front: `Region ${action.a + 1} is in front of ${name(action.b)}.`,
    same: `Region ${action.a + 1} is at the same depth as ${name(action.b)}.`,
    none: `The relation of ${name(action.a)} and ${name(action.b)} is removed.`,
  }[action.relation]);
  else if (action.kind === "remove") say(`Region ${action.region + 1} is removed from the list.`);
  else if (action.kind === "done") say(`Done: the order is written${sheet.complete ? "" : ", incomplete"}.`);
  else if (action.kind === "accept") say(`${action.pairs.length} suggestions are accepted.`);
  else if (action.kind === "dismiss") say("The suggestion is dismissed.");
  else say({ undo: "Undone.", redo: "Redone.", clear: "Started over.", level: "The level is changed.", merge: "The regions are merged.", split: "The region is split." }[action.kind]);
}

/** What the question is, for those who cannot see it, after an answer to the one before. */
const question = () => (asked ? ` ${$("suggestion-words").textContent}` : sheet.suggestion ? " No suggestion is open." : "");

function depth(region) {
  const layer = sheet.layer[region];
  return layer === null ? null : depthOf(layer, sheet.layers);
}

/** Say in the line under the picture what a region is; without one, the selected region. */
function describe(region) {
  const about = region ?? selected;
  if (about === null || !sheet || about >= sheet.layer.length) {
    $("spot").textContent = "\u00a0";
    return;
  }
  const { layer, layers } = sheet.suggestion ?? {};
  const suggested = layer && layer[about] !== null ? `suggested depth ${depthOf(layer[about], layers)}, not confirmed` : "not ordered yet";
  const parts = [`Region ${about + 1}`, depth(about) === null ? suggested
    : sheet.tangled.includes(about) ? "contradicted" : `depth ${depth(about)}`];
  if (positionOf(about) !== null) parts.push(`position ${positionOf(about)} in the list`);
  const pairs = sheet.pairs.filter(([a, b]) => a === about || b === about).length;
  if (pairs) parts.push(`${pairs} pair${pairs > 1 ? "s" : ""}`);
  $("spot").textContent = parts.join(" · ");
}

function showHint() {
  const hint = $("hint");
  if (knife) hint.textContent = `Split region ${knife.region + 1} at ${knife.angle}°: left and right turn the line, up and down move it, Enter cuts.`;
  else if (from !== null && joins) hint.textContent = `Merge region ${from + 1} with …: go to a neighbour, then press Enter.`;
  else if (from !== null) hint.textContent = `Region ${from + 1} is in front of …: go to a region, then press Enter.`;
  else if (pressed("tool-split")) hint.textContent = "Draw a line through a region, from one side to the other, to split it.";
  else if (pressed("tool-merge")) hint.textContent = "Drag from a region to its neighbour to merge them.";
  else if (sheet.suggestion?.open && !last()) {
    hint.textContent = "Answer the question, or order regions yourself: click them, the nearest first, or drag from one to another behind it.";
  } else if (!started(sheet)) {
    hint.textContent = "Click the regions one after another, the nearest first; or drag from a region to one behind it.";
  } else if (cursor !== null) hint.textContent = `The next click goes ${cursor ? `after position ${cursor}` : "before all others"}.`;
  else if (last()) hint.textContent = pressed("tie") ? `The next click shares position ${last()}.` : `The next click is position ${last() + 1}.`;
  else hint.textContent = "Drag from a region to one behind it, or click regions from near to far.";
}

/** Select a region; by keys it is brought into sight and read out, by a pointer it is where the person looks. */
function select(region, { byKeys = true } = {}) {
  selected = region;
  stage.select(region);
  if (region === null) return describe(null);
  if (byKeys) stage.reveal(region);
  if (from !== null) stage.setLink({ from, to: region === from ? from : region, same: pressed("tie") });
  describe(null);
  if (byKeys) say($("spot").textContent);
}

/** Put a region behind the last one that was placed, or beside it; one that has been placed already stays. */
function put(region, tie) {
  act(() => {
    if (positionOf(region) !== null) {
      say(`Region ${region + 1} is at position ${positionOf(region)} already: Delete removes it, brackets move it.`);
      return null;
    }
    const at = cursor ?? last();
    if (tie) return { kind: "place", region, at: Math.max(1, at), tie: true };
    if (cursor !== null) cursor += 1;
    return { kind: "place", region, at: at + 1, tie: false };
  });
}

function click(region, shift) {
  select(region, { byKeys: false });
  if (!pressed("tool-merge") && !pressed("tool-split")) put(region, shift || pressed("tie"));
}

function drag(a, b, shift) {
  select(a, { byKeys: false });
  if (pressed("tool-merge")) act(() => ({ kind: "merge", a, b }));
  else relate(a, b, shift || pressed("tie") ? "same" : "front");
}

/** Split the region that most of a line lies in. */
function cut(points) {
  const counts = new Map();
  const along = points.slice(1).flatMap(([x, y], i) => {
    const [u, v] = points[i];
    const steps = Math.ceil(Math.max(Math.abs(x - u), Math.abs(y - v), 1));
    return Array.from({ length: steps }, (_, n) => regions.at(u + ((x - u) * n) / steps, v + ((y - v) * n) / steps));
  });
  for (const region of along) if (region !== null) counts.set(region, (counts.get(region) ?? 0) + 1);
  const [region] = [...counts].sort(([, one], [, other]) => other - one)[0] ?? [null];
  if (region !== null) split(region, points);
}

function split(region, points) {
  const few = points.filter((_, n) => n % Math.ceil(points.length / 1000) === 0 || n === points.length - 1);
  act(() => ({ kind: "split", region, line: few.flat().map(Math.floor) }));
}

/** The line of a cut by keys: through the picture, at an angle, at some distance from the region's middle. */
function knifeLine() {
  const [x, y] = regions.anchors[knife.region];
  const turn = (knife.angle * Math.PI) / 180;
  const [dx, dy] = [Math.cos(turn), Math.sin(turn)];
  const [cx, cy] = [x - dy * knife.off, y + dx * knife.off];
  const far = regions.width + regions.height;
  return [[cx - dx * far, cy - dy * far], [cx + dx * far, cy + dy * far]];
}

function startCut() {
  if (selected === null) return;
  knife = { region: selected, angle: 0, off: 0 };
  turnKnife(0, 0);
}

/** Turn the line by so many steps, and move it. */
function turnKnife(right, down) {
  const step = Math.max(1, Math.sqrt(regions.areas[knife.region]) / 12);
  knife.angle = (knife.angle + 15 * right + 180) % 180;
  knife.off += down * step;
  stage.setCut(knifeLine());
  showHint();
  say($("hint").textContent);
}

function stopCut() {
  knife = null;
  stage.setCut(null);
  showHint();
}

function relate(a, b, relation) {
  act(() => ({ kind: "relate", a, b, relation }));
}

function takeBack([near, far, , placed]) {
  if (placed) act(() => ({ kind: "remove", region: near }));
  else relate(near, far, "none");
}

/** Go on with a region by keys. */
function choose(region) {
  select(region);
  $("stage").focus({ preventScroll: true });
}

function point(both) {
  stage.setLink(both && { from: both[0], to: both[1] });
}

function startLink(merging = false) {
  if (selected === null) return;
  [from, joins] = [selected, merging];
  showHint();
  say($("hint").textContent);
}

function stopLink() {
  from = null;
  stage.setLink(null);
  showHint();
}

function setTie(on) {
  $("tie").setAttribute("aria-pressed", on);
  showHint();
}

function setTool(tool) {
  for (const one of ["order", "move", "split", "merge"]) $(`tool-${one}`).setAttribute("aria-pressed", one === tool);
  stage.setTool(tool);
  if (sheet) showHint();
}

function setLook() {
  look = looks[(looks.indexOf(look) + 1) % looks.length];
  $("look").textContent = `View: ${look}`;
  stage.setLook(look);
}

function moveCursor(step) {
  cursor = Math.max(0, Math.min(last(), (cursor ?? last()) + step));
  if (cursor === last()) cursor = null;
  showHint();
  say($("hint").textContent);
}

/** Half a step farther (+1) or nearer (−1): beside the next position, then past it. */
function nudge(region, way) {
  act(() => {
    const at = positionOf(region);
    if (at === null) return null;
    const alone = sheet.positions.filter(([, position]) => position === at).length === 1;
    if (alone && (at + way < 1 || at + way > last())) return null;
    return alone
      ? { kind: "place", region, at: at + way, tie: true }
      : { kind: "place", region, at: way > 0 ? at + 1 : at, tie: false };
  });
}

/** The level's slider: live until ordering has started, then behind a question. */
function showLevels() {
  const slider = $("level");
  $("levels").hidden = levels.length < 2;
  slider.max = levels.length - 1;
  slider.value = sheet.level;
  unlocked &&= started(sheet);
  slider.disabled = started(sheet) && !unlocked;
  $("level-change").hidden = !started(sheet) || unlocked;
  showLevel(sheet.level);
}

function showLevel(level) {
  const [height, count] = levels[level];
  $("level-words").textContent = `${count} regions${height === null ? "" : `, level ${height.toFixed(3)}`}`;
  $("level").setAttribute("aria-valuetext", `${count} regions`);
}

let wanted = null;
async function preview(level) {
  showLevel(level);
  const busy = wanted !== null;
  wanted = level;
  if (busy) return;
  try {
    for (let shown = null; shown !== wanted;) {
      shown = wanted;
      await showRegions(String(shown));
      stage.setSheet(String(shown) === sheet.shape ? sheet : null);
    }
  } catch (error) {
    problem(error.message);
  } finally {
    wanted = null;
  }
}

/** Finish; where something is missing, say what first. */
function done() {
  act(() => {
    if (!sheet.missing.length || sheet.contradiction || !started(sheet)) return { kind: "done", anyway: false };
    $("incomplete-list").replaceChildren(...sheet.missing.map((words) => {
      const line = document.createElement("li");
      line.textContent = `${words}.`;
      return line;
    }));
    $("incomplete").returnValue = "";
    $("incomplete").showModal();
    return null;
  });
}

const go = (to) => to && queue.then(() => location.assign(`${root}/items/${to}`));

const presses = {
  undo: () => act(() => (sheet.undo ? { kind: "undo" } : null)),
  redo: () => act(() => (sheet.redo ? { kind: "redo" } : null)),
  clear: () => act(() => (started(sheet) ? { kind: "clear" } : null)),
  done,
  in: () => stage.zoom(1.5),
  out: () => stage.zoom(1 / 1.5),
  fit: () => stage.fit(),
  look: setLook,
  tie: () => setTie(!pressed("tie")),
  "tool-order": () => setTool("order"),
  "tool-move": () => setTool("move"),
  "tool-split": () => setTool("split"),
  "tool-merge": () => setTool("merge"),
  before: () => go(before),
  after: () => go(after),
  "answer-yes": () => answer((a, b) => ({ kind: "relate", a, b, relation: "front" })),
  "answer-swap": () => answer((a, b) => ({ kind: "relate", a: b, b: a, relation: "front" })),
  "answer-same": () => answer((a, b) => ({ kind: "relate", a, b, relation: "same" })),
  "answer-no": () => answer((a, b) => ({ kind: "dismiss", a, b })),
  "answer-skip": skip,
  "accept-rest": acceptRest,
  "help-open": () => $("help").showModal(),
  "level-change": () => $("start-over").showModal(),
};
for (const [id, press] of Object.entries(presses)) $(id).addEventListener("click", press);
$("before").disabled = !before;
$("after").disabled = !after;
$("level").addEventListener("input", (event) => preview(Number(event.target.value)));
$("level").addEventListener("change", (event) => {
  const level = Number(event.target.value);
  act(() => (level === sheet.level ? null : { kind: "level", level, start_over: unlocked }));
});
$("incomplete").addEventListener("close", () => {
  if ($("incomplete").returnValue === "anyway") act(() => ({ kind: "done", anyway: true }));
  else if (sheet.missing.length) $("stage").focus({ preventScroll: true });
});
$("start-over").addEventListener("close", () => {
  if ($("start-over").returnValue !== "yes") return;
  unlocked = true;
  showLevels();
  $("level").focus();
});

listenToFlag(base, () => queue.then(() => location.assign(`${root}/${after ? `items/${after}` : ""}`)));

listenToKeys({
  presses: { ...presses, flag: () => $("flag").click() },
  space: (held) => stage.setSpace(held),
  go(dx, dy) {
    if (!regions) return;
    if (knife) return turnKnife(dx, dy);
    const next = selected === null ? 0 : regions.towards(selected, dx, dy);
    if (next !== null) select(next);
  },
  turn(step, open) {
    if (!regions) return;
    for (let n = 1; n <= regions.count; n++) {
      const region = ((selected ?? (step > 0 ? -1 : 0)) + n * step + n * regions.count) % regions.count;
      if (!open || sheet.layer[region] === null) return select(region);
    }
    say("All regions are ordered.");
  },
  enter(shift) {
    if (selected === null) return;
    const tie = shift || pressed("tie");
    if (knife) {
      split(knife.region, knifeLine());
      return stopCut();
    }
    if (from === null) return put(selected, tie);
    if (joins) {
      const [a, b] = [from, selected];
      if (a !== b) act(() => ({ kind: "merge", a, b }));
    } else if (from !== selected) relate(from, selected, tie ? "same" : "front");
    stopLink();
  },
  remove() {
    if (selected === null) return;
    const region = selected;
    if (from !== null) {
      relate(from, region, "none");
      stopLink();
    } else act(() => (positionOf(region) === null ? null : { kind: "remove", region }));
  },
  number(at) {
    const region = selected;
    if (region !== null) act(() => ({ kind: "place", region, at: Math.max(1, Math.min(at, last() + 1)), tie: true }));
  },
  nudge: (way) => selected !== null && nudge(selected, way),
  cursor: moveCursor,
  link: () => startLink(),
  join: () => startLink(true),
  cut: startCut,
  escape() {
    if (knife) stopCut();
    else if (from !== null) stopLink();
    else select(null);
  },
});

const photograph = new Image();
photograph.src = `${root}${base}/photograph`;
try {
  const [answer] = await Promise.all([ask(`${base}/sheet`), photograph.decode()]);
  stage.setPhotograph(photograph);
  await show(answer);
  $("looking")?.remove();
  $("stage").focus({ preventScroll: true });
} catch (error) {
  $("looking")?.remove();
  problem(error.message);
}
