// Where everything is drawn. All states of the run are looked at once, so that nothing moves from step to step: an
// object keeps its place, and there is room for whatever it will hold.

const ROW = 19;
const CHAR = 7;
const TAG = 18;
const GAP = { x: 38, y: 26 };
const MARGIN = 16;

const textWidth = (text) => [...text].length * CHAR;

/** A name as it is written at the object that it refers to. */
function tagText(name, value) {
  const rest = labelOf(value).split(" ").filter((word) => word !== "∅").join(" ");
  return rest === "" ? name : `${name} ${rest}`;
}

/** What is written in the rows of an object: names and values. */
function rowsOf(fields) {
  return fields.flatMap(([name, value]) =>
    itemsOf(value).length === 0
      ? [{ name, value }]
      : itemsOf(value).map((item, at) => ({ name: `${name}[${at}]`, value: item })));
}

const sharedNames = (states[0]?.shared ?? []).map(([name]) => name);

/** How a shared variable is drawn: as an array, as a name at an object, as a word. */
const sharedKind = sharedNames.map((_, at) => {
  const all = states.map((state) => state.shared[at][1]);
  if (all.some((value) => itemsOf(value).length > 0)) return "array";
  return all.some(isReference) ? "name" : "word";
});

/** Whether a shared reference is ever null. */
const hasNull = states.some((state) =>
  state.shared.some(([, value], at) => sharedKind[at] === "name" && targetsOf(value).length === 0));

/** Everything that is drawn as a box in a state, by key. */
function boxesOf(state) {
  const boxes = new Map();
  const words = state.shared.filter((_, at) => sharedKind[at] === "word");
  if (words.length > 0) boxes.set("words", { title: "shared", rows: rowsOf(words), live: true });
  state.shared.forEach(([name, value], at) => {
    if (sharedKind[at] === "array") boxes.set(`array ${at}`, { title: name, rows: rowsOf([["", value]]), live: true });
  });
  if (hasNull) boxes.set("null", { title: "∅", rows: [], live: true });
  state.objects.forEach((object, at) => {
    boxes.set(`@${at}`, { title: `@${at} ${object.of}`, rows: rowsOf(object.fields), live: object.live });
  });
  return boxes;
}

/** The names at a box: shared variables, and locals that some way on still reads. */
function tagsOf(state) {
  const tags = [];
  state.shared.forEach(([name, value], at) => {
    if (sharedKind[at] !== "name") return;
    const to = targetsOf(value);
    const text = tagText(name, value);
    if (to.length === 0) tags.push({ id: `s ${name}`, text, thread: null, box: "null" });
    to.forEach((object, part) => tags.push({ id: `s ${name} ${part}`, text, thread: null, box: `@${object}` }));
  });
  state.threads.forEach((thread, number) => {
    for (const [name, value, live] of thread.variables) {
      if (!live) continue;
      targetsOf(value).forEach((object, part) =>
        tags.push({ id: `${number} ${name} ${part}`, text: tagText(name, value), thread: number, box: `@${object}` }));
    }
  });
  return tags;
}

/** The size of every box: that of the largest thing it ever is. */
function measureBoxes() {
  const sizes = new Map();
  for (const state of states) {
    for (const [key, box] of boxesOf(state)) {
      const size = sizes.get(key) ?? { width: key === "null" ? 40 : 64, rows: 0, tags: 0, wide: 0 };
      const widths = box.rows.map(({ name, value }) => textWidth(`${name}  ${labelOf(value)}`) + 30);
      size.width = Math.max(size.width, textWidth(box.title) + 18, ...widths);
      size.rows = Math.max(size.rows, box.rows.length);
      sizes.set(key, size);
    }
    const counts = new Map();
    for (const tag of tagsOf(state)) {
      counts.set(tag.box, (counts.get(tag.box) ?? 0) + 1);
      const size = sizes.get(tag.box);
      if (size !== undefined) size.wide = Math.max(size.wide, textWidth(tag.text) + 16);
    }
    for (const [key, count] of counts) {
      const size = sizes.get(key);
      if (size !== undefined) size.tags = Math.max(size.tags, count);
    }
  }
  return sizes;
}

/** Which objects refer to which, and in how many states. */
function linksOf() {
  const weights = new Map();
  for (const state of states) {
    state.objects.forEach((object, from) => {
      for (const [, value] of object.fields) {
        for (const to of targetsOf(value)) {
          if (to === from) continue;
          const key = `${from} ${to}`;
          weights.set(key, (weights.get(key) ?? 0) + 1);
        }
      }
    });
  }
  const links = [...weights].map(([key, weight]) => {
    const [from, to] = key.split(" ").map(Number);
    return { from, to, weight };
  });
  return links.sort((one, other) => other.weight - one.weight || one.from - other.from || one.to - other.to);
}

/** The links without cycles: those that last longest are kept. */
function withoutCycles(links) {
  const next = new Map();
  const leads = (from, to) => {
    const [seen, work] = [new Set(), [from]];
    while (work.length > 0) {
      const object = work.pop();
      if (object === to) return true;
      if (seen.has(object)) continue;
      seen.add(object);
      work.push(...(next.get(object) ?? []));
    }
    return false;
  };
  return links.filter(({ from, to }) => {
    if (leads(to, from)) return false;
    next.set(from, [...(next.get(from) ?? []), to]);
    return true;
  });
}

/** The column of every object: behind all that refer to it. */
function columnsOf(count, links) {
  const columns = new Array(count).fill(0);
  for (let again = true; again;) {
    again = false;
    for (const { from, to } of links) {
      if (columns[to] > columns[from]) continue;
      columns[to] = columns[from] + 1;
      again = true;
    }
  }
  // What nothing refers to stands just before what it refers to.
  for (let object = 0; object < count; object += 1) {
    const out = links.filter((link) => link.from === object).map((link) => columns[link.to]);
    if (out.length > 0 && !links.some((link) => link.to === object)) columns[object] = Math.min(...out) - 1;
  }
  return columns;
}

/** In how many states an object can be reached from shared variables. */
function sharedFor(count) {
  const times = new Array(count).fill(0);
  for (const state of states) {
    for (const object of reached(state, state.shared.map(([, value]) => value))) times[object] += 1;
  }
  return times;
}

/** The objects that values lead to. */
function reached(state, values) {
  const found = new Set();
  const work = values.flatMap(targetsOf);
  while (work.length > 0) {
    const object = work.pop();
    if (found.has(object) || state.objects[object] === undefined) continue;
    found.add(object);
    for (const [, value] of state.objects[object].fields) work.push(...targetsOf(value));
  }
  return found;
}

/** The row of every object: that of what refers to it if there is room, else the next free one. */
function rowsFor(columns, links, times) {
  const rows = new Array(columns.length).fill(0);
  const taken = new Set();
  const order = columns.map((_, object) => object)
    .sort((one, other) => columns[one] - columns[other] || times[other] - times[one] || one - other);
  for (const object of order) {
    const from = links.find((link) => link.to === object);
    let row = from === undefined ? 0 : rows[from.from];
    while (taken.has(`${columns[object]} ${row}`)) row += 1;
    taken.add(`${columns[object]} ${row}`);
    rows[object] = row;
  }
  return rows;
}

/** Objects that no other refers to, and that refer to none, fill rows of their own below. */
function placeAlone(columns, rows, links) {
  const alone = columns.map((_, object) => object)
    .filter((object) => !links.some((link) => link.from === object || link.to === object));
  if (alone.length === columns.length) {
    alone.forEach((object, at) => { [columns[object], rows[object]] = [at % 4, Math.floor(at / 4)]; });
    return;
  }
  const linked = columns.map((_, object) => object).filter((object) => !alone.includes(object));
  const below = Math.max(...linked.map((object) => rows[object])) + 1;
  const across = Math.max(3, ...linked.map((object) => columns[object] + 1));
  alone.forEach((object, at) => { [columns[object], rows[object]] = [at % across, below + Math.floor(at / across)]; });
}

/** The places of all boxes, and the size of the drawing. */
function layOut() {
  const sizes = measureBoxes();
  const count = Math.max(0, ...states.map((state) => state.objects.length));
  const links = withoutCycles(linksOf());
  const columns = columnsOf(count, links);
  const rows = rowsFor(columns, links, sharedFor(count));
  placeAlone(columns, rows, links);
  const places = new Map();
  const height = (size) => ROW * (size.rows + 1) + 4;
  const whole = (size) => height(size) + 8 + size.tags * TAG;
  const width = (size) => Math.max(size.width, size.wide);
  let left = MARGIN;
  let low = MARGIN + 8;
  let gutter = 0;
  for (const [key, size] of sizes) {
    if (key.startsWith("@")) continue;
    places.set(key, { x: left, y: low, width: size.width, height: key === "null" ? 26 : height(size) });
    low += (key === "null" ? 34 + size.tags * TAG : whole(size)) + GAP.y;
    gutter = Math.max(gutter, width(size));
  }
  if (gutter > 0) left += gutter + GAP.x;
  const wide = [];
  const high = [];
  for (let object = 0; object < count; object += 1) {
    const size = sizes.get(`@${object}`);
    wide[columns[object]] = Math.max(wide[columns[object]] ?? 0, width(size));
    high[rows[object]] = Math.max(high[rows[object]] ?? 0, whole(size));
  }
  const before = (all, until, gap) => all.slice(0, until).reduce((sum, one) => sum + (one ?? 0) + gap, 0);
  for (let object = 0; object < count; object += 1) {
    const size = sizes.get(`@${object}`);
    const [column, row] = [columns[object], rows[object]];
    const [x, y] = [left + before(wide, column, GAP.x), MARGIN + 22 + before(high, row, GAP.y + 14)];
    places.set(`@${object}`, { x, y, width: size.width, height: height(size), column, row });
  }
  const bottom = MARGIN + 22 + before(high, high.length, GAP.y + 14);
  return {
    places,
    width: Math.max(left + before(wide, wide.length, GAP.x) - (wide.length > 0 ? GAP.x : 0) + MARGIN, 220),
    height: Math.max(low, bottom, 90),
  };
}
