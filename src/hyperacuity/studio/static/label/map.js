// The edge map as it stands: candidates that reach the threshold, but for pixels that an action has decided. Candidates may come
// from several sources, one of which is in force. The server replays the same actions by the same rule (label/map.py);
// `checksum` tells whether both came to the same map.
import { eachPixel, rowsOf } from "./runs.js";

const FREE = 0, EDGE = 1, NONE = 2, KEPT = 3;
const ADDING = new Set(["add", "path"]);

export class EdgeMap {
  /** Levels and survivors of suppression, in the order of pixels, and the threshold to begin with, of the first source. */
  constructor({ width, height, level, survives, start, source = "gradient" }) {
    Object.assign(this, { width, height, level, survives, source });
    this.sources = new Map();
    this.offer(source, { level, survives, start });
    this.threshold = start;
    this.decided = new Uint8Array(width * height);
    this.edges = new Uint8Array(width * height);
    this.count = 0;
    this.done = []; // [action, what it replaced]
    this.undone = [];
    this.changed = () => {}; // called with the first and last row that changed
    this.#redraw();
  }

  /** There is another source of candidates. */
  offer(source, { level, survives, start }) {
    this.sources.set(source, { level, survives, settled: start });
  }

  /** The threshold of the last action, without a preview. */
  get settled() {
    return this.sources.get(this.source).settled;
  }

  /** Carry out an action: {kind, runs}, {kind: "threshold", threshold} or {kind: "source", sources: [source]}. Nothing can be
   * redone after it. */
  act(action) {
    this.undone = [];
    this.#do(action);
  }

  undo() {
    const [action, before] = this.done.pop();
    this.undone.push(action);
    if (action.kind === "threshold") this.#settle(before);
    else if (action.kind === "source") this.#turn(before);
    else {
      let i = 0;
      this.#decide(action.runs, () => before[i++]);
    }
    return action;
  }

  redo() {
    const action = this.undone.pop();
    this.#do(action);
    return action;
  }

  /** Show another threshold without it being an action: while a slider moves. */
  preview(threshold) {
    if (threshold === this.threshold) return;
    this.threshold = threshold;
    this.#redraw();
  }

  /** Whether a pixel is a candidate that reaches the threshold. */
  isCandidate(pixel) {
    return this.survives[pixel] === 1 && this.level[pixel] >= this.threshold;
  }

  /** "kept", "added", "erased" or "": what a pixel is, compared with the candidates. */
  kindOf(pixel) {
    const candidate = this.isCandidate(pixel);
    if (this.edges[pixel]) return candidate || this.decided[pixel] === KEPT ? "kept" : "added";
    return candidate ? "erased" : "";
  }

  /** CRC-32 of the map, one byte per pixel. */
  checksum() {
    let crc = 0xffffffff;
    for (const edge of this.edges) crc = (crc >>> 8) ^ CRC[(crc ^ edge) & 255];
    return (crc ^ 0xffffffff) >>> 0;
  }

  #do(action) {
    if (action.kind === "threshold") {
      this.done.push([action, this.settled]);
      this.#settle(action.threshold);
      return;
    }
    if (action.kind === "source") {
      this.done.push([action, this.source]);
      this.#turn(action.sources[0]);
      return;
    }
    const before = [];
    eachPixel(action.runs, (pixel) => before.push(this.decided[pixel]));
    this.done.push([action, Uint8Array.from(before)]);
    if (action.kind === "keep") {
      let i = 0;
      this.#decide(action.runs, () => (before[i++] === EDGE ? EDGE : KEPT)); // what was drawn stays drawn
      return;
    }
    const word = ADDING.has(action.kind) ? EDGE : NONE;
    this.#decide(action.runs, () => word);
  }

  #decide(runs, word) {
    eachPixel(runs, (pixel) => {
      this.decided[pixel] = word();
      const edge = this.#isEdge(pixel);
      this.count += edge - this.edges[pixel];
      this.edges[pixel] = edge;
    });
    this.changed(...rowsOf(runs, this.width));
  }

  #settle(threshold) {
    this.sources.get(this.source).settled = threshold;
    this.preview(threshold);
  }

  #turn(source) {
    const { level, survives, settled } = this.sources.get(source);
    Object.assign(this, { source, level, survives, threshold: settled });
    this.#redraw();
  }

  #redraw() {
    this.count = 0;
    for (let pixel = 0; pixel < this.edges.length; pixel++) this.count += this.edges[pixel] = this.#isEdge(pixel);
    this.changed(0, this.height - 1);
  }

  #isEdge(pixel) {
    const word = this.decided[pixel];
    return word === EDGE || word === KEPT || (word === FREE && this.isCandidate(pixel)) ? 1 : 0;
  }
}

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte;
});
