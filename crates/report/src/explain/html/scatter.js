// Request sizes against response times, both on logarithmic scales; each command has a colour and a form.

const FORMS = [
  (x, y) => svg("circle", { cx: x, cy: y, r: 3.2 }),
  (x, y) => svg("rect", { x: x - 3, y: y - 3, width: 6, height: 6 }),
  (x, y) => svg("path", { d: `M${x},${y - 4} l4,7 h-8 z` }),
  (x, y) => svg("path", { d: `M${x},${y - 4} l4,4 l-4,4 l-4,-4 z` }),
  (x, y) => svg("path", { d: `M${x - 4},${y - 1} h3 v-3 h2 v3 h3 v2 h-3 v3 h-2 v-3 h-3 z` }),
];
const INKS = ["--round-trips", "--server-think", "--receive-window", "--nagle-delayed-ack", "--send-window", "--capture"];

function scatter(copy) {
  const requests = copy.graph && copy.graph.requests;
  const names = requests ? Object.keys(requests) : [];
  const all = names.flatMap((name) => requests[name]);
  if (all.length < 2) return null;
  // as wide as the page: on a phone it would be too small to read
  const width = Math.max(320, Math.min(720, document.documentElement.clientWidth - 32)), height = 320, left = 66, right = 8, top = 8, bottom = 44;
  const size = (it) => Math.max(1, it[0]);
  const spent = (it) => Math.max(1000, it[1]);
  const scale = (values, from, to) => {
    const low = Math.log10(Math.min(...values)) - 0.1, high = Math.log10(Math.max(...values)) + 0.1;
    return { low, high, at: (value) => from + (Math.log10(value) - low) * (to - from) / (high - low) };
  };
  const x = scale(all.map(size), left, width - right), y = scale(all.map(spent), height - bottom, top);
  const drawn = [];
  for (const value of decades(y)) {
    const at = y.at(value);
    drawn.push(svg("line", { x1: left, x2: width - right, y1: at, y2: at }), svg("text", { class: "faint", x: left - 6, y: at + 4, "text-anchor": "end" }, time(value / 1e9)));
  }
  const step = x.high - x.low > 4 ? 4 : width < 500 ? 2 : 1;
  for (let power = Math.ceil(x.low * 3.3219 / step) * step; power / 3.3219 <= x.high; power += step) {
    const at = x.at(2 ** power);
    drawn.push(svg("line", { y1: top, y2: height - bottom, x1: at, x2: at }), svg("text", { class: "faint", x: at, y: height - bottom + 16, "text-anchor": "middle" }, 2 ** power < 1024 ? 2 ** power : 2 ** power / 1024 + " K"));
  }
  drawn.push(svg("text", { class: "faint", x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, "bytes moved by the request (1: none)"));
  const marks = names.map((name, place) => svg("g", { style: mark(place), opacity: 0.6 }, requests[name].map((it) => FORMS[place % FORMS.length](x.at(size(it)), y.at(spent(it))))));
  const label = "Response time against size of " + all.length + " requests";
  const key = names.map((name, place) => el("li", {}, svg("svg", { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("g", { style: mark(place) }, FORMS[place % FORMS.length](5, 5))), name + " (" + requests[name].length + ")"));
  return section("Request sizes and response times", "scatter", el("figure", {}, svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, drawn, marks), el("ul", { class: "legend" }, key)));
}

// powers of ten; where they are few, twice and five times as much too
function decades({ low, high }) {
  const steps = high - low < 3 ? [1, 2, 5] : [1];
  const all = [];
  for (let power = Math.floor(low); power <= high; power++) for (const step of steps) all.push(step * 10 ** power);
  return all.filter((it) => Math.log10(it) >= low && Math.log10(it) <= high);
}

function mark(place) {
  return "fill:var(" + INKS[place % INKS.length] + ")";
}
