// The data of the page, as arrays that drawing can run through, and what of it is shown.

const data = JSON.parse(document.getElementById("data").textContent);

/** Operations, by their place in the arrays, not by their id. */
const operations = (() => {
  const columns = data.operations;
  const count = columns.id.length;
  const numbers = (values, missing) => {
    const array = new Int32Array(count).fill(missing);
    values?.forEach((value, at) => { if (value !== null) array[at] = value; });
    return array;
  };
  const all = {
    count,
    id: numbers(columns.id, -1),
    process: numbers(columns.process, 0),
    function: numbers(columns.function, 0),
    key: numbers(columns.key, -1),
    argument: numbers(columns.argument, -1),
    answer: numbers(columns.answer, -1),
    from: numbers(columns.from, 0),
    to: numbers(columns.to, -1),
    fromLine: columns.from_line ?? null,
    toLine: columns.to_line ?? null,
    fromTime: columns.from_time ?? null,
    toTime: columns.to_time ?? null,
    // Where its bar ends. One that did not return is drawn until its process goes on.
    end: new Int32Array(count),
  };
  const next = new Int32Array(data.processes.length).fill(data.events);
  for (let op = count - 1; op >= 0; op -= 1) {
    const process = all.process[op];
    all.end[op] = all.to[op] >= 0 ? all.to[op] : Math.max(next[process], all.from[op] + 1);
    next[process] = all.from[op];
  }
  return all;
})();

/** The place of each id, -1 if the operation was left out. */
const placeOfId = (() => {
  const places = new Int32Array(operations.count ? operations.id[operations.count - 1] + 1 : 0).fill(-1);
  operations.id.forEach((id, op) => { places[id] = op; });
  return (id) => places[id] ?? -1;
})();
const placesOf = (ids) => ids.map(placeOfId).filter((op) => op >= 0);

function isPending(op) {
  return operations.to[op] < 0;
}

/** `dequeue()` and `→ 7`: the call, and the answer if there is one. */
function labelLines(op) {
  const call = `${data.functions[operations.function[op]]}(${data.texts[operations.argument[op]] ?? ""})`;
  if (isPending(op)) return [call, "…"];
  const answer = data.texts[operations.answer[op]] ?? "";
  return answer === "" ? [call] : [call, `→ ${answer}`];
}

/** `dequeue() → 7`, as people would write the call. */
function label(op) {
  return labelLines(op).join(" ");
}

/** Orders, with the position of each operation in its own. */
const orders = data.orders.map((order) => ({ ...order, ops: placesOf(order.operations) }));
const positions = (() => {
  const at = new Int32Array(operations.count).fill(-1);
  const order = new Int32Array(operations.count).fill(-1);
  orders.forEach((one, number) => one.operations.forEach((id, position) => {
    const op = placeOfId(id);
    // Of several orders of one key the first is told in words.
    if (op < 0 || at[op] >= 0) return;
    at[op] = position;
    order[op] = number;
  }));
  return { at, order };
})();

/** The text of a state; null if it is not told. */
function stateText(index) {
  return index === null || index === undefined ? null : data.texts[index];
}

/** The states around an operation in its order: texts, null where unknown; null if it is in none. */
function statesAround(op) {
  if (positions.order[op] < 0) return null;
  const order = orders[positions.order[op]];
  const at = positions.at[op];
  return {
    position: at + 1,
    count: order.operations.length,
    complete: order.complete,
    before: stateText(at === 0 ? order.initial : order.states[at - 1]),
    after: stateText(order.states[at]),
  };
}

/** The state after the last operation of an order, or before all if there is none. */
function lastState(order) {
  if (order === undefined) return null;
  const { operations: ids, states, initial } = order;
  return stateText(ids.length === 0 ? initial : states[ids.length - 1]);
}

const violations = data.violations.map((violation) => ({
  ...violation,
  ops: placesOf(violation.core).sort((one, other) => operations.from[one] - operations.from[other]),
}));

/** What people chose to see. */
const choice = {
  key: -1,
  process: -1,
  function: -1,
  onlyCore: false,
  search: "",
  withOrder: orders.length > 0,
  byTime: false,
  chosen: -1,
  hovered: -1,
};

/** The violation that is explained: that of the chosen key, or the main one. */
function violation() {
  if (choice.key < 0) return violations[0] ?? null;
  return violations.find((one) => one.key === choice.key || one.key === null) ?? null;
}

/** Core operations, of all violations. */
const isCore = (() => {
  const marks = new Uint8Array(operations.count);
  violations.forEach((one) => one.ops.forEach((op) => { marks[op] = 1; }));
  return marks;
})();

/** The processes by their names, numbers as numbers. */
const processOrder = data.processes.map((_, process) => process).sort(((compare) => (one, other) =>
  compare(data.processes[one], data.processes[other]))(new Intl.Collator("en", { numeric: true }).compare));

/** What is shown now: lanes of operations, and the operations of the orders among them. */
const shown = { lanes: [], laneOf: new Int32Array(data.processes.length), marks: new Uint8Array(operations.count), count: 0 };

/** Applies the filters. */
function select() {
  const core = choice.onlyCore ? new Set(violation()?.ops ?? []) : null;
  const lanes = data.processes.map(() => []);
  shown.count = 0;
  for (let op = 0; op < operations.count; op += 1) {
    const isShown = (choice.key < 0 || operations.key[op] === choice.key)
      && (choice.process < 0 || operations.process[op] === choice.process)
      && (choice.function < 0 || operations.function[op] === choice.function)
      && (core === null || core.has(op));
    shown.marks[op] = isShown ? 1 : 0;
    if (!isShown) continue;
    shown.count += 1;
    lanes[operations.process[op]].push(op);
  }
  shown.lanes = processOrder.map((process) => ({ process, ops: lanes[process] })).filter((lane) => lane.ops.length > 0);
  // With many processes those of the core come first: they would be far apart.
  if (shown.lanes.length > 12 && violation() !== null) {
    const wanted = new Set(violation().ops.map((op) => operations.process[op]));
    const [first, rest] = [[], []];
    shown.lanes.forEach((lane) => (wanted.has(lane.process) ? first : rest).push(lane));
    shown.lanes = [...first, ...rest];
  }
  shown.laneOf.fill(-1);
  shown.lanes.forEach((lane, at) => { shown.laneOf[lane.process] = at; });
  find();
}

/** What the search finds among what is shown: in the order of calls, and lane by lane. */
const found = { ops: [], marks: new Uint8Array(operations.count), active: false };

function find() {
  const words = choice.search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  found.active = words.length > 0;
  found.marks.fill(0);
  found.ops = [];
  if (!found.active) return;
  for (let op = 0; op < operations.count; op += 1) {
    if (!shown.marks[op]) continue;
    const text = `${label(op)} ${data.processes[operations.process[op]]}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    found.marks[op] = 1;
    found.ops.push(op);
  }
}
