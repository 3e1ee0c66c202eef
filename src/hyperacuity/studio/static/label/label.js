// The page where edges are labelled: brings the picture, the map, the tools, the keys and the saving together.
import { $, ask, facts, listenToFlag, problem, root, say } from "../studio.js";
import { EdgeMap } from "./map.js";
import { Look } from "./look.js";
import { Stage } from "./stage.js";
import { Saver } from "./saver.js";
import { lonePixels, thin } from "./thin.js";
import { makeTools } from "./tools.js";
import { listen } from "./hands.js";
import { listenToKeys } from "./keys.js";

const given = facts();
const address = `/image/${given.id}`;
const level = (slider) => Math.max(1, Math.round(given.top * (slider / 1000) ** 2));
const slider = (threshold) => Math.round(1000 * Math.sqrt(threshold / given.top));
const storageKey = `hyperacuity-label-${given.id}`;

/** Fetch everything, replay what was done before, then let the person work. */
async function open() {
  const loadingPhoto = picture(`${address}/photo`);
  loadingPhoto.catch(() => {}); // it is told below
  const log = await ask(`${address}/log`);
  const offered = log.sources ?? [{ id: "gradient", title: "Gradient" }];
  const first = offered[0].id;
  const chosen = [...log.actions, ...log.undone].flatMap((action) => action.sources ?? []);
  if (first !== "gradient" || chosen.length) {
    $("where").textContent = $("source-note").textContent = "Finding candidates, which takes a few seconds …";
    $("source").hidden = $("source-busy").hidden = false;
    say($("where").textContent);
  }
  const used = [...new Set([first, ...chosen])];
  const [photo, ...found] = await Promise.all([loadingPhoto, ...used.map(planes)]);
  const map = new EdgeMap({ ...given, ...found[0], source: first });
  used.forEach((source, i) => i && map.offer(source, found[i]));
  for (const action of log.actions) map.act(action);
  map.undone = log.undone;
  const stage = new Stage($("stage"), map, photo);
  const saver = new Saver(address, log.entries, { entries: given.max_entries, numbers: given.max_numbers }, {
    onSaved: (saved) => {
      $("saved").dataset.saved = String(saved);
      $("saved").textContent = saved ? "All saved" : "Saving …";
    },
    stopped: (sentence) => {
      problem("");
      $("stopped-text").textContent = `${sentence[0].toUpperCase()}${sentence.slice(1)}.`;
      $("stopped").showModal();
    },
  });
  const unsaid = offered.some(({ id }) => !(log.offered ?? ["gradient"]).includes(id));
  const desk = new Desk(map, stage, saver, { sources: offered, unsaid });
  for (const { id } of offered) if (!map.sources.has(id)) desk.expect(id, planes(id));
}

async function picture(path) {
  const image = new Image();
  image.src = root + path;
  await image.decode();
  return image;
}

/** The candidates of a source. A network takes seconds to find them. */
async function planes(source) {
  const response = await fetch(`${root}${address}/candidates/${source}`, { credentials: "same-origin" });
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).error ?? "the candidates could not be loaded");
  const start = Number(response.headers.get("X-Threshold"));
  const bytes = await response.arrayBuffer();
  const size = given.width * given.height;
  return { level: new Uint16Array(bytes, 0, size), survives: new Uint8Array(bytes, 2 * size, size), start };
}

const pixelCount = (runs) => runs.reduce((sum, number, i) => sum + (i % 2 ? number : 0), 0);

class Desk {
  /** `sources`: those that are offered, {id, title}; `unsaid`: whether the log does not know them yet. */
  constructor(map, stage, saver, { sources, unsaid }) {
    Object.assign(this, { map, stage, saver, sources, unsaid });
    this.failed = new Map(); // sources that cannot be had for this image, and why
    this.look = new Look(stage);
    this.tools = makeTools(stage, map, (action) => this.act(action), say, this.look.brush);
    this.finishing = false;
    this.#offerSources();
    this.#buttons();
    listen(this);
    listenToKeys(this);
    stage.moved = () => this.#showZoom();
    const changed = map.changed;
    map.changed = (first, last) => {
      changed(first, last);
      this.#showCounts();
    };
    this.#restore();
    this.#show();
    this.#showZoom();
    this.#showCounts();
    $("done").disabled = $("threshold").disabled = false;
    $("stage").dataset.ready = "true";
    $("stage").focus();
  }

  get tool() {
    return this.tools[this.toolName];
  }

  choose(name) {
    this.tool?.cancel();
    this.toolName = name;
    $("stage").dataset.tool = name;
    for (const button of document.querySelectorAll("[data-tool].tool")) {
      button.setAttribute("aria-pressed", String(button.dataset.tool === name));
    }
    this.#keep();
  }

  /** Choose a tool and say what it does: where there is no pointer that could rest on its button, nothing else would. */
  take(name) {
    this.choose(name);
    $("where").textContent = document.querySelector(`.tool[data-tool=${name}]`).title;
    say($("where").textContent);
  }

  /** Carry out an action and save it. */
  act(action) {
    if (this.finishing || this.saver.isStopped) return;
    if (action.runs?.length > given.max_numbers) {
      problem("This is too much for one action: raise the threshold, or use the lasso on a part of it");
      return;
    }
    if (action.kind !== "threshold") this.settle();
    problem("");
    const before = this.map.count;
    this.#sayOffer();
    this.map.act(action);
    this.saver.save(action);
    const change = this.map.count - before;
    if (action.kind === "source") say(`Candidates: ${this.title}`);
    else if (action.kind === "keep") say(`${pixelCount(action.runs)} pixels kept`);
    else if (action.kind !== "threshold") say(`${Math.abs(change)} pixels ${change < 0 ? "erased" : "added"}`);
    this.#show();
  }

  /** What the source in force is called. */
  get title() {
    return this.sources.find(({ id }) => id === this.map.source).title;
  }

  /** Take candidates from another source; what was drawn, kept or erased stays. */
  switchTo(source) {
    if (source === this.map.source || !this.map.sources.has(source)) return;
    this.tool.cancel();
    this.act({ kind: "source", sources: [source] });
  }

  nextSource() {
    const at = this.sources.findIndex(({ id }) => id === this.map.source);
    const turned = [...this.sources.slice(at + 1), ...this.sources.slice(0, at)];
    const next = turned.find(({ id }) => this.map.sources.has(id));
    if (next) this.switchTo(next.id);
    else if (turned.length) say($("source-note").textContent);
  }

  /** Candidates that are being looked for. */
  async expect(source, coming) {
    try {
      this.map.offer(source, await coming);
      say(`${this.sources.find(({ id }) => id === source).title}: candidates are ready`);
    } catch (error) {
      this.failed.set(source, error.message);
    }
    this.#showSource();
  }

  undo() {
    this.#step("undo", this.map.done);
  }

  redo() {
    this.#step("redo", this.map.undone);
  }

  /** Make the threshold that the slider shows an action, if it is none yet. */
  settle() {
    clearTimeout(this.settling);
    this.settling = null;
    const { threshold, settled } = this.map;
    if (threshold !== settled) this.act({ kind: "threshold", threshold });
    else this.saver.tell();
  }

  /** Show a threshold; once the slider rests, it is saved. */
  slide(position) {
    if (this.finishing) return;
    const bounded = Math.min(Math.max(position, 0), 1000);
    this.map.preview(level(bounded));
    this.#showThreshold();
    this.saver.onSaved(false);
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), 400);
  }

  get position() {
    return Number($("threshold").value);
  }

  showBackground(name) {
    this.stage.background = name;
    this.stage.refresh();
    for (const button of document.querySelectorAll("[data-background]")) {
      button.setAttribute("aria-pressed", String(button.dataset.background === name));
    }
    this.#keep();
  }

  showOverlay(shown) {
    this.stage.overlay = $("overlay").checked = shown;
    this.stage.refresh();
  }

  /** Show the map as it will be written, one pixel wide, or as it was drawn. */
  showWritten(shown) {
    $("written").checked = shown;
    this.#count();
  }

  /** Say what lies at a pixel. */
  tellWhere(pixel, aloud = false) {
    const [column, row] = this.stage.positionOf(pixel);
    const kind = this.map.kindOf(pixel);
    const strength = (this.map.level[pixel] / given.top).toFixed(3);
    $("where").textContent = `x ${column}, y ${row} · ${this.title.toLowerCase()} ${strength}${kind ? ` · ${kind}` : ""}`;
    if (aloud) say(`${column}, ${row}: ${kind || "no edge"}`);
  }

  /** Finish; where something is missing, say what first. */
  async done(anyway = false) {
    if (this.finishing || this.saver.isStopped) return;
    this.tool.cancel();
    this.settle();
    if (!anyway && this.#isIncomplete()) return;
    this.#sayOffer();
    this.finishing = true;
    $("done").disabled = true;
    const answer = await this.saver.done(this.map.checksum(), anyway);
    this.finishing = false;
    $("done").disabled = false;
    if (answer) this.#showFinished(answer);
  }

  /** Whether something is missing; the person is asked about it then. */
  #isIncomplete() {
    const missing = [
      ...(this.map.done.length ? [] : ["Nothing was changed: these are the candidates as they were found."]),
      ...(this.map.count ? [] : ["There is no edge."]),
    ];
    if (!missing.length) return false;
    $("incomplete-list").replaceChildren(...missing.map((words) => Object.assign(document.createElement("li"), { textContent: words })));
    $("incomplete").returnValue = "";
    $("incomplete").showModal();
    return true;
  }

  #step(kind, stack) {
    if (this.finishing || this.saver.isStopped) return;
    this.settle();
    const wasPath = this.toolName === "path" && this.tool.trail.length > 1;
    if (!wasPath) this.tool.cancel();
    if (!stack.length) {
      say(`There is nothing to ${kind}`);
      return;
    }
    const action = kind === "undo" ? this.map.undo() : this.map.redo();
    if (wasPath) kind === "undo" && action.kind === "path" ? this.tool.stepBack() : this.tool.cancel();
    this.saver.save({ kind });
    say(`${kind === "undo" ? "Undone" : "Redone"}: ${action.kind}`);
    this.#show();
  }

  #buttons() {
    const { stage } = this;
    const click = (id, act) => $(id).addEventListener("click", act);
    for (const button of document.querySelectorAll(".tool[data-tool]")) {
      button.addEventListener("click", () => this.take(button.dataset.tool));
    }
    for (const button of document.querySelectorAll("[data-background]")) {
      button.addEventListener("click", () => this.showBackground(button.dataset.background));
    }
    click("undo", () => this.undo());
    click("redo", () => this.redo());
    click("zoom-in", () => stage.zoom(1.5));
    click("zoom-out", () => stage.zoom(1 / 1.5));
    click("fit", () => stage.fit());
    click("done", () => this.done());
    $("incomplete").addEventListener("close", () => $("incomplete").returnValue === "anyway" && this.done(true));
    click("help-open", () => $("help").showModal());
    click("reload", () => location.reload());
    $("overlay").addEventListener("change", (event) => this.showOverlay(event.target.checked));
    $("written").addEventListener("change", (event) => this.showWritten(event.target.checked));
    $("threshold").addEventListener("input", () => this.slide(this.position));
    $("threshold").addEventListener("pointerup", () => this.settle());
    listenToFlag(address, () => location.assign(`${root}/${given.next ? `image/${given.next}` : ""}`));
    $("stopped").addEventListener("cancel", (event) => event.preventDefault());
    this.saver.leaving = () => this.settle();
    addEventListener("pagehide", () => this.#keep());
  }

  /** The first entry of a log says which sources there are to choose from. */
  #sayOffer() {
    if (this.unsaid) this.saver.save({ kind: "offer", sources: this.sources.map(({ id }) => id) });
    this.unsaid = false;
  }

  /** Buttons to choose a source; none where there is only the gradient. */
  #offerSources() {
    $("source").hidden = this.sources.length < 2;
    if (this.sources.length < 2) {
      this.#showSource();
      return;
    }
    document.querySelector(".tool[data-tool=keep]").hidden = false;
    for (const row of document.querySelectorAll(".several")) row.hidden = false;
    $("sources").replaceChildren(...this.sources.map(({ id, title }) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: title });
      button.dataset.source = id;
      button.addEventListener("click", () => this.switchTo(id));
      return button;
    }));
    this.#showSource();
  }

  #showSource() {
    document.querySelector("[data-background=gradient]").textContent = this.title;
    const waiting = [];
    for (const button of document.querySelectorAll("[data-source]")) {
      const { source } = button.dataset;
      button.setAttribute("aria-pressed", String(source === this.map.source));
      button.disabled = !this.map.sources.has(source);
      if (button.disabled) waiting.push(this.failed.get(source) ?? `Finding candidates (${button.textContent}) …`);
    }
    $("source-busy").hidden = waiting.length === this.failed.size;
    $("source-note").textContent = waiting.join(" ") || "What you drew, kept or erased stays.";
  }

  #show() {
    this.#showSource();
    this.tellWhere(this.stage.cursor);
    $("undo").disabled = !this.map.done.length;
    $("redo").disabled = !this.map.undone.length;
    this.#showThreshold();
  }

  #showThreshold() {
    const { threshold } = this.map;
    if (level(this.position) !== threshold) $("threshold").value = slider(threshold);
    const share = (threshold / given.top).toFixed(4);
    $("threshold-shown").textContent = share;
    $("threshold").setAttribute("aria-valuetext", this.map.source === "gradient" ? `${share} of the strongest` : share);
  }

  #showZoom() {
    $("zoom").textContent = `${Math.round((100 * this.stage.view.scale) / devicePixelRatio)} %`;
  }

  /** Counting goes over all pixels, so it waits for a moment of rest. */
  #showCounts() {
    clearTimeout(this.counting);
    this.counting = setTimeout(() => this.#count(), 100);
  }

  #count() {
    const { map, stage } = this;
    const written = thin(map.edges, map.width, map.height);
    const counts = { "": 0, kept: 0, added: 0, erased: 0, thinned: map.count };
    for (let pixel = 0; pixel < written.length; pixel++) {
      counts.thinned -= written[pixel];
      if (map.decided[pixel]) counts[map.kindOf(pixel)]++;
    }
    counts.kept = map.count - counts.added;
    for (const name of ["kept", "added", "erased", "thinned"]) {
      $(`count-${name}`).textContent = counts[name].toLocaleString("en");
    }
    const shown = $("written").checked;
    if (shown || stage.written) {
      stage.written = shown ? written : null;
      stage.spoil(0, map.height - 1);
    }
  }

  /** Edge pixels without a neighbour, which may have been drawn by mistake: how many, and where the first is. */
  #tellLone() {
    const { map } = this;
    const written = thin(map.edges, map.width, map.height);
    const lone = lonePixels(written, map.width, map.height);
    if (!lone.length) return "";
    const [column, row] = this.stage.positionOf(lone[0]);
    const where = `x ${column}, y ${row}`;
    return lone.length === 1 ? ` One pixel stands alone, at ${where}.` : ` ${lone.length} pixels stand alone, the first at ${where}.`;
  }

  #showFinished({ counts, accepted, unwritten, next }) {
    const thinned = counts.thinned ? ` Thinning removed ${counts.thinned} pixel${counts.thinned > 1 ? "s" : ""}.` : " All lines were one pixel wide.";
    $("finished-text").textContent =
      `${counts.edges} edge pixels: ${counts.candidates} candidates, ${counts.removed} erased, ${counts.added} added.${thinned}`;
    $("finished-text").textContent += this.#tellLone();
    const parts = Object.entries(accepted ?? {}).map(([name, count]) => `${count.toLocaleString("en")} ${name}`);
    $("finished-sources").hidden = !accepted;
    $("finished-sources").textContent = `Where they come from: ${parts.join(", ")}.`;
    $("finished-problem").hidden = !unwritten;
    $("finished-problem").textContent = unwritten ? `The labels are safe, but ${unwritten}.` : "";
    const onward = $("finished-next");
    onward.href = `${root}/${next ? `image/${next}` : ""}`;
    onward.textContent = next ? "Next image" : "All images";
    $("finished").showModal();
    onward.focus();
  }

  /** Remember how the person looked at this image, so that a reload goes on from there. */
  #keep() {
    const { view, background, cursor } = this.stage;
    try {
      sessionStorage.setItem(storageKey, JSON.stringify({ view, background, cursor, tool: this.toolName }));
    } catch { /* then a reload begins with the whole image */ }
  }

  #restore() {
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem(storageKey)); } catch { /* as if it were the first time */ }
    this.choose(kept?.tool in this.tools ? kept.tool : "path");
    if (!kept?.view) return;
    this.stage.cursor = Math.min(kept.cursor, this.map.edges.length - 1);
    this.showBackground(kept.background);
    this.stage.look(kept.view);
  }
}

open().catch((error) => problem(error.message));
