// What every page does, a report's and a board's: the theme, copying, tables that sort.
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

// Copying, also where a page from disk may not reach the clipboard.
const copy = (button) => copyText($(button.dataset.copy).textContent, button);
async function copyText(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1500);
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
