// The experimenter's page: asks for the results every other second while it is looked at, and makes invitations.
import { $, ask, problem, root, say } from "../studio.js";

const EVERY = 2000; // milliseconds
const SVG = "http://www.w3.org/2000/svg";

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const share = (value) => (value === null ? "–" : value.toFixed(3));

/** An interval on the line from 0 to 1, with the half marked. */
function interval({ risk, low, high }) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 200 16");
  drawing.setAttribute("preserveAspectRatio", "none");
  drawing.setAttribute("aria-hidden", "true");
  const line = (kind, x1, y1, x2, y2) => {
    const drawn = document.createElementNS(SVG, "line");
    drawn.setAttribute("class", kind);
    for (const [key, value] of Object.entries({ x1, y1, x2, y2 })) drawn.setAttribute(key, value);
    drawing.append(drawn);
  };
  line("rail", 0, 8, 200, 8);
  line("half", 100, 0, 100, 16);
  line("range", 200 * low, 8, 200 * high, 8);
  if (risk !== null) {
    const point = document.createElementNS(SVG, "rect");
    point.setAttribute("class", "point");
    for (const [key, value] of Object.entries({ x: 200 * risk - 2, y: 3, width: 4, height: 10 })) point.setAttribute(key, value);
    drawing.append(point);
  }
  return drawing;
}

function riskRow(mode, one, mean) {
  const row = element("tr", "", mean ? { class: "mean" } : {});
  const cell = element("td", "", { class: "graph" });
  cell.append(interval(one));
  row.append(
    element("td", mode, { class: "name" }), element("th", one.name, { class: "name", scope: "row" }), element("td", share(one.risk)), cell,
    element("td", `${share(one.low)} – ${share(one.high)}`), element("td", one.trials), element("td", one.ties),
  );
  return row;
}

function personRow(one) {
  const row = element("tr");
  const link = element("td", "", { class: "name" });
  const address = location.origin + root + one.link;
  const copy = element("button", "Copy", { type: "button", "aria-label": `Copy the link of ${one.subject}` });
  copy.addEventListener("click", () => copied([address], copy));
  link.append(element("code", address), copy);
  const last = one.last ? new Date(one.last).toLocaleString() : "–";
  row.append(
    element("th", one.subject, { class: "name", scope: "row" }), link, element("td", `${one.done} of ${one.total}`),
    element("td", one.checks ? `${one.right} of ${one.checks}` : "–"),
    element("td", one.seconds === null ? "–" : `${one.seconds.toFixed(2)} s`), element("td", one.hasty), element("td", last),
    element("td", one.code ?? "–", { class: "name" }),
  );
  return row;
}

async function copied(links, button) {
  try {
    await navigator.clipboard.writeText(links.join("\n"));
    const before = button.textContent;
    button.textContent = "Copied";
    say("Copied");
    setTimeout(() => { button.textContent = before; }, 1500);
  } catch {
    problem("the browser does not let this page copy; select the link instead");
  }
}

function headline({ answers, subjects, seconds, modes }) {
  if (!answers) return $("attentive").value === "0" ? "Waiting for the first answer." : "No answers yet from those who count.";
  const people = subjects === 1 ? "1 person" : `${subjects} people`;
  const agree = modes.filter((one) => one.alpha !== null).map((one) => `${one.mode} ${one.alpha.toFixed(2)}`).join(", ");
  const time = seconds === null ? "" : `, ${seconds.toFixed(1)} s each on average`;
  return `${answers} answers by ${people}${time}. Agreement beyond chance (Krippendorff's α): ${agree || "needs two people on one trial"}.`;
}

const emptyRow = $("risks").tBodies[0].rows[0];
let before = "";
let links = [];

function draw(results) {
  const now = JSON.stringify(results);
  if (now === before) return; // a selection or a focus is not disturbed for nothing
  before = now;
  const said = headline(results);
  if ($("headline").textContent !== said) $("headline").textContent = said;
  const risks = results.modes.flatMap(({ mode, rows, mean }) => [
    ...rows.map((one) => riskRow(mode, one, false)), ...(rows.length > 1 ? [riskRow(mode, mean, true)] : []),
  ]);
  $("risks").tBodies[0].replaceChildren(...(risks.length ? risks : [emptyRow]));
  links = results.people.map((one) => location.origin + root + one.link);
  if (links.length) $("people").tBodies[0].replaceChildren(...results.people.map(personRow));
  $("failures").hidden = !results.failed.length;
  $("failures").querySelector("ul").replaceChildren(
    ...results.failed.map(({ trial, reason }) => element("li", `Trial ${trial}: ${reason}`)),
  );
}

async function refresh() {
  try {
    draw(await ask(`/results?attentive=${$("attentive").value}`));
    problem("");
  } catch (error) {
    problem(`${error.message}; these numbers may be old`);
  }
}

async function watch() {
  for (;;) {
    if (!document.hidden) await refresh();
    await new Promise((done) => setTimeout(done, EVERY));
  }
}

$("attentive").addEventListener("change", refresh);
$("copy-all").addEventListener("click", () => copied(links, $("copy-all")));
$("invite").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await ask("/invitations", { method: "POST", body: { count: Number($("how-many").value) } });
    await refresh();
  } catch (error) {
    problem(error.message);
  }
});
watch();
