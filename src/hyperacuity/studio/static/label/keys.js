// The keyboard: everything a hand can do. Letters can be switched off.
import { $, lettersAct } from "../studio.js";

const TOOLS = { m: "move", p: "path", a: "add", e: "erase", c: "chain", k: "keep", l: "lasso" };
const BACKGROUNDS = { 1: "image", 2: "gradient", 3: "plain" };
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function listenToKeys(desk) {
  const { stage } = desk;
  const press = {
    z: (event) => (event.shiftKey ? desk.redo() : desk.undo()),
    y: (event) => event.ctrlKey || event.metaKey ? desk.redo() : null,
    o: () => desk.showOverlay(!stage.overlay),
    w: () => desk.showWritten(!stage.written),
    s: () => desk.nextSource(),
    g: () => desk.look.magnify(!stage.magnifies),
    ",": () => desk.look.resize(desk.look.brush.size - 2),
    ".": () => desk.look.resize(desk.look.brush.size + 2),
    d: () => desk.done(),
    "!": () => $("flag").click(),
    0: () => stage.fit(),
    "+": () => stage.zoom(1.5),
    "=": () => stage.zoom(1.5),
    "-": () => stage.zoom(1 / 1.5),
    "[": () => desk.slide(desk.position - 5),
    "]": () => desk.slide(desk.position + 5),
    "{": () => desk.slide(desk.position - 50),
    "}": () => desk.slide(desk.position + 50),
    "?": () => $("help").showModal(),
  };

  addEventListener("keydown", (event) => {
    const composed = event.getModifierState("AltGraph"); // which is how many keyboards type a bracket
    if (document.querySelector("dialog[open]") || (event.altKey && !composed)) return;
    if (event.target.closest?.("select")) return; // where letters choose
    const control = (event.ctrlKey || event.metaKey) && !composed;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (control) {
      if (key !== "z" && key !== "y") return;
    } else if (event.target === stage.canvas && onCanvas(key, event)) {
      event.preventDefault();
      return;
    } else if (key === "Escape") {
      desk.tool.cancel();
      return;
    } else if ((key === "PageUp" || key === "PageDown") && event.target.type !== "range") {
      event.preventDefault();
      $(key === "PageUp" ? "previous" : "next")?.click();
      return;
    } else if (event.key.length > 1 || (!lettersAct() && /[a-z]/.test(key))) return;
    if (key in TOOLS && !control) desk.take(TOOLS[key]);
    else if (key in BACKGROUNDS) desk.showBackground(BACKGROUNDS[key]);
    else if (key in press) press[key](event);
    else return;
    event.preventDefault();
  });
  addEventListener("keyup", (event) => {
    if (event.key === " ") desk.spaceIsDown = false;
  });
  stage.canvas.addEventListener("focus", () => {
    stage.showsCursor = stage.canvas.matches(":focus-visible");
    stage.refresh();
  });
  stage.canvas.addEventListener("blur", () => {
    stage.showsCursor = desk.spaceIsDown = false;
    stage.refresh();
  });

  /** Keys that mean the cursor pixel. */
  function onCanvas(key, event) {
    const how = () => ({ point: stage.positionOf(stage.cursor).map((at) => at + 0.5), shift: event.shiftKey });
    if (key in ARROWS) {
      const far = event.shiftKey ? 10 : 1;
      const [column, row] = stage.positionOf(stage.cursor);
      const [right, down] = ARROWS[key];
      stage.cursor = stage.pixelAt([column + right * far, row + down * far]);
      stage.showsCursor = true;
      stage.follow();
      desk.tool.hover(stage.cursor, { ...how(), shift: false });
      desk.tellWhere(stage.cursor, true);
    } else if (key === "Enter") {
      stage.showsCursor = true;
      desk.tool.press(stage.cursor, how());
      desk.tool.release(stage.cursor, how());
      desk.tellWhere(stage.cursor);
    } else if (key === " ") desk.spaceIsDown = true;
    else return false;
    return true;
  }
}
