// Stepping: keys, buttons, the slider, the lanes and the list all go to a step.

/** Shows the state after so many steps. */
function go(at) {
  view.at = Math.min(Math.max(Math.round(at), 0), steps.length);
  byId("slider").value = view.at;
  byId("slider").setAttribute("aria-valuetext", view.at === 0 ? "start" : `step ${view.at}: ${steps[view.at - 1].text}`);
  for (const id of ["go-first", "go-switch-back", "go-back"]) byId(id).disabled = view.at === 0;
  for (const id of ["go-on", "go-switch-on", "go-last"]) byId(id).disabled = view.at === steps.length;
  moveCursor();
  lightSource();
  lightStep();
  writeThreads();
  writeNow();
  drawState();
  // The address leads back here.
  history.replaceState(null, "", view.at === opening ? location.pathname : `#${view.at}`);
}

/** The first step of the next, or the previous, stretch of one thread. */
function switchFrom(at, direction) {
  for (let next = at + direction; next > 0 && next <= steps.length; next += direction) {
    if (steps[next - 1].switch) return next;
  }
  return direction > 0 ? steps.length : 0;
}

const KEYS = {
  ArrowLeft: () => go(view.at - 1),
  ArrowRight: () => go(view.at + 1),
  Home: () => go(0),
  End: () => go(steps.length),
  PageUp: () => go(switchFrom(view.at, -1)),
  PageDown: () => go(switchFrom(view.at, 1)),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || KEYS[event.key] === undefined) return;
  // Further down the page the keys scroll, as they do everywhere.
  if (byId("stage").getBoundingClientRect().bottom < innerHeight / 4) return;
  event.preventDefault();
  KEYS[event.key]();
});
for (const [id, key] of [["go-first", "Home"], ["go-switch-back", "PageUp"], ["go-back", "ArrowLeft"],
  ["go-on", "ArrowRight"], ["go-switch-on", "PageDown"], ["go-last", "End"]]) {
  byId(id).addEventListener("click", KEYS[key]);
}
byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));

function start() {
  byId("slider").max = steps.length;
  byId("stage").classList.toggle("without-memory", states.length === 0);
  byId("stage").classList.toggle("without-lanes", calls.length === 0);
  drawLanes();
  writeSource();
  writeSteps();
  if (layout !== null) startPicture();
  const asked = Number(location.hash.slice(1));
  go(location.hash.length > 1 && Number.isInteger(asked) ? asked : opening);
}

start();

// For tests, and for people who look under the bonnet; nothing here reads it.
window.linchpin = Object.freeze({
  get at() { return view.at; },
  get steps() { return steps.length; },
  get lit() { return [...document.querySelectorAll("#lines .lit")].map((line) => Number(line.dataset.line)); },
  /** Where a box is in the picture; null if it is not drawn. */
  box(key) {
    const frame = document.querySelector(`[data-box="${key}"] .frame`);
    return frame === null ? null : ["x", "y"].map((name) => Number(frame.getAttribute(name)));
  },
});
