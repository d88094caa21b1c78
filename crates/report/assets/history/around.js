// What is around the lanes: the axis, what the log says beside, crashes, the event that nothing explains,
// and all of it small.

/** Bands in rows, so that none covers another. */
const bands = (() => {
  const ends = [];
  return data.bands.map((band) => {
    const to = band.instant ? band.from.rank + 1 : band.to?.rank ?? data.events;
    let row = ends.findIndex((end) => end < band.from.rank);
    if (row < 0) row = Math.min(ends.length, MOST_ROWS - 1);
    ends[row] = Math.max(ends[row] ?? -1, to);
    return { ...band, row };
  });
})();
const bandRows = bands.reduce((most, band) => Math.max(most, band.row + 1), 0);

/** Where a band is on the screen. */
function bandEnds(band) {
  const from = toX(placeBefore(band.from.rank));
  return [from, band.instant ? from + 3 : toX(band.to ? placeBefore(band.to.rank) : axis.total + margin())];
}

/** The band under a point of the drawing. */
function bandAt(x, y) {
  const row = Math.floor((y - AXIS) / BAND);
  return bands.findLast((band) => {
    const [from, to] = bandEnds(band);
    return band.row === row && x >= from - 2 && x <= Math.max(to, from + (band.instant ? 60 : 6));
  });
}

function drawBands(context) {
  context.font = font(11);
  for (const band of bands) {
    const [from, to] = bandEnds(band);
    if (to < axis.gutter || from > size.width) continue;
    const y = AXIS + band.row * BAND;
    const wide = Math.max(to - from, 3);
    context.fillStyle = theme.band;
    context.globalAlpha = 0.07;
    context.fillRect(from, size.top - size.flags, wide, bottom() - size.top + size.flags);
    context.globalAlpha = 0.2;
    context.fillRect(from, y + 1, wide, BAND - 3);
    context.globalAlpha = 1;
    context.fillRect(from, y + 1, 2, BAND - 3);
    context.fillStyle = theme.text;
    const x = Math.max(from, axis.gutter) + 7;
    const room = band.instant ? 40 : Math.floor((to - x - 4) / (letter * 11 / 12));
    if (room > 3) context.fillText(cut(band.text, room), x, y + BAND / 2);
  }
}

function drawCrashes(context) {
  for (const crash of data.crashes) {
    const x = toX(place(crash.at.rank));
    if (x < axis.gutter || x > size.width) continue;
    const lane = crash.process === null ? -1 : shown.laneOf[crash.process];
    if (crash.process !== null && lane < 0) continue;
    const [top, end] = lane < 0 ? [size.top - size.flags + 4, bottom()] : [laneTop(lane), laneTop(lane) + size.lane];
    context.strokeStyle = theme.band;
    context.lineWidth = 2;
    context.setLineDash([6, 4]);
    context.beginPath();
    context.moveTo(x, Math.max(top, size.top - size.flags));
    context.lineTo(x, end);
    context.stroke();
    context.setLineDash([]);
    const y = lane < 0 ? size.top - FLAG / 2 : (top + end) / 2;
    if (y > size.top - size.flags) drawFlag(context, lane < 0 ? "✕ crash" : "✕", x, y, theme.band);
  }
}

function drawFlag(context, text, x, y, colour) {
  context.font = font(11, 600);
  const wide = context.measureText(text).width + 12;
  const left = x + wide > size.width - 4 ? Math.max(x - wide, axis.gutter) : x;
  context.fillStyle = colour;
  context.beginPath();
  context.roundRect(left, y - 9, wide, 18, 3);
  context.fill();
  context.fillStyle = theme.page;
  context.fillText(text, left + 6, y + 0.5);
}

/** The event that nothing explains. */
function drawEvent(context) {
  const event = violation()?.event;
  if (!event) return;
  const x = toX(place(event.rank));
  if (x < axis.gutter - 1 || x > size.width) return;
  context.strokeStyle = theme.bad;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x, size.top - size.flags + 4);
  context.lineTo(x, bottom());
  context.stroke();
  drawFlag(context, eventWords(event), x, size.top - size.flags + FLAG / 2, theme.bad);
}

function eventWords(event) {
  return event.line === null ? "no order explains this" : `line ${event.line}: no order explains this`;
}

/** A step of 1, 2 or 5 times a power of ten that leaves room for so many pixels. */
function niceStep(pixels) {
  const least = pixels / axis.scale;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= least) * power;
  return axis.byTime ? step : Math.max(1, Math.round(step));
}

function drawAxis(context) {
  context.fillStyle = theme.page;
  context.fillRect(axis.gutter, 0, size.width, AXIS);
  context.font = font(11);
  context.fillStyle = theme.soft;
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  const step = niceStep(92);
  for (let at = Math.max(0, Math.ceil(axis.left / step) * step); at <= axis.total; at += step) {
    const x = toX(at);
    if (x > size.width) break;
    context.beginPath();
    context.moveTo(x + 0.5, AXIS - 6);
    context.lineTo(x + 0.5, AXIS);
    context.stroke();
    const text = axis.byTime ? timeWords(at, step) : eventName(at);
    if (text !== null) context.fillText(text, x + 4, AXIS / 2);
  }
  context.beginPath();
  context.moveTo(axis.gutter, AXIS - 0.5);
  context.lineTo(size.width, AXIS - 0.5);
  context.stroke();
}

/** What the event in a slot is called: its line, where lines are known. */
function eventName(slot) {
  const rank = axis.marked[slot];
  if (rank === undefined) return null;
  const line = lineOfRank(rank);
  return line === null ? `event ${rank}` : `line ${line}`;
}

const linesByRank = (() => {
  if (operations.fromLine === null) return null;
  const all = new Int32Array(data.events + 1).fill(-1);
  for (let op = 0; op < operations.count; op += 1) {
    all[operations.from[op]] = operations.fromLine[op] ?? -1;
    if (operations.to[op] >= 0) all[operations.to[op]] = operations.toLine[op] ?? -1;
  }
  data.crashes.forEach((crash) => { all[crash.at.rank] = crash.at.line ?? -1; });
  return all;
})();

function lineOfRank(rank) {
  return linesByRank === null || linesByRank[rank] < 0 ? null : linesByRank[rank];
}

const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

/** A time in words, as exact as the step asks. */
function timeWords(nanoseconds, step = 1) {
  if (nanoseconds === 0) return "0";
  const [name, unit] = UNITS.find(([, one]) => Math.abs(nanoseconds) >= one) ?? UNITS[3];
  const places = Math.min(Math.max(0, Math.ceil(Math.log10(unit / step))), 6);
  return `${(nanoseconds / unit).toFixed(places)} ${name}`;
}

/** All of it, small: how much is in progress, the core, the event, and what part is on the screen. */
function drawOverview() {
  const context = overview.getContext("2d");
  const [width, height] = [overview.clientWidth, overview.clientHeight];
  context.clearRect(0, 0, width, height);
  const toSmall = (position) => ((position + margin()) / (axis.total + 2 * margin())) * width;
  context.fillStyle = theme.band;
  context.globalAlpha = 0.2;
  for (const band of bands) {
    const from = toSmall(placeBefore(band.from.rank));
    const to = band.instant ? from + 2 : toSmall(band.to ? placeBefore(band.to.rank) : axis.total);
    context.fillRect(from, 0, Math.max(to - from, 1), height);
  }
  context.globalAlpha = 1;
  context.fillStyle = theme.faint;
  context.globalAlpha = 0.55;
  const busy = busyness(Math.max(1, Math.floor(width)), toSmall);
  const most = busy.reduce((one, other) => Math.max(one, other), 1);
  busy.forEach((count, x) => context.fillRect(x, height - 3 - count / most * (height - 9), 1, count / most * (height - 9)));
  context.globalAlpha = 1;
  context.fillStyle = theme.bad;
  const wrong = violation();
  wrong?.ops.forEach((op) => {
    if (!shown.marks[op]) return;
    const from = toSmall(place(operations.from[op]));
    context.fillRect(from, height - 5, Math.max(toSmall(place(operations.end[op])) - from, 2), 4);
  });
  if (wrong?.event) context.fillRect(toSmall(place(wrong.event.rank)) - 1, 0, 2, height);
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.5;
  const [left, right] = [toSmall(axis.left), toSmall(axis.left + axis.width / axis.scale)];
  context.strokeRect(Math.max(left, 0) + 1, 1, Math.max(Math.min(right, width) - Math.max(left, 0) - 2, 3), height - 2);
}

let busy = { of: null, counts: [] };

/** How many operations are in progress, pixel by pixel; kept until something else is shown. */
function busyness(width, toSmall) {
  if (busy.of === `${width} ${axis.byTime} ${shown.version}`) return busy.counts;
  const change = new Int32Array(width + 2);
  for (const { ops } of shown.lanes) {
    for (const op of ops) {
      change[Math.floor(Math.max(0, toSmall(place(operations.from[op]))))] += 1;
      change[Math.min(width, Math.floor(toSmall(place(operations.end[op]))) + 1)] -= 1;
    }
  }
  const counts = new Float64Array(width);
  let now = 0;
  for (let x = 0; x < width; x += 1) {
    now += change[x];
    counts[x] = now;
  }
  busy = { of: `${width} ${axis.byTime} ${shown.version}`, counts };
  return counts;
}
