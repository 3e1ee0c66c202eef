// What the pages share: talking to the server, telling people things, the theme. No library.

/** Data that the server put into the page. */
export const facts = () => JSON.parse(document.getElementById("facts").textContent);

/** An element by its id. */
export const $ = (id) => document.getElementById(id);

/** The path below which a proxy serves the studio: empty, or such as "/studio". `ask` adds it; other addresses start with it. */
export const root = document.documentElement.dataset.root ?? "";

/** Ask the server for something. Answers the JSON object; throws an Error with the server's sentence (and .status, 0 when it
 * could not be reached). */
export async function ask(path, { method = "GET", body, signal } = {}) {
  let response;
  try {
    response = await fetch(root + path, {
      method,
      signal,
      credentials: "same-origin",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw Object.assign(new Error("the server cannot be reached"), { status: 0 });
  }
  const value = await response.json().catch(() => ({}));
  if (response.ok) return value;
  throw Object.assign(new Error(value.error ?? `the server answered ${response.status}`), { status: response.status });
}

/** Like ask, for what must arrive: while the server cannot be reached or is busy, it is asked again, and the page says so. Only
 * for requests that the server may receive twice. */
export async function insist(path, options) {
  for (let wait = 500; ; wait = Math.min(2 * wait, 8000)) {
    try {
      const value = await ask(path, options);
      problem("");
      return value;
    } catch (error) {
      if (error.status !== 0 && error.status < 500) throw error;
      problem(`Not saved yet: ${error.message}. Trying again …`);
      await new Promise((done) => setTimeout(done, wait));
    }
  }
}

/** Tell listeners of screen readers what has happened. */
export function say(sentence) {
  $("said").textContent = sentence;
}

/** Show a problem to everyone; the empty sentence takes it away. */
export function problem(sentence) {
  const box = $("problem");
  box.hidden = !sentence;
  box.textContent = sentence ? sentence[0].toUpperCase() + sentence.slice(1) : "";
}

const LETTERS = "hyperacuity-letters";

/** Whether single letters are shortcuts: people whose software types them by mistake can switch them off, for all pages. */
export const lettersAct = () => $("letters")?.checked ?? true;

if ($("letters")) {
  try { $("letters").checked = localStorage.getItem(LETTERS) !== "off"; } catch { /* then they are on */ }
  $("letters").addEventListener("change", ({ target }) => {
    try { localStorage.setItem(LETTERS, target.checked ? "on" : "off"); } catch { /* then it lasts as long as the page */ }
  });
}

const themes = ["auto", "light", "dark"];

function kept() {
  try { return localStorage.getItem("hyperacuity-theme"); } catch { return null; }
}

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const button = $("theme");
  if (button) button.textContent = `Theme: ${theme}`;
}

let theme = themes.includes(kept()) ? kept() : "auto";
setTheme(theme);
$("theme")?.addEventListener("click", () => {
  theme = themes[(themes.indexOf(theme) + 1) % themes.length];
  try { localStorage.setItem("hyperacuity-theme", theme); } catch { /* then it lasts as long as the page */ }
  setTheme(theme);
});

/** Let people flag an image at an address with a note; `skip` goes on to the next one. */
export function listenToFlag(address, skip) {
  $("flag").addEventListener("click", () => {
    $("flag-dialog").returnValue = "";
    $("flag-dialog").showModal();
  });
  $("flag-dialog").addEventListener("close", async () => {
    const chosen = $("flag-dialog").returnValue;
    if (!chosen) return;
    try {
      const body = chosen === "remove" ? undefined : { note: $("flag-note").value, skipped: chosen === "skip" };
      await insist(`${address}/flag`, { method: body ? "POST" : "DELETE", body });
      $("flag").setAttribute("aria-pressed", String(chosen !== "remove"));
      $("flag-remove").hidden = chosen === "remove";
      say(chosen === "remove" ? "The flag is removed" : "Flagged");
      if (chosen === "skip") skip();
    } catch (error) {
      problem(error.message);
    }
  });
}

$("leave")?.addEventListener("click", async () => {
  if (!confirm("Switch to another user? To come back you need your personal link. Have you saved it?")) return;
  try {
    await ask("/people", { method: "DELETE" });
    location.reload();
  } catch (error) {
    problem(error.message);
  }
});

$("switch")?.addEventListener("click", async () => {
  try {
    await ask(location.pathname.slice(root.length), { method: "POST", body: {} });
    location.replace(`${root}/`);
  } catch (error) {
    problem(error.message);
  }
});

$("copy-link")?.addEventListener("click", async () => {
  $("own-link").select();
  try {
    await navigator.clipboard.writeText($("own-link").value);
    say("Copied");
    $("copy-link").textContent = "Copied";
  } catch { /* without HTTPS there is no clipboard: the link is selected, to be copied by hand */ }
});
