// The drawing: a lane a process, only what is on the screen.

const frame = document.getElementById("frame");
const canvas = document.getElementById("lanes");
const overview = document.getElementById("overview");

const AXIS = 26;
const BAND = 19;
const FLAG = 24;
const LANE_MOST = 62;
const LANE_LEAST = 36;
/** Points of an order that are drawn as a line at most. */
const MOST_POINTS = 3000;
/** Bands on top of each other at most. */
const MOST_ROWS = 3;
/** Bars of so many pixels have room for two lines of words above the order; all have for one. */
const TALLER = 46;
const HUES = [212, 158, 268, 38, 188, 318, 96, 240];

let theme = {};
let letter = 7;

/** Pixels: the drawing and what it is made of. */
const size = { width: 0, height: 0, top: 0, lane: LANE_MOST, scroll: 0, flags: 0 };

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  theme = { mono: get("mono") };
  for (const name of ["text", "soft", "faint", "page", "sheet", "line", "bad", "good", "accent", "lane", "after", "band", "order"]) {
    theme[name] = get(name);
  }
  theme.corePage = get("core-page");
  theme.fill = HUES.map((hue) => `hsl(${hue} ${get("fill-s")} ${get("fill-l")})`);
  theme.edge = HUES.map((hue) => `hsl(${hue} ${get("edge-s")} ${get("edge-l")})`);
  theme.orders = HUES.map((hue) => `hsl(${hue} 55% ${get("order-l")})`);
  theme.ink = HUES.map((hue) => `hsl(${hue} 30% ${get("ink-l")})`);
}

/** Fits the canvases to the page. */
function measure(width = frame.clientWidth, height = frame.clientHeight) {
  const dense = window.devicePixelRatio || 1;
  const fit = (element, wide, high) => {
    element.width = Math.max(1, Math.round(wide * dense));
    element.height = Math.max(1, Math.round(high * dense));
    element.getContext("2d").setTransform(dense, 0, 0, dense, 0, 0);
  };
  fit(canvas, width, height);
  fit(overview, overview.clientWidth, overview.clientHeight);
  [size.width, size.height] = [width, height];
  const context = canvas.getContext("2d");
  context.font = font(12);
  letter = context.measureText("0").width;
  layLanes();
}

function font(pixels, weight = 400) {
  return `${weight} ${pixels}px ${theme.mono}`;
}

/** Finds room for the lanes that are shown. */
function layLanes() {
  size.flags = (violation()?.event ? FLAG : 0) + (data.crashes.length > 0 ? FLAG : 0);
  size.top = AXIS + bandRows * BAND + size.flags;
  const room = (size.height - size.top - 8) / Math.max(shown.lanes.length, 1);
  size.lane = Math.min(Math.max(Math.floor(room), LANE_LEAST), LANE_MOST);
  const longest = shown.lanes.reduce((most, lane) => Math.max(most, data.processes[lane.process].length), 0);
  axis.gutter = Math.min(Math.max(longest * letter + 40, 84), 180);
  axis.width = Math.max(size.width - axis.gutter - 10, 10);
  keepScroll();
}

function keepScroll() {
  const most = Math.max(0, shown.lanes.length * size.lane + size.top + 8 - size.height);
  size.scroll = Math.min(Math.max(size.scroll, 0), most);
}

/** Where the last lane ends. */
function bottom() {
  return Math.min(laneTop(shown.lanes.length), size.height);
}

function laneTop(lane) {
  return size.top + lane * size.lane - size.scroll;
}

/** Where in its lane an order passes through the bars: below the words if there is room. */
function pointY(lane) {
  const height = size.lane - 8;
  return laneTop(lane) + 4 + (height >= TALLER ? height - 9 : height - 7);
}

let isDue = false;

/** Draws soon, once. */
function redraw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    draw();
    drawOverview();
  });
}

function draw() {
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, size.width, size.height);
  context.fillStyle = theme.page;
  context.fillRect(0, 0, size.width, size.height);
  context.textBaseline = "middle";
  const first = Math.max(0, Math.floor(size.scroll / size.lane));
  const last = Math.min(shown.lanes.length, Math.ceil((size.scroll + size.height - size.top) / size.lane));
  context.save();
  context.beginPath();
  context.rect(axis.gutter, 0, size.width - axis.gutter, size.height);
  context.clip();
  drawGrid(context, first, last);
  drawBands(context);
  context.save();
  context.beginPath();
  context.rect(0, size.top, size.width, size.height);
  context.clip();
  for (let lane = first; lane < last; lane += 1) drawLane(context, lane);
  // Several orders, of several keys or of one, are told apart by their colours.
  const colour = (at) => (lines.length === 1 ? theme.order : theme.orders[at % HUES.length]);
  if (choice.withOrder) lines.forEach((line, at) => drawOrder(context, line, colour(at)));
  context.restore();
  drawCrashes(context);
  drawEvent(context);
  drawAxis(context);
  context.restore();
  drawNames(context, first, last);
}

function drawGrid(context, first, last) {
  for (let lane = first; lane < last; lane += 1) {
    if (lane % 2 === 1) continue;
    context.fillStyle = theme.lane;
    context.fillRect(axis.gutter, laneTop(lane), size.width, size.lane);
  }
  const event = violation()?.event;
  if (!event) return;
  const x = toX(place(event.rank));
  context.fillStyle = theme.after;
  const top = size.top - size.flags;
  context.fillRect(x, top, size.width - x + 1, bottom() - top);
}

function cut(text, room) {
  return text.length <= room ? text : `${text.slice(0, Math.max(room - 1, 1))}…`;
}

/** The bars of a lane: those that are too narrow to be seen apart as one. */
function drawLane(context, at) {
  const { ops } = shown.lanes[at];
  const event = violation()?.event;
  const marked = [];
  let next = firstAt(ops.length, (index) => place(operations.end[ops[index]]), axis.left);
  const right = toPosition(size.width);
  context.globalAlpha = found.active ? 0.3 : 1;
  while (next < ops.length) {
    const op = ops[next];
    const from = place(operations.from[op]);
    if (from > right) break;
    if (isCore[op] || found.marks[op] || op === choice.chosen || op === choice.hovered) marked.push([op, ops[next + 1]]);
    else if ((place(operations.end[op]) - from) * axis.scale >= 2.5) drawBar(context, op, at, event, ops[next + 1]);
    else {
      context.fillStyle = theme.edge[operations.function[op] % HUES.length];
      context.fillRect(toX(from), laneTop(at) + 6, 1.5, size.lane - 12);
      // The rest of these pixels is drawn already.
      const after = firstAt(ops.length, (index) => place(operations.from[ops[index]]), from + 2.5 / axis.scale);
      for (let skipped = next + 1; skipped < after; skipped += 1) {
        if (isCore[ops[skipped]] || found.marks[ops[skipped]]) marked.push([ops[skipped], ops[skipped + 1]]);
      }
      next = Math.max(next, after - 1);
    }
    next += 1;
  }
  for (const [op, after] of marked) {
    context.globalAlpha = found.active && !found.marks[op] ? 0.3 : 1;
    drawBar(context, op, at, event, after);
  }
  context.globalAlpha = 1;
}

/** A bar; `after` is the next one in its lane, if there is one. */
function drawBar(context, op, lane, event, after) {
  const from = toX(place(operations.from[op]));
  const to = Math.max(toX(place(operations.end[op])), from + 3);
  const top = laneTop(lane) + 4;
  const height = size.lane - 8;
  const hue = operations.function[op] % HUES.length;
  const core = isCore[op] === 1;
  // Ends beyond the screen need no corners, and huge numbers are drawn badly.
  const [x, far] = [Math.max(from, axis.gutter - 20), Math.min(to, size.width + 20)];
  const radius = Math.min(5, (far - x) / 2);
  context.beginPath();
  context.roundRect(x, top, far - x, height, isPending(op) ? [radius, 0, 0, radius] : radius);
  context.fillStyle = core ? theme.corePage : theme.fill[hue];
  context.fill();
  context.lineWidth = core ? 2 : 1;
  context.strokeStyle = core ? theme.bad : theme.edge[hue];
  if (op === choice.chosen || op === choice.hovered) {
    context.lineWidth = op === choice.chosen ? 3 : 2;
    context.strokeStyle = core ? theme.bad : theme.accent;
  }
  if (isPending(op)) context.setLineDash([4, 3]);
  context.stroke();
  context.setLineDash([]);
  if (event && event.operation === operations.id[op] && to <= size.width + 20) {
    context.fillStyle = theme.bad;
    context.fillRect(to - 4, top, 4, height);
  }
  if (core && far - x > 8) drawDiamond(context, Math.max(x, axis.gutter + 5), top + 1);
  context.font = font(12, core ? 600 : 400);
  context.fillStyle = core ? theme.text : theme.ink[hue];
  // Words may go on behind the bar while nothing else is there.
  const end = after === undefined ? size.width : toX(place(operations.from[after]));
  drawWords(context, op, Math.max(x, axis.gutter) + 7, far, Math.min(end, size.width + 400), top, height);
}

/** The call and its answer, in one line or two. */
function drawWords(context, op, x, to, end, top, height) {
  const inside = Math.floor((to - x - 5) / letter);
  const beside = Math.floor((end - x - 8) / letter);
  if (inside < 2 && (beside < 8 || axis.scale * (operations.end[op] - operations.from[op]) < 6)) return;
  const words = height >= TALLER ? labelLines(op) : [label(op)];
  words.forEach((text, line) => {
    const room = text.length <= inside ? inside : Math.max(inside, beside);
    if (room < 3) return;
    context.fillText(cut(text, room), x, top + (height >= TALLER ? 13 + line * 15 : 10));
  });
}

/** What says "core" without a colour. */
function drawDiamond(context, x, y) {
  context.beginPath();
  context.moveTo(x, y - 5);
  context.lineTo(x + 5, y);
  context.lineTo(x, y + 5);
  context.lineTo(x - 5, y);
  context.closePath();
  context.fillStyle = theme.bad;
  context.fill();
}

/** The order as a line from instant to instant, from where it leaves those before it. */
function drawOrder(context, line, colour) {
  const { ops, points } = line;
  const get = (at) => points[at];
  const first = Math.max(0, line.from - 1, firstAt(ops.length, get, axis.left) - 1);
  const last = Math.min(ops.length, firstAt(ops.length, get, toPosition(size.width)) + 1);
  if (last - first > MOST_POINTS || last <= first) return;
  const pointOf = (at) => [toX(points[at]), pointY(shown.laneOf[operations.process[ops[at]]])];
  drawPath(context, line.numbers, first, last, pointOf, colour);
  const room = axis.width / Math.max(1, last - first);
  const radius = room > 12 ? 4 : 2;
  context.font = font(10, 600);
  for (let at = Math.max(first, line.from); at < last; at += 1) {
    const [x, y] = pointOf(at);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
    if (radius > 2) {
      context.lineWidth = 1.5;
      context.strokeStyle = theme.page;
      context.stroke();
    }
    if (room > 26) drawNumber(context, line.numbers[at] + 1, x + 7, y, colour);
  }
}

/** From point to point: dotted where operations between the two are not shown. */
function drawPath(context, numbers, first, last, pointOf, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.globalAlpha = 0.55;
  for (const dotted of [false, true]) {
    context.setLineDash(dotted ? [2, 4] : []);
    context.beginPath();
    for (let at = first + 1; at < last; at += 1) {
      if ((numbers[at] - numbers[at - 1] > 1) !== dotted) continue;
      context.moveTo(...pointOf(at - 1));
      context.lineTo(...pointOf(at));
    }
    context.stroke();
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function drawNumber(context, number, x, y, colour) {
  context.lineWidth = 3;
  context.strokeStyle = theme.page;
  context.globalAlpha = 0.8;
  context.strokeText(number, x, y + 0.5);
  context.globalAlpha = 1;
  context.fillStyle = colour;
  context.fillText(number, x, y + 0.5);
}

function drawNames(context, first, last) {
  context.fillStyle = theme.page;
  context.fillRect(0, 0, axis.gutter, size.height);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(axis.gutter - 0.5, 0);
  context.lineTo(axis.gutter - 0.5, bottom());
  context.stroke();
  context.save();
  context.beginPath();
  context.rect(0, size.top, axis.gutter, size.height);
  context.clip();
  const room = Math.floor((axis.gutter - 32) / letter);
  for (let lane = first; lane < last; lane += 1) {
    const { process } = shown.lanes[lane];
    const hasCore = violation()?.ops.some((op) => operations.process[op] === process) ?? false;
    context.font = font(12, hasCore ? 700 : 400);
    context.fillStyle = hasCore ? theme.text : theme.soft;
    context.fillText(cut(data.processes[process], room), 22, laneTop(lane) + size.lane / 2);
  }
  context.restore();
  context.font = font(11);
  context.fillStyle = theme.faint;
  context.fillText("process", 22, AXIS / 2);
  if (bandRows > 0) context.fillText("log", 22, AXIS + BAND / 2);
}
