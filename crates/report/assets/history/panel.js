// The words beside the drawing. Values are shown as text, never as markup.

const panel = {};
for (const id of ["headline", "title", "sentences", "detail", "wrong", "keys", "legend", "about", "tip", "search",
  "found", "by-key", "by-process", "by-function", "only-core", "with-order", "by-time", "go-core", "go-event",
  "go-all", "zoom-in", "zoom-out", "help", "key-list"]) {
  panel[id] = document.getElementById(id);
}

/** An element with text and children. */
function element(name, options = {}, ...children) {
  const { text, ...properties } = options;
  const made = Object.assign(document.createElement(name), properties);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

/** A list of names and values; rows without a value are left out. */
function definitions(rows) {
  const list = element("dl");
  for (const [name, value, className] of rows) {
    if (value === null || value === undefined || value === "") continue;
    list.append(element("dt", { text: name }), element("dd", { text: value, className: className ?? "" }));
  }
  return list;
}

const TONES = { holds: "good", violated: "bad" };
const MARKS = { holds: "✓", violated: "✕" };

function writeHead() {
  panel.headline.textContent = data.headline;
  panel.headline.classList.add(TONES[data.verdict] ?? "open");
  panel.title.textContent = data.about;
  panel.sentences.replaceChildren(...data.sentences.map((text) => element("p", { text })));
}

/** `lines 3 to 9`, as the file counts. */
function lineWords(op) {
  if (operations.fromLine === null) return `events ${operations.from[op]} to ${isPending(op) ? "…" : operations.to[op]}`;
  const from = operations.fromLine[op];
  if (isPending(op)) return `line ${from}, no return`;
  const to = operations.toLine[op];
  return from === to ? `line ${from}` : `lines ${from} to ${to}`;
}

function shortLines(op) {
  const [from, to] = operations.fromLine === null
    ? [operations.from[op], operations.to[op]]
    : [operations.fromLine[op], operations.toLine[op]];
  if (isPending(op)) return `${from}–`;
  // It may be broken after the dash.
  return from === to ? `${from}` : `${from}–\u200b${to}`;
}

/** A time to five digits. */
function shortTime(nanoseconds) {
  return timeWords(nanoseconds, 10 ** Math.max(0, Math.floor(Math.log10(Math.max(nanoseconds, 1))) - 4));
}

function whenWords(op) {
  if (operations.fromTime === null || operations.fromTime[op] === null) return null;
  const from = operations.fromTime[op];
  const to = operations.toTime[op];
  const start = shortTime(from);
  return isPending(op) || to === null ? `from ${start}` : `${start}, for ${shortTime(to - from)}`;
}

function keyName(op) {
  return operations.key[op] < 0 ? null : data.keys[operations.key[op]].name;
}

/** Where an operation is in an order, in words. */
function orderWords(op, around) {
  if (around === null) {
    if (orders.length === 0) return null;
    if (violations.some((one) => one.event?.operation === operations.id[op])) return "no order goes on to its answer";
    return isPending(op) ? "not in the order: it need not have taken effect" : "not in an order that is shown";
  }
  return `${around.position} of ${around.count}${around.complete ? "" : ", as far as an order goes"}`;
}

/** Everything about one operation, or what to do to see it. */
function writeDetail() {
  const op = choice.chosen;
  if (op < 0) {
    const hint = "Point at an operation to see it, choose it to keep it here. ? lists the keys.";
    panel.detail.replaceChildren(element("p", { className: "hint", text: hint }));
    return;
  }
  const around = statesAround(op);
  panel.detail.replaceChildren(
    element("p", { className: "call", text: label(op) }),
    definitions([
      ["process", data.processes[operations.process[op]]],
      ["key", keyName(op)],
      ["where", lineWords(op)],
      ["when", whenWords(op)],
      ["core", isCore[op] ? "yes" : null],
      ["order", orderWords(op, around)],
      ["before", around?.before, "state"],
      ["after", around?.after, "state"],
    ]),
  );
}

/** The little box at the pointer: about an operation, or else about what else the log says. */
function writeTip(op, x, y) {
  const band = op < 0 ? bandAt(x, y) : undefined;
  panel.tip.hidden = op < 0 && band === undefined;
  if (op >= 0) panel.tip.replaceChildren(...tipRows(op));
  else if (band !== undefined) panel.tip.replaceChildren(...bandRowsOf(band));
  else return;
  const [wide, high] = [panel.tip.offsetWidth, panel.tip.offsetHeight];
  const left = x + 16 + wide > size.width ? x - wide - 12 : x + 16;
  const top = y + 16 + high > size.height ? y - high - 12 : y + 16;
  panel.tip.style.left = `${Math.max(4, left)}px`;
  panel.tip.style.top = `${Math.max(4, top)}px`;
}

function bandRowsOf(band) {
  const line = (moment) => (moment === null || moment.line === null ? null : moment.line);
  const [from, to] = [line(band.from), line(band.to)];
  const where = from === null ? null : to === null ? `line ${from}` : `lines ${from} to ${to}`;
  const rows = [element("div", { className: "call", text: band.text })];
  if (where !== null) rows.push(element("p", { text: where }));
  return rows;
}

function tipRows(op) {
  const around = statesAround(op);
  const rows = [element("div", { className: "call", text: label(op) })];
  const where = [`process ${data.processes[operations.process[op]]}`, lineWords(op), whenWords(op)];
  const key = keyName(op);
  if (key !== null && choice.key < 0) where.splice(1, 0, `key ${key}`);
  rows.push(element("p", { text: where.filter((word) => word !== null).join(" · ") }));
  if (around !== null) {
    rows.push(element("p", { text: `${around.position} of ${around.count} in the order` }));
    if (around.after !== null) rows.push(element("p", { className: "state", text: `state after: ${around.after}` }));
  }
  return rows;
}

/** Why there is no order: the sentence, the core as a table, the event, the states before it. */
function writeWrong() {
  const wrong = violation();
  if (wrong === null) {
    panel.wrong.replaceChildren();
    return;
  }
  const rows = wrong.ops.map((op) => {
    const button = element("button", { type: "button", text: label(op) });
    button.addEventListener("click", () => choose(op));
    const blamed = wrong.event?.operation === operations.id[op];
    const row = element("tr", {},
      element("td", { className: blamed ? "blamed" : "" }, button),
      element("td", { text: data.processes[operations.process[op]] }),
      element("td", { text: shortLines(op) }));
    row.dataset.op = op;
    return row;
  });
  const head = element("tr", {}, ...["operation", "process", operations.fromLine === null ? "events" : "lines"]
    .map((text) => element("th", { text, scope: "col" })));
  const parts = [element("h2", { text: "What no order explains" })];
  if (wrong.key !== null && data.keys[wrong.key]) parts.push(element("p", { className: "soft", text: `Key ${data.keys[wrong.key].name}` }));
  // The main sentence is in the head already.
  if (wrong !== violations[0]) parts.push(element("p", { text: wrong.explanation }));
  parts.push(element("table", { className: "core" }, element("thead", {}, head), element("tbody", {}, ...rows)));
  if (wrong.event) {
    const line = wrong.event.line;
    const before = line === null ? "Everything before that event can be explained." : `Everything before line ${line} can be explained; line ${line} cannot.`;
    parts.push(element("p", { text: before }));
  }
  const partial = orders.filter((one) => !one.complete && one.key === wrong.key);
  if (partial.length > 1) {
    const text = `${partial.length} orders of what came before are drawn, each in its colour from where it leaves the others; they end in different states.`;
    parts.push(element("p", { className: "soft", text }));
  }
  const last = partial.map(lastState).filter((text) => text !== null);
  if (wrong.possible.length === 0 && last.length > 0) {
    const title = last.length === 1 ? "A possible state just before" : "Some possible states just before";
    parts.push(element("h3", { text: title }), ...last.map((text) => element("p", { className: "state", text })));
  }
  if (wrong.possible.length > 0) {
    parts.push(element("h3", { text: "Possible states just before" }));
    const many = wrong.possible.slice(0, 50).map((text) => element("li", { className: "state", text }));
    parts.push(element("ul", { className: "states" }, ...many));
    if (wrong.possible.length > 50) parts.push(element("p", { className: "soft", text: `and ${wrong.possible.length - 50} more` }));
  }
  panel.wrong.replaceChildren(...parts);
}

function markChosen() {
  for (const row of panel.wrong.querySelectorAll("tr[data-op]")) {
    row.classList.toggle("chosen", Number(row.dataset.op) === choice.chosen);
  }
  for (const button of panel.keys.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.key) === choice.key));
  }
}

function verdictMark(verdict) {
  return MARKS[verdict] ?? (verdict === null ? "·" : "?");
}

/** So many keys are listed at most: the violated ones first. */
const MOST_KEYS = 500;

function writeKeys() {
  if (data.keys.length === 0) return;
  const rank = { violated: 0, inconclusive: 1 };
  const sorted = data.keys.map((key, at) => ({ ...key, at }))
    .sort((one, other) => (rank[one.verdict] ?? 2) - (rank[other.verdict] ?? 2) || one.at - other.at);
  const rows = sorted.slice(0, MOST_KEYS).map((key) => {
    const tone = { holds: "mark-holds", violated: "mark-violated" }[key.verdict] ?? "mark-open";
    const button = element("button", { type: "button", title: `${key.verdict ?? "not judged"}, ${key.operations} operations` },
      element("span", { className: tone, text: verdictMark(key.verdict) }),
      element("span", { className: "name", text: key.name }),
      element("span", { className: "count", text: `${key.verdict ?? "not judged"} · ${key.operations}` }));
    button.dataset.key = key.at;
    button.addEventListener("click", () => filter({ key: choice.key === key.at ? -1 : key.at }));
    return element("li", {}, button);
  });
  const parts = [element("h2", { text: `${data.keys.length} ${data.keys.length === 1 ? "key" : "keys"}` }), element("ul", { id: "key-rows" }, ...rows)];
  if (sorted.length > MOST_KEYS) parts.push(element("p", { className: "soft", text: `and ${sorted.length - MOST_KEYS} more, in the menu above` }));
  panel.keys.replaceChildren(...parts);
}

/** A small picture for the legend. */
function sample(shapes) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 42 19");
  svg.setAttribute("aria-hidden", "true");
  for (const [name, attributes] of shapes) {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
    svg.append(shape);
  }
  return svg;
}

function writeLegend() {
  const box = { x: 3, y: 3, width: 36, height: 13, rx: 3 };
  const rows = [];
  const plain = { ...box, fill: theme.fill[0], stroke: theme.edge[0] };
  rows.push([[["rect", plain]], "an operation, from its call to its return"]);
  if (operations.to.includes(-1)) rows.push([[["rect", { ...plain, "stroke-dasharray": "4 3" }]], "one that did not return"]);
  if (violations.length > 0) {
    rows.push([[["rect", { ...box, fill: theme.corePage, stroke: theme.bad, "stroke-width": 2 }], ["path", { d: "M3 -2 l5 5 l-5 5 l-5 -5 z", fill: theme.bad }]], "of the core"]);
  }
  if (orders.length > 0) {
    const text = orders.every((order) => order.complete) ? "the order that explains it, as a line" : "an order, as far as there is one";
    rows.push([[["path", { d: "M4 13 L20 6 L38 13", stroke: theme.order, fill: "none", "stroke-width": 1.5 }], ["circle", { cx: 20, cy: 6, r: 3.5, fill: theme.order }]], text]);
  }
  if (data.crashes.length > 0) rows.push([[["path", { d: "M21 0 V19", stroke: theme.band, "stroke-width": 2, "stroke-dasharray": "5 3" }]], "a crash"]);
  if (data.bands.length > 0) rows.push([[["rect", { ...box, fill: theme.band, opacity: 0.3 }]], "what else the log says"]);
  panel.legend.replaceChildren(element("h2", { text: "How to read it" }),
    element("ul", {}, ...rows.map(([shapes, text]) => element("li", {}, sample(shapes), element("span", { text })))));
}

function writeAbout() {
  const parts = [element("h2", { text: "About this check" }), definitions(data.facts)];
  const list = (heading, texts) => {
    if (texts.length === 0) return;
    parts.push(element("h3", { text: heading }), element("ul", {}, ...texts.map((text) => element("li", { text }))));
  };
  list("Assuming", data.assumptions);
  list("Notes", data.notes);
  list("Not shown", data.left_out);
  panel.about.replaceChildren(...parts);
}

/** Menus: `all …` first, then each name. */
function fillMenu(menu, all, names) {
  menu.hidden = names.length < 2;
  menu.replaceChildren(element("option", { value: "-1", text: all }),
    ...names.map((text, at) => element("option", { value: String(at), text })));
}

function writeMenus() {
  fillMenu(panel["by-key"], "all keys", data.keys.map((key) => `${verdictMark(key.verdict)} ${key.name}`));
  // The list beside the drawing does the same, and has room for verdicts.
  panel["by-key"].hidden = data.keys.length <= MOST_KEYS;
  fillMenu(panel["by-process"], "all processes", data.processes.map((name) => `process ${name}`));
  const used = new Set(operations.function);
  fillMenu(panel["by-function"], "all operations", data.functions);
  [...panel["by-function"].options].forEach((option) => {
    option.hidden = option.value !== "-1" && !used.has(Number(option.value));
  });
  panel["by-function"].hidden = used.size < 2;
}

/** Shows in the tools what was chosen. */
function writeTools() {
  const set = (id, value) => {
    panel[id].value = String(value);
    panel[id].classList.toggle("active", value >= 0);
  };
  set("by-key", choice.key);
  set("by-process", choice.process);
  set("by-function", choice.function);
  panel["only-core"].setAttribute("aria-pressed", String(choice.onlyCore));
  panel["with-order"].setAttribute("aria-pressed", String(choice.withOrder));
  panel["by-time"].setAttribute("aria-pressed", String(axis.byTime));
  panel["only-core"].hidden = violations.length === 0;
  panel["go-core"].hidden = violations.length === 0;
  panel["go-event"].hidden = !violations.some((one) => one.event);
  panel["with-order"].hidden = orders.length === 0;
  panel["by-time"].hidden = times === null;
  panel.found.textContent = found.active ? `${found.ops.length} found` : "";
  canvas.setAttribute("aria-label", `${shown.count} operations of ${shown.lanes.length} processes. The core and what is chosen are listed beside.`);
}
