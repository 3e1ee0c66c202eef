// Which images are shown, and in which order; tags that the reader gave them.
function arrange(form) {
  const number = Number(form.dataset.controls.slice(1));
  const sheet = facts[number];
  const list = form.parentElement.querySelector(".images");
  const order = form.elements.order.value;
  for (const label of form.querySelectorAll("[data-for]")) {
    label.hidden = order === "name" || label.dataset.for === "two" && order !== "apart";
  }
  // What is not seen does not count.
  const chosen = (name) => form.elements[name]?.closest("[hidden]") ? "" : form.elements[name]?.value ?? "";
  const known = (image) => image.scores.filter((score) => score !== null);
  const sign = sheet.better === "min" ? -1 : 1;
  const one = (image) => {
    if (chosen("first") !== "") return image.scores[chosen("first")];
    const all = known(image);
    return all.length ? all.reduce((a, b) => a + b, 0) / all.length : null;
  };
  const apart = (image) => {
    const all = known(image);
    if (all.length < 2) return null;
    const [a, b] = [chosen("first"), chosen("second")].map((place) => place === "" ? undefined : image.scores[place]);
    if (a === null || b === null) return null;
    if (a === undefined && b === undefined) return Math.max(...all) - Math.min(...all);
    if (a !== undefined && b !== undefined) return Math.abs(a - b);
    return Math.max(...all.map((score) => Math.abs(score - (a ?? b))));
  };
  const limit = (name) => chosen(name) === "" ? null : Number(chosen(name));
  const wins = (image) => {
    const [a, b] = [chosen("winner"), chosen("loser")];
    if (a === "" && b === "") return true;
    const ahead = (p, q) => p !== q && image.scores[p] !== null && image.scores[q] !== null && sign * (image.scores[p] - image.scores[q]) > 0;
    const some = image.scores.map((_, place) => place);
    if (b === "") return some.some((q) => ahead(Number(a), q));
    return a === "" ? some.some((p) => ahead(p, Number(b))) : ahead(Number(a), Number(b));
  };
  const fits = (image) => {
    const [score, gap, least, most, far] = [one(image), apart(image), limit("least"), limit("most"), limit("apart")];
    return wins(image) && (least === null || score !== null && score >= least) && (most === null || score !== null && score <= most) &&
      (far === null || gap !== null && gap >= far) && (chosen("tag") === "" || tags.of(image.name).includes(chosen("tag")));
  };
  const whose = form.querySelector(".whose");
  if (sheet.systems.length > 1) whose.textContent = `of ${chosen("first") === "" ? "all systems" : sheet.systems[chosen("first")]} `;
  const rank = { worst: (i) => one(i) === null ? null : sign * one(i), best: (i) => one(i) === null ? null : -sign * one(i),
    apart: (i) => apart(i) === null ? null : -apart(i) }[order];
  const places = sheet.images.map((_, place) => place);
  places.sort((p, q) => {
    const [a, b] = [sheet.images[p], sheet.images[q]];
    if (!rank) return a.name.localeCompare(b.name, undefined, { numeric: true });
    const [x, y] = [rank(a), rank(b)];
    return (x === null) - (y === null) || x - y || p - q;
  });
  const kept = new Set(places.filter((place) => fits(sheet.images[place])));
  sheet.order = places.filter((place) => kept.has(place));
  const items = new Map([...list.children].map((item) => [Number(item.dataset.place), item]));
  for (const [place, item] of items) item.hidden = !kept.has(place);
  list.append(...places.map((place) => items.get(place)));
  const all = sheet.images.length;
  form.elements.count.value = kept.size === all ? `${all} ${all === 1 ? "image" : "images"}` : `${kept.size} of ${all} images`;
}

// Tags are the reader's own: they are kept by the browser, by image name, for reports of this title.
const tags = (() => {
  const where = `hyperacuity-tags ${document.title.split(" · ").at(-2)}`;
  let known = {};
  try { known = JSON.parse(localStorage.getItem(where)) || {}; } catch { /* a page from disk may not keep anything */ }
  const of = (name) => Object.hasOwn(known, name) ? known[name] : [];
  function put(name, text) {
    known[name] = [...new Set(text.split(",").map((tag) => tag.trim()).filter(Boolean))];
    if (!known[name].length) delete known[name];
    try { localStorage.setItem(where, JSON.stringify(known)); } catch { /* they last as long as the page */ }
    show();
  }
  // What can be chosen in the filters, and what stands below each image.
  function show() {
    const all = [...new Set(Object.values(known).flat())].sort();
    for (const form of document.querySelectorAll("[data-controls]")) {
      const select = form.elements.tag, before = select.value;
      select.replaceChildren(select.options[0], ...all.map((tag) => new Option(tag)));
      select.value = all.includes(before) ? before : "";
      select.parentElement.hidden = !all.length;
      const sheet = facts[form.dataset.controls.slice(1)];
      for (const item of form.parentElement.querySelectorAll(".images li")) {
        item.querySelector(".tags").textContent = of(sheet.images[item.dataset.place].name).join(", ");
      }
    }
  }
  return { of, put, show };
})();
