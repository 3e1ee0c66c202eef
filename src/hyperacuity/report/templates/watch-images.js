// What got better and what worse between two points, image by image.
const FEW = 8;
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}
function shape(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const fixed = (value, column) => value === null || value === undefined ? "–" : value.toFixed(column.digits) + (column.unit ? ` ${column.unit}` : "");
const signed = (value, column) => `${value < 0 ? "−" : value > 0 ? "+" : "±"}${fixed(Math.abs(value), column)}`;
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// The two points that a reader has chosen, by name or by where they stand, so that they follow while the run grows.
function endsOf(line, choice) {
  const to = line.points[choice.to] ? choice.to : line.latest;
  const series = line.series.find((one) => one.points.includes(to));
  if (!series) return { from: "", to };
  const scored = series.points.filter((name) => line.points[name].images);
  const before = scored[scored.indexOf(to) - 1] ?? scored.find((name) => name !== to) ?? Object.keys(line.points).find((name) => name !== to && line.points[name].images) ?? "";
  const from = choice.from === "@best" ? series.best : choice.from === "@first" ? scored[0] : line.points[choice.from] ? choice.from : before;
  return { from, to };
}
function changesOf(line, from, to) {
  const column = line.columns[0], up = column.better === "max" ? 1 : -1;
  const [before, after] = [line.points[from]?.scores ?? {}, line.points[to]?.scores ?? {}];
  const rows = Object.keys(after).filter((n) => n in before).map((n) => (
    { n: Number(n), name: line.images[n], before: before[n], after: after[n], gain: up * (after[n] - before[n]) }));
  rows.sort((a, b) => b.gain - a.gain || a.n - b.n);
  const least = 0.5 * 10 ** -column.digits;  // what is not seen in the numbers shown has not changed
  return {
    rows,
    better: rows.filter((row) => row.gain >= least),
    worse: rows.filter((row) => row.gain <= -least).reverse(),
    same: rows.filter((row) => Math.abs(row.gain) < least).length,
    only: [Object.keys(before).length - rows.length, Object.keys(after).length - rows.length],
  };
}
function sentencesOf(line, from, to, found, test) {
  const column = line.columns[0];
  if (!from || from === to) return ["Choose two points to see what changed between them."];
  if (!found.rows.length) return [`${from} and ${to} have no image in common.`];
  const gain = test?.difference;
  const move = gain === undefined ? "" : !Number(gain.toFixed(column.digits)) ? `: within ${fixed(10 ** -column.digits, column)} (${test.words})` : `: ${gain > 0 ? "better" : "worse"} by ${fixed(Math.abs(gain), column)} (${test.words})`;
  const told = [`${column.title} goes from ${fixed(line.points[from].values[column.key], column)} (${from}) to ${fixed(line.points[to].values[column.key], column)} (${to})${move}.`];
  told.push(`Of the ${counted(found.rows.length, "image")} that both have, ${found.better.length} got better, ${found.worse.length} got worse${found.same ? `, ${found.same} stayed the same` : ""}.`);
  const [first, second] = found.only;
  if (first || second) {
    const missing = [first ? `${first} that only ${from} has` : "", second ? `${second} that only ${to} has` : ""].filter(Boolean);
    told.push(`Left out: ${missing.join(", and ")}; the test is over the images that both have.`);
  }
  if (test === null) told.push("Too few shared images to test for chance: at least two are needed.");
  if (test === undefined && !served) told.push("This file holds no test of these two points, so that it stays small; hyperacuity watch without --once tests any pair.");
  return told;
}
function bars(found) {
  const most = Math.max(...found.rows.map((row) => Math.abs(row.gain)), 1e-12);
  const shapes = found.rows.map((row, n) => {
    const height = 30 * Math.abs(row.gain) / most;
    return shape("rect", { class: row.gain < 0 ? "down" : "up", x: n + 0.1, width: 0.8, y: row.gain < 0 ? 30 : 30 - height, height });
  });
  const axis = shape("path", { class: "rail", d: `M0,30H${found.rows.length}` });
  return shape("svg", { class: "changes", viewBox: `0 0 ${found.rows.length} 60`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...shapes, axis);
}
function imageItem(line, number, row, choice, toggle) {
  const column = line.columns[0];
  const source = line.thumbnails?.[row.n] ?? (served && line.pictures[row.n] ? `picture/${number}/${row.n}` : "");
  const picture = source ? make("img", { src: source, alt: "", loading: "lazy", onerror: (event) => event.target.remove() }) : null;
  const pressed = choice.chosen.includes(row.name);
  const button = make("button", { type: "button", class: "image", "aria-pressed": String(pressed), "data-focus": `image-${row.name}`, onclick: () => toggle(row.name) },
    picture,
    make("span", { class: "caption", text: row.name }),
    make("span", { class: "range", text: `${fixed(row.before, column)} → ${fixed(row.after, column)}` }),
    make("strong", { text: ` ${signed(row.after - row.before, column)}` }));
  return make("li", {}, button);
}
function imageList(line, number, rows, choice, kind, redo) {
  const wanted = rows.filter((row) => row.name.toLowerCase().includes(choice.query.toLowerCase()));
  const shown = wanted.slice(0, choice[kind]);
  const toggle = (name) => {
    choice.chosen = choice.chosen.includes(name) ? choice.chosen.filter((one) => one !== name) : [...choice.chosen, name];
    redo();
  };
  const more = wanted.length > shown.length
    ? make("button", { type: "button", "data-focus": `more-${kind}`, text: `Show ${Math.min(24, wanted.length - shown.length)} more of ${wanted.length}`, onclick: () => { choice[kind] += 24; redo(); } })
    : null;
  return make("div", { class: wanted.length ? null : "none" },
    make("h4", { text: `Got ${kind} (${wanted.length})` }),
    wanted.length ? make("ul", { class: "images" }, ...shown.map((row) => imageItem(line, number, row, choice, toggle))) : make("p", { class: "note", text: rows.length ? "No matching images." : "None." }),
    more);
}
// Rows for the chart of chosen images, which the server leaves empty.
function chosenRows(line, chosen) {
  const rows = [];
  for (const series of line.series) {
    for (const [place, name] of series.points.entries()) {
      const point = line.points[name];
      for (const image of chosen) {
        const score = point.scores?.[line.images.indexOf(image)];
        if (score !== undefined && point.x !== null && point.x !== undefined) rows.push({ image, series: series.title, x: point.x, place, point: name, score });
      }
    }
  }
  return rows;
}
function chosenChart(line, chosen) {
  const chart = structuredClone(line.charts[1]);
  const empty = (part) => { if (Array.isArray(part.data?.values)) part.data.values = chosenRows(line, chosen); for (const layer of part.layer ?? []) empty(layer); };
  empty(chart.spec);
  for (const values of Object.values(chart.spec.datasets ?? {})) if (Array.isArray(values)) values.push(...chosenRows(line, chosen));
  return chart;
}
