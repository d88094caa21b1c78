// Where events are on the screen: by their order, or by time.

/** Positions of events in units of the axis: one event, or one nanosecond. */
const axis = {
  byTime: false,
  // The ranks of the events that have a place, in order: those of what is shown, and the crashes.
  marked: new Int32Array(0),
  // For each rank, how many marked ranks are smaller.
  slot: new Int32Array(data.events + 2),
  total: 1,
  // The part that is on the screen.
  left: 0,
  scale: 1,
  // Pixels: where the lanes begin, and how wide they are.
  gutter: 0,
  width: 1,
};

/** For each rank its time in nanoseconds since the first; never decreasing; null if not recorded. */
const times = (() => {
  if (operations.fromTime === null || operations.count === 0) return null;
  const at = new Float64Array(data.events + 1).fill(-1);
  for (let op = 0; op < operations.count; op += 1) {
    at[operations.from[op]] = operations.fromTime[op] ?? -1;
    if (operations.to[op] >= 0) at[operations.to[op]] = operations.toTime[op] ?? -1;
  }
  let last = 0;
  for (let rank = 0; rank < at.length; rank += 1) {
    last = Math.max(last, at[rank]);
    at[rank] = last;
  }
  return last > 0 ? at : null;
})();

/** Lays the axis out for what is shown. */
function layAxis() {
  const marks = new Uint8Array(data.events + 1);
  for (const { ops } of shown.lanes) {
    for (const op of ops) {
      marks[operations.from[op]] = 1;
      if (operations.to[op] >= 0) marks[operations.to[op]] = 1;
    }
  }
  data.crashes.forEach((crash) => { marks[crash.at.rank] = 1; });
  const marked = [];
  for (let rank = 0; rank <= data.events; rank += 1) {
    axis.slot[rank] = marked.length;
    if (marks[rank]) marked.push(rank);
  }
  axis.slot[data.events + 1] = marked.length;
  axis.marked = Int32Array.from(marked);
  axis.byTime = choice.byTime && times !== null;
  axis.total = Math.max(axis.byTime ? times[data.events] : marked.length, 1);
}

/** The position of the event with a rank. */
function place(rank) {
  return axis.byTime ? times[Math.min(rank, data.events)] : axis.slot[Math.min(rank, data.events + 1)];
}

/** The position of what happened just before the event with a rank. */
function placeBefore(rank) {
  return axis.byTime ? place(rank) : place(rank) - 0.5;
}

function toX(position) {
  return axis.gutter + (position - axis.left) * axis.scale;
}

function toPosition(x) {
  return axis.left + (x - axis.gutter) / axis.scale;
}

function maxScale() {
  return axis.byTime ? Math.max(axis.width / 50, fitScale()) : 160;
}

/** So much of the axis is free before the first and after the last event. */
function margin() {
  return axis.byTime ? axis.total * 0.02 : Math.max(1, axis.total * 0.015);
}

function fitScale() {
  return axis.width / (axis.total + 2 * margin());
}

/** Keeps the part on the screen within the axis. */
function keepInside() {
  axis.scale = Math.min(Math.max(axis.scale, Math.min(fitScale(), maxScale())), maxScale());
  const across = axis.width / axis.scale;
  const least = -margin();
  const most = axis.total + margin() - across;
  axis.left = most < least ? (least + most) / 2 : Math.min(Math.max(axis.left, least), most);
}

/** Zooms; what is at `x` stays there. */
function zoomAt(x, factor) {
  const position = toPosition(x);
  axis.scale *= factor;
  axis.scale = Math.min(Math.max(axis.scale, Math.min(fitScale(), maxScale())), maxScale());
  axis.left = position - (x - axis.gutter) / axis.scale;
  keepInside();
}

/** Shows the positions from `one` to `other`, with something around. */
function showRange(one, other) {
  const around = axis.byTime ? Math.max((other - one) * 0.1, 1) : Math.max((other - one) * 0.08, 1);
  axis.scale = axis.width / (other - one + 2 * around);
  axis.scale = Math.min(axis.scale, axis.byTime ? maxScale() : 120);
  axis.left = (one + other) / 2 - axis.width / axis.scale / 2;
  keepInside();
}

/** The first of `count` things whose position is at least `position`; positions do not decrease. */
function firstAt(count, positionOf, position) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positionOf(middle) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The points of the orders: each operation's instant, between its call and its return. */
let lines = [];

/** How many operations two orders begin with in common. */
function shared(one, other) {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

function layOrders() {
  lines = [];
  const ofKey = new Map();
  for (const order of orders) {
    if (choice.key >= 0 && order.key !== null && order.key !== choice.key) continue;
    const before = ofKey.get(order.key) ?? [];
    const since = Math.max(0, ...before.map((other) => shared(order.ops, other.ops)));
    lines.push(layOrder(order, since));
    ofKey.set(order.key, [...before, order]);
  }
}

/** The points of an order that has its first `since` operations in common with one before it. */
function layOrder(order, since) {
  const numbers = [];
  order.ops.forEach((op, at) => {
    if (shown.marks[op]) numbers.push(at);
  });
  const ops = numbers.map((at) => order.ops[at]);
  const points = new Float64Array(ops.length);
  let latest = -1;
  let start = 0;
  // Operations that take effect after the same call, and before the next event, share the room
  // between the two.
  const spread = (end) => {
    const slot = axis.slot[latest];
    const from = place(latest);
    const to = slot + 1 < axis.marked.length ? place(axis.marked[slot + 1]) : from + (axis.byTime ? 0 : 1);
    for (let at = start; at < end; at += 1) points[at] = from + (to - from) * (at - start + 1) / (end - start + 1);
  };
  ops.forEach((op, at) => {
    if (operations.from[op] <= latest) return;
    if (at > 0) spread(at);
    [latest, start] = [operations.from[op], at];
  });
  if (ops.length > 0) spread(ops.length);
  const from = numbers.findIndex((at) => at >= since);
  return { ops, numbers, points, from: from < 0 ? ops.length : from };
}
