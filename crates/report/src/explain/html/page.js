// Puts the page together.

function show() {
  const report = JSON.parse(document.getElementById("report").textContent);
  const captures = report.captures || [];
  captures.forEach((capture) => capture.copies.forEach((copy) => {
    const connection = capture.connections[copy.connection];
    if (!connection) return;
    copy.ends = connection.client + " → " + connection.server;
    copy.path_bits_per_s = connection[copy.direction === "to-client" ? "from_server" : "from_client"].path_bits_per_s;
  }));
  const chosen = { capture: 0, copies: captures.map(longest) };
  themes();
  document.body.prepend(textures());
  const main = document.getElementById("main");

  function longest(capture) {
    return capture.copies.reduce((best, copy, place) => best < 0 || copy.wall_s > capture.copies[best].wall_s ? place : best, -1);
  }

  function choose(capture, copy) {
    chosen.capture = capture;
    if (copy !== undefined) chosen.copies[capture] = copy;
    draw();
    document.getElementById("verdict").focus({ preventScroll: true });
    const top = document.querySelector(".tour") ? main.offsetTop : 0;
    window.scrollTo(0, top);
  }

  function draw() {
    const capture = captures[chosen.capture];
    choosers();
    if (!capture) return main.replaceChildren(el("h1", { tabindex: -1 }, "No capture could be read."));
    const copy = capture.copies[chosen.copies[chosen.capture]];
    document.title = (copy ? nameOf(copy) : harmless(capture.file)) + " – coax explain";
    const parts = copy ? about(capture, copy) : without(capture);
    main.replaceChildren(...parts.flat(Infinity).filter((it) => it));
    main.querySelectorAll(".graph").forEach((it) => it.dispatchEvent(new Event("shown")));
  }

  function about(capture, copy) {
    const place = chosen.copies[chosen.capture];
    const facts = [badge("", nameOf(copy)), copy.share && badge("", harmless(copy.share)), badge("", bytes(copy.bytes) + " " + copy.direction.replace(/-/g, " ")), badge("", time(copy.wall_s)),
      badge("", rate(copy.bytes, copy.wall_s)), el("span", { class: "badge" }, "frames ", frameRange(copy.frames)), badge(capture.grade, "capture: " + capture.grade)];
    return [verdict(capture, copy, place === longest(capture)), el("p", { id: "facts" }, facts),
      advice(copy), waterfall(copy), timeSequence(copy, report.causes), ladders(copy), scatter(copy), requestTable("What was asked for", "requests", copy.requests),
      operations(capture), remarks(capture, copy), around(capture.connections[copy.connection]), agreed(capture.connections[copy.connection]),
      fileWaterfall(capture, place, (it) => choose(chosen.capture, it)), copyTable(capture, place, (it) => choose(chosen.capture, it)),
      captureTable(captures, chosen.capture, (it) => choose(it)), quality(capture), foot(capture)];
  }

  // the tree first, if it is one; then the copy that is shown
  function verdict(capture, copy, isLongest) {
    const remedy = copy.remedy && el("p", { id: "remedy" }, harmless(copy.remedy));
    if (copy.headline && !(capture.tree && capture.tree.connection === copy.connection)) {
      return [el("h1", { id: "verdict", tabindex: -1 }, harmless(copy.headline)), el("p", {}, harmless(copy.verdict)), remedy];
    }
    const tree = capture.tree && capture.tree.connection === copy.connection ? capture.tree : null;
    if (!tree) return [el("h1", { id: "verdict", tabindex: -1 }, harmless(copy.verdict)), remedy];
    return [el("h1", { id: "tree" }, harmless(tree.verdict)), treeBar(tree), el("p", { class: "faint which" }, isLongest ? "The longest of them:" : "The one that is shown:"),
      el("h2", { id: "verdict", tabindex: -1 }, harmless(copy.verdict)), remedy];
  }

  // nothing was copied: what there is of the connection that carried most
  function without(capture) {
    const carried = (it) => ["from_client", "from_server"].reduce((sum, side) => sum + it[side].bytes, 0);
    const connection = [...capture.connections].sort((a, b) => carried(b) - carried(a))[0];
    return [el("h1", { id: "verdict", tabindex: -1 }, harmless(capture.verdict)), operations(capture), remarks(capture, { wall_s: 0 }),
      connection && connection.smb && requestTable("What was asked for", "requests", connection.requests), connection && agreed(connection),
      captureTable(captures, chosen.capture, (it) => choose(it)), quality(capture), foot(capture)];
  }

  function foot(capture) {
    return el("p", { class: "faint" }, "coax " + (report.version || "") + ". Names and frames are those of " + harmless(capture.file) + ".");
  }

  function choosers() {
    const box = document.getElementById("captures");
    const capture = captures[chosen.capture];
    const parts = [];
    if (captures.length > 1) parts.push(chooser("Capture", "choose-capture", captures.map((it) => harmless(it.file)), chosen.capture, (it) => choose(it)));
    if (capture && capture.copies.length > 1) {
      const names = capture.copies.map((copy, place) => [place, copy]).sort((a, b) => b[1].wall_s - a[1].wall_s).slice(0, 200);
      const select = chooser("Copy", "choose-copy", names.map(([, copy]) => nameOf(copy) + ", " + time(copy.wall_s)), names.findIndex(([place]) => place === chosen.copies[chosen.capture]), (it) => choose(chosen.capture, names[it][0]));
      parts.push(select);
    }
    box.replaceChildren(...parts);
  }

  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((it) => { it.open = true; }));
  draw();
}

function chooser(label, id, names, now, choose) {
  const select = el("select", { id, onchange: (event) => choose(Number(event.target.value)) }, names.map((name, place) => el("option", { value: place, selected: place === now }, name)));
  return el("label", {}, label, select);
}

function themes() {
  const buttons = [...document.querySelectorAll("[data-theme-choice]")];
  const kept = () => { try { return localStorage.getItem("coax-theme"); } catch { return null; } };
  const apply = (theme) => {
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    buttons.forEach((it) => it.setAttribute("aria-pressed", String(it.dataset.themeChoice === (theme || "auto"))));
    document.querySelectorAll(".graph").forEach((it) => it.dispatchEvent(new Event("shown")));
  };
  buttons.forEach((it) => it.addEventListener("click", () => {
    try { localStorage.setItem("coax-theme", it.dataset.themeChoice); } catch { /* a page that keeps nothing works too */ }
    apply(it.dataset.themeChoice);
  }));
  apply(kept() || "auto");
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => apply(kept() || "auto"));
}
