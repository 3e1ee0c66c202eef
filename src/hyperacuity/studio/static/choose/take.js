// A participant's way through the forced choice: instructions, practice, trials, breaks. The server knows where they are; this page
// shows one question at a time, measures how long the answer takes, and goes on when the answer is saved.
import { $, ask, facts, insist, problem, root, say } from "../studio.js";

const FEEDBACK = 1200; // milliseconds
const ENLARGED = 240; // pixels
const { base, started, fixation, consented, answered, enlarge } = facts();
const stages = document.querySelectorAll(".stage");
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

function show(id) {
  for (const stage of stages) stage.hidden = stage.id !== id;
}

/** Show a stage and wait until its button is pressed. */
function confirmed(stage, button) {
  show(stage);
  $(button).focus();
  return new Promise((done) => $(button).addEventListener("click", done, { once: true }));
}

const pictures = new Map();

/** The photograph of a position, loaded once. */
function picture(position) {
  if (!pictures.has(position)) {
    const image = new Image();
    image.src = `${root}${base}/picture/${position}`;
    pictures.set(position, image.decode().then(() => image));
    pictures.get(position).catch(() => pictures.delete(position));
  }
  return pictures.get(position);
}

/** The same, for one that is needed now: a server that is away for a moment is waited for. */
async function patientPicture(position) {
  for (let wait = 500; ; wait *= 2) {
    try {
      const image = await picture(position);
      problem("");
      return image;
    } catch {
      if (wait > 8000) throw new Error("a photograph cannot be loaded");
      problem("The next photograph has not arrived yet. Trying again …");
      await pause(wait);
    }
  }
}

/** Make room for a photograph, with as many pixels as the screen can show of it. */
function fit(canvas, question) {
  const wanted = canvas.parentElement.clientWidth * devicePixelRatio / question.width;
  const scale = Math.max(1, Math.min(Math.ceil(wanted), 4));
  canvas.width = question.width * scale;
  canvas.height = question.height * scale;
}

/** Draw the photograph, and return the context in the photograph's own coordinates. */
function paint(canvas, image, question) {
  const scale = canvas.width / question.width;
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.save();
  if (question.mirrored) {
    context.translate(canvas.width, 0);
    context.scale(-1, 1);
  }
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  context.restore();
  context.scale(scale, scale);
  return context;
}

/** Both marks in the same way: a red piece with a light rim, to be seen on red too, in a black and white square with an arrow. */
function mark(context, question) {
  for (const side of ["left", "right"]) {
    const { pixels, square: [top, left] } = question[side];
    for (const [colour, radius] of [["#fff", 1.5], ["#f00", .95]]) {
      context.fillStyle = colour;
      for (const [row, column] of pixels) {
        context.beginPath();
        context.arc(column + .5, row + .5, radius, 0, 2 * Math.PI);
        context.fill();
      }
    }
    for (const [colour, width] of [["#000", 3], ["#fff", 1.2]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.strokeRect(left, top, question.size, question.size);
    }
    label(context, question, side, top, left);
  }
}

/** What lies in a square, enlarged, with its piece drawn so that the photograph shows through. */
function magnify(canvas, image, question, side) {
  const { pixels, square: [top, left] } = question[side];
  const scale = ENLARGED / question.size;
  canvas.width = canvas.height = ENLARGED;
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.scale(scale, scale);
  context.translate(-left, -top);
  context.save();
  if (question.mirrored) {
    context.translate(question.width, 0);
    context.scale(-1, 1);
  }
  context.drawImage(image, 0, 0);
  context.restore();
  context.fillStyle = "rgb(255 0 0 / .55)";
  for (const [row, column] of pixels) context.fillRect(column, row, 1, 1);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = "#000";
  context.fillRect(0, 0, 32, 26);
  context.fillStyle = "#fff";
  context.font = "20px system-ui, sans-serif";
  context.fillText(side === "left" ? "←" : "→", 6, 20);
}

/** The arrow of a square, above it where there is room, else below. */
function label(context, question, side, top, left) {
  const width = 15, height = 11;
  const x = Math.max(0, Math.min(left + question.size / 2 - width / 2, question.width - width));
  const y = top >= height + 2 ? top - height - 1.5 : Math.min(top + question.size + 1.5, question.height - height);
  context.fillStyle = "#000";
  context.fillRect(x, y, width, height);
  context.strokeStyle = "#fff";
  context.lineWidth = .8;
  context.strokeRect(x, y, width, height);
  const way = side === "left" ? -1 : 1, middle = x + width / 2, line = y + height / 2;
  context.lineWidth = 1.6;
  context.beginPath();
  context.moveTo(middle - 4 * way, line);
  context.lineTo(middle + 4 * way, line);
  context.moveTo(middle + 1 * way, line - 3);
  context.lineTo(middle + 4 * way, line);
  context.lineTo(middle + 1 * way, line + 3);
  context.stroke();
}

/** The side whose square was clicked, with some room around it; null for a click elsewhere. */
function sideAt(event, question) {
  const box = $("marked").getBoundingClientRect();
  const x = (event.clientX - box.left) / box.width * question.width;
  const y = (event.clientY - box.top) / box.height * question.height;
  const far = (side) => {
    const [top, left] = question[side].square;
    return Math.max(Math.abs(x - left - question.size / 2), Math.abs(y - top - question.size / 2));
  };
  const nearest = far("left") <= far("right") ? "left" : "right";
  return far(nearest) <= question.size ? nearest : null;
}

let away = false;
document.addEventListener("visibilitychange", () => { away ||= document.hidden; });

/** Show the keys. The photograph is out of sight meanwhile, so the answer's time is marked. */
function showKeys() {
  away = true;
  $("help").showModal();
}
$("help-open").addEventListener("click", showKeys);
document.addEventListener("keydown", (event) => {
  if (event.key === "?" && !$("help").open) showKeys();
});

/** Wait for a choice: a key, a square, a button. Held keys and combinations do not count. */
function choice(question) {
  const listening = new AbortController();
  const { signal } = listening;
  return new Promise((done) => {
    const choose = (side, event) => {
      listening.abort();
      done({ side, at: event.timeStamp });
    };
    document.addEventListener("keydown", (event) => {
      const side = { ArrowLeft: "left", ArrowRight: "right" }[event.key];
      if (!side || $("help").open || event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      choose(side, event);
    }, { signal });
    $("marked").addEventListener("click", (event) => {
      const side = sideAt(event, question);
      if (side) choose(side, event);
    }, { signal });
    for (const side of ["left", "right"]) $(side).addEventListener("click", (event) => choose(side, event), { signal });
  });
}

function count({ done, total, question }) {
  const text = question.practice ? "Practice" : `${done + 1} of ${total}`;
  $("count").textContent = text;
  $("progress").hidden = question.practice;
  $("progress").max = total;
  $("progress").value = done;
  return text;
}

/** Ask one question; answers what comes next. */
async function pose(now) {
  const { question } = now;
  show("trial");
  const text = count(now);
  $("feedback").textContent = "";
  const trial = $("trial");
  trial.classList.add("waiting");
  for (const side of ["left", "right"]) {
    $(side).disabled = true;
    $(side).classList.remove("chosen");
  }
  for (const canvas of [$("marked"), $("plain")]) fit(canvas, question);
  document.activeElement?.blur();
  const [image] = await Promise.all([patientPicture(question.position), painted().then(() => pause(1000 * fixation))]);
  mark(paint($("marked"), image, question), question);
  paint($("plain"), image, question);
  if (enlarge) for (const side of ["left", "right"]) magnify($(`enlarged-${side}`), image, question, side);
  trial.classList.remove("waiting");
  for (const side of ["left", "right"]) $(side).disabled = false;
  away = document.hidden;
  await painted();
  const since = performance.now();
  trial.dataset.position = question.position;
  say(text);
  if (now.ahead !== null) picture(now.ahead).catch(() => {});
  const { side, at } = await choice(question);
  delete trial.dataset.position;
  $(side).classList.add("chosen");
  for (const button of ["left", "right"]) $(button).disabled = true;
  const seconds = Math.max(0, at - since) / 1000;
  const next = await insist(`${base}/answer`, { method: "POST", body: { position: question.position, side, seconds, away } });
  pictures.delete(question.position);
  if (question.practice && next.right !== undefined) {
    $("feedback").textContent = next.right ? "✓ Yes, that one" : "It was the other one";
    await pause(FEEDBACK);
    if (!next.question?.practice) await confirmed("practised", "start");
  }
  return next;
}

/** Show a form and wait until what it holds is saved at `path`. */
function submitted(stage, form, path, body) {
  show(stage);
  const heading = $(stage).querySelector("h2");
  heading.tabIndex = -1;
  heading.focus();
  return new Promise((done) => $(form).addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      done(await insist(`${base}/${path}`, { method: "POST", body: body() }));
    } catch (error) {
      problem(error.message);
    }
  }));
}

async function run() {
  if (!consented) await submitted("consent", "consent-form", "consent", () => ({ agreed: $("agree").checked }));
  if (!answered) {
    const answers = () => [...document.querySelectorAll("[data-about]")].map((one) => one.value.trim());
    await submitted("about", "about-form", "about", () => ({ answers: answers() }));
  }
  let now = await ask(`${base}/next`);
  if (now.question) await confirmed("instructions", "begin");
  while (now.question) {
    if (now.break) {
      $("pause-count").textContent = `${now.done} of ${now.total} are done.`;
      await confirmed("pause", "go-on");
    }
    now = await pose(now);
  }
  show("end");
  $("code-line").hidden = !now.code;
  $("code").textContent = now.code ?? "";
  $("end").querySelector("h2").tabIndex = -1;
  $("end").querySelector("h2").focus();
}

$("begin").textContent = started ? "Continue where I was" : "Start";
run().catch((error) => problem(`${error.message}. Please reload this page; your answers so far are saved.`));
