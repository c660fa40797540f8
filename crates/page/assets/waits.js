// What a client waits for: the causes of `coax explain`, over the last seconds, the last minute and the copy.

const SMALL = 0.01;

function total(shares) {
  return Object.values((shares && shares.us) || {}).reduce((sum, us) => sum + us, 0);
}

// the causes, the longest in any of the columns first
function causesOf(columns) {
  const most = {};
  for (const column of columns) {
    const all = total(column);
    for (const [cause, us] of Object.entries((column && column.us) || {})) most[cause] = Math.max(most[cause] || 0, us / all);
  }
  return Object.keys(most).filter((cause) => most[cause] >= SMALL).sort((a, b) => most[b] - most[a]);
}

function label(cause) {
  return (CAUSES[cause] || { label: cause }).label;
}

function bar(shares) {
  const all = total(shares);
  const parts = Object.entries(shares.us).sort((a, b) => b[1] - a[1]).map(([cause, us]) => {
    const part = el("span", { class: "cause-" + cause, title: label(cause) + ": " + percent(us / all) });
    part.style.width = (us / all) * 100 + "%";
    return part;
  });
  return el("div", { class: "stack", "aria-hidden": "true" }, parts);
}

// one sentence: what the client waits for most
function verdict(account) {
  const of = (shares, when) => {
    const all = total(shares);
    return all > 0 && shares.most ? percent(shares.us[shares.most] / all) + " of " + when + ": " + label(shares.most) : null;
  };
  const copy = account.copy;
  if (copy && !copy.ended) return of(copy.shares, "the copy") || of(account.seconds, "the last seconds");
  return of(account.seconds, "the last seconds") || of(account.minute, "the last minute") || (copy ? of(copy.shares, "the last copy") : null);
}

function waitsTable(account) {
  const copy = account.copy;
  const columns = [account.seconds, account.minute, copy ? copy.shares : null];
  const causes = causesOf(columns);
  if (causes.length === 0) return [];
  const share = (column, cause) => {
    const us = column && column.us[cause];
    return us ? percent(us / total(column)) : "–";
  };
  const heads = ["Waits for", "Seconds", "Minute", copy && !copy.ended ? "Copy" : "Last copy"];
  const rows = causes.map((cause) => el("tr", {},
    el("th", { scope: "row", title: (CAUSES[cause] || {}).meaning }, el("span", { class: "swatch cause-" + cause, "aria-hidden": "true" }), label(cause)),
    columns.map((column) => figure(share(column, cause)))));
  const stack = columns[2] && total(columns[2]) > 0 ? columns[2] : total(account.seconds) > 0 ? account.seconds : account.minute;
  return [bar(stack), el("table", {}, el("caption", { class: "hidden" }, "What the client waits for"),
    el("thead", {}, el("tr", {}, heads.map((head, place) => el("th", { scope: "col", class: place ? "number" : null }, head)))), el("tbody", {}, rows))];
}
