// Mouse, pen and fingers on the canvas: one pointer uses the tool, two fingers move and zoom, the wheel zooms.

const SLOP = 8; // how far a finger may slide, in device pixels, and still mean one point

export function listen(desk) {
  const { stage } = desk;
  const { canvas } = stage;
  const down = new Map(); // pointers that are down: id → position on the canvas
  let using = null; // the pointer that uses the tool
  let waiting = null; // where a finger touched: a second one may follow, and then it meant no tool
  let panning = null; // the pointer that moves the image

  const where = (event) => {
    const point = stage.toImage(stage.pointOf(event));
    return [stage.pixelAt(point), { point, shift: event.shiftKey }];
  };

  /** Use the tool where the pointer went down, if that has not happened yet. */
  function begin() {
    if (!waiting) return;
    const [pixel, how] = waiting;
    waiting = null;
    stage.cursor = pixel;
    desk.tool.press(pixel, how);
  }

  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus({ focusVisible: false });
    event.preventDefault();
    try { canvas.setPointerCapture(event.pointerId); } catch { /* a pointer that is gone already */ }
    down.set(event.pointerId, stage.pointOf(event));
    if (down.size === 2) {
      if (using !== null && !waiting) desk.tool.cancel();
      using = panning = waiting = null;
    } else if (event.button === 1 || desk.spaceIsDown || desk.toolName === "move") {
      panning = event.pointerId;
      canvas.classList.add("panning");
    } else if (event.button === 0 && down.size === 1) {
      using = event.pointerId;
      stage.showsCursor = false;
      waiting = where(event);
      if (event.pointerType !== "touch") begin();
    }
  });

  canvas.addEventListener("pointermove", (event) => {
    const [pixel, how] = where(event);
    if (!down.has(event.pointerId)) {
      stage.cursor = pixel;
      stage.showsCursor = false;
      if (stage.magnifies) stage.refresh();
      desk.tellWhere(pixel);
      desk.tool.hover(pixel, how);
      return;
    }
    const before = down.get(event.pointerId), now = stage.pointOf(event);
    down.set(event.pointerId, now);
    if (down.size === 2) pinch(event.pointerId, before, now);
    else if (panning === event.pointerId) stage.pan(now[0] - before[0], now[1] - before[1]);
    else if (using === event.pointerId) {
      if (waiting && Math.hypot(how.point[0] - waiting[1].point[0], how.point[1] - waiting[1].point[1]) * stage.view.scale < SLOP) return;
      begin();
      stage.cursor = pixel;
      desk.tellWhere(pixel);
      desk.tool.drag(pixel, how);
    }
  });

  const lift = (event) => {
    down.delete(event.pointerId);
    if (using === event.pointerId) {
      using = null;
      if (event.type === "pointerup") {
        begin();
        desk.tool.release(...where(event));
      } else if (!waiting) desk.tool.cancel();
      waiting = null;
    }
    if (panning === event.pointerId) {
      panning = null;
      canvas.classList.remove("panning");
    }
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const speed = event.ctrlKey ? 0.01 : 0.0022; // a pinch on a touchpad comes as small steps with Control
    stage.zoom(Math.exp(-event.deltaY * lines * speed), stage.pointOf(event));
  }, { passive: false });

  canvas.addEventListener("contextmenu", (event) => event.preventDefault());

  /** Two fingers: the image follows their middle and their distance. */
  function pinch(id, before, now) {
    const [[, other]] = [...down].filter(([one]) => one !== id);
    const length = ([x, y]) => Math.hypot(x - other[0], y - other[1]);
    stage.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    stage.zoom(length(now) / Math.max(1, length(before)), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
  }
}
