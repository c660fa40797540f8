// Advice, what was agreed on and used, requests, the table of copies, the capture's quality. Fields that this page does
// not know are shown under their own names.

function words(key) {
  return key.replace(/(_per)?_s$/, "").replace(/_/g, " ");
}

function told(key, value) {
  if (value === null || value === undefined) return "?";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (key === "start_s" && typeof value === "number") return new Date(value * 1000).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
  if (typeof value === "number" && /bits_per_s$/.test(key)) return (value / 1e6).toFixed(value < 1e7 ? 3 : 1) + " Mbit/s";
  if (typeof value === "number" && /(?<!_per)_s$|^seconds$/.test(key)) return time(value);
  if (typeof value === "number") return number(value);
  return harmless(value);
}

function isPlain(value) {
  return value === null || typeof value !== "object";
}

// the plain fields of an object as rows, those of objects in it beneath
function fields(object, without = []) {
  const rows = [];
  for (const [key, value] of Object.entries(object || {})) {
    if (without.includes(key)) continue;
    if (isPlain(value)) rows.push([words(key), told(key, value)]);
    else if (Array.isArray(value)) { if (value.length) rows.push([words(key), value.map((it) => isPlain(it) ? told(key, it) : inLine(it)).join(value.every(isPlain) ? ", " : "; ")]); }
    else for (const [inner, it] of fields(value)) rows.push([words(key) + ": " + inner, it]);
  }
  return rows;
}

function inLine(object) {
  return fields(object).map(([key, value]) => key === "what" ? value : key + " " + value).join(", ");
}

function pairs(title, rows) {
  if (!rows.length) return null;
  return el("div", {}, el("h3", {}, title), el("table", {}, el("tbody", {}, rows.map(([key, value]) => el("tr", {}, el("th", { scope: "row" }, key), el("td", {}, value))))));
}

function advice(copy) {
  const all = copy.advice || [], without = all.filter((one) => one.effect === "none");
  const folded = without.length > 0 && el("details", { id: "no-effect" }, el("summary", {}, "No effect expected from " + number(without.length) + (without.length > 1 ? " other changes" : " other change")),
    advised(copy, without, "No effect expected", "without-effect"));
  return [advised(copy, all.filter((one) => one.effect !== "none"), "What to change", "advice"), folded];
}

// what is amiss beside the copies
function remarks(capture, copy) {
  return advised(copy, capture.remarks || [], "Besides", "remarks");
}

function advised(copy, all, title, id) {
  if (!all.length) return null;
  return section(title, id, all.map((one) => adviceBox(copy, one)));
}

function adviceBox(copy, one) {
  const changes = Array.isArray(one.changes) ? one.changes : one.change && !isPlain(one.change) ? [one.change] : [];
  const head = one.title || (isPlain(one.change) ? one.change : null) || one.id || "advice";
  const known = ["id", "title", "why", "change", "changes", "source", "frames", "predicted_s", "effect", "lab", "cause", "share", "connection"];
  const rest = fields(one, known);
  return el("div", { class: "advice" }, el("h3", {}, harmless(head)), one.why && el("p", {}, harmless(one.why)),
    typeof one.change === "string" && one.title && !changes.length && el("p", {}, harmless(one.change)),
    changes.length > 0 && el("ul", {}, changes.map((change) => el("li", {}, changeLine(change)))),
    gain(copy, one.predicted_s),
    typeof one.share === "number" && el("p", { class: "faint" }, "Affects " + percent(one.share, 1) + " of the copy time" + (one.cause ? ", mostly " + one.cause : "")),
    Array.isArray(one.frames) && one.frames.length > 0 && el("p", { class: "faint" }, one.frames.length > 1 ? "See frames " : "See frame ", frameList(one.frames)),
    rest.length > 0 && el("p", { class: "faint" }, rest.map(([key, value]) => key + ": " + value).join("; ")),
    one.source && el("p", { class: "faint" }, "Source: " + harmless(one.source)));
}

// opens, listings, log-ons, print jobs and locks that took long
function operations(capture) {
  const most = 20, all = [...(capture.operations || [])].sort((a, b) => b.wall_s - a.wall_s);
  if (!all.length) return null;
  const left = all.length - Math.min(most, all.length) + (capture.operations_left_out || 0);
  return section("Slow apart from the transfer of data", "operations", all.slice(0, most).map((one) => {
    let before = 0;
    const parts = one.causes.map((row) => { const from = before; before += row.seconds * 100 / one.wall_s; return [from, before, row.cause]; });
    const made = bar(parts, one.causes.map((row) => row.cause + " " + percent(row.seconds, one.wall_s)).join(", "));
    made.setAttribute("class", "stack thin");
    return el("div", { class: "operation", "data-kind": one.kind, "data-reason": one.reason }, el("h3", {}, harmless(one.verdict)), made, legend(one.causes.slice(0, 3).map((row) => row.cause)),
      el("p", { class: "faint" }, "Frames ", frameRange(one.frames), one.holder && [", see also frame ", frameList([one.holder.frame])]),
      one.advice.map((it) => adviceBox({ wall_s: one.wall_s }, it)));
  }), left > 0 && el("p", { class: "faint" }, number(left) + " more are not listed here."));
}

function changeLine(change) {
  if (isPlain(change)) return harmless(change);
  const where = change.where || change.where_;
  const line = [change.on && harmless(change.on) + ": ", where && el("code", {}, harmless(where)), change.to && [where ? " → " : "", el("code", {}, harmless(change.to))]];
  const rest = fields(change, ["on", "where", "where_", "to", "note"]).map(([key, value]) => "; " + key + ": " + value);
  return [line, rest, change.note && el("span", { class: "faint" }, " (" + harmless(change.note) + ")")];
}

// before and after; the after's range is drawn lighter
function gain(copy, predicted) {
  if (!Array.isArray(predicted) || predicted.length < 2) return null;
  const low = predicted[0], high = predicted[predicted.length - 1], middle = predicted.length > 2 ? predicted[1] : (low + high) / 2;
  const most = Math.max(copy.wall_s, high) || 1;
  const rect = (to, style, from = 0) => svg("rect", { x: from * 100 / most + "%", width: Math.max(0.4, (to - from) * 100 / most) + "%", height: "100%", style });
  return el("div", { class: "before-after" },
    el("span", {}, "now"), svg("svg", { class: "now-bar", "aria-hidden": "true" }, rect(copy.wall_s, "fill:var(--faint)")), el("span", {}, time(copy.wall_s)),
    el("span", { class: "then-name" }, "then"), svg("svg", { class: "then-bar", "aria-hidden": "true" }, rect(high, "fill:var(--accent);opacity:.35"), rect(middle, "fill:var(--accent)")),
    el("span", { class: "then-time" }, time(middle) + " (" + time(low) + " to " + time(high) + ")"));
}

function requestTable(title, id, rows, before) {
  if (!rows || !rows.length) return null;
  const heads = ["command", "count", "bytes", "usual size", "median", "95 %", "refused", "no answer"];
  const most = 40;
  const body = rows.slice(0, most).map((row) => el("tr", {}, el("th", { scope: "row" }, row.command),
    [number(row.count), row.bytes ? number(row.bytes) : "", row.bytes ? number(row.usual_bytes) : "", time(row.response_median_s), time(row.response_p95_s), row.refused || "", row.unanswered || ""]
      .map((it, place) => el("td", { class: "number", "data-label": heads[place + 1] }, it))));
  return section(title, id, before, wide(title, el("table", { class: "cards" }, el("thead", {}, el("tr", {}, heads.map((it, place) => el("th", { scope: "col", class: place ? "number" : null }, it)))), el("tbody", {}, body))),
    rows.length > most && el("p", { class: "faint" }, number(rows.length - most) + " more kinds are not listed."));
}

// a table that may be wider than a phone: it is moved by finger or, with the focus on it, by keys
function wide(title, table) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title + ", table" }, table);
}

// what belongs to no copy
function around(connection) {
  const it = connection && connection.around;
  if (!it || !it.words) return null;
  return requestTable("Outside copies", "between", it.requests, el("p", {}, harmless(it.words) + "."));
}

// metadata, pauses between files and the rest of a tree's time
function treeBar(tree) {
  const metadata = Math.min(100, tree.metadata_share * 100), busy = Math.max(metadata, 100 - tree.idle_share * 100);
  const all = [[0, metadata, "metadata", "metadata"], [metadata, busy, "bandwidth", "all else"], [busy, 100, "client-think", "no request outstanding"]];
  const parts = all.map(([from, to, colour, words]) => [from, to, colour, words + " " + (to - from).toFixed(0) + " %"]).filter(([from, to]) => to - from > 0);
  const made = bar(parts, parts.map((it) => it[3]).join(", "));
  made.setAttribute("class", "stack thin");
  const told = [bytes(tree.bytes) + " in " + number(tree.files) + " files", "median size " + bytes(tree.median_bytes), time(tree.seconds), time(tree.seconds_per_file) + " a file"];
  return el("figure", {}, el("p", { id: "tree-facts" }, told.map((text) => badge("", text))), made,
    el("ul", { class: "legend" }, parts.map((it) => el("li", {}, swatch(it[2]), it[3]))));
}

function agreed(connection) {
  if (!connection) return null;
  const known = ["requests", "smb", "from_client", "from_server", "client_is", "server_is", "client_tcp_is", "server_tcp_is", "agreed", "around"];
  const lines = (connection.agreed || []).map((it) => el("tr", {}, el("th", { scope: "row" }, it.what), el("td", {}, harmless(it.words), seen(it.frames))));
  return section("Agreed on and used", "agreed", el("p", { class: "faint" }, harmless(connection.client) + " → " + harmless(connection.server)),
    party("The client", connection.client_is), party("The server", connection.server_is),
    party("The client's TCP", connection.client_tcp_is), party("The server's TCP", connection.server_tcp_is),
    lines.length > 0 && el("table", { class: "agreed" }, el("tbody", {}, lines)),
    el("details", { class: "all" }, el("summary", {}, "All figures of the connection"),
      el("div", { class: "pairs" }, pairs("SMB", fields(connection.smb)), pairs("The client's TCP", fields(connection.from_client)),
        pairs("The server's TCP", fields(connection.from_server)), pairs("The connection", fields(connection, known)))));
}

function seen(frames) {
  const list = (frames || []).filter((frame) => frame > 0);
  return list.length > 0 && el("span", { class: "faint" }, " (frame" + (list.length > 1 ? "s " : " "), frameList(list), ")");
}

// who a machine is, and what speaks for it
function party(who, it) {
  if (!it || !(it.name || it.evidence.length)) return null;
  return el("div", { class: "party" }, el("p", {}, who + ": ", el("strong", {}, harmless(it.words))),
    (it.evidence || []).length > 0 && el("ul", {}, it.evidence.map((one) => el("li", {}, harmless(one.what), seen([one.frame])))));
}

const COLUMNS = [
  ["name", (copy) => nameOf(copy), (copy) => nameOf(copy).toLowerCase()],
  ["direction", (copy) => copy.direction, (copy) => copy.direction],
  ["bytes", (copy) => number(copy.bytes), (copy) => copy.bytes, "number"],
  ["time", (copy) => time(copy.wall_s), (copy) => copy.wall_s, "number"],
  ["rate", (copy) => rate(copy.bytes, copy.wall_s), (copy) => copy.wall_s > 0 ? copy.bytes / copy.wall_s : 0, "number"],
  ["most of it was", (copy) => copy.causes.length ? [swatch(copy.causes[0].cause), copy.causes[0].cause + " " + percent(copy.causes[0].seconds, copy.wall_s)] : "", (copy) => copy.causes.length ? copy.causes[0].cause : ""],
];

function copyTable(capture, shown, choose) {
  const copies = capture.copies;
  if (copies.length < 2) return null;
  let order = { column: 3, down: true }, most = 50;
  const table = el("table", { id: "copy-table" });
  const more = el("button", { type: "button", onclick: () => { most *= 4; draw(); } }, "Show more");
  function sorted() {
    const key = COLUMNS[order.column][2];
    const places = copies.map((_, place) => place);
    places.sort((a, b) => { const x = key(copies[a]), y = key(copies[b]); return (x < y ? -1 : x > y ? 1 : 0) * (order.down ? -1 : 1); });
    return places;
  }
  function draw() {
    const head = COLUMNS.map(([name, , , kind], place) => el("th", { scope: "col", class: kind, "aria-sort": order.column === place ? (order.down ? "descending" : "ascending") : null },
      el("button", { type: "button", onclick: () => { order = { column: place, down: order.column === place ? !order.down : kind === "number" }; draw(); } }, name + (order.column === place ? (order.down ? " ▾" : " ▴") : ""))));
    const rows = sorted().slice(0, most).map((place) => el("tr", { class: place === shown ? "shown" : null, "data-copy": place },
      COLUMNS.map(([, text, , kind], column) => el("td", { class: kind || (column ? null : "name") }, column ? text(copies[place])
        : el("button", { type: "button", "aria-current": place === shown ? "true" : null, onclick: () => choose(place) }, text(copies[place]))))));
    table.replaceChildren(el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows));
    more.hidden = most >= copies.length;
  }
  draw();
  const left = capture.copies_left_out ? el("p", { class: "faint" }, number(capture.copies_left_out) + " more are counted and not listed.") : null;
  const box = section("All " + number(copies.length) + " copies", "copies", wide("All copies", table), el("p", {}, more), left);
  box.classList.add("copies-section");
  return box;
}

const FAULTS = {
  cut_packets: ["packet", "cut to the snap length"], out_of_order: ["packet", "out of order"], duplicates: ["packet", "captured twice (left out)"],
  other_end: ["packet", "captured at the server, which were left out: the file contains captures of both ends"],
  dropped: ["packet", "dropped by the capturing machine"], missing_bytes: ["byte", "missing in the capture, though acknowledged"], holes: ["hole", "that these bytes leave"],
  coalesced: ["segment", "longer than the wire allows: coalesced by the capturing machine"], incomplete_fragments: ["packet", "with missing fragments"],
  unknown_links: ["packet", "of a link type that is not read"], netbeui: ["packet", "of NetBEUI, which is not read"], ipx: ["packet", "of IPX, which is not read"],
  cut_headers: ["packet", "cut within the headers"], connections_without_start: ["connection", "that began before the capture"],
  replaced_times: ["packet", "with a time that fits neither the one before nor the one after (replaced)"],
  clock_steps: ["time", "the clock was set back by more than a second"],
  ignored_offsets: ["interface", "with a time offset that moves packets to before 1970 or after 2554 (ignored)"],
  smb_headers_cut: ["connection", "whose SMB headers the snap length cut off: capture with tcpdump -s 192 or more"],
  skipped_bytes: ["byte", "of SMB connections outside any recognised message"],
};

function quality(capture) {
  const all = capture.quality || {};
  const faults = Object.entries(all).filter(([key, value]) => key in FAULTS && value > 0).map(([key, value]) => el("li", {}, many(value, FAULTS[key][0]) + " " + FAULTS[key][1]));
  const known = [...Object.keys(FAULTS), "packets", "wire_bytes", "tcp_segments", "damage"];
  const rest = fields(all, known).filter(([, value]) => value !== "?" && value !== "0").map(([key, value]) => el("li", {}, key + ": " + value));
  const damage = all.damage && el("li", {}, "At byte " + number(all.damage.at_byte) + ": " + harmless(all.damage.what) + "; what follows was not read");
  return section("The capture", "quality", el("p", {}, badge(capture.grade, "grade: " + capture.grade), badge("", place(capture.vantage)),
    badge("", many(all.packets, "packet")), badge("", bytes(all.wire_bytes))), el("ul", {}, damage, faults.length ? faults : el("li", {}, "No packet is known to be missing."), rest));
}

function place(vantage) {
  return { client: "taken at the client", server: "taken at the server", between: "taken between client and server" }[vantage] || "capture point unknown";
}

function badge(kind, text) {
  return el("span", { class: "badge " + (kind || "") }, text);
}
