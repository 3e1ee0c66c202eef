// Everything by keys. Letters act unless something is typed or a dialog is open.
import { lettersAct } from "../studio.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const PAUSE = 700; // milliseconds in which another digit belongs to the same number

/** Call what a key means. `does` has presses (by button, and flag), go, turn, enter, remove, number, nudge, cursor, link, join, cut,
 * escape, space. */
export function listenToKeys(does) {
  let digits = "";
  let waiting = 0;

  const letters = {
    n: () => does.turn(1, false), p: () => does.turn(-1, false), u: () => does.turn(1, true),
    f: does.link, j: does.join, k: does.cut, t: does.presses.tie, c: does.presses.look, d: does.presses.done,
    y: does.presses["answer-yes"], w: does.presses["answer-swap"], e: does.presses["answer-same"],
    x: does.presses["answer-no"], s: does.presses["answer-skip"],
    o: does.presses["tool-order"], m: does.presses["tool-move"],
    "+": does.presses.in, "=": does.presses.in, "-": does.presses.out, "−": does.presses.out, "?": does.presses["help-open"], "!": does.presses.flag,
    "[": () => does.nudge(-1), "]": () => does.nudge(1),
    ",": () => does.cursor(-1), ".": () => does.cursor(1),
    delete: does.remove, backspace: does.remove, escape: does.escape,
    pageup: does.presses.before, pagedown: does.presses.after,
  };

  function finishNumber() {
    clearTimeout(waiting);
    if (digits) does.number(Number(digits));
    digits = "";
  }

  function meaning(event) {
    const key = event.key;
    const onButton = event.target.closest?.("button, a, summary") !== null;
    const composed = event.getModifierState("AltGraph"); // which is how many keyboards type a bracket
    if (event.altKey && !composed) return null;
    const control = (event.ctrlKey || event.metaKey) && !composed;
    if (!control && !lettersAct() && /^[a-z]$/i.test(key)) return null;
    if (key.toLowerCase() === "z") return event.shiftKey ? does.presses.redo : does.presses.undo;
    if (control) return key.toLowerCase() === "y" ? does.presses.redo : null;
    if (ARROWS[key]) return () => does.go(...ARROWS[key]);
    if (key === "Enter" && !onButton) return () => (digits ? finishNumber() : does.enter(event.shiftKey));
    if (key === " " && !onButton) return () => does.space(true);
    if (key === "0" && !digits) return does.presses.fit;
    if (/^[0-9]$/.test(key)) {
      return () => {
        digits += key;
        clearTimeout(waiting);
        waiting = setTimeout(finishNumber, PAUSE);
      };
    }
    return letters[key.toLowerCase()] ?? null;
  }

  document.addEventListener("keydown", (event) => {
    if (event.target.closest?.("input:not([type=range]), select, textarea, dialog[open]")) return;
    if (event.target.type === "range" && /^(Arrow|Page|Home|End)/.test(event.key)) return;
    const act = meaning(event);
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.addEventListener("keyup", (event) => {
    if (event.key === " ") does.space(false);
  });
  addEventListener("blur", () => does.space(false)); // the key may come up elsewhere
}
