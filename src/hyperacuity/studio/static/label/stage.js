// The picture on its canvas: the photograph or the gradient, the edges over it, what a tool is about to do, and the cursor pixel.
// Pixels stay crisp at any zoom. Lengths here are in device pixels; `scale` is how many of them one pixel of the image takes.

const ERASED = [204, 121, 167, 110];
const BLUE = [86, 180, 233], ORANGE = [230, 159, 0];

/** Colours of kept and of added edges: one of them stands out on any photograph. */
export const PALETTES = {
  orange: [ORANGE, BLUE], magenta: [[255, 64, 200], BLUE], cyan: [[0, 229, 255], ORANGE], yellow: [[255, 236, 0], BLUE], white: [[255, 255, 255], BLUE],
};
const LOUPE = 190; // side of the magnifier, in pixels of the page
const LARGEST = 64;
const GRID_FROM = 14;

export class Stage {
  constructor(canvas, map, photo) {
    Object.assign(this, { canvas, map, photo });
    this.context = canvas.getContext("2d");
    this.background = "image";
    this.overlay = true;
    this.written = null; // the thinned map, while only what will be written is shown
    this.cursor = Math.floor(map.height / 2) * map.width + Math.floor(map.width / 2);
    this.showsCursor = false;
    this.style = { colour: "orange", width: 1, opacity: 1 }; // of edges: width is the least, in pixels of the page
    this.magnifies = false;
    this.sketch = null; // {pixels, colour} or {corners}: what a tool is about to do
    this.view = null; // {scale, x, y}: the image's point x, y lies in the canvas's upper left corner
    this.edges = new OffscreenCanvas(map.width, map.height);
    this.stale = [0, map.height - 1];
    this.moved = () => {};
    map.changed = (first, last) => this.spoil(first, last);
    new ResizeObserver(() => this.#resize()).observe(canvas.parentElement);
    this.#resize();
  }

  /** Draw again, soon. */
  refresh() {
    this.asked ??= requestAnimationFrame(() => {
      this.asked = null;
      this.#draw();
    });
  }

  /** The edges of some rows have changed. */
  spoil(first, last) {
    this.stale = this.stale ? [Math.min(first, this.stale[0]), Math.max(last, this.stale[1])] : [first, last];
    this.refresh();
  }

  /** The whole image in the middle. */
  fit() {
    const { width, height } = this.map;
    const scale = Math.min(this.canvas.width / width, this.canvas.height / height) * 0.97;
    this.look({ scale, x: (width - this.canvas.width / scale) / 2, y: (height - this.canvas.height / scale) / 2 });
    this.fitted = true; // and stays so when the window gets another size
  }

  /** Closer by a factor, about a point of the canvas (by default the cursor pixel if it can be seen, else the middle). */
  zoom(factor, [left, top] = this.#focus()) {
    const { scale, x, y } = this.view;
    const least = 0.5 * Math.min(1, this.canvas.width / this.map.width, this.canvas.height / this.map.height);
    const next = Math.min(Math.max(scale * factor, least), LARGEST * devicePixelRatio);
    this.look({ scale: next, x: x + left / scale - left / next, y: y + top / scale - top / next });
  }

  /** Move the image by so many device pixels. */
  pan(right, down) {
    const { scale, x, y } = this.view;
    this.look({ scale, x: x - right / scale, y: y - down / scale });
  }

  /** Make sure that the cursor pixel can be seen. */
  follow() {
    const { scale, x, y } = this.view;
    const [column, row] = this.positionOf(this.cursor);
    const margin = Math.min(40 * devicePixelRatio, this.canvas.width / 4, this.canvas.height / 4) / scale;
    const across = this.canvas.width / scale, down = this.canvas.height / scale;
    this.look({
      scale,
      x: Math.min(Math.max(x, column + 1 + margin - across), column - margin),
      y: Math.min(Math.max(y, row + 1 + margin - down), row - margin),
    });
  }

  /** The position of a pointer on the canvas, in device pixels. */
  pointOf(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * devicePixelRatio, (event.clientY - box.top) * devicePixelRatio];
  }

  /** A position on the canvas as a point of the image; pixel centres lie at halves. */
  toImage([left, top]) {
    return [this.view.x + left / this.view.scale, this.view.y + top / this.view.scale];
  }

  /** The pixel at a point of the image; the nearest one for points outside. */
  pixelAt([x, y]) {
    const column = Math.min(Math.max(Math.floor(x), 0), this.map.width - 1);
    const row = Math.min(Math.max(Math.floor(y), 0), this.map.height - 1);
    return row * this.map.width + column;
  }

  /** Column and row of a pixel. */
  positionOf(pixel) {
    return [pixel % this.map.width, Math.floor(pixel / this.map.width)];
  }

  /** Look at the image from a point and with a scale. */
  look({ scale, x, y }) {
    // The middle of the canvas stays on the image, so that nobody gets lost.
    const halfX = this.canvas.width / scale / 2, halfY = this.canvas.height / scale / 2;
    this.view = {
      scale,
      x: Math.min(Math.max(x, -halfX), this.map.width - halfX),
      y: Math.min(Math.max(y, -halfY), this.map.height - halfY),
    };
    this.fitted = false;
    this.moved();
    this.refresh();
  }

  #focus() {
    const [left, top] = this.positionOf(this.cursor).map((at, i) => (at + 0.5 - (i ? this.view.y : this.view.x)) * this.view.scale);
    const seen = left >= 0 && top >= 0 && left < this.canvas.width && top < this.canvas.height;
    return seen ? [left, top] : [this.canvas.width / 2, this.canvas.height / 2];
  }

  #resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    const width = Math.max(1, Math.round(box.width * devicePixelRatio));
    const height = Math.max(1, Math.round(box.height * devicePixelRatio));
    if (this.view && width === this.canvas.width && height === this.canvas.height) return;
    const middle = this.view && this.toImage([this.canvas.width / 2, this.canvas.height / 2]);
    this.canvas.width = width;
    this.canvas.height = height;
    if (!middle || this.fitted) return this.fit();
    const { scale } = this.view;
    this.look({ scale, x: middle[0] - width / scale / 2, y: middle[1] - height / scale / 2 });
  }

  #draw() {
    const { context, canvas, map } = this;
    const { scale, x, y } = this.view;
    this.#repaint();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(scale, 0, 0, scale, -x * scale, -y * scale);
    context.imageSmoothingEnabled = scale < 1;
    if (this.background === "image") context.drawImage(this.photo, 0, 0);
    else if (this.background === "gradient") context.drawImage(this.#gradient(), 0, 0);
    else {
      context.fillStyle = getComputedStyle(canvas).getPropertyValue("--paper");
      context.fillRect(0, 0, map.width, map.height);
    }
    if (this.overlay) this.#drawEdges();
    if (scale >= GRID_FROM * devicePixelRatio) this.#drawGrid();
    this.#drawSketch();
    if (this.showsCursor) this.#drawCursor();
    if (this.magnifies) this.#drawLoupe();
  }

  /** The edges, at least as wide as asked: where pixels are smaller than that, they are drawn side by side. */
  #drawEdges(scale = this.view.scale) {
    const { context, style } = this;
    const more = Math.max(0, style.width * devicePixelRatio - scale) / 2 / scale;
    context.globalAlpha = style.opacity;
    for (const down of more ? [-more, 0, more] : [0]) {
      for (const right of more ? [-more, 0, more] : [0]) context.drawImage(this.edges, right, down);
    }
    context.globalAlpha = 1;
  }

  /** What lies around the cursor pixel, enlarged, in the upper corner that the cursor is not in. */
  #drawLoupe() {
    const { context, canvas } = this;
    const side = LOUPE * devicePixelRatio, edge = 8 * devicePixelRatio;
    const [column, row] = this.positionOf(this.cursor);
    const here = [column + 0.5, row + 0.5].map((at, i) => (at - (i ? this.view.y : this.view.x)) * this.view.scale);
    const left = here[0] > canvas.width / 2 ? edge : canvas.width - side - edge;
    const scale = Math.max(8 * devicePixelRatio, 3 * this.view.scale);
    context.save();
    context.setTransform(1, 0, 0, 1, left, edge);
    context.beginPath();
    context.rect(0, 0, side, side);
    context.clip();
    context.fillStyle = "#16181d";
    context.fillRect(0, 0, side, side);
    context.setTransform(scale, 0, 0, scale, left + side / 2 - (column + 0.5) * scale, edge + side / 2 - (row + 0.5) * scale);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.background === "gradient" ? this.#gradient() : this.photo, 0, 0);
    if (this.overlay) this.#drawEdges(scale);
    context.beginPath();
    context.rect(column, row, 1, 1);
    this.#stroke("#fff", 3 / scale * devicePixelRatio);
    this.#stroke("#111", 1 / scale * devicePixelRatio);
    context.restore();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.strokeStyle = "#fff";
    context.lineWidth = 2 * devicePixelRatio;
    context.strokeRect(left, edge, side, side);
  }

  #drawGrid() {
    const { context, map, canvas } = this;
    const [left, top] = this.toImage([0, 0]), [right, bottom] = this.toImage([canvas.width, canvas.height]);
    context.beginPath();
    for (let x = Math.max(0, Math.ceil(left)); x <= Math.min(map.width, right); x++) {
      context.moveTo(x, Math.max(0, top));
      context.lineTo(x, Math.min(map.height, bottom));
    }
    for (let y = Math.max(0, Math.ceil(top)); y <= Math.min(map.height, bottom); y++) {
      context.moveTo(Math.max(0, left), y);
      context.lineTo(Math.min(map.width, right), y);
    }
    context.lineWidth = 1 / this.view.scale;
    context.strokeStyle = "rgb(128 128 128 / .35)";
    context.stroke();
  }

  #drawSketch() {
    const { context, sketch } = this;
    if (!sketch) return;
    const hair = devicePixelRatio / this.view.scale;
    if (sketch.pixels) {
      context.fillStyle = sketch.colour;
      for (const pixel of sketch.pixels) {
        const [column, row] = this.positionOf(pixel);
        const more = Math.max(0, 1.5 * hair - 1) / 2; // visible from afar too
        context.fillRect(column - more, row - more, 1 + 2 * more, 1 + 2 * more);
      }
    }
    if (sketch.brush?.size > 1) {
      const [column, row] = this.positionOf(sketch.brush.pixel);
      context.beginPath();
      context.arc(column + 0.5, row + 0.5, sketch.brush.size / 2, 0, 2 * Math.PI);
      this.#stroke("#fff", 3 * hair);
      this.#stroke("#111", 1.5 * hair);
    }
    if (sketch.corners) {
      context.beginPath();
      sketch.corners.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.fillStyle = "rgb(213 94 0 / .18)";
      context.fill();
      context.setLineDash([]);
      this.#stroke("#fff", 3 * hair);
      context.setLineDash([5 * hair, 4 * hair]);
      this.#stroke("#d55e00", 2 * hair);
      context.setLineDash([]);
    }
  }

  #drawCursor() {
    const { context } = this;
    const hair = devicePixelRatio / this.view.scale;
    const [column, row] = this.positionOf(this.cursor);
    const side = Math.max(1, 7 * hair);
    context.beginPath();
    context.rect(column + 0.5 - side / 2, row + 0.5 - side / 2, side, side);
    this.#stroke("#fff", 4 * hair);
    this.#stroke("#111", 2 * hair);
  }

  #stroke(colour, width) {
    this.context.strokeStyle = colour;
    this.context.lineWidth = width;
    this.context.stroke();
  }

  /** Paint the rows that changed. */
  #repaint() {
    if (!this.stale) return;
    const { map } = this;
    const [first, last] = this.stale;
    this.stale = null;
    if (last < first) return;
    const rows = new ImageData(map.width, last - first + 1);
    const shown = this.written ?? map.edges;
    const [kept, added] = PALETTES[this.style.colour].map((colour) => [...colour, 255]);
    for (let pixel = first * map.width, i = 0; i < rows.data.length; pixel++, i += 4) {
      if (shown[pixel]) rows.data.set(map.kindOf(pixel) === "added" ? added : kept, i);
      else if (!this.written && map.decided[pixel] && !map.edges[pixel] && map.isCandidate(pixel)) rows.data.set(ERASED, i);
    }
    this.edges.getContext("2d").putImageData(rows, 0, first);
  }

  /** The gradient (or what else candidates come from), dark where it is strong; made when it is first asked for. */
  #gradient() {
    if (this.drawnSource !== this.map.source) {
      this.drawnSource = this.map.source;
      const { width, height, level } = this.map;
      const picture = new ImageData(width, height);
      const shades = Uint8Array.from({ length: 65536 }, (_, i) => 255 - 255 * Math.sqrt(i / 65535));
      const words = new Uint32Array(picture.data.buffer);
      for (let pixel = 0; pixel < level.length; pixel++) words[pixel] = 0xff000000 | (0x010101 * shades[level[pixel]]);
      this.drawnGradient = new OffscreenCanvas(width, height);
      this.drawnGradient.getContext("2d").putImageData(picture, 0, 0);
    }
    return this.drawnGradient;
  }
}
