// Lanes over the time axis of the graph of bytes: causes, throughput under the rate of the path, bytes in flight under the
// window, the time until data is acknowledged, and outstanding requests. They share the graph's zoom and its marked packet.

const LANE_GAP = 16;

function lanesOf(copy, state) {
  const all = [causeLane(state), throughputLane(copy, state), flightLane(state), roundTripLane(state), requestLane(copy, state)].filter((lane) => lane);
  const heights = all.map((lane) => lane.height);
  const canvas = el("canvas", { class: "lanes", role: "img", "aria-label": "Over the same time: " + all.map((lane) => lane.title).join("; ") });
  canvas.style.height = heights.reduce((sum, height) => sum + height + LANE_GAP, 26) + "px";
  const box = el("div", { class: "graph lanes-box" }, canvas, el("p", { class: "faint" }, all.map((lane) => lane.told).filter((it) => it).join(" ")));
  return { canvas, box, draw: () => drawLanes(canvas, all, state) };
}

function drawLanes(canvas, all, state) {
  const dense = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * dense), height = Math.round(canvas.clientHeight * dense);
  if (!width || !height) return;
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const ink = (name) => style.getPropertyValue("--" + name).trim() || "#888";
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.fillStyle = ink("paper");
  pen.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  const { left, width: wide } = plotArea(canvas), { view } = state;
  const x = (at) => left + (at - view.from) * wide / (view.to - view.from);
  let top = LANE_GAP;
  pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  for (const lane of all) {
    const area = { left, top, width: wide, height: lane.height };
    pen.strokeStyle = ink("soft");
    pen.lineWidth = 1;
    for (const at of ticks(view.from / 1e9, view.to / 1e9, wide / 90)) pen.strokeRect(x(at * 1e9), top, 0, lane.height);
    pen.strokeRect(left, top + lane.height, wide, 0);
    pen.save();
    pen.beginPath();
    pen.rect(left, top - 1, wide, lane.height + 2);
    pen.clip();
    const most = lane.draw(pen, area, x, ink, view);
    pen.restore();
    pen.fillStyle = ink("faint");
    pen.textAlign = "left";
    pen.fillText(lane.title, left, top - 4);
    pen.textAlign = "right";
    if (most) { pen.fillText(most, left - 5, top + 9); pen.fillText("0", left - 5, top + lane.height); }
    top += lane.height + LANE_GAP;
  }
  if (state.marked !== null) {
    pen.strokeStyle = ink("ink");
    pen.setLineDash([1, 3]);
    pen.strokeRect(x(state.graph.points[state.marked][0]), LANE_GAP, 0, top - 2 * LANE_GAP);
    pen.setLineDash([]);
  }
  pen.fillStyle = ink("faint");
  pen.textAlign = "center";
  for (const at of ticks(view.from / 1e9, view.to / 1e9, wide / 90)) pen.fillText(axisTime(at, (view.to - view.from) / 1e9), x(at * 1e9), top + 2);
}

// the place of the packet nearest to a moment
function nearestInTime(points, at) {
  let low = 0, high = points.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] < at) low = middle + 1; else high = middle;
  }
  return low > 0 && at - points[low - 1][0] < points[low][0] - at ? low - 1 : low;
}

function causeLane({ graph, causes }) {
  return { title: "cause of each wait", height: 20, draw: (pen, area, x, ink) => {
    for (let place = 1; place < graph.points.length; place++) {
      const from = x(graph.points[place - 1][0]), to = x(graph.points[place][0]);
      if (to < area.left || from > area.left + area.width) continue;
      pen.fillStyle = ink(causes[graph.points[place][5]].cause);
      pen.fillRect(from, area.top, Math.max(0.5, to - from), area.height);
    }
    return null;
  } };
}

// a curve of levels; each value holds until the next
function levels(pen, area, x, values, most, from) {
  pen.beginPath();
  values.forEach(([at, value], place) => {
    const y = area.top + area.height * (1 - Math.min(1, value / most));
    if (place) pen.lineTo(x(at), area.top + area.height * (1 - Math.min(1, values[place - 1][1] / most)));
    else pen.moveTo(x(at), y);
    pen.lineTo(x(at), y);
  });
  if (from) { pen.lineTo(x(values[values.length - 1][0]), area.top + area.height); pen.lineTo(x(values[0][0]), area.top + area.height); pen.fill(); } else pen.stroke();
}

function inView(values, view) {
  let first = values.findIndex((it) => it[0] >= view.from), last = values.findLastIndex((it) => it[0] <= view.to);
  if (first < 0) first = values.length - 1;
  return values.slice(Math.max(0, first - 1), Math.max(last, first) + 2);
}

function largest(values) {
  return values.reduce((most, it) => Math.max(most, it[1]), 0);
}

// bytes that went on in equal parts of what is seen, against what the path can carry
function throughputLane(copy, { graph }) {
  const limit = copy.path_bits_per_s;
  const points = graph.points;
  return { title: "throughput" + (limit ? " and the rate of the path (line), " : ", ") + "Mbit/s", height: 70,
    told: limit ? "The path carries " + (limit / 1e6).toFixed(limit < 1e7 ? 2 : 1) + " Mbit/s with headers." : "The rate of the path is not visible in this capture.",
    draw: (pen, area, x, ink, view) => {
      const count = Math.max(8, Math.min(200, Math.floor(area.width / 5))), part = (view.to - view.from) / count, sums = new Array(count).fill(0);
      let high = points[0][2];
      for (let place = 1; place < points.length; place++) {
        const it = points[place], before = points[place - 1][0], more = Math.max(0, it[2] - high);
        high = Math.max(high, it[2]);
        if (!more || it[0] < view.from || before > view.to) continue;
        // left-out packets lie between two points: their bytes are spread between them
        const from = Math.min(before, it[0] - 1), spread = it[0] - from;
        const first = Math.max(0, Math.floor((from - view.from) / part)), last = Math.min(count - 1, Math.floor((it[0] - view.from) / part));
        for (let bin = first; bin <= last; bin++) {
          const overlap = Math.min(it[0], view.from + (bin + 1) * part) - Math.max(from, view.from + bin * part);
          if (graph.points.length < graph.packets) sums[bin] += more * Math.max(0, overlap) / spread;
        }
        if (graph.points.length >= graph.packets && it[0] <= view.to) sums[Math.min(count - 1, Math.max(0, Math.floor((it[0] - view.from) / part)))] += more;
      }
      const rates = sums.map((sum, bin) => [view.from + bin * part, sum * 8e9 / part]);
      const most = Math.max(largest(rates), limit ? limit * 1.05 : 0, 1);
      pen.fillStyle = ink("bandwidth");
      rates.forEach(([at, rate]) => pen.fillRect(x(at), area.top + area.height * (1 - rate / most), area.width / count + 0.3, area.height * rate / most));
      if (limit) {
        pen.strokeStyle = ink("ink");
        pen.lineWidth = 1.2;
        const y = area.top + area.height * (1 - limit / most);
        pen.strokeRect(area.left, y, area.width, 0);
      }
      return (most / 1e6).toFixed(most < 1e7 ? 2 : 0);
    } };
}

function flightLane({ graph }) {
  let high = 0;
  const flight = graph.points.map((it) => { high = Math.max(high, it[2]); return [it[0], Math.max(0, high - it[3])]; });
  const window = graph.points.map((it) => [it[0], Math.max(0, it[4] - it[3])]);
  return { title: "bytes in flight and the receive window (line)", height: 70, draw: (pen, area, x, ink, view) => {
    const seen = inView(flight, view), most = Math.max(largest(seen) * 1.1, Math.min(largest(inView(window, view)), largest(seen) * 3), 1);
    pen.fillStyle = ink("send-window");
    levels(pen, area, x, seen, most, true);
    pen.strokeStyle = ink("receive-window");
    pen.lineWidth = 1.5;
    levels(pen, area, x, inView(window, view), most, false);
    return bytes(Math.round(most));
  } };
}

// from a packet with data to the first packet that acknowledges it; those sent again tell nothing
function roundTripLane({ graph }) {
  const points = graph.points, found = [];
  let next = 0;
  points.forEach((it, place) => {
    if (it[6]) return;
    next = Math.max(next, place);
    while (next < points.length && points[next][3] < it[2]) next++;
    if (next < points.length && next > place) found.push([it[0], points[next][0] - it[0]]);
  });
  if (found.length < 3) return null;
  return { title: "time until data is acknowledged, at the capture point", height: 60,
    told: "Acknowledgments are noted with the next packet with data.",
    draw: (pen, area, x, ink, view) => {
      const seen = inView(found, view), most = Math.max(largest(seen) * 1.05, 1);
      pen.fillStyle = ink("round-trips");
      seen.forEach(([at, value]) => pen.fillRect(x(at) - 1, area.top + area.height * (1 - value / most) - 1, 2, 2));
      return time(most / 1e9);
    } };
}

// the mean number of requests that wait for their answers in equal parts of what is seen
function requestLane(copy, { graph }) {
  const all = Object.values(graph.requests || {}).flat().filter((it) => it.length > 2);
  if (all.length < 2) return null;
  const weight = Math.max(1, (graph.requests_seen || all.length) / all.length);
  return { title: "outstanding requests, mean", height: 50,
    told: weight > 1 ? "Outstanding requests are estimated from " + number(all.length) + " of " + number(graph.requests_seen) + "." : "",
    draw: (pen, area, x, ink, view) => {
      const count = Math.max(8, Math.min(160, Math.floor(area.width / 6))), part = (view.to - view.from) / count, sums = new Array(count).fill(0);
      for (const [, response, begin] of all) {
        const first = Math.max(0, Math.floor((begin - view.from) / part)), last = Math.min(count - 1, Math.floor((begin + response - view.from) / part));
        for (let bin = first; bin <= last; bin++) {
          sums[bin] += Math.max(0, Math.min(begin + response, view.from + (bin + 1) * part) - Math.max(begin, view.from + bin * part));
        }
      }
      const means = sums.map((sum, bin) => [view.from + bin * part, sum * weight / part]), most = Math.max(largest(means) * 1.05, 1);
      pen.fillStyle = ink("server-think");
      means.forEach(([at, mean]) => pen.fillRect(x(at), area.top + area.height * (1 - mean / most), area.width / count + 0.3, area.height * mean / most));
      return most.toFixed(1);
    } };
}
