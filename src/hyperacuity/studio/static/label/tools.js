// What the tools do. A tool has press, drag and release for a pointer that is down, hover for one that is not, and cancel. The
// keyboard presses and releases at the cursor pixel. A tool shows what it is about to do (stage.sketch) and calls `act` once.
import { chain, connected } from "./chain.js";
import { insideOf, lineOf, toRuns } from "./runs.js";
import { Wire } from "./wire.js";

const ADDED = "#f0e442", ERASED = "#d55e00";
const NEAR = 7; // how many pixels of the screen beside an edge still mean it

/** `brush.size` is how many pixels across add and erase are: an odd number. */
export function makeTools(stage, map, act, tell, brush = { size: 1 }) {
  const show = (sketch) => {
    stage.sketch = sketch;
    stage.refresh();
  };
  const nothing = () => {};
  const plain = { press: nothing, drag: nothing, release: nothing, hover: nothing, cancel: () => show(null) };

  /** The edge pixel nearest to one, within reach of the hand; -1 where there is none. */
  function edgeNear(pixel) {
    return nearest(map, pixel, Math.floor((NEAR * devicePixelRatio) / stage.view.scale), (beside) => map.edges[beside] === 1);
  }

  /** The pixels under the brush for which `fits`. */
  function under(pixel, fits) {
    const found = [];
    eachNear(map, pixel, (brush.size - 1) / 2, (beside) => { if (fits(beside)) found.push(beside); });
    return found;
  }

  /** What the eraser takes away: one pixel across, the edge that is meant; wider, every edge under it. */
  function erased(pixel) {
    if (brush.size > 1) return under(pixel, (beside) => map.edges[beside] === 1);
    const edge = edgeNear(pixel);
    return edge < 0 ? [] : [edge];
  }

  function pencil(kind, colour, choose) {
    let stroke = null;
    let last = -1;
    const extend = (to) => {
      for (const pixel of lineOf(last, to, map.width)) for (const chosen of choose(pixel)) stroke.add(chosen);
      last = to;
      show({ pixels: stroke, colour, brush: { pixel: to, size: brush.size } });
    };
    return {
      ...plain,
      press(pixel) {
        stroke = new Set();
        last = pixel;
        extend(pixel);
      },
      drag(pixel) {
        if (stroke) extend(pixel);
      },
      release() {
        if (stroke?.size) act({ kind, runs: toRuns(stroke) });
        else if (stroke) tell(kind === "add" ? "This pixel is an edge already" : "There is no edge here");
        this.cancel();
      },
      hover(pixel) {
        show({ pixels: choose(pixel), colour, brush: { pixel, size: brush.size } });
      },
      cancel() {
        stroke = null;
        show(null);
      },
    };
  }

  const chainTool = (kind, colour) => ({
    ...plain,
    find(pixel, all) {
      const edge = edgeNear(pixel);
      return edge < 0 ? [] : all ? connected(map, edge) : chain(map, edge);
    },
    press(pixel, { shift }) {
      const found = this.find(pixel, shift);
      if (found.length) act({ kind, runs: toRuns(found) });
      else tell("There is no edge here");
      show(null);
    },
    hover(pixel, { shift }) {
      show({ pixels: this.find(pixel, shift), colour });
    },
  });

  const lasso = {
    ...plain,
    corners: [],
    dragged: false,
    at: null,
    press(pixel, { point }) {
      this.at = point;
      this.dragged = false;
      const first = this.corners[0];
      const reach = (NEAR * devicePixelRatio) / stage.view.scale;
      const again = this.corners.at(-1);
      this.closes = this.corners.length > 2 && (distance(point, first) <= reach || distance(point, again) < 0.5);
      if (!this.closes) this.corners.push(point);
      show({ corners: this.corners });
    },
    drag(pixel, { point }) {
      if (!this.at) return;
      if (distance(point, this.at) * stage.view.scale < 4 * devicePixelRatio) return;
      this.dragged = true;
      this.at = point;
      this.corners.push(point);
      show({ corners: this.corners });
    },
    release() {
      if (!this.at) return;
      this.at = null;
      if (!this.dragged && !this.closes) return; // a corner; more will follow
      const runs = insideOf(this.corners, map.width, map.height);
      this.cancel();
      const some = runs.some((start, i) => i % 2 === 0 && anyEdge(map, start, runs[i + 1]));
      if (some) act({ kind: "lasso", runs });
      else tell("There is no edge inside");
    },
    hover(pixel, { point }) {
      if (this.corners.length) show({ corners: [...this.corners, point] });
    },
    cancel() {
      this.corners = [];
      this.at = null;
      show(null);
    },
  };

  const wire = new Wire(map);
  const path = {
    ...plain,
    trail: [], // where the segments drawn so far begin
    press(pixel) {
      const target = this.snap(pixel);
      if (!this.trail.length) {
        this.begin(target);
        tell("Path started; the next point draws it, the same point again or Escape ends it");
        return;
      }
      if (target === wire.origin) return this.cancel();
      const drawn = wire.to(target);
      const added = drawn.filter((one) => !map.edges[one]);
      if (added.length) act({ kind: "path", runs: toRuns(added) });
      this.begin(drawn.at(-1), added.length > 0);
    },
    begin(pixel, drew = true) {
      wire.begin(pixel);
      if (drew) this.trail.push(pixel);
      else this.trail[this.trail.length - 1] = pixel;
      show({ pixels: [pixel], colour: ADDED });
    },
    hover(pixel) {
      const target = this.snap(pixel);
      show({ pixels: this.trail.length ? wire.to(target) : [target], colour: ADDED });
    },
    drag(pixel) {
      this.hover(pixel);
    },
    /** An undone segment takes the beginning back with it. */
    stepBack() {
      this.trail.pop();
      if (!this.trail.length) return this.cancel();
      wire.begin(this.trail.at(-1));
      show({ pixels: [wire.origin], colour: ADDED });
    },
    /** From afar nobody hits a pixel: then the strongest candidate close by is meant, an edge before any other. */
    snap(pixel) {
      if (stage.view.scale >= 8 * devicePixelRatio) return pixel;
      const near = nearest(map, pixel, 1, (beside) => map.edges[beside] === 1);
      return near >= 0 ? near : strongest(map, pixel, 2);
    },
    cancel() {
      this.trail = [];
      wire.end();
      show(null);
    },
  };

  return {
    move: plain,
    add: pencil("add", ADDED, (pixel) => under(pixel, (beside) => map.edges[beside] === 0)),
    path,
    erase: pencil("erase", ERASED, erased),
    chain: chainTool("chain", ERASED),
    keep: chainTool("keep", ADDED),
    lasso,
  };
}

const distance = ([x0, y0], [x1, y1]) => Math.hypot(x1 - x0, y1 - y0);

function anyEdge(map, start, length) {
  for (let pixel = start; pixel < start + length; pixel++) {
    if (map.edges[pixel] || map.survives[pixel]) return true;
  }
  return false;
}

/** The pixel nearest to one, at most `reach` away, for which `fits`; -1 where there is none. */
function nearest(map, pixel, reach, fits) {
  let best = -1, least = Infinity;
  eachNear(map, pixel, reach, (beside, far) => {
    if (far < least && fits(beside)) [best, least] = [beside, far];
  });
  return best;
}

/** The candidate with the strongest gradient at most `reach` away; the pixel itself where there is none. */
function strongest(map, pixel, reach) {
  let best = pixel, most = 0;
  eachNear(map, pixel, reach, (beside) => {
    if (map.survives[beside] && map.level[beside] > most) [best, most] = [beside, map.level[beside]];
  });
  return best;
}

function eachNear(map, pixel, reach, visit) {
  const x = pixel % map.width, y = Math.floor(pixel / map.width);
  for (let row = Math.max(0, y - reach); row <= Math.min(map.height - 1, y + reach); row++) {
    for (let column = Math.max(0, x - reach); column <= Math.min(map.width - 1, x + reach); column++) {
      const far = (column - x) ** 2 + (row - y) ** 2;
      if (far <= reach * reach) visit(row * map.width + column, far);
    }
  }
}
