// How the bytes went on over time, coloured by what each wait was for. Wheel, pinch, drag, buttons and keys change the
// stretch of time that is seen; the height follows what is in it. One packet can be marked, by pointing at it or by keys.

const MOST_ZOOM = 1e6;
const KEYS = "Plus and minus zoom, the arrows move, 0 shows all; N and P go to the next and the previous packet, Home and End to the first and the last.";

function timeSequence(copy, causes) {
  const graph = copy.graph;
  if (!graph || graph.points.length < 2) return null;
  const count = graph.points.length < graph.packets ? number(graph.points.length) + " of " + number(graph.packets) + " packets with data" : "all " + number(graph.packets) + " packets with data";
  const name = "Bytes over time of " + nameOf(copy) + ", " + count;
  const canvas = el("canvas", { tabindex: 0, role: "application", "aria-roledescription": "graph", "aria-label": name, "aria-describedby": "graph-keys" });
  const readout = el("p", { class: "readout", role: "status" }, "Point at a packet to see its frame, time and cause.");
  const range = el("span", { class: "range faint", role: "status" });
  const box = el("div", { class: "graph" }, canvas, readout);
  const last = graph.points[graph.points.length - 1][0];
  const view = new View(Math.min(0, graph.points[0][0]), Math.max(last, copy.wall_s * 1e9, 1));
  const state = { canvas, box, graph, causes, view, curves: { ack: true, window: true }, marked: null };
  const lanes = lanesOf(copy, state);
  const draw = () => { drawGraph(state); lanes.draw(); range.textContent = time(Math.max(0, view.from / 1e9)) + " to " + time(view.to / 1e9); };
  const step = (change) => () => { change(); draw(); };
  const mark = (place) => {
    state.marked = Math.max(0, Math.min(graph.points.length - 1, place));
    view.show(graph.points[state.marked][0]);
    readout.replaceChildren(...said(graph, causes, state.marked));
  };
  const point = (place) => { state.marked = place; readout.replaceChildren(...said(graph, causes, place)); draw(); };
  gestures(canvas, view, draw, (x, y) => point(nearest(state, x, y)));
  gestures(lanes.canvas, view, draw, (x) => point(nearestInTime(graph.points, view.at(x, lanes.canvas))));
  keys(canvas, view, step, (by) => mark(state.marked === null && isFinite(by) ? firstSeen(graph, view) : (state.marked || 0) + by));
  box.addEventListener("shown", draw);
  new ResizeObserver(draw).observe(canvas);
  const drawn = new Set(graph.points.map((it) => causes[it[5]].cause));
  const names = copy.causes.map((it) => it.cause).filter((it) => drawn.has(it));
  return section("Bytes over time", "sequence", el("p", { class: "faint" }, "Each level stretch is a wait, in the colour of its cause, and each step up a packet (" + count + "). Red crosses were sent again."),
    tools(view, step, state.curves, range), box, lanes.box, el("p", { id: "graph-keys", class: "faint keys" }, KEYS), legend(names));
}

function tools(view, step, curves, range) {
  const button = (label, text, change) => el("button", { type: "button", "aria-label": label, title: label, onclick: step(change) }, text);
  const toggle = (key, text) => el("label", {}, el("input", { type: "checkbox", checked: true, onchange: (event) => step(() => { curves[key] = event.target.checked; })() }), " " + text);
  return el("div", { class: "tools", role: "group", "aria-label": "What the graph shows" }, el("div", { class: "buttons" },
    button("Zoom in", "+", () => view.zoom(0.5, 0.5)), button("Zoom out", "−", () => view.zoom(2, 0.5)),
    button("Earlier", "←", () => view.move(-0.25)), button("Later", "→", () => view.move(0.25)), button("Show all", "All", () => view.reset())),
    toggle("ack", "acknowledged"), toggle("window", "window's edge"), range);
}

function keys(canvas, view, step, mark) {
  const acts = {
    "+": () => view.zoom(0.5, 0.5), "=": () => view.zoom(0.5, 0.5), "-": () => view.zoom(2, 0.5), 0: () => view.reset(),
    ArrowLeft: () => view.move(-0.1), ArrowRight: () => view.move(0.1), n: () => mark(1), p: () => mark(-1), Home: () => mark(-Infinity), End: () => mark(Infinity),
  };
  canvas.addEventListener("keydown", (event) => {
    const act = !event.ctrlKey && !event.metaKey && !event.altKey && acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act) { event.preventDefault(); step(act)(); }
  });
}

// the first packet in what is seen
function firstSeen(graph, view) {
  return Math.max(0, graph.points.findIndex((it) => it[0] >= view.from));
}

// the stretch of time that is seen, in nanoseconds
class View {
  constructor(from, to) { this.all = [from, to]; this.reset(); }
  reset() { [this.from, this.to] = this.all; }
  zoom(factor, middle) {
    const whole = this.all[1] - this.all[0], before = this.to - this.from;
    const now = Math.min(whole, Math.max(whole / MOST_ZOOM, 1000, before * factor));
    this.from += (before - now) * middle;
    this.to = this.from + now;
    this.move(0);
  }
  // the moment at a place of a canvas
  at(x, canvas) {
    const area = plotArea(canvas), share = (x - canvas.getBoundingClientRect().left - area.left) / area.width;
    return this.from + (this.to - this.from) * Math.max(0, Math.min(1, share));
  }
  // moves just as far as it takes to see this moment
  show(at) {
    const width = this.to - this.from, edge = width * 0.1;
    if (at < this.from + edge) this.move((at - edge - this.from) / width);
    else if (at > this.to - edge) this.move((at + edge - this.to) / width);
  }
  move(share) {
    const width = this.to - this.from;
    this.from = Math.max(this.all[0], Math.min(this.all[1] - width, this.from + width * share));
    this.to = this.from + width;
  }
}

function gestures(canvas, view, draw, point) {
  const fingers = new Map();
  const share = (x) => { const area = plotArea(canvas); return Math.max(0, Math.min(1, (x - canvas.getBoundingClientRect().left - area.left) / area.width)); };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.move(Math.sign(event.deltaX) * 0.08);
    else view.zoom(event.deltaY < 0 ? 0.8 : 1.25, share(event.clientX));
    draw();
  }, { passive: false });
  // one finger up or down scrolls the page; two belong to the graph whichever way they go
  for (const name of ["touchstart", "touchmove"]) canvas.addEventListener(name, (event) => { if (event.touches.length > 1 && event.cancelable) event.preventDefault(); }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (fingers.size === 1) point(event.clientX, event.clientY);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
  canvas.addEventListener("dblclick", () => { view.reset(); draw(); });
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return point(event.clientX, event.clientY);
    const before = [...fingers.values()];
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    const now = [...fingers.values()];
    const [then, here] = [middle(before), middle(now)];
    if (now.length > 1) view.zoom(apart(before) / apart(now), share(here));
    view.move((then - here) / plotArea(canvas).width);
    draw();
  });
}

// how far two fingers are from each other, and where between them they are
function apart([one, other]) {
  return Math.max(24, Math.hypot(one[0] - other[0], one[1] - other[1]));
}

function middle(fingers) {
  const [one, other] = [fingers[0], fingers[1] || fingers[0]];
  return (one[0] + other[0]) / 2;
}

function plotArea(canvas) {
  const left = 62, right = 10, top = 10, bottom = 34;
  return { left, top, width: Math.max(10, canvas.clientWidth - left - right), height: Math.max(10, canvas.clientHeight - top - bottom) };
}

// the points that are seen, with one before and one after
function visible(points, view) {
  let low = points.findIndex((it) => it[0] >= view.from), high = points.findLastIndex((it) => it[0] <= view.to);
  if (low < 0) low = points.length - 1;
  return [Math.max(0, low - 1), Math.min(points.length - 1, Math.max(high, low) + 1)];
}

function scales({ canvas, graph, view, curves }) {
  const area = plotArea(canvas), [first, last] = visible(graph.points, view);
  const seen = graph.points.slice(first, last + 1);
  const inside = seen.filter((it) => it[0] >= view.from && it[0] <= view.to);
  const used = inside.length > 1 ? inside : seen;
  let low = Infinity, high = -Infinity;
  for (const it of used) { low = Math.min(low, it[2]); high = Math.max(high, it[2]); }
  if (curves && curves.window && used.length < graph.points.length) for (const it of used) high = Math.max(high, Math.min(it[4], high + (high - low) * 0.5 + 3000));
  const room = Math.max((high - low) * 0.04, 500);
  low = Math.max(0, low - room);
  high += room;
  return {
    area, seen, low, high,
    x: (at) => area.left + (at - view.from) * area.width / (view.to - view.from),
    y: (value) => area.top + area.height - (value - low) * area.height / (high - low),
  };
}

function drawGraph(state) {
  const { canvas, box, causes, view, curves } = state;
  const dense = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * dense), height = Math.round(canvas.clientHeight * dense);
  if (!width || !height) return;
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  box.dataset.from = view.from;
  box.dataset.to = view.to;
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const ink = (name) => style.getPropertyValue("--" + name).trim() || "#888";
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.fillStyle = ink("paper");
  pen.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  const s = scales(state);
  axes(pen, s, view, ink);
  pen.save();
  pen.beginPath();
  pen.rect(s.area.left, s.area.top, s.area.width, s.area.height);
  pen.clip();
  if (curves.window) curve(pen, s, 4, ink("receive-window"), [5, 3]);
  if (curves.ack) curve(pen, s, 3, ink("faint"), [2, 2]);
  waits(pen, s, causes, ink);
  if (state.marked !== null) mark(pen, s, state.graph.points[state.marked], ink("ink"));
  pen.restore();
}

function axes(pen, s, view, ink) {
  const { area } = s;
  pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  pen.lineWidth = 1;
  pen.strokeStyle = ink("soft");
  pen.fillStyle = ink("faint");
  pen.textAlign = "center";
  const from = view.from / 1e9, to = view.to / 1e9;
  for (const at of ticks(from, to, area.width / 90)) {
    const x = s.x(at * 1e9);
    pen.strokeRect(x, area.top, 0, area.height);
    pen.fillText(axisTime(at, to - from), x, area.top + area.height + 15);
  }
  pen.textAlign = "right";
  const unit = s.high - s.low > 2e6 || s.high > 2e7 ? [1e6, " MB"] : s.high > 5e3 ? [1e3, " KB"] : [1, ""];
  const marks = ticks(s.low / unit[0], s.high / unit[0], 6);
  const step = marks.length > 1 ? marks[1] - marks[0] : 1;
  for (const value of marks) {
    const y = s.y(value * unit[0]);
    pen.strokeRect(area.left, y, area.width, 0);
    pen.fillText(value.toFixed(Math.max(0, Math.min(4, Math.ceil(-Math.log10(step))))) + unit[1], area.left - 5, y + 4);
  }
  pen.textAlign = "left";
  pen.fillText("time since the copy began", area.left, area.top + area.height + 29);
}

function axisTime(at, width) {
  const [scale, unit] = width < 0.002 ? [1e6, " µs"] : width < 2 ? [1e3, " ms"] : [1, " s"];
  const digits = Math.max(0, Math.min(3, Math.ceil(-Math.log10(width * scale / 10))));
  return (at * scale).toFixed(digits) + unit;
}

function curve(pen, s, column, ink, dash) {
  pen.beginPath();
  pen.strokeStyle = ink;
  pen.lineWidth = 1;
  pen.setLineDash(dash);
  s.seen.forEach((it, place) => {
    if (place) pen.lineTo(s.x(it[0]), s.y(s.seen[place - 1][column]));
    pen.lineTo(s.x(it[0]), s.y(it[column]));
  });
  pen.stroke();
  pen.setLineDash([]);
}

function waits(pen, s, causes, ink) {
  pen.lineWidth = 2.5;
  for (let place = 1; place < s.seen.length; place++) {
    const before = s.seen[place - 1], it = s.seen[place];
    pen.strokeStyle = ink(causes[it[5]].cause);
    pen.beginPath();
    pen.moveTo(s.x(before[0]), s.y(before[2]));
    pen.lineTo(s.x(it[0]), s.y(before[2]));
    pen.lineTo(s.x(it[0]), s.y(it[2]));
    pen.stroke();
  }
  pen.strokeStyle = ink("timeout");
  pen.lineWidth = 1.8;
  for (const it of s.seen.filter((point) => point[6])) {
    const x = s.x(it[0]), y = s.y(it[2]);
    pen.beginPath();
    pen.moveTo(x - 4, y - 4); pen.lineTo(x + 4, y + 4); pen.moveTo(x - 4, y + 4); pen.lineTo(x + 4, y - 4);
    pen.stroke();
  }
}

// the packet that is marked
function mark(pen, s, it, ink) {
  const x = s.x(it[0]), y = s.y(it[2]);
  pen.strokeStyle = ink;
  pen.lineWidth = 1;
  pen.setLineDash([1, 3]);
  pen.strokeRect(x, s.area.top, 0, s.area.height);
  pen.setLineDash([]);
  pen.beginPath();
  pen.arc(x, y, 4.5, 0, 2 * Math.PI);
  pen.stroke();
}

// the place of the packet nearest to a point of the canvas
function nearest(state, x, y) {
  const s = scales(state), box = state.canvas.getBoundingClientRect();
  const [first] = visible(state.graph.points, state.view);
  let best = 0, least = Infinity;
  s.seen.forEach((it, place) => {
    const away = Math.hypot(s.x(it[0]) - (x - box.left), (s.y(it[2]) - (y - box.top)) / 3);
    if (away < least) { least = away; best = place; }
  });
  return first + best;
}

// what is said of a packet
function said(graph, causes, place) {
  const it = graph.points[place], before = place > 0 ? graph.points[place - 1] : null;
  const cause = causes[it[5]];
  const waited = before ? time((it[0] - before[0]) / 1e9) + " after the point before: " : "";
  return [el("strong", {}, "Frame " + number(it[1])), " at " + (it[0] / 1e9).toFixed(6) + " s, " + number(it[2]) + " bytes on" + (it[6] ? ", retransmitted" : "") + ". ",
    waited, swatch(cause.cause), el("strong", {}, cause.cause), " – " + cause.words + "."];
}
