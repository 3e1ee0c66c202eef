// What happens when the page is ready.
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
  for (const form of document.querySelectorAll("[data-controls]")) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => arrange(form));
    form.addEventListener("reset", () => setTimeout(() => arrange(form)));
    form.querySelector(".names").addEventListener("click", (event) => {
      const sheet = facts[form.dataset.controls.slice(1)];
      copyText(sheet.order.map((place) => sheet.images[place].name).join(","), event.target);
    });
    arrange(form);
  }
  tags.show();
  for (const button of document.querySelectorAll(".copy")) button.addEventListener("click", () => copy(button));
  $("theme").addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    keep(theme);
    showTheme();
  });
  prefersDark.addEventListener("change", () => { if (theme === "auto") drawCharts(); });
  showTheme();
  turn();
  viewer.follow();
});
addEventListener("hashchange", turn);
addEventListener("beforeprint", () => { for (const part of document.querySelectorAll(".reproduce details, .meanings")) part.open = true; });
