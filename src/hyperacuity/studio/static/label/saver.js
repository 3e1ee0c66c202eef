// Everything that is done goes to the server at once, in order, numbered, and again until it has arrived.
import { insist } from "../studio.js";

/** How long someone has worked: pauses of more than half a minute do not count. */
export class Clock {
  constructor() {
    this.spent = 0;
    this.last = performance.now();
    for (const kind of ["pointermove", "pointerdown", "keydown", "wheel"]) {
      addEventListener(kind, () => this.tick(), { passive: true, capture: true });
    }
  }

  tick() {
    const now = performance.now();
    if (now - this.last < 30_000) this.spent += now - this.last;
    this.last = now;
  }

  /** The seconds since this was last asked. */
  lap() {
    this.tick();
    const seconds = this.spent / 1000;
    this.spent = 0;
    return seconds;
  }
}

export class Saver {
  /** `limits`: how many entries and numbers the server takes at once. `onSaved` hears whether all is saved; `stopped` hears why
   * nothing more can be saved. */
  constructor(address, entries, limits, { onSaved, stopped }) {
    Object.assign(this, { address, entries, limits, onSaved, stopped });
    this.clock = new Clock();
    this.queue = [];
    this.working = null;
    this.isStopped = false;
    this.leaving = () => {}; // called when the page is left, before it is too late
    addEventListener("beforeunload", (event) => {
      this.leaving();
      if (this.queue.length && !this.isStopped) event.preventDefault();
    });
  }

  /** Save an entry. */
  save(entry) {
    if (this.isStopped) return;
    this.queue.push({ runs: [], ...entry, ...this.#numbered() });
    this.tell();
    this.working ??= this.#work();
  }

  /** Tell whether all is saved. */
  tell() {
    this.onSaved(!this.queue.length);
  }

  /** Save that the image is done, after everything before it; answers what the server says of it, or null when it was refused.
   * Nothing may be saved until it answers. */
  async done(checksum, anyway) {
    await this.working;
    if (this.isStopped) return null;
    try {
      return await insist(`${this.address}/done`, { method: "POST", body: { checksum, anyway, ...this.#numbered() } });
    } catch (error) {
      this.#stop(error.message);
      return null;
    }
  }

  #numbered() {
    const key = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    return { number: ++this.entries, key, seconds: this.clock.lap() };
  }

  async #work() {
    try {
      while (this.queue.length) {
        const batch = this.#batch();
        await insist(`${this.address}/entries`, { method: "POST", body: { entries: batch } });
        this.queue.splice(0, batch.length);
      }
      this.tell();
    } catch (error) {
      this.#stop(error.message);
    }
    this.working = null;
  }

  #batch() {
    let numbers = 0;
    const end = this.queue.findIndex((entry, i) => {
      numbers += entry.runs.length;
      return i > 0 && (i >= this.limits.entries || numbers > this.limits.numbers);
    });
    return this.queue.slice(0, end < 0 ? undefined : end);
  }

  #stop(sentence) {
    this.isStopped = true;
    this.stopped(sentence);
  }
}
