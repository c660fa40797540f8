// What went to and fro: the typical exchange and the worst stalls.

function ladder(rungs, stall) {
  const items = [el("li", { class: "ends", "aria-hidden": "true" }, el("span"), el("span", {}, el("span", {}, "client"), el("span", {}, "server")), el("span", {}, "frame"))];
  const first = rungs.length ? rungs[0].at_s : 0;
  const widest = stall ? longestGap(rungs, stall) : -1;
  rungs.forEach((rung, place) => {
    if (rung.left_out_before) items.push(pause(number(rung.left_out_before) + " packets are not shown"));
    if (place && place === widest) items.push(pause(stall.cause + " " + time(stall.seconds), stall.cause));
    const to = rung.direction === "to-server" ? "to the server: " : "to the client: ";
    items.push(el("li", { class: "rung " + (rung.direction === "to-server" ? "to-server" : "to-client") + (rung.again ? " again" : "") },
      el("span", { class: "at" }, "+" + time(rung.at_s - first)),
      el("span", { class: "wire" }, el("span", { class: "hidden" }, to), rung.what),
      el("span", { class: "frame mono" }, number(rung.frame))));
  });
  return el("ol", { class: "ladder" }, items);
}

// before which packet a wait is shown: where most of it passed
function longestGap(rungs, stall) {
  let best = -1, most = 0;
  for (let place = 1; place < rungs.length; place++) {
    const from = Math.max(rungs[place - 1].at_s, stall.at_s), to = Math.min(rungs[place].at_s, stall.at_s + stall.seconds);
    if (to - from > most) { most = to - from; best = place; }
  }
  return best;
}

function pause(text, cause) {
  return el("li", { class: "pause" + (cause ? " stall" : ""), style: cause ? "--cause:" + colour(cause) : null }, el("span", {}, text));
}

function ladders(copy) {
  const typical = copy.typical_exchange;
  const stalls = copy.stalls || [];
  const parts = [];
  if (typical) {
    parts.push(section("A typical exchange", "typical", el("p", { class: "faint" }, typical.command + " of " + bytes(typical.bytes) +
      ", answered in " + time(typical.response_s) + ": half of them took no longer."), ladder(typical.ladder)));
  }
  if (stalls.length) {
    const all = stalls.map((stall, place) => el("details", { open: place === 0 },
      el("summary", {}, swatch(stall.cause), time(stall.seconds) + " " + stall.cause + ", " + time(stall.at_s) + " after the start, until frame " + number(stall.frame)),
      stall.ladder.length ? ladder(stall.ladder, stall) : null));
    parts.push(section("The longest waits", "stalls", all));
  }
  return parts;
}
