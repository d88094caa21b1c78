// The history above: a lane a thread, a bar a call, a mark a step, and where we are.

const percent = (step) => `${100 * step / steps.length}%`;

/** Where a call without a return ends: at the crash that interrupts it, or with the run. */
function endOfPending(call) {
  const crash = steps.findIndex((step, at) =>
    at > call.from && step.kind === "crash" && (step.thread === null || step.thread === call.thread));
  return crash < 0 ? steps.length : crash;
}

/** The bars of a thread. */
function barsOf(thread) {
  return calls.flatMap((call, number) => {
    if (call.thread !== thread) return [];
    const end = call.to === null ? endOfPending(call) : call.to + 1;
    const text = call.answer === null ? `${call.call} …` : call.answer === "" ? call.call : `${call.call} → ${call.answer}`;
    const bar = element("span", { className: "bar", text, title: call.core ? `${text}, in the core` : text });
    bar.classList.toggle("core", call.core);
    bar.classList.toggle("pending", call.to === null);
    bar.dataset.call = number;
    bar.style.left = percent(call.from);
    bar.style.width = percent(end - call.from);
    return [bar];
  });
}

/** What a thread is called, and what the history calls it after a crash. */
function nameOf(thread) {
  const name = element("span", { className: "name", text: threadName(thread) });
  const later = calls.filter((call) => call.thread === thread && call.process !== thread).map((call) => call.process);
  if (later.length > 0) {
    const numbers = [...new Set(later)].join(", ");
    name.append(element("small", { text: ` then ${numbers}`, title: "after a crash, a thread is another process of the history" }));
  }
  return name;
}

function drawLanes() {
  const lanes = threads.map((_, thread) => {
    const lane = element("div", { className: "lane" }, nameOf(thread));
    lane.style.setProperty("--edge", colour(thread));
    const track = element("div", { className: "bars" }, ...barsOf(thread));
    steps.forEach((step, at) => {
      if (step.thread !== thread) return;
      const mark = element("i", { className: step.wrong ? "mark wrong" : "mark" });
      mark.style.left = percent(at + 0.5);
      track.append(mark);
    });
    lane.append(track);
    return lane;
  });
  const over = element("div", { id: "over" });
  if (cycle !== null) {
    const repeats = element("div", { className: "repeats", title: cycle.words }, element("span", { text: `↻ ${cycle.words}` }));
    repeats.style.left = percent(cycle.from);
    over.append(repeats);
  }
  steps.forEach((step, at) => {
    if (!step.switch && step.kind !== "crash") return;
    const line = element("i", { className: step.kind === "crash" ? "crash" : "switch" });
    line.style.left = percent(at);
    over.append(line);
  });
  over.append(element("i", { id: "cursor" }));
  over.addEventListener("pointerdown", (event) => { over.setPointerCapture(event.pointerId); pick(event); });
  over.addEventListener("pointermove", (event) => { if (event.buttons & 1) pick(event); });
  byId("lanes").replaceChildren(...lanes, over);
}

/** Goes to the step at the pointer. */
function pick(event) {
  const box = byId("over").getBoundingClientRect();
  go(Math.floor((event.clientX - box.left) / box.width * steps.length) + 1);
}

function moveCursor() {
  byId("cursor").style.left = percent(view.at);
}
