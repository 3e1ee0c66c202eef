// How edges look and how wide the brush is: chosen by the person, remembered by the browser.
import { $, say } from "../studio.js";
import { PALETTES } from "./stage.js";

const KEPT = "hyperacuity-label-look";
const WIDEST = 25;
const css = (colour) => `rgb(${colour.join(" ")})`;

export class Look {
  constructor(stage) {
    this.stage = stage;
    this.brush = { size: 1 };
    this.#restore();
    $("edge-colour").addEventListener("change", ({ target }) => this.#set(() => { stage.style.colour = target.value; }));
    $("edge-width").addEventListener("input", ({ target }) => this.#set(() => { stage.style.width = Number(target.value); }));
    $("edge-opacity").addEventListener("input", ({ target }) => this.#set(() => { stage.style.opacity = target.value / 100; }));
    $("magnifier").addEventListener("change", ({ target }) => this.magnify(target.checked));
    $("brush-size").addEventListener("input", ({ target }) => this.resize(Number(target.value)));
    this.#show();
  }

  /** Enlarge what lies around the cursor, or stop doing so. */
  magnify(on) {
    this.#set(() => { this.stage.magnifies = on; });
    say(on ? "Magnifier on" : "Magnifier off");
  }

  /** Make the brush so many pixels wide: an odd number. */
  resize(size) {
    this.#set(() => { this.brush.size = Math.min(WIDEST, Math.max(1, size)); });
    say(`Brush: ${this.brush.size} pixels`);
  }

  #set(change) {
    change();
    this.#show();
    const { style, magnifies } = this.stage;
    try {
      localStorage.setItem(KEPT, JSON.stringify({ ...style, magnifies, size: this.brush.size }));
    } catch { /* then it lasts as long as the page */ }
  }

  #restore() {
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(KEPT)); } catch { /* as if it were the first time */ }
    if (!kept || !(kept.colour in PALETTES)) return;
    const { size, magnifies, ...style } = kept;
    Object.assign(this.stage.style, style);
    this.stage.magnifies = magnifies;
    this.brush.size = size;
  }

  #show() {
    const { stage } = this;
    const { colour, width, opacity } = stage.style;
    $("edge-colour").value = colour;
    $("edge-width").value = width;
    $("edge-opacity").value = Math.round(100 * opacity);
    $("magnifier").checked = stage.magnifies;
    $("brush-size").value = this.brush.size;
    $("edge-width-shown").textContent = `${width} px`;
    $("edge-opacity-shown").textContent = `${Math.round(100 * opacity)} %`;
    $("brush-shown").textContent = `${this.brush.size} px`;
    const [kept, added] = PALETTES[colour];
    document.documentElement.style.setProperty("--kept", css(kept));
    document.documentElement.style.setProperty("--added", css(added));
    stage.spoil(0, stage.map.height - 1);
  }
}
