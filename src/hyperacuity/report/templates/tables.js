// Tables that sort: by number where there is one, then by text; what has no value is last either way.
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  for (const head of heads) {
    const button = head.querySelector("button");
    if (!button) continue;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending" ||
        (!head.hasAttribute("aria-sort") && head.dataset.better === "max");
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
