// The panel beside the picture: coverage, legend, contradiction, relations.
import { $ } from "../studio.js";
import { colourOf } from "./colours.js";

/** Show a sheet. `takeBack(step)` takes back one step of a contradiction, `say(a, b, relation)` changes a pair,
 * `point([a, b])` shows two regions, `choose(region)` selects one. */
export function showSheet(sheet, { say, takeBack, point, choose }) {
  showSuggestion(sheet);
  showCoverage(sheet);
  showLegend(sheet);
  showContradiction(sheet, takeBack, point);
  showPositions(sheet, choose);
  showPairs(sheet, say, point);
  $("undo").disabled = sheet.undo === 0;
  $("redo").disabled = sheet.redo === 0;
  $("clear").disabled = !started(sheet);
  $("done").disabled = sheet.contradiction !== null || !started(sheet);
  $("written").textContent = sheet.contradiction ? "resolve the contradiction first"
    : { no: "writes the order", yes: sheet.complete ? "✓ done" : "done, incomplete", changed: "changed since it was done" }[sheet.written];
  const open = sheet.suggestion?.open ?? 0;
  if (open && sheet.written !== "yes" && !sheet.contradiction) $("written").textContent = "writes only what you confirmed";
  $("written").classList.toggle("ready", sheet.written === "yes" && sheet.complete);
  $("done").classList.toggle("primary", sheet.written !== "yes" || $("after").disabled); // one thing at a time stands out
  $("after").classList.toggle("primary", sheet.written === "yes" && !$("after").disabled);
}

export const started = (sheet) => sheet.positions.length + sheet.pairs.length + sheet.edits + (sheet.suggestion?.dismissed ?? 0) > 0;

function showSuggestion({ suggestion, contradiction }) {
  $("suggestion").hidden = !suggestion?.total;
  if (!suggestion) return;
  const { total, kept, changed, dismissed, added, contradicted, open } = suggestion;
  const parts = [[kept, "kept"], [changed, "changed"], [dismissed, "undecidable"], [contradicted, "left out: they contradict you"], [added, "added"]];
  const said = parts.filter(([count]) => count).map(([count, word]) => `${count} ${word}`);
  $("suggestion-counts").textContent = `${open} of ${total} open${said.length ? `; ${said.join(", ")}` : ""}.`;
  $("suggestion-head").textContent = `Suggested by the network: ${open ? "check it" : "checked"}`;
  $("suggestion-note").hidden = $("suggestion-ask").hidden = open === 0;
  $("accept-rest").hidden = open === 0;
  $("accept-rest").disabled = contradiction !== null;
  $("accept-rest").textContent = `Accept the rest (${open})`;
}

function showCoverage({ coverage, groups, layer, tangled }) {
  for (const name of ["regions", "boundary", "pairs"]) {
    $(`meter-${name}`).value = coverage[name];
    // Down, so that 100 % means all.
    $(`share-${name}`).textContent = `${Math.floor(100 * coverage[name] + 1e-9)} %`;
  }
  const ordered = layer.filter((one) => one !== null).length;
  $("share-regions").textContent = `${ordered} / ${layer.length}`;
  $("groups").hidden = groups < 2 || tangled.length > 0;
  $("groups").textContent = `${groups} groups are not ordered against each other: their depths cannot be compared.`;
}

function showLegend(sheet) {
  const { layer, tangled, pairs } = sheet;
  const suggested = sheet.suggestion?.open > 0;
  const { layers } = sheet.suggestion ?? sheet;
  const ramp = $("ramp");
  const context = ramp.getContext("2d");
  context.clearRect(0, 0, ramp.width, ramp.height);
  const steps = Math.max(1, layers);
  for (let depth = 1; depth <= steps; depth++) {
    const [r, g, b] = layers ? colourOf(layers - depth + 1, layers) : [184, 186, 192];
    context.fillStyle = `rgb(${r} ${g} ${b})`;
    const left = Math.round(((depth - 1) * ramp.width) / steps);
    context.fillRect(left, 0, Math.round((depth * ramp.width) / steps) - left, ramp.height);
  }
  const unknown = layer.filter((one) => one === null).length;
  $("legend-words").textContent = tangled.length ? `${tangled.length} regions have no depth until the contradiction is resolved.`
    : suggested ? `${layers} depths; 1 is the nearest. Pale colours and numbers with a question mark are suggested, not confirmed.`
    : layers ? `${layers} depth${layers > 1 ? "s" : ""}; 1 is the nearest.${unknown ? " Without colour: not ordered yet." : ""}${pairs.length ? " Arrows lead from near to far." : ""}`
    : "Nothing is ordered yet.";
}

function showContradiction({ contradiction }, takeBack, point) {
  $("conflict").hidden = contradiction === null;
  if (!contradiction) return;
  const words = contradiction.words;
  $("conflict-words").textContent = `${words[0].toUpperCase()}${words.slice(1)}.`;
  $("conflict-steps").replaceChildren(...contradiction.steps.map((step) => {
    const [near, far, same, placed] = step;
    const words = placed && same ? "share a position" : placed ? "is before" : same ? "is at the same depth as" : "is in front of";
    return row([`R${near + 1}`, words, `R${far + 1}`], [near, far], point, [
      [placed ? `Remove R${near + 1}` : "Remove", "", () => takeBack(step)],
    ]);
  }));
}

function showPositions({ positions }, choose) {
  $("list").hidden = positions.length === 0;
  const rows = [];
  for (const [region, position] of positions) (rows[position - 1] ??= []).push(region);
  $("positions").replaceChildren(...rows.map((regions, index) => {
    const line = document.createElement("li");
    const number = document.createElement("span");
    number.textContent = `${index + 1}`;
    line.append(number, ...regions.map((region) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `R${region + 1}`;
      button.setAttribute("aria-label", `Select region ${region + 1}`);
      button.addEventListener("click", () => choose(region));
      return button;
    }));
    return line;
  }));
}

function showPairs({ pairs }, say, point) {
  $("pair-count").textContent = pairs.length ? `(${pairs.length})` : "";
  $("no-pairs").hidden = pairs.length > 0;
  $("pairs").replaceChildren(...pairs.map(([near, far, relation]) => {
    const words = relation === 0 ? "at the same depth as" : "in front of";
    const name = `region ${near + 1} and region ${far + 1}`;
    return row([`R${near + 1}`, words, `R${far + 1}`], [near, far], point, [
      ["⇄", `Swap: ${name}`, () => say(far, near, "front")],
      ["=", `Same depth: ${name}`, () => say(near, far, "same")],
      ["×", `Remove: ${name}`, () => say(near, far, "none")],
    ]);
  }).reverse());
}

/** A line of a list: words, and buttons [text, label, do]. Pointing at it points at its regions. */
function row(words, [near, far], point, buttons) {
  const line = document.createElement("li");
  const text = document.createElement("span");
  text.append(...words.map((word) => {
    const part = document.createElement(word.startsWith("R") ? "strong" : "span");
    part.textContent = ` ${word} `;
    return part;
  }));
  line.append(text, ...buttons.map(([face, label, press]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = face;
    if (label) button.setAttribute("aria-label", label);
    button.addEventListener("click", press);
    return button;
  }));
  line.addEventListener("pointerenter", () => point([near, far]));
  line.addEventListener("pointerleave", () => point(null));
  return line;
}
