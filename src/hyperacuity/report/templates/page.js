// What the report holds, what data scripts hand over, and which part is shown.
const contents = JSON.parse($("contents").textContent);

// What the data scripts hand over, and who waits for it: everybody who asks for a key gets the same promise.
const handed = new Map();
const asked = new Map();
function put(key, value) { handed.get(key)?.(value); }
function load(key) {
  if (!asked.has(key)) asked.set(key, fetched(key));
  return asked.get(key);
}
function fetched(key) {
  const inline = $(key);
  if (inline) return Promise.resolve(JSON.parse(inline.textContent));
  return new Promise((resolve, reject) => {
    handed.set(key, resolve);
    const script = document.createElement("script");
    script.src = `data/${key}.js`;
    script.onerror = () => { asked.delete(key); reject(new Error(`the file data/${key}.js cannot be read`)); };
    document.head.append(script);
  });
}

// Pages: in one file, the parts of a report are sections, of which the address chooses one. In a folder, each part is a file, and
// an address that names something of another part leads there.
const pages = [...document.querySelectorAll("main > .page")];
function turn() {
  const found = /^#s(\d+)\b/.exec(location.hash);
  const part = found && contents[found[1]];
  if (part?.file && !facts[found[1]]) return location.replace(part.file + location.hash);
  if (pages.length < 2) return markTarget();
  const named = found ? `s${found[1]}` : location.hash === "#main" ? pages.find((page) => !page.hidden)?.id : "front";
  const chosen = pages.some((page) => page.id === named) ? named : "front";
  const another = $(chosen).hidden || !turn.done;
  turn.done = true;
  for (const page of pages) page.hidden = page.id !== chosen;
  for (const list of document.querySelectorAll(".within")) list.hidden = list.dataset.page !== chosen;
  for (const link of document.querySelectorAll("[data-turn]")) {
    if (link.dataset.turn === chosen) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (another) drawCharts();
  if (another && [`#${chosen}`, ""].includes(location.hash)) scrollTo(0, 0);
  else if (!/^#s\d+-\d+$/.test(location.hash)) $(location.hash.slice(1))?.scrollIntoView();
  markTarget();
}
// A system that a link led to is where the keyboard goes on.
function markTarget() {
  if (/^#s\d+-system-\d+$/.test(location.hash)) $(location.hash.slice(1))?.focus({ preventScroll: true });
}
