// The data of the page, and small things that all parts need. Values are shown as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const { steps, states, calls, threads, cycle, preload } = data.run;

/** Where a reader starts: what comes first is known, so after the preload. */
const opening = preload < steps.length ? preload : 0;

/** The state after so many steps is shown. */
const view = { at: 0 };

/** An element with text and children. */
function element(name, options = {}, ...children) {
  const { text, ...properties } = options;
  const made = Object.assign(document.createElement(name), properties);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

/** An element of a drawing, with attributes. */
function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

/** The colour of a thread. */
function colour(thread) {
  return thread === null || thread === undefined ? "var(--accent)" : `var(--t${thread % 6})`;
}

/** `thread 0`, with its role if it has one. */
function threadName(thread) {
  const role = threads[thread]?.role ?? "";
  return role === "" ? `thread ${thread}` : `thread ${thread} · ${role}`;
}

// A value is a text, or an object where it refers to objects or has elements.
const textOf = (value) => (typeof value === "string" ? value : value.text);
const labelOf = (value) => (typeof value === "string" ? value : value.label);
const targetsOf = (value) => (typeof value === "string" ? [] : value.to);
const itemsOf = (value) => (typeof value === "string" ? [] : value.items ?? []);

/** A value in few words: what it refers to, and the rest of it. */
function shortOf(value) {
  if (typeof value === "string" || itemsOf(value).length > 0) return textOf(value);
  return [...targetsOf(value).map((object) => `@${object}`), labelOf(value)].join(" ").trim();
}

/** Whether a value is a reference, or a record with one; perhaps null. */
function isReference(value) {
  return targetsOf(value).length > 0 || labelOf(value).split(" ").includes("∅");
}

const isRepeated = (step) => cycle !== null && step >= cycle.from;
