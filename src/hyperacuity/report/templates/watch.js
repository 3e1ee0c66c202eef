// The page of runs over time: built from the state, and brought up to date in place.
const served = document.documentElement.classList.contains("served");
let state = JSON.parse($("state").textContent);
const choices = new Map();
const tested = new Map();

// Choices stand in the address, so that they outlive a reload and can be sent to somebody.
function readChoices() {
  const told = new URLSearchParams(location.hash.slice(1));
  return (number) => ({
    from: told.get(`${number}.from`) ?? "", to: told.get(`${number}.to`) ?? "", chosen: told.getAll(`${number}.image`),
    better: FEW, worse: FEW, query: "",
  });
}
const first = readChoices();
function writeChoices() {
  const told = new URLSearchParams();
  for (const [number, line] of state.timelines.entries()) {
    const choice = choices.get(line.signature);
    if (!choice) continue;
    if (choice.from) told.set(`${number}.from`, choice.from);
    if (choice.to) told.set(`${number}.to`, choice.to);
    for (const image of choice.chosen) told.append(`${number}.image`, image);
  }
  try { history.replaceState(null, "", `#${told}`); } catch { /* a page from disk may not */ }
}

// A part of the page is built again only when what it shows has changed; what had the focus has it afterwards.
const shownBefore = new WeakMap();
function put(element, what, build) {
  const text = JSON.stringify(what);
  if (shownBefore.get(element) === text) return;
  shownBefore.set(element, text);
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
  element.replaceChildren(...[build()].flat().filter(Boolean));
  if (focused) [...element.querySelectorAll("[data-focus]")].find((one) => one.dataset.focus === focused)?.focus({ preventScroll: true });
}

function section(number, line) {
  const id = `s${number}`;
  const parts = Object.fromEntries(["findings", "notes", "progress", "signature", "standing", "points", "controls", "verdict", "lists", "chosen", "failures"].map((name) => [name, make("div", { class: name })]));
  const chart = make("figure", { class: "chart lead fluid" }, make("figcaption", { id: `${id}-caption` }), make("div", { class: "plot", id: `${id}-chart-0` }));
  const images = make("figure", { class: "chart fluid", hidden: true, id: `${id}-chosen` }, make("figcaption", { text: "Chosen images" }), make("div", { class: "plot", id: `${id}-chart-1` }), parts.chosen);
  const element = make("section", { class: "sheet", id, "aria-labelledby": `${id}-title` },
    make("h2", { id: `${id}-title` }), parts.findings, parts.notes, parts.progress,
    make("div", { class: "results" }, chart, make("div", { class: "board" }, parts.standing, parts.points)),
    make("div", { class: "compared" }, make("h3", { text: "What got better, what got worse" }), parts.controls, parts.verdict, parts.lists, images),
    parts.failures, parts.signature);
  return { element, parts, chart, images };
}
const sections = new Map();

const SENSES = { max: "higher is better", min: "lower is better" };
function table(columns, rows, label, sorted) {
  const heads = columns.map((column) => make("th", { scope: "col", class: column.name ? "name" : column.graph ? "graph" : null, "data-better": column.better ?? null },
    sorted ? make("button", { type: "button", text: column.title, "data-focus": `head-${label}-${column.title}` }) : column.title,
    SENSES[column.better] ? make("small", { class: "sense", text: SENSES[column.better] }) : null));
  const body = rows.map((cells) => make("tr", { "data-point": cells[0].point ?? null, tabindex: cells[0].point ? "-1" : null }, ...cells.map((cell, n) => columns[n].name
    ? make("th", { scope: "row", class: "name" }, make("span", { text: cell.text, title: cell.text }))
    : make("td", { text: cell.text, class: columns[n].graph ? "graph" : null, "data-value": cell.value ?? cell.text }))));
  const found = make("table", { class: sorted ? "sortable" : null }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
  if (sorted && document.readyState !== "loading") sortable(found);
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, found);
}
const range = (point, column) => point.interval[0] === null ? "–" : `${point.interval[0].toFixed(column.digits)} – ${point.interval[1].toFixed(column.digits)}`;
const coverage = (point) => point.waiting ? `${point.images} of ${point.images + point.failed + point.waiting}` : point.expected && point.expected !== point.images ? `${point.images} of ${point.expected}` : `${point.images}`;

function standing(line) {
  const column = line.columns[0];
  const moving = line.series.filter((series) => series.points.length > 1 && series.latest);
  if (!moving.length) return null;
  const told = (name) => name ? `${name}: ${fixed(line.points[name].values[column.key], column)}` : "–";
  const rows = moving.map((series) => [
    { text: series.title }, { text: told(series.latest) }, { text: series.best === series.latest ? "the latest" : told(series.best) },
    { text: series.best === series.latest ? "–" : series.test ? series.test.p.toFixed(3) : "–" },
  ]);
  const heads = [{ title: "Series", name: true }, { title: `Latest ${column.title}`, graph: true }, { title: `Best ${column.title}`, graph: true }, { title: "p" }];
  return [make("h3", { text: "Latest and best" }), table(heads, rows, `Latest and best: ${line.title}`, false)];
}
function points(line) {
  const [main, ...others] = line.columns;
  const heads = [{ title: "Point", name: true }, { title: main.title, better: main.better }, { title: "95 % interval", graph: true },
    ...others.map((column) => ({ title: column.title, better: column.better })), { title: "Images" }, { title: "Run (UTC)", graph: true }];
  const rows = line.series.flatMap((series) => series.points.map((name) => {
    const point = line.points[name];
    return [{ text: point.waiting ? `${name} (so far)` : name, point: name }, { text: fixed(point.values[main.key], main), value: point.values[main.key] ?? "nan" }, { text: range(point, main) },
      ...others.map((column) => ({ text: fixed(point.values[column.key], column), value: point.values[column.key] ?? "nan" })),
      { text: coverage(point), value: point.images }, { text: point.started ? point.started.slice(5, 16).replace("T", " ") : "card", value: point.started }];
  }));
  return [make("h3", { text: "All points" }), table(heads, rows, `All points: ${line.title}`, true),
    meanings(line)];
}
// A heading has no tooltip on a phone, so what columns mean is there to be opened.
function meanings(line) {
  const [main, ...others] = line.columns;
  const told = (column) => [column.title, `${column.note || "As the benchmark defines it"}${SENSES[column.better] ? `; ${SENSES[column.better]}` : ""}.`];
  const all = [["Point", "A system, such as a checkpoint, under its name in the run."], told(main), ["95 % interval", `Of ${main.title}: bootstrap over images.`], ...others.map(told),
    ["Images", "How many have a score, and of how many, where that is not all."], ["Run (UTC)", "When the point was evaluated; card: it was read from a card."]];
  return make("details", { class: "meanings" }, make("summary", { text: "What the columns mean" }),
    make("dl", { class: "origin" }, ...all.flatMap(([title, text]) => [make("dt", { text: title }), make("dd", { text })])));
}
// Names of points in a sentence lead to their rows; the address has the reader's choices, and stays.
function linkedTo(element, number, names, text) {
  const wanted = names.filter((name) => name.length > 1 && text.includes(name)).sort((a, b) => b.length - a.length);
  const plain = wanted.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const pieces = wanted.length ? text.split(new RegExp(`(?<![\\w-])(${plain})(?![\\w-])`)) : [text];
  const go = (event) => {
    event.preventDefault();
    [...document.querySelectorAll(`#s${number} [data-point]`)].find((row) => row.dataset.point === event.target.textContent)?.focus();
  };
  element.append(...pieces.map((piece, place) => place % 2 ? make("a", { href: `#s${number}`, text: piece, onclick: go }) : piece));
  return element;
}
function keepSort(element, build) {
  const before = [...element.querySelectorAll("th[aria-sort]")].map((head) => [head.cellIndex, head.getAttribute("aria-sort")])[0];
  build();
  if (!before) return;
  const head = element.querySelectorAll("thead th")[before[0]];
  for (let n = 0; n < 2 && head && head.getAttribute("aria-sort") !== before[1]; n += 1) head.querySelector("button").click();
}
function progress(line) {
  return Object.entries(line.points).filter(([, point]) => point.waiting).map(([name, point]) => {
    const all = point.images + point.failed + point.waiting;
    const text = `${name}: ${point.images} of ${counted(all, "image")}${point.failed ? `, ${point.failed} failed` : ""}`;
    return make("p", {}, make("progress", { max: all, value: point.images + point.failed, "aria-label": text }), ` ${text}`);
  });
}
function failures(line) {
  if (!line.failed) return null;
  const rows = line.failures.map(([system, image, reason]) => make("tr", {}, make("th", { scope: "row", text: system }), make("td", { text: image }), make("td", { text: reason })));
  const heads = make("tr", {}, ...["Point", "Image", "Reason"].map((title) => make("th", { scope: "col", text: title })));
  return [make("h3", { text: `What failed (${line.failed})` }),
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `What failed: ${line.title}` }, make("table", { class: "plain" }, make("thead", {}, heads), make("tbody", {}, ...rows))),
    make("p", { class: "note", text: `Scores are of the images that remain.${line.failed > line.failures.length ? ` The first ${line.failures.length} are listed.` : ""}` })];
}
function select(title, key, choice, symbols, line, redo) {
  const option = (value, text) => make("option", { value, text, selected: choice[key] === value });
  const groups = line.series.filter((series) => series.points.some((name) => line.points[name].images)).map((series) => make("optgroup", { label: series.title },
    ...series.points.filter((name) => line.points[name].images).map((name) => option(name, name))));
  const field = make("select", { "data-focus": key, onchange: (event) => { choice[key] = event.target.value; redo(); } }, ...symbols.map(([value, text]) => option(value, text)), ...groups);
  return make("label", {}, `${title} `, field);
}
function controls(line, choice, redo) {
  const search = make("input", { type: "search", "data-focus": "query", placeholder: "Find an image", "aria-label": "Only images whose names contain", oninput: (event) => { choice.query = event.target.value; redo(); } });
  search.value = choice.query;
  return [
    select("From", "from", choice, [["", "the one before"], ["@best", "the best so far"], ["@first", "the first"]], line, redo),
    select("to", "to", choice, [["", "the latest"]], line, redo), search];
}

// The test of two points: in a file it is there, a server is asked for it once.
function testOf(number, line, from, to, redo) {
  if (!from || from === to) return undefined;
  if (!served) {
    for (const [a, b, test] of line.tests ?? []) {
      if (a === to && b === from) return test;
      if (a === from && b === to) return test && { ...test, difference: -test.difference, low: -test.high, high: -test.low };
    }
    return undefined;
  }
  const key = [line.signature, from, to, line.points[from].changed, line.points[to].changed].join("\n");
  if (!tested.has(key)) {
    tested.set(key, undefined);
    const asked = new URLSearchParams({ timeline: number, first: to, second: from });
    fetch(`test?${asked}`).then((answer) => answer.ok ? answer.json() : Promise.reject(answer)).then((found) => { tested.set(key, found.test); redo(); }).catch(() => tested.delete(key));
  }
  return tested.get(key);
}

function compareImages(number, line, choice, { parts, images }) {
  const redo = () => { writeChoices(); compareImages(number, state.timelines[number], choice, sections.get(line.signature)); };
  const { from, to } = endsOf(line, choice);
  const found = from && from !== to ? changesOf(line, from, to) : { rows: [], better: [], worse: [], same: 0, only: [0, 0] };
  const test = testOf(number, line, from, to, redo);
  put(parts.controls, [line.series.map((series) => series.points.filter((name) => line.points[name].images)), choice.from, choice.to], () => controls(line, choice, redo));
  const sentences = sentencesOf(line, from, to, found, test);
  put(parts.verdict, [sentences, found.rows.map((row) => row.gain)], () => [
    ...sentences.map((text) => make("p", { text })), found.rows.length > 1 ? bars(found) : null,
    found.rows.length > 1 ? make("p", { class: "note", text: `Each bar is an image: up, it got better. p is for this pair alone: of many pairs, some have a small p by chance.` }) : null]);
  put(parts.lists, [number, found.better, found.worse, choice.better, choice.worse, choice.query, choice.chosen, line.pictures], () => found.rows.length ? [
    imageList(line, number, found.better, choice, "better", redo), imageList(line, number, found.worse, choice, "worse", redo)] : []);
  const known = choice.chosen.filter((name) => line.images.includes(name));
  images.hidden = !known.length;
  put(parts.chosen, known, () => make("p", { class: "note" }, `${counted(known.length, "image")} chosen. `, make("button", { type: "button", text: "Clear", "data-focus": "clear", onclick: () => { choice.chosen = []; redo(); } })));
  images.querySelector(".plot").dataset.words = `Scores over time of ${known.join(", ")}.`;
  const charts = known.length ? [line.charts[0], chosenChart(line, known)] : [line.charts[0]];
  if (JSON.stringify(facts[number]?.charts) !== JSON.stringify(charts)) {
    facts[number] = { systems: Object.keys(line.points), charts };
    redraw();
  }
}
function redraw() {
  for (const plot of document.querySelectorAll(".plot")) plot.style.minHeight = `${plot.offsetHeight}px`;  // what is below stays where it is
  if (document.readyState !== "loading") drawCharts();
}

function show() {
  put($("problems"), state.problems, () => state.problems.map((text) => make("p", { class: "problem", text })));
  if (!state.timelines.length && !state.problems.length) put($("problems"), "empty", () => make("p", { class: "problem", text: "No results yet." }));
  for (const [number, line] of state.timelines.entries()) {
    if (!sections.has(line.signature)) {
      sections.set(line.signature, section(number, line));
      choices.set(line.signature, first(number));
      $("timelines").append(sections.get(line.signature).element);
    }
    const one = sections.get(line.signature), { parts } = one;
    $(`s${number}-title`).textContent = line.title;
    put(parts.notes, line.notes, () => line.notes.map((text) => make("p", { class: "note", text })));
    put(parts.signature, line.signature, () => make("p", { class: "signature" }, make("span", { class: "label", text: "Protocol" }), make("code", { id: `s${number}-signature`, text: line.signature })));
    put(parts.failures, [line.failures, line.failed], () => failures(line));
    const empty = !line.columns;
    const scored = Object.values(line.points ?? {}).filter((point) => point.images).length;
    one.element.querySelector(".results").hidden = !scored;
    one.element.querySelector(".compared").hidden = scored < 2;
    if (empty) continue;
    put(parts.findings, line.findings, () => make("ul", { class: "findings" }, ...line.findings.map((text) => linkedTo(make("li"), number, Object.keys(line.points), text))));
    put(parts.progress, Object.entries(line.points).map(([name, p]) => [name, p.images, p.failed, p.waiting]), () => progress(line));
    $(`s${number}-caption`).textContent = `${line.columns[0].title} over time`;
    one.chart.querySelector(".plot").dataset.words = `${line.columns[0].title} of ${counted(Object.keys(line.points).length, "point")}. ${line.findings.join(" ")}`;
    const bare = Object.entries(line.points).map(([name, { scores, ...rest }]) => [name, rest]);
    put(parts.standing, [line.series, bare], () => standing(line));
    keepSort(parts.points, () => put(parts.points, [line.series.map((series) => series.points), bare], () => points(line)));
    if (line.latest) compareImages(number, line, choices.get(line.signature), one);
  }
}

// Looking again: only what has changed comes, and what was known stays.
function merged(next) {
  const before = new Map(state.timelines.map((line) => [line.signature, line]));
  for (const line of next.timelines) {
    const known = before.get(line.signature)?.points ?? {};
    for (const [name, point] of Object.entries(line.points ?? {})) point.scores ??= known[name]?.scores ?? {};
  }
  return next;
}
function newsOf(before, after) {
  const known = new Set(before.timelines.flatMap((line) => Object.keys(line.points ?? {}).map((name) => `${line.signature} ${name}`)));
  const added = after.timelines.flatMap((line) => Object.keys(line.points ?? {}).filter((name) => !known.has(`${line.signature} ${name}`)));
  return added.length ? `New: ${added.join(", ")}` : "";
}
let looking = false;
async function look() {
  if (looking) return;
  looking = true;
  clearTimeout(look.later);
  try {
    const answer = await fetch(`state?since=${encodeURIComponent(state.mark)}`, { cache: "no-store" });
    if (answer.status === 200) {
      const next = merged(await answer.json());
      if (state.timelines.some((line, number) => next.timelines[number]?.signature !== line.signature)) location.reload();  // another run
      const news = newsOf(state, next);
      state = next;
      show();
      if (news) $("news").textContent = news;
    } else if (answer.status !== 204) throw new Error(answer.statusText);
    live("Live", state.changed);
  } catch {
    live("The server is not responding; trying again. What you see is from", state.changed);
  }
  looking = false;
  if (!document.hidden) look.later = setTimeout(look, 1000 * state.every);
}
function live(word, changed) {
  const at = new Date(changed * 1000);
  $("live").textContent = word === "Live" ? `Live · last change ${at.toLocaleTimeString()}` : `${word} ${at.toLocaleTimeString()}`;
  $("live").classList.toggle("lost", word !== "Live");
}
show();
if (served) {
  live("Live", state.changed);
  look.later = setTimeout(look, 1000 * state.every);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
}
