// The images of a folder: which of them to show.
import { $, say } from "../studio.js";

const cards = [...$("images").children];
const filters = [...document.querySelectorAll(".filters button")];
let state = "";

function show() {
  const part = $("find").value.trim().toLowerCase();
  let count = 0;
  for (const card of cards) {
    card.hidden = (state && card.dataset.state !== state) || !card.dataset.name.includes(part);
    count += !card.hidden;
  }
  $("none").hidden = count > 0;
  say(`${count} images`);
}

for (const filter of filters) {
  filter.addEventListener("click", () => {
    state = filter.dataset.state;
    for (const other of filters) other.setAttribute("aria-pressed", String(other === filter));
    show();
  });
}
$("find").addEventListener("input", show);
