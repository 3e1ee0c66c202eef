// Charts are specified in the light colours; in the dark, those that carry no meaning are exchanged.
const darkOf = {
  "#222222": "#eeeeee", "#000000": "#ffffff", "#767676": "#a6adb8", "#e6e6e6": "#2b2f37", "#d4d4d4": "#434954", "#ffffff": "#16181d",
  "#3f83b6": "#4488c0", "#215f97": "#2f6fae", "#0a3161": "#22529b",
  "#1b1b3a": "#e4e8f6", "#4d5a9a": "#a9b6e2", "#8d9cc8": "#7484bd", "#b4bedd": "#4d5a9a",
};
function recoloured(value) {
  if (typeof value === "string") return darkOf[value.toLowerCase()] || value;
  return mapped(value, (key, item) => key === "values" ? item : recoloured(item));
}
// Type is sized for paper; a screen is read from farther away.
function enlarged(value) {
  return mapped(value, (key, item) => /fontSize$/i.test(key) && typeof item === "number" ? Math.round(item * 1.25) : enlarged(item));
}
function mapped(value, change) {
  if (Array.isArray(value)) return value.map((item) => change("", item));
  if (!value || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(key, item)]));
}
// Under a policy that allows neither code nor style made at run time, expressions are interpreted, and styles are the page's own.
const policy = document.querySelector("meta[http-equiv='Content-Security-Policy']");
const strict = policy ? { ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true } } : {};
const composed = (spec) => ["concat", "hconcat", "vconcat", "facet", "repeat"].some((key) => key in spec);
const drawn = new Map();
let drawing = 0;
// What draws charts is large. It is fetched once the page can be used, and draws when nothing else is to be done.
function drawer() {
  return drawer.ready ||= window.vegaEmbed ? Promise.resolve() : new Promise((resolve) => {
    const script = Object.assign(document.createElement("script"), { src: "assets/vega.js", onload: resolve });
    document.head.append(script);
  });
}
const idle = () => new Promise((resolve) => window.requestIdleCallback ? requestIdleCallback(resolve, { timeout: 500 }) : setTimeout(resolve));
async function drawCharts() {
  const mine = ++drawing;
  if (!document.querySelector(".plot")) return;
  await idle();
  await drawer();
  for (const [number, sheet] of facts.entries()) {
    if (!sheet || $(`s${number}`)?.hidden) continue;
    // Charts of a fixed size first: those that stretch take the room that is left in their row.
    const fixedFirst = [...sheet.charts.entries()].sort(([, one], [, other]) => Boolean(one.fluid) - Boolean(other.fluid));
    for (const [place, { spec: original, fluid }] of fixedFirst) {
      const target = $(`s${number}-chart-${place}`);
      await idle();  // a page can be read and used before its charts are there
      if (!target || mine !== drawing) continue;
      const spec = enlarged(isDark() ? recoloured(original) : original);
      const square = spec.width && spec.width === spec.height;
      if (fluid && mine === drawing) fillRows(target.closest(".charts"), sheet.charts);
      if (fluid && !composed(spec)) {
        const room = Math.min(target.clientWidth || 320, 620);
        spec.width = room - 8;
        if (square) spec.height = Math.min(room, 420) - 64;
        spec.autosize = { type: "fit-x", contains: "padding" };
      }
      const actions = { export: true, source: false, compiled: false, editor: false };
      const name = `${sheet.systems.length ? "hyperacuity" : "chart"}-${number}-${place}`;
      drawn.get(target.id)?.finalize();
      drawn.set(target.id, await vegaEmbed(target, spec, { renderer: "svg", actions, downloadFileName: name, logLevel: 1, ...strict }));
      // One picture with words of its own, not a hundred named marks.
      const picture = target.querySelector("svg.marks");
      for (const part of picture.children) part.setAttribute("aria-hidden", "true");
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", target.dataset.words);
      target.querySelector("summary")?.setAttribute("aria-label", "Save this chart");
      const paper = Object.assign(document.createElement("button"), { type: "button", textContent: "Save as PDF" });
      paper.addEventListener("click", () => printChart(target, ($(`s${number}-signature`) ?? $("signature"))?.textContent || "", name));
      target.querySelector(".vega-actions")?.append(paper);
    }
    const last = $(`s${number}-chart-${sheet.charts.length - 1}`);
    if (last && mine === drawing) fillRows(last.closest(".charts"), sheet.charts);
  }
}
// Charts go into the first row that has room for them, and a row of fixed ones is enlarged until it is full.
const enlargedAtMost = 1.4, leastFluid = 352;
function fillRows(box, charts) {
  if (!box) return;
  const placeOf = (figure) => Number(figure.id.split("-").at(-1));
  const gap = parseFloat(getComputedStyle(box).columnGap) || 0, room = box.clientWidth, rows = [];
  for (const figure of [...box.children].sort((one, other) => placeOf(one) - placeOf(other))) {
    const picture = figure.querySelector("svg.marks");
    const fluid = charts[placeOf(figure)].fluid;
    if (picture) picture.dataset.width ||= picture.getAttribute("width");
    const width = fluid ? leastFluid : Number(picture?.dataset.width || room);
    const row = rows.find(({ taken }) => taken + gap + width <= room);
    if (row) { row.figures.push(figure); row.fluid ||= fluid; row.taken += gap + width; row.fixed += fluid ? 0 : width; }
    else rows.push({ figures: [figure], fluid, taken: width, fixed: fluid ? 0 : width });
  }
  for (const { figures, fluid, fixed } of rows) {
    const scale = fluid ? 1 : Math.max(1, Math.min(enlargedAtMost, (room - gap * (figures.length - 1) - 2) / fixed));
    for (const figure of figures) {
      const picture = charts[placeOf(figure)].fluid ? null : figure.querySelector("svg.marks");
      if (picture) {
        picture.setAttribute("width", Math.floor(picture.dataset.width * scale));
        picture.removeAttribute("height");  // it follows from the width
      }
    }
  }
  box.replaceChildren(...rows.flatMap(({ figures }) => figures));
}
// A chart alone on a sheet of paper of its size, the signature in small type below: the browser's print dialog saves it as PDF.
function printChart(target, signature, name) {
  const picture = target.querySelector("svg.marks");
  const { width, height } = picture.getBoundingClientRect();
  const paper = Object.assign(document.createElement("div"), { id: "paper" });
  const small = Object.assign(document.createElement("p"), { textContent: signature });
  const rule = new CSSStyleSheet();  // which a policy allows, unlike the text of a style
  rule.replaceSync(`@page { size: ${Math.ceil(width) + 24}px ${Math.ceil(height) + 60}px; margin: 12px; }`);
  document.adoptedStyleSheets.push(rule);
  paper.append(picture.cloneNode(true), small);
  document.body.append(paper);
  const title = document.title;
  document.title = name;  // what the file is called
  document.documentElement.classList.add("one-chart");
  if (isDark()) exchange(lightOf);
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("one-chart");
    document.title = title;
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== rule);
    paper.remove();
  }, { once: true });
  print();
}
// Paper is white, whatever the theme: when printing, the colours of the dark are exchanged back, at once and in place.
const lightOf = Object.fromEntries(Object.entries(darkOf).map(([light, dark]) => [dark, light]));
function exchange(colours) {
  for (const part of document.querySelectorAll(".plot svg.marks, .plot svg.marks *")) {
    for (const name of ["fill", "stroke"]) {
      const other = colours[part.getAttribute(name)?.toLowerCase()];
      if (other) part.setAttribute(name, other);
    }
  }
}
addEventListener("beforeprint", () => { if (isDark()) exchange(lightOf); });
addEventListener("afterprint", () => { if (isDark()) exchange(darkOf); });
let lastWidth = innerWidth;
addEventListener("resize", () => {
  if (innerWidth !== lastWidth) { lastWidth = innerWidth; clearTimeout(drawCharts.later); drawCharts.later = setTimeout(drawCharts, 150); }
});
