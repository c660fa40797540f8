// Several files and several captures at a glance.

// the files of a tree, one below the other, from their opens to their closes
function fileWaterfall(capture, shown, choose) {
  const tree = capture.tree;
  if (!tree) return null;
  const files = capture.copies.map((copy, place) => ({ copy, place })).filter((it) => it.copy.connection === tree.connection);
  files.sort((a, b) => a.copy.start_s - b.copy.start_s);
  const page = 40;
  let first = 0;
  const list = el("ol", { class: "files" }), range = el("span", { class: "range faint", role: "status" });
  const step = (by) => { first = Math.max(0, Math.min(first + by, Math.max(0, files.length - page))); draw(); };
  const earlier = el("button", { type: "button", onclick: () => step(-page) }, "Earlier"), later = el("button", { type: "button", onclick: () => step(page) }, "Later");
  function draw() {
    const rows = files.slice(first, first + page);
    const from = rows[0].copy.start_s, to = Math.max(...rows.map(({ copy }) => copy.start_s + copy.wall_s)), wall = Math.max(1e-9, to - from);
    list.replaceChildren(...rows.map(({ copy, place }) => {
      const at = (copy.start_s - from) * 100 / wall;
      let before = at;
      const parts = copy.causes.map((row) => { const begin = before; before += row.seconds * 100 / wall; return [begin, before, row.cause]; });
      return el("li", {}, el("button", { type: "button", class: "file", "aria-current": place === shown ? "true" : null, onclick: () => choose(place) }, nameOf(copy)),
        bar(parts, time(copy.start_s - files[0].copy.start_s) + " after the first, " + time(copy.wall_s) + (copy.causes.length ? ", mostly " + copy.causes[0].cause : "")), el("span", { class: "number" }, time(copy.wall_s)));
    }));
    const since = (at) => time(Math.max(0, at - files[0].copy.start_s));
    range.textContent = "files " + number(first + 1) + " to " + number(first + rows.length) + " of " + number(files.length) + ", " + since(from) + " to " + since(to);
    earlier.disabled = first === 0;
    later.disabled = first + page >= files.length;
  }
  const place = files.findIndex((it) => it.place === shown);
  first = Math.max(0, Math.min(place - page / 2, files.length - page)) | 0;
  draw();
  const names = new Set(files.flatMap(({ copy }) => copy.causes.slice(0, 2).map((row) => row.cause)));
  return section("File after file", "files", el("p", { class: "faint" }, "Each bar lasts from the open to the close of a file, in the colours of its causes. Gaps are requests without a file, or pauses of the client."),
    el("div", { class: "tools" }, el("div", { class: "buttons" }, earlier, later), range), list, legend([...names]));
}

// a row for each capture: its longest copy, or what it says instead
function captureTable(captures, shown, choose) {
  if (captures.length < 2) return null;
  const heads = ["capture", "longest copy", "bytes", "time", "rate", "most of it was", "what to change"];
  const rows = captures.map((capture, place) => {
    const copy = capture.copies.reduce((best, one) => !best || one.wall_s > best.wall_s ? one : best, null);
    const change = copy && (copy.advice || []).find((one) => one.effect !== "none");
    const cells = copy ? [nameOf(copy), bytes(copy.bytes), time(copy.wall_s), rate(copy.bytes, copy.wall_s),
      copy.causes.length ? [swatch(copy.causes[0].cause), copy.causes[0].cause + " " + percent(copy.causes[0].seconds, copy.wall_s)] : "", change ? harmless(change.title) : ""]
      : [harmless(capture.verdict), "", "", "", "", ""];
    return el("tr", { class: place === shown ? "shown" : null }, el("th", { scope: "row" }, el("button", { type: "button", "aria-current": place === shown ? "true" : null, onclick: () => choose(place) }, harmless(capture.file))),
      cells.map((cell, column) => el("td", { class: column > 0 && column < 4 ? "number" : null, "data-label": heads[column + 1] }, cell)));
  });
  return section("All " + number(captures.length) + " captures", "overview", wide("All captures",
    el("table", { class: "cards", id: "capture-table" }, el("thead", {}, el("tr", {}, heads.map((head, place) => el("th", { scope: "col", class: place > 1 && place < 5 ? "number" : null }, head)))), el("tbody", {}, rows))));
}
