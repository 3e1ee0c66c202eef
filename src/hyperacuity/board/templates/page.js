// What every page does: theme, charts, tables that sort, copying. No library but Vega for the charts.
var page = (() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const facts = JSON.parse($("facts")?.textContent ?? "[]");

  // Theme: as the system wishes, by default.
  const themes = ["auto", "light", "dark"];
  function keep(name) {
    try { localStorage.setItem("hyperacuity-theme", name); } catch { /* a page from disk may not keep anything */ }
  }
  function kept() {
    try { return localStorage.getItem("hyperacuity-theme"); } catch { return null; }
  }
  let theme = themes.includes(kept()) ? kept() : "auto";
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => theme === "dark" || (theme === "auto" && prefersDark.matches);
  function showTheme() {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    $("theme").textContent = `Theme: ${theme}`;
    drawCharts();
  }

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
      for (const [place, { spec: original, fluid }] of sheet.charts.entries()) {
        const target = $(`s${number}-chart-${place}`);
        if (!target || mine !== drawing) continue;
        const spec = enlarged(isDark() ? recoloured(original) : original);
        const square = spec.width && spec.width === spec.height;
        if (fluid && !composed(spec)) {
          const room = Math.min(target.clientWidth || 320, 560);
          spec.width = room - 8;
          if (square) spec.height = room - 64;
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
      }
    }
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

  // Tables that sort: by number where there is one, then by text; what has no value is last either way.
  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    for (const head of heads) {
      const button = head.querySelector("button");
      if (!button) continue;
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending" ||
          (!head.hasAttribute("aria-sort") && button.textContent.includes("↑"));
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const column = head.cellIndex;
        const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => compare(value(a), value(b), down));
        table.tBodies[0].append(...rows);
      });
    }
  }
  function compare(a, b, down) {
    const [x, y] = [Number(a), Number(b)];
    const [xn, yn] = [a === "nan" || a === "", b === "nan" || b === ""];
    if (xn || yn) return xn - yn;
    const order = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
    return down ? -order : order;
  }

  async function copy(button) {
    const text = $(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const range = document.createRange();
      range.selectNodeContents($(button.dataset.copy));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }

  addEventListener("DOMContentLoaded", () => {
    for (const table of document.querySelectorAll("table.sortable")) sortable(table);
    for (const button of document.querySelectorAll(".copy")) button.addEventListener("click", () => copy(button));
    $("theme").addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      keep(theme);
      showTheme();
    });
    prefersDark.addEventListener("change", () => { if (theme === "auto") drawCharts(); });
    showTheme();
  });
  return { $, facts };
})();
