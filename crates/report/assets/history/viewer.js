// What people do: keys, pointer, menus; and the start.

/** Applies filters and what follows from them. */
function refresh() {
  select();
  shown.version = (shown.version ?? 0) + 1;
  layAxis();
  layOrders();
  layLanes();
  keepInside();
  writeTools();
  markChosen();
  redraw();
}

/** Changes what is shown; what is at the left edge stays there where that makes sense. */
function filter(changes) {
  const rank = rankAt(axis.left);
  const across = axis.width / axis.scale / axis.total;
  Object.assign(choice, changes);
  if (choice.onlyCore && violation() === null) choice.onlyCore = false;
  refresh();
  writeWrong();
  markChosen();
  if ("key" in changes && violation() !== null) goCore();
  else if (choice.onlyCore || shown.count < 200) goAll();
  else {
    axis.scale = axis.width / Math.max(across * axis.total, 1);
    axis.left = place(rank);
    keepInside();
  }
  redraw();
}

/** The rank of the first event at or after a position. */
function rankAt(position) {
  const at = firstAt(axis.marked.length, (slot) => place(axis.marked[slot]), position);
  return axis.marked[Math.min(at, axis.marked.length - 1)] ?? 0;
}

function goAll() {
  axis.scale = Math.min(fitScale(), axis.byTime ? Infinity : 120);
  axis.left = -margin();
  keepInside();
  redraw();
}

/** Events of the core that are nearer than so many pixels cannot be read. */
const READABLE = 13;

/** Shows the core: with what is around it if that can be read, alone if not. */
function goCore() {
  const wrong = violation();
  if (wrong === null || wrong.ops.length === 0) return;
  const range = () => {
    const from = Math.min(...wrong.ops.map((op) => place(operations.from[op])));
    const to = Math.max(...wrong.ops.map((op) => place(isPending(op) ? operations.from[op] + 1 : operations.to[op])));
    return [from, Math.max(to, wrong.event ? place(wrong.event.rank) : to)];
  };
  let hidden = wrong.ops.some((op) => !shown.marks[op]);
  if (hidden) {
    Object.assign(choice, { key: wrong.key ?? -1, process: -1, function: -1 });
    refresh();
  }
  const [from, to] = range();
  hidden = (to - from) * READABLE > axis.width && !axis.byTime;
  if (hidden && !choice.onlyCore) {
    choice.onlyCore = true;
    refresh();
  }
  showRange(...range());
  scrollTo(wrong.ops);
  redraw();
}

function goEvent() {
  const event = violation()?.event ?? violations[0]?.event;
  if (!event) return;
  if (choice.onlyCore) {
    choice.onlyCore = false;
    refresh();
  }
  const least = axis.byTime ? fitScale() * 20 : 48;
  if (axis.scale < least) axis.scale = least;
  axis.left = place(event.rank) - axis.width * 0.62 / axis.scale;
  keepInside();
  const op = event.operation === null ? -1 : placeOfId(event.operation);
  if (op >= 0) {
    scrollTo([op]);
    choose(op, false);
  }
  redraw();
}

/** Scrolls so that the lanes of operations are on the screen, the first of them at least. */
function scrollTo(ops) {
  const lanes = ops.map((op) => shown.laneOf[operations.process[op]]).filter((lane) => lane >= 0);
  if (lanes.length === 0) return;
  const [first, last] = [Math.min(...lanes), Math.max(...lanes)];
  const room = size.height - size.top;
  if (laneTop(last) + size.lane > size.height) size.scroll = (last + 1) * size.lane - room;
  if (laneTop(first) < size.top) size.scroll = first * size.lane;
  keepScroll();
}

/** Chooses an operation, and shows it unless it is on the screen. */
function choose(op, moves = true) {
  choice.chosen = op;
  writeDetail();
  markChosen();
  if (op >= 0 && moves) {
    if (!shown.marks[op]) {
      Object.assign(choice, { key: choice.key < 0 ? -1 : operations.key[op], process: -1, function: -1, onlyCore: false });
      refresh();
      writeWrong();
      markChosen();
    }
    const [from, to] = [place(operations.from[op]), place(operations.end[op])];
    const [left, right] = [axis.left, axis.left + axis.width / axis.scale];
    if (from < left || Math.min(to, from + 100 / axis.scale) > right) {
      axis.left = (from + Math.min(to, from + 200 / axis.scale)) / 2 - axis.width / axis.scale / 2;
      keepInside();
    }
    scrollTo([op]);
  }
  redraw();
}

/** The next or previous operation: of the core, or of the order where there is no core. */
function step(by) {
  const all = violation()?.ops ?? lines[0]?.ops ?? [];
  if (all.length === 0) return;
  const at = all.indexOf(choice.chosen);
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length;
  choose(all[next]);
}

function nextFound(by) {
  if (found.ops.length === 0) return;
  const at = found.ops.indexOf(choice.chosen);
  choose(found.ops[at < 0 ? 0 : (at + by + found.ops.length) % found.ops.length]);
}

function setByTime(byTime) {
  if (times === null) return;
  const middle = rankAt(axis.left + axis.width / axis.scale / 2);
  const share = axis.width / axis.scale / axis.total;
  choice.byTime = byTime;
  refresh();
  axis.scale = axis.width / (share * axis.total);
  axis.left = place(middle) - axis.width / axis.scale / 2;
  keepInside();
  redraw();
}

function zoomMiddle(factor) {
  zoomAt(axis.gutter + axis.width / 2, factor);
  redraw();
}

/** Moves by pixels. */
function move(x, y) {
  axis.left += x / axis.scale;
  size.scroll += y;
  keepInside();
  keepScroll();
  redraw();
}

function toggleOrder() {
  choice.withOrder = !choice.withOrder && orders.length > 0;
  writeTools();
  redraw();
}

function searchFor(text) {
  choice.search = text;
  find();
  writeTools();
  redraw();
}

function leave() {
  panel.search.value = "";
  searchFor("");
  choose(-1);
}

const KEYS = {
  c: goCore,
  e: goEvent,
  f: () => (choice.onlyCore ? filter({ onlyCore: false }) : null, goAll()),
  o: () => filter({ onlyCore: !choice.onlyCore }),
  l: toggleOrder,
  t: () => setByTime(!choice.byTime),
  n: () => step(1),
  p: () => step(-1),
  "+": () => zoomMiddle(1.5),
  "=": () => zoomMiddle(1.5),
  "-": () => zoomMiddle(1 / 1.5),
  ArrowLeft: () => move(-axis.width / 8, 0),
  ArrowRight: () => move(axis.width / 8, 0),
  ArrowUp: () => move(0, -size.lane * 2),
  ArrowDown: () => move(0, size.lane * 2),
  Home: () => move(-1e18, 0),
  End: () => move(1e18, 0),
  "/": () => panel.search.focus(),
  "?": () => panel["key-list"].showModal(),
  Escape: leave,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || panel["key-list"].open) return;
  const typing = event.target.matches?.("input, select, textarea");
  if (event.target === panel.search) {
    if (event.key === "Enter") nextFound(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      leave();
      canvas.focus();
    }
  }
  if (typing) return;
  if (event.target.matches?.("#panel *") && event.key.startsWith("Arrow")) return;
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

/** The operation under a point of the drawing. */
function operationAt(x, y) {
  if (x < axis.gutter || y < size.top) return -1;
  const lane = shown.lanes[Math.floor((y - size.top + size.scroll) / size.lane)];
  if (lane === undefined) return -1;
  const position = toPosition(x);
  const slack = 3 / axis.scale;
  const at = firstAt(lane.ops.length, (index) => place(operations.end[lane.ops[index]]), position - slack);
  const near = lane.ops.slice(at, at + 3).filter((op) => place(operations.from[op]) <= position + slack);
  return near.find((op) => isCore[op]) ?? near[0] ?? -1;
}

function hover(op, x, y) {
  writeTip(op, x, y);
  canvas.classList.toggle("over", op >= 0);
  if (op === choice.hovered) return;
  choice.hovered = op;
  redraw();
}

let drag = null;

canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  drag = { x: event.offsetX, y: event.offsetY, moved: 0 };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (drag === null) {
    hover(operationAt(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
    return;
  }
  const [x, y] = [drag.x - event.offsetX, drag.y - event.offsetY];
  drag.moved += Math.abs(x) + Math.abs(y);
  if (drag.moved < 4) return;
  canvas.classList.add("dragged");
  hover(-1, 0, 0);
  move(x, y);
  [drag.x, drag.y] = [event.offsetX, event.offsetY];
});
canvas.addEventListener("pointerup", (event) => {
  canvas.classList.remove("dragged");
  if (drag !== null && drag.moved < 4) choose(operationAt(event.offsetX, event.offsetY), false);
  drag = null;
});
canvas.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("pointerleave", () => hover(-1, 0, 0));
canvas.addEventListener("dblclick", (event) => {
  const op = operationAt(event.offsetX, event.offsetY);
  if (op < 0) return;
  showRange(place(operations.from[op]), place(operations.end[op]));
  redraw();
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : 1;
  const [x, y] = [event.deltaX * unit, event.deltaY * unit];
  if (event.ctrlKey || event.metaKey) {
    zoomAt(event.offsetX, Math.exp(-y / 240));
    redraw();
    return;
  }
  // What has no other lanes to scroll to is moved along.
  const tall = shown.lanes.length * size.lane + size.top + 8 > size.height;
  if (event.shiftKey || !tall) move(x + y, 0);
  else move(x, y);
}, { passive: false });

/** Brings what is under the pointer in the overview to the middle. */
function moveTo(event) {
  const position = event.offsetX / overview.clientWidth * (axis.total + 2 * margin()) - margin();
  axis.left = position - axis.width / axis.scale / 2;
  keepInside();
  redraw();
}

overview.addEventListener("pointerdown", (event) => {
  overview.setPointerCapture(event.pointerId);
  moveTo(event);
});
overview.addEventListener("pointermove", (event) => {
  if (event.buttons & 1) moveTo(event);
});

panel.search.addEventListener("input", () => searchFor(panel.search.value));
for (const [id, name] of [["by-key", "key"], ["by-process", "process"], ["by-function", "function"]]) {
  panel[id].addEventListener("change", () => filter({ [name]: Number(panel[id].value) }));
}
for (const [id, key] of [["only-core", "o"], ["with-order", "l"], ["by-time", "t"], ["go-core", "c"], ["go-event", "e"],
  ["go-all", "f"], ["zoom-in", "+"], ["zoom-out", "-"], ["help", "?"]]) {
  panel[id].addEventListener("click", () => KEYS[key]());
}

function repaint() {
  readTheme();
  writeLegend();
  redraw();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
new ResizeObserver(() => {
  if (document.documentElement.classList.contains("paper")) return;
  const [position, first] = [axis.left, size.width === 0];
  measure();
  axis.left = position;
  keepInside();
  if (first) return;
  // At once: what was drawn is gone, and nothing else is shown until the next frame.
  draw();
  drawOverview();
}).observe(frame);

// On paper the drawing is as wide as the page and as high as its lanes, and light.
const PAPER = 1000;
const PAPER_LANES = 24;
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("paper");
  readTheme();
  measure(PAPER, size.top + Math.min(shown.lanes.length, PAPER_LANES) * 50 + 10);
  keepInside();
  draw();
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("paper");
  readTheme();
  measure();
  keepInside();
  redraw();
});

/** A holding history begins with as many events as can be read; a violated one with its core. */
function start() {
  readTheme();
  writeHead();
  writeMenus();
  writeKeys();
  writeAbout();
  writeLegend();
  const wrong = violations[0] ?? null;
  if (wrong !== null && wrong.key !== null) choice.key = wrong.key;
  select();
  measure();
  refresh();
  writeWrong();
  writeDetail();
  if (wrong !== null) goCore();
  else if (axis.total * 22 > axis.width) showRange(0, axis.width / 44);
  else goAll();
  draw();
  drawOverview();
}

start();

// For tests, and for people who look under the bonnet; nothing here reads it.
window.linchpin = Object.freeze({
  get view() {
    return {
      left: axis.left,
      scale: axis.scale,
      total: axis.total,
      width: axis.width,
      scroll: size.scroll,
      byTime: axis.byTime,
      shown: shown.count,
      lanes: shown.lanes.length,
      found: found.ops.length,
      key: choice.key,
      onlyCore: choice.onlyCore,
      chosen: choice.chosen < 0 ? null : operations.id[choice.chosen],
    };
  },
  /** Where the bar of an operation is on the drawing, in pixels; null if it is not shown. */
  box(id) {
    const op = placeOfId(id);
    if (op < 0 || !shown.marks[op]) return null;
    const lane = shown.laneOf[operations.process[op]];
    return { left: toX(place(operations.from[op])), right: toX(place(operations.end[op])), top: laneTop(lane), bottom: laneTop(lane) + size.lane };
  },
  get size() {
    return { width: size.width, height: size.height, top: size.top, gutter: axis.gutter };
  },
});
