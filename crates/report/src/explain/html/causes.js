// What the time went to: the waterfall, the table, the account over time. Colour is never alone: each cause has a texture
// of its own too, and its name stands beside it.

// TEXTURES, the texture of each cause, stands before this script: causes.rs makes it.
const STROKES = {
  diagonal: "M-1,7 L7,-1 M-1,3 L3,-1 M3,7 L7,3", back: "M-1,-1 L7,7 M3,-1 L7,3 M-1,3 L3,7",
  cross: "M-1,7 L7,-1 M-1,-1 L7,7", upright: "M1.5,0 V6 M4.5,0 V6", dots: "M1,1.5 h1.6 M4,4.5 h1.6",
};

function colour(cause) {
  return "var(--" + (cause in TEXTURES ? cause : "unattributed") + ")";
}

function fill(cause) {
  return "url(#t-" + (cause in TEXTURES ? cause : "unattributed") + ")";
}

// once for the whole page
function textures() {
  const patterns = Object.entries(TEXTURES).map(([cause, kind]) =>
    svg("pattern", { id: "t-" + cause, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
      svg("rect", { width: 6, height: 6, style: "fill:" + colour(cause) }),
      kind !== "plain" && svg("path", { d: STROKES[kind], style: "fill:none;stroke:var(--texture);stroke-width:1.3" })));
  return svg("svg", { width: 0, height: 0, "aria-hidden": "true", style: "position:absolute" }, svg("defs", {}, patterns));
}

function swatch(cause) {
  return svg("svg", { class: "swatch", "aria-hidden": "true" },
    svg("rect", { width: "100%", height: "100%", fill: fill(cause) }));
}

function bar(parts, label) {
  const rects = parts.map(([from, to, cause]) =>
    svg("rect", { x: Math.min(from, 99.5) + "%", width: Math.max(0.5, to - from) + "%", height: "100%", fill: fill(cause) }));
  return svg("svg", { role: "img", "aria-label": label }, rects);
}

function waterfall(copy) {
  const { causes, wall_s: wall } = copy;
  let before = 0;
  const parts = causes.map((row) => {
    const from = before;
    before += wall > 0 ? row.seconds * 100 / wall : 0;
    return [from, before, row.cause];
  });
  const stack = bar(parts, causes.map((row) => row.cause + " " + percent(row.seconds, wall)).join(", "));
  stack.setAttribute("class", "stack");
  const rows = causes.map((row, place) => causeRow(row, parts[place], wall));
  const heads = ["cause", "time", "share", "count", "median", "95 %", "part of the whole", "longest, by frame"];
  const head = el("thead", {}, el("tr", {}, heads.map((name, place) =>
    el("th", { scope: "col", class: place >= 1 && place <= 5 ? "number" : null }, name))));
  const sum = causes.reduce((total, row) => total + row.seconds, 0);
  const total = el("tr", { class: "total" }, el("th", { scope: "row", class: "cause" }, "together"),
    el("td", { class: "number", id: "cause-sum", "data-seconds": sum, "data-label": "time" }, partOf(sum, wall)),
    el("td", { class: "number", "data-label": "share" }, percent(sum, wall)), el("td", { colspan: 5 }));
  return section("Where the time went", "waterfall", stack, wide("Where the time went",
    el("table", { class: "causes cards" }, head, el("tbody", {}, rows, total))), over(copy));
}

// from one end, processing of the far machine and a late packet look the same
function unsure(row, wall) {
  if (!(row.low_s < row.seconds * 0.9) || row.seconds < wall * 0.05) return "";
  return ". At least " + time(row.low_s) + "; the rest may be round trips that took longer";
}

function causeRow(row, part, wall) {
  const cell = (label, text) => el("td", { class: "number", "data-label": label }, text);
  const frames = (row.frames || []).map((spot, place) => [place ? ", " : "",
    el("span", { title: time(spot.seconds) + ", " + time(spot.at_s) + " after the start" }, frameList([spot.frame]))]);
  return el("tr", { class: "cause-row", "data-cause": row.cause },
    el("th", { scope: "row", class: "cause" }, swatch(row.cause), row.cause, el("span", { class: "words" }, row.words + unsure(row, wall))),
    cell("time", partOf(row.seconds, wall)), cell("share", percent(row.seconds, wall)),
    cell("count", row.count === null ? "?" : number(row.count)), cell("median", time(row.median_s)), cell("95 %", time(row.p95_s)),
    el("td", { class: "bars" }, bar([part], "from " + part[0].toFixed(0) + " to " + part[1].toFixed(0) + " %")),
    el("td", { class: "frames mono", "data-label": "longest, by frame" }, frames));
}

// the account in equal slices of time, one upon the other
function over(copy) {
  const graph = copy.graph;
  if (!graph || !(copy.wall_s > 0)) return null;
  const names = copy.causes.map((row) => row.cause).filter((cause) => cause in graph.slices);
  const count = Math.max(...names.map((cause) => graph.slices[cause].length), 0);
  if (count < 2) return null;
  const width = graph.slice_ns * 100 / (copy.wall_s * 1e9);
  const rects = [];
  for (let place = 0; place < count; place++) {
    let y = 0;
    const wide = Math.min(width, 100 - place * width);
    for (const cause of names) {
      const share = (graph.slices[cause][place] || 0) * 100 * width / (graph.slice_ns * Math.max(wide, 1e-6));
      if (share > 0.2) rects.push(svg("rect", { x: place * width + "%", width: wide + 0.05 + "%", y: 100 - y - share + "%", height: share + "%", fill: fill(cause) }));
      y += share;
    }
  }
  const label = "What each moment of the copy was spent on, from its start to its end";
  const marks = ticks(0, copy.wall_s, 5).map((at) => el("span", { style: "position:absolute;white-space:nowrap;left:" + at * 100 / copy.wall_s + "%;transform:translateX(-" + Math.round(at * 100 / copy.wall_s) + "%)" }, time(at)));
  return el("figure", {}, el("figcaption", {}, label + "; each of " + count + " slices is " + time(graph.slice_ns / 1e9) + " long"),
    svg("svg", { role: "img", "aria-label": label, style: "display:block;width:100%;height:6rem;background:var(--soft)" }, rects),
    el("div", { class: "faint", style: "position:relative;height:1.5rem", "aria-hidden": "true" }, marks), legend(names));
}

function legend(names) {
  return el("ul", { class: "legend" }, names.map((cause) => el("li", {}, swatch(cause), cause)));
}
