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
async function drawCharts() {
  const mine = ++drawing;
  for (const [number, sheet] of facts.entries()) {
    if (!sheet || $(`s${number}`)?.hidden) continue;
    for (const [place, { spec: original, fluid }] of sheet.charts.entries()) {
      const target = $(`s${number}-chart-${place}`);
      await new Promise((resolve) => setTimeout(resolve));  // a page can be read and used before its charts are there
      if (!target || mine !== drawing) continue;
      const spec = enlarged(isDark() ? recoloured(original) : original);
      const square = spec.width && spec.width === spec.height;
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
      if (policy) continue;  // paper of a chart's size is a style made at run time
      const paper = Object.assign(document.createElement("button"), { type: "button", textContent: "Save as PDF" });
      paper.addEventListener("click", () => printChart(target, $(`s${number}-signature`)?.textContent || "", name));
      target.querySelector(".vega-actions")?.append(paper);
    }
  }
}
// A chart alone on a sheet of paper of its size, the signature in small type below: the browser's print dialog saves it as PDF.
function printChart(target, signature, name) {
  const picture = target.querySelector("svg.marks");
  const { width, height } = picture.getBoundingClientRect();
  const paper = Object.assign(document.createElement("div"), { id: "paper" });
  const small = Object.assign(document.createElement("p"), { textContent: signature });
  const rule = document.createElement("style");
  rule.textContent = `@page { size: ${Math.ceil(width) + 24}px ${Math.ceil(height) + 60}px; margin: 12px; }`;
  paper.append(picture.cloneNode(true), small, rule);
  document.body.append(paper);
  const title = document.title;
  document.title = name;  // what the file is called
  document.documentElement.classList.add("one-chart");
  if (isDark()) exchange(lightOf);
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("one-chart");
    document.title = title;
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
