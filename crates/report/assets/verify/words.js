// The words: the source with the moving thread's line lit, the steps, what each thread is doing.

const KEYWORDS = new Set(("spec struct record shared local param op fn let if else while loop for break continue return " +
  "atomic init new free lock unlock cas swap faa ll sc choose assume assert bounds role reference preload none null true false me " +
  "requires assert refines deadlockfree system var const invariant").split(" "));

/** A line of source in pieces: comments, attributes, keywords, the rest. */
function coloured(text) {
  const pieces = [];
  const pattern = /(\/\/.*$)|(#\[[^\]]*\])|([A-Za-z_]\w*)/g;
  let last = 0;
  for (const found of text.matchAll(pattern)) {
    const kind = found[1] ? "comment" : found[2] ? "attribute" : KEYWORDS.has(found[3]) ? "keyword" : null;
    if (kind === null) continue;
    pieces.push(text.slice(last, found.index), element("span", { className: kind, text: found[0] }));
    last = found.index + found[0].length;
  }
  return [...pieces, text.slice(last)];
}

function writeSource() {
  byId("file").textContent = data.file;
  byId("lines").replaceChildren(...data.source.map((text, at) => {
    const line = element("div", { className: "line" },
      element("span", { className: "stands" }),
      element("span", { className: "no", text: at + 1 }),
      element("code", {}, ...coloured(text)));
    line.dataset.line = at + 1;
    return line;
  }));
}

/** The row of a step in the list. */
function stepRow(step, at) {
  const number = element("span", { className: "no", text: at + 1 });
  const sign = step.kind === "crash" ? "⚡" : "";
  const who = element("span", { className: "who", text: step.thread === null ? sign : step.thread });
  const line = element("span", { className: "at", text: step.lines.length > 0 ? step.lines[0] : "" });
  const text = element("span", { className: "text" }, element("span", { text: step.text }));
  for (const change of step.changed) text.append(element("span", { className: "change", text: `→ ${change}` }));
  for (const words of step.rows ?? []) text.append(element("span", { className: "change", text: words }));
  const row = element("li", { className: `step ${step.kind}` }, number, who, line, text);
  row.classList.toggle("wrong", step.wrong === true);
  row.classList.toggle("repeats", isRepeated(at));
  row.classList.toggle("first", isRepeated(at) && at === cycle.from);
  row.classList.toggle("hidden-step", step.text.startsWith("τ "));
  row.style.setProperty("--edge", colour(step.thread));
  row.dataset.step = at + 1;
  row.addEventListener("click", () => go(at + 1));
  return row;
}

function writeSteps() {
  const rows = steps.flatMap((step, at) => {
    const before = [];
    if (preload > 0 && at === 0) before.push(element("li", { className: "switch", text: "the preload: one thread alone" }));
    if (preload > 0 && at === preload) before.push(element("li", { className: "switch", text: "the preload has ended" }));
    if (step.switch) before.push(element("li", { className: "switch", text: `context switch to thread ${step.thread}` }));
    if (cycle !== null && at === cycle.from) before.push(element("li", { className: "cycle", text: `↻ ${cycle.words}` }));
    return [...before, stepRow(step, at)];
  });
  byId("rows").replaceChildren(...rows);
  const switches = steps.filter((step) => step.switch).length;
  const words = switches === 1 ? "1 context switch" : `${switches} context switches`;
  byId("count").textContent = threads.length > 1 ? `${steps.length}, with ${words}` : `${steps.length}`;
}

/** Scrolls a list so that one of its rows is in its middle, and nothing else. */
function reveal(list, row) {
  const [outer, inner] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  const margin = Math.min(60, outer.height / 4);
  if (inner.top >= outer.top + margin && inner.bottom <= outer.bottom - margin) return;
  list.scrollTop += inner.top - outer.top - outer.height / 2 + inner.height / 2;
}

/** Lights the lines of the step, and shows where every thread stands. */
function lightSource() {
  const step = view.at > 0 ? steps[view.at - 1] : null;
  const lines = byId("lines");
  for (const line of lines.children) {
    line.className = "line";
    line.firstChild.replaceChildren();
  }
  const row = (number) => lines.children[number - 1];
  for (const number of step?.lines ?? []) {
    const lit = row(number);
    if (lit === undefined) continue;
    lit.classList.add("lit");
    lit.style.setProperty("--edge", step.wrong && step.thread === null ? "var(--bad)" : colour(step.thread));
  }
  (states[view.at]?.threads ?? []).forEach((thread, number) => {
    const stands = thread.line === null ? undefined : row(thread.line);
    if (stands === undefined) return;
    const mark = element("i", { text: number, title: `${threadName(number)} executes this line next` });
    mark.style.setProperty("--edge", colour(number));
    stands.firstChild.append(mark);
  });
  const target = step === null ? undefined : row(step.lines[0]);
  if (target !== undefined) reveal(lines, target);
}

function lightStep() {
  const rows = byId("rows");
  for (const row of rows.children) {
    const at = Number(row.dataset.step ?? 0);
    row.classList.toggle("now", at === view.at && at > 0);
    row.classList.toggle("later", at > view.at);
    if (at > 0) row.setAttribute("aria-current", at === view.at ? "step" : "false");
    if (at === view.at && at > 0) reveal(rows, row);
  }
  if (view.at === 0) rows.scrollTop = 0;
}

/** What one thread is doing. */
function threadCard(number) {
  const thread = states[view.at].threads[number];
  const before = view.at > 0 ? states[view.at - 1].threads[number] : thread;
  const old = new Map(before.variables.map(([name, value]) => [name, textOf(value)]));
  const doing = thread.operation === null ? "idle"
    : thread.answer !== null ? `${thread.operation} returns ${thread.answer}`.trim()
      : thread.line === null ? thread.operation : `${thread.operation}, next line ${thread.line}`;
  const values = thread.variables.map(([name, value, live]) => {
    const shown = element("span", { className: "variable" },
      element("span", { className: "name", text: name }), ` ${shortOf(value)}`);
    shown.title = textOf(value);
    shown.classList.toggle("changed", old.get(name) !== textOf(value));
    shown.classList.toggle("dead", !live);
    return shown;
  });
  const card = element("div", { className: "thread" },
    element("p", {}, element("b", { text: threadName(number) }), ` ${doing}`),
    element("div", { className: "variables" }, ...values));
  card.style.setProperty("--edge", colour(number));
  card.classList.toggle("moves", view.at > 0 && steps[view.at - 1].thread === number);
  return card;
}

function writeThreads() {
  if (states.length === 0) return;
  byId("threads").replaceChildren(...threads.map((_, number) => threadCard(number)));
}

/** The step that is shown, in words. */
function writeNow() {
  const step = view.at > 0 ? steps[view.at - 1] : null;
  const now = byId("now");
  byId("when").textContent = view.at === 0 ? "at the start" : `after step ${view.at}`;
  if (step === null) {
    const switches = threads.length > 1 ? ", Page up and Page down to context switches" : "";
    const keys = `→ and ← step, Home and End go to the ends${switches}`;
    now.replaceChildren(element("b", { text: `Start of ${steps.length} steps` }), element("span", { text: keys }));
    return;
  }
  const who = step.thread === null ? "" : threadName(step.thread);
  const parts = [element("b", { text: `Step ${view.at} of ${steps.length}` })];
  if (who !== "") parts.push(element("span", { className: "who", text: who }));
  if (step.lines.length > 0) parts.push(element("span", { text: `line ${step.lines.join(", ")}` }));
  parts.push(element("code", { text: step.text }));
  if (isRepeated(view.at - 1)) parts.push(element("span", { className: "repeats", text: `↻ ${cycle.words}` }));
  if (step.wrong) parts.push(element("span", { className: "wrong", text: "here it goes wrong" }));
  now.replaceChildren(...parts);
  now.style.setProperty("--edge", colour(step.thread));
}
