// The search box: systems and images of every part of the report, as links; arrow keys go through them.
const search = (() => {
  const MOST = 12;
  const field = $("search"), box = $("found"), told = box.querySelector("p"), list = box.querySelector("ul");
  const entries = contents.flatMap((part, number) => [
    ...part.systems.map((name, place) => ({ name, kind: "system", part, hash: `#s${number}-system-${place}` })),
    ...part.images.map((name, place) => ({ name, kind: "image", part, hash: part.viewer ? `#s${number}-${place}` : `#s${number}-images` })),
  ]);
  // Names that begin with the words typed come before names that hold them.
  function matches(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const at = (entry) => entry.name.toLowerCase().indexOf(wanted);
    return entries.filter((entry) => at(entry) >= 0).sort((a, b) => (at(a) > 0) - (at(b) > 0));
  }
  function show() {
    const found = matches(field.value);
    list.replaceChildren(...found.slice(0, MOST).map(({ name, kind, part, hash }) => {
      const item = document.createElement("li");
      const link = Object.assign(document.createElement("a"), { href: (part.file || "") + hash, textContent: name });
      const where = Object.assign(document.createElement("span"), { textContent: `${kind}${contents.length > 1 ? `, ${part.title}` : ""}` });
      link.append(" ", where);
      item.append(link);
      return item;
    }));
    const more = found.length - MOST;
    told.textContent = !found.length ? "No matches" : more > 0 ? `${MOST} of ${found.length}: keep typing to narrow it down` : `${found.length} found`;
    box.hidden = !field.value.trim();
  }
  const links = () => [...list.querySelectorAll("a")];
  function hide() { box.hidden = true; }
  field.addEventListener("input", show);
  field.addEventListener("focus", () => { if (field.value.trim()) show(); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") links()[0]?.click();
  });
  field.parentElement.addEventListener("keydown", (event) => {
    const stops = [field, ...links()];
    const at = stops.indexOf(document.activeElement);
    if (event.key === "Escape") { hide(); field.focus(); }
    else if (event.key === "ArrowDown") stops[Math.min(at + 1, stops.length - 1)].focus();
    else if (event.key === "ArrowUp") stops[Math.max(at - 1, 0)].focus();
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", hide);
  field.parentElement.addEventListener("focusout", (event) => { if (!field.parentElement.contains(event.relatedTarget)) hide(); });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, select, textarea") || $("viewer").open) return;
    field.focus();
    event.preventDefault();
  });
  return { hide };
})();
