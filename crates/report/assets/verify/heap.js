// The heap as a picture: boxes for objects, arrows for references, names at what they refer to.

const layout = states.length > 0 ? layOut() : null;
const drawing = { root: null, boxes: null, links: null, tags: null, known: new Map() };

/** Makes the drawing; `drawState` fills it. */
function startPicture() {
  drawing.links = shape("g", { class: "links" });
  drawing.boxes = shape("g", { class: "boxes" });
  drawing.tags = shape("g", { class: "tags" });
  drawing.root = shape("svg", { viewBox: `0 0 ${layout.width} ${layout.height}`, role: "img" },
    drawing.boxes, drawing.links, drawing.tags);
  // It may shrink to fit, but not so far that it cannot be read; it grows a little where there is room.
  drawing.root.style.setProperty("--natural", `${layout.width}px`);
  byId("picture").replaceChildren(drawing.root);
}

/** The head of an arrow at a point, coming from a direction. */
function arrowHead(x, y, [dx, dy], className) {
  const [bx, by] = [x - 8 * dx, y - 8 * dy];
  const points = [[x, y], [bx - 3.6 * dy, by + 3.6 * dx], [bx + 3.6 * dy, by - 3.6 * dx]];
  return shape("polygon", { points: points.map((point) => point.join(",")).join(" "), class: className });
}

/** A point of a curve, a part of the way along it. */
function along([a, b, c, d], part) {
  const rest = 1 - part;
  return [0, 1].map((axis) =>
    rest ** 3 * a[axis] + 3 * rest ** 2 * part * b[axis] + 3 * rest * part ** 2 * c[axis] + part ** 3 * d[axis]);
}

/** Whether a curve goes through a box. */
function crosses(curve, box) {
  for (let part = 0.05; part < 1; part += 0.05) {
    const [x, y] = along(curve, part);
    if (x > box.x - 4 && x < box.x + box.width + 4 && y > box.y - 4 && y < box.y + box.height + 4) return true;
  }
  return false;
}

/** Straight parts with round corners. */
function rounded(points) {
  const path = [`M${points[0].join(" ")}`];
  for (let at = 1; at + 1 < points.length; at += 1) {
    const [before, corner, after] = [points[at - 1], points[at], points[at + 1]];
    const near = (other) => {
      const [dx, dy] = [other[0] - corner[0], other[1] - corner[1]];
      const part = Math.min(9 / Math.max(Math.hypot(dx, dy), 1), 0.5);
      return [corner[0] + dx * part, corner[1] + dy * part].join(" ");
    };
    path.push(`L${near(before)} Q${corner.join(" ")} ${near(after)}`);
  }
  return [...path, `L${points[points.length - 1].join(" ")}`].join(" ");
}

/** An arrow from a row of a box to a box; `others` are the boxes that it should not go through. */
function arrow(from, y, to, others, className) {
  const [x1, x2, y2] = [from.x + from.width, to.x, to.y + ROW / 2 + 1];
  const bend = Math.max(Math.min(40, (x2 - x1) / 2), 8);
  const curve = [[x1 - 8, y], [x1 + bend, y], [x2 - bend - 6, y2], [x2 - 6, y2]];
  if (x2 > x1 + 8 && !others.some((other) => other !== from && other !== to && crosses(curve, other))) {
    const path = `M${curve[0].join(" ")} C${curve.slice(1).map((point) => point.join(" ")).join(" ")}`;
    return [shape("path", { d: path, class: className }), arrowHead(x2, y2, [1, 0], className)];
  }
  // Over what is between, or back: round above both boxes, and from above into the other.
  const top = Math.min(from.y, to.y) - 13 - 5 * ((from.column ?? 0) % 3);
  const end = to.x + Math.min(22, to.width / 3);
  const out = x1 + 14;
  const path = rounded([[x1 - 8, y], [out, y], [out, top], [end, top], [end, to.y - 6]]);
  return [shape("path", { d: path, class: className }), arrowHead(end, to.y, [0, 1], className)];
}

/** Who can reach an object: "shared", a thread, "none". */
function holders(state) {
  const shared = reached(state, state.shared.map(([, value]) => value));
  const own = state.threads.map((thread) => reached(state, thread.variables.map(([, value]) => value)));
  return (object) => {
    if (shared.has(object)) return "shared";
    const holding = own.flatMap((found, thread) => (found.has(object) ? [thread] : []));
    if (holding.length === 0) return "none";
    return holding.length === 1 ? holding[0] : "shared";
  };
}

/** Words in the drawing. */
function written(text, x, y, className) {
  const made = shape("text", { x, y, class: className });
  made.textContent = text;
  return made;
}

function drawBox(key, box, before, held, repeats) {
  const place = layout.places.get(key);
  const classes = ["box"];
  if (before === undefined && !repeats) classes.push("new");
  if (!box.live) classes.push("freed");
  if (key === "null") classes.push("null");
  if (held === "none") classes.push("garbage");
  const group = shape("g", { class: classes.join(" "), "data-box": key });
  if (typeof held === "number") group.style.setProperty("--edge", colour(held));
  const { x, y: top, width, height } = place;
  group.append(shape("rect", { x, y: top, width, height, rx: 6, class: "frame" }), written(box.title, x + 9, top + 15, "title"));
  if (key === "null") return group;
  group.append(shape("line", { x1: x, x2: x + width, y1: top + ROW + 1, y2: top + ROW + 1, class: "rule" }));
  if (!box.live) group.append(written("freed", x + 9, top + ROW + 16, "name"));
  box.rows.forEach(({ name, value }, at) => {
    const y = top + ROW * (at + 1) + 2;
    const old = before?.rows[at];
    if (old !== undefined && textOf(old.value) !== textOf(value)) {
      group.append(shape("rect", { x: x + 1, y, width: width - 2, height: ROW - 1, rx: 3, class: "changed" }));
    }
    const refers = targetsOf(value).length > 0;
    const word = written(labelOf(value), x + width - (refers ? 18 : 8), y + 14, "value");
    word.setAttribute("text-anchor", "end");
    group.append(written(name, x + 9, y + 14, "name"), word);
    if (refers) group.append(shape("circle", { cx: x + width - 9, cy: y + ROW / 2, r: 3, class: "port" }));
  });
  return group;
}

/** The arrows out of the rows of a box. */
function drawLinks(key, box, before, others, isGarbage) {
  const place = layout.places.get(key);
  return box.rows.flatMap(({ value }, at) => targetsOf(value).flatMap((object) => {
    const to = layout.places.get(`@${object}`);
    if (to === undefined) return [];
    const old = before?.rows[at];
    const changed = old === undefined || textOf(old.value) !== textOf(value);
    const className = changed && view.at > 0 ? "link changed" : isGarbage ? "link garbage" : "link";
    return arrow(place, place.y + ROW * (at + 1) + 2 + ROW / 2, to, others, className);
  }));
}

/** Puts the names where they belong; those that were there move. */
function drawTags(state) {
  const before = view.at > 0 ? new Map(tagsOf(states[view.at - 1]).map((tag) => [tag.id, tag.box])) : null;
  const used = new Map();
  const seen = new Set();
  for (const tag of tagsOf(state)) {
    const place = layout.places.get(tag.box);
    if (place === undefined) continue;
    const line = used.get(tag.box) ?? 0;
    used.set(tag.box, line + 1);
    seen.add(tag.id);
    const width = textWidth(tag.text) + 14;
    let group = drawing.known.get(tag.id);
    if (group === undefined) {
      group = shape("g", { class: tag.thread === null ? "tag" : "tag own", "data-tag": tag.id },
        shape("rect", { rx: 10, x: -2.5, y: -2.5, height: TAG + 2, class: "ring" }),
        shape("rect", { rx: 8, height: TAG - 3, class: "pill" }),
        shape("text", { y: 11.5, "text-anchor": "middle" }));
      group.style.setProperty("--edge", tag.thread === null ? "var(--text)" : colour(tag.thread));
      drawing.known.set(tag.id, group);
      drawing.tags.append(group);
    }
    const [ring, pill, text] = group.children;
    ring.setAttribute("width", width + 5);
    pill.setAttribute("width", width);
    text.setAttribute("x", width / 2);
    text.textContent = tag.text;
    group.setAttribute("data-at", tag.box);
    group.classList.toggle("changed", before !== null && before.get(tag.id) !== tag.box);
    group.style.transform = `translate(${place.x}px, ${place.y + place.height + 5 + line * TAG}px)`;
  }
  for (const [id, group] of drawing.known) {
    if (seen.has(id)) continue;
    group.remove();
    drawing.known.delete(id);
  }
}

/** The picture of the state that is shown. */
function drawState() {
  if (layout === null) return;
  const state = states[view.at];
  const before = view.at > 0 ? boxesOf(states[view.at - 1]) : undefined;
  const boxes = boxesOf(state);
  const who = holders(state);
  const isShown = ([key]) => key !== "null" || tagsOf(state).some((tag) => tag.box === "null");
  const shown = [...boxes].filter(isShown);
  const heldBy = (key) => (key.startsWith("@") ? who(Number(key.slice(1))) : "shared");
  drawing.boxes.replaceChildren(...shown.map(([key, box]) =>
    drawBox(key, box, before?.get(key), heldBy(key), before === undefined || key === "null")));
  const others = shown.map(([key]) => layout.places.get(key));
  drawing.links.replaceChildren(...shown.flatMap(([key, box]) =>
    drawLinks(key, box, before?.get(key), others, heldBy(key) === "none")));
  drawTags(state);
  const words = [...boxes.values()].flatMap((box) =>
    [box.title, ...box.rows.map(({ name, value }) => `${name} ${textOf(value)}`)]);
  drawing.root.setAttribute("aria-label", `The heap: ${words.join(", ")}`);
}
