// Shares, the day, print jobs, names, limits, configuration.

const HOUR = 60;

function drawShares(shares) {
  const rows = shares.map((share) => {
    const space = share.space;
    const meter = space ? el("meter", { min: 0, max: space[1], value: space[1] - space[0], "aria-label": "used space of " + share.name }) : null;
    const busiest = share.busiest.map((busy) => el("li", {}, busy.file + " – " + (busy.direction === "to-client" ? "read" : "written") + " by client " + busy.client + ", " + rate(busy.rate)));
    return el("tr", {}, rowHead(share.name + (share.printer ? " (printer)" : "")), cell(space ? [bytes(space[0]) + " of " + bytes(space[1]) + " ", el("br"), meter] : "–"),
      figure(rate(share.rate[0])), figure(rate(share.rate[1])), figure(number(share.open)), wide(busiest.length ? el("ul", {}, busiest) : "–"));
  });
  const heads = ["Share", "Free space", { text: "Received", number: true }, { text: "Sent", number: true }, { text: "Open", number: true }, "Busiest files"];
  table(byId("shares"), heads, rows, shares.map((share) => ({ ...share, requests: 0 })));
}

function drawPrints(jobs) {
  renew(byId("prints"), jobs, () => [jobs.length ? el("ol", {}, jobs.map((job) => el("li", {}, job))) : el("p", { class: "faint" }, "No print command runs or waits.")]);
}

function drawNames(networks) {
  const rows = networks.map((network) => el("tr", {}, rowHead(network.address),
    wide(network.names.map((name) => el("span", { class: name.registered ? "badge" : "badge poor" }, name.name + (name.registered ? "" : " (not registered)")))),
    cell(network.role || "–"), cell(network.master || "–")));
  const none = el("tr", {}, el("td", { colspan: 4 }, "The server announces no NetBIOS names over TCP/IP."));
  table(byId("names"), ["Network", "Names of this server", "Browse role", "Master browser"], rows.length ? rows : [none], networks);
}

function drawLimits(limits) {
  const rows = limits.map((limit) => el("tr", {}, rowHead(limit.what), figure(number(limit.used)), figure(number(limit.most)),
    cell(el("meter", { min: 0, max: limit.most, value: limit.used, high: limit.most * 0.8, "aria-label": limit.what + " in use" }))));
  table(byId("limits"), ["Limit", { text: "Used", number: true }, { text: "Of", number: true }, "Share"], rows, limits);
}

async function drawConfiguration() {
  const { settings } = await get("/configuration");
  const rows = settings.map((it) => el("tr", {}, rowHead("[" + it.section + "]"), wide(it.parameter), wide(it.value), wide(it.default || "–")));
  table(byId("settings"), ["Section", "Parameter", "Value", "Default"], rows, settings);
}

const day = { graph: null, data: null };

async function drawDay() {
  day.data = await get("/history");
  if (!day.graph) makeDay();
  showDay();
}

function makeDay() {
  const canvas = el("canvas", { role: "img" });
  day.choice = el("select", { id: "day-share", onchange: showDay });
  day.hours = el("table", {});
  day.highest = el("span", { class: "faint" });
  byId("day").replaceChildren(el("div", { class: "tools" }, el("label", { for: "day-share" }, "Share"), day.choice,
    el("span", { class: "in" }, "received"), el("span", { class: "out" }, "sent"), day.highest), canvas,
    el("details", {}, el("summary", {}, "Table by hour"), el("div", { class: "scroll", role: "region", "aria-label": "Traffic by hour", tabindex: 0 }, day.hours)));
  day.graph = new Graph(canvas, (lines, highest) => "Traffic of the last day by minute, highest " + rate(highest));
}

function sums(lists, length) {
  const all = new Array(length).fill(0);
  for (const list of lists) list.forEach((value, place) => { all[place] += value; });
  return all;
}

function showDay() {
  const { from, step, shares, clients } = day.data, length = clients.length;
  const names = ["all shares", ...shares.map((it) => it.name)];
  const before = day.choice.value;
  renew(day.choice, names, () => names.map((name, place) => el("option", { value: place }, name)));
  day.choice.value = before && before < names.length ? before : 0;
  const chosen = Number(day.choice.value) ? [shares[Number(day.choice.value) - 1]] : shares;
  const received = sums(chosen.map((it) => it.received), length), sent = sums(chosen.map((it) => it.sent), length);
  const per = (list) => list.map((value) => value / step);
  const end = (from + length * step) * 1000;
  day.graph.show([per(received), per(sent)], 24 * HOUR, ["24 h ago", clock(end)]);
  say(day.highest, length ? time(length * step) + " known; clients at most: " + Math.max(...clients) : "no minute is over yet");
  drawHours(received, sent, clients, from, step);
}

function drawHours(received, sent, clients, from, step) {
  const hours = new Map();
  clients.forEach((count, place) => {
    const at = from + place * step, hour = at - (at % 3600);
    const one = hours.get(hour) || { received: 0, sent: 0, clients: 0 };
    one.received += received[place]; one.sent += sent[place]; one.clients = Math.max(one.clients, count);
    hours.set(hour, one);
  });
  const list = [...hours].reverse();
  const rows = list.map(([hour, one]) => el("tr", {}, rowHead(clock(hour * 1000)), figure(bytes(one.received)), figure(bytes(one.sent)), figure(number(one.clients))));
  table(day.hours, ["Hour from", { text: "Received", number: true }, { text: "Sent", number: true }, { text: "Clients", number: true }], rows, list);
}
