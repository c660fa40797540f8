// A card for each client. A card stays the same element while its client is connected, so that it keeps the focus.

const PAST = 120;
const cards = new Map();

function drawMachines(now, past) {
  const box = byId("machines"), present = new Set();
  for (const client of now.clients) {
    present.add(client.client);
    let card = cards.get(client.client);
    if (!card) {
      card = new Card(client, (past && past[client.client]) || []);
      cards.set(client.client, card);
      box.append(card.box);
    }
    card.show(client, now);
  }
  for (const [number_, card] of cards) {
    if (!present.has(number_)) { card.box.remove(); cards.delete(number_); }
  }
  byId("machines-none").hidden = now.clients.length > 0;
  const more = now.clients_total - now.clients.length;
  byId("machines-more").hidden = more === 0;
  say(byId("machines-more"), more > 0 ? "The " + now.clients.length + " most active of " + number(now.clients_total) + " clients are shown." : "");
}

const DOING = {
  waiting: "waits for the client", receiving: "receives a request", serving: "works on a request",
  parked: "a request waits for another client", sending: "sends to the client",
};

class Card {
  constructor(client, past) {
    this.number = client.client;
    const id = "client-" + client.client;
    this.past = past.slice(-PAST);
    this.name = el("h3", { id });
    this.record = el("button", { type: "button", onclick: () => record(this.number) }, "Record 60 s");
    this.facts = el("p", {});
    this.received = el("span", { class: "in" });
    this.sent = el("span", { class: "out" });
    const canvas = el("canvas", { role: "img" });
    this.doing = el("p", {});
    this.copy = el("p", {});
    this.verdict = el("p", {});
    this.waits = el("div", {});
    this.advice = el("div", {});
    this.refused = el("div", {});
    this.files = el("ul", {});
    this.filesCount = el("summary", {});
    this.filesBox = el("details", {}, this.filesCount, this.files);
    this.box = el("article", { class: "card", "aria-labelledby": id, "data-client": client.client },
      el("div", { class: "row" }, this.name, this.record), this.facts,
      el("p", { class: "rates" }, this.received, this.sent), canvas, this.doing, this.copy, this.verdict, this.waits,
      this.advice, this.refused, this.filesBox);
    this.graph = new Graph(canvas, (lines, highest) => "Rates of the last two minutes, highest " + rate(highest));
  }

  show(client, now) {
    this.past.push(client.rate);
    if (this.past.length > PAST) this.past.shift();
    say(this.name, client.name ? client.name + " (" + client.address + ")" : client.address);
    this.record.setAttribute("aria-label", "Record " + (client.name || client.address) + " for 60 seconds");
    this.record.disabled = ["recording", "explaining"].includes(now.recording.state);
    const facts = [client.system || "not recognised yet", client.dialect, client.transport, client.user && "user " + client.user];
    renew(this.facts, facts, () => facts.filter(Boolean).map((fact) => el("span", { class: "badge" }, fact)));
    say(this.received, "received " + rate(client.rate[0]));
    say(this.sent, "sent " + rate(client.rate[1]));
    this.graph.show([this.past.map((it) => it[0]), this.past.map((it) => it[1])], PAST, ["2 min ago", "now"]);
    this.account(client);
    this.extras(client, now);
  }

  account(client) {
    const account = client.account;
    const idle = client.idle_seconds > 5 ? "no request for " + time(client.idle_seconds) : null;
    const doing = account ? "The server " + DOING[account.doing] + (account.doing_ms >= 1000 ? " for " + time(account.doing_ms / 1000) : "") : null;
    const text = client.busy ? "The server is busy with a request of this client; some figures are older." : idle ? "Idle: " + idle + "." : doing ? doing.replace("The server a request", "A request") + "." : "The client has not opened a share yet.";
    say(this.doing, text);
    const copy = account && account.copy;
    say(this.copy, copy ? copyText(copy) : "");
    say(this.verdict, (account && verdict(account)) || "");
    renew(this.waits, account ? [account.seconds, account.minute, copy && copy.shares, copy && copy.ended] : null, () => (account ? waitsTable(account) : []));
  }

  extras(client, now) {
    const advice = client.advice;
    renew(this.advice, advice, () => (advice ? [el("div", { class: "advice" }, el("p", {}, advice.title), el("p", {}, advice.why),
      el("ul", {}, advice.changes.map((change) => el("li", {}, change))), el("p", { class: "faint" }, "Affects " + advice.percent + " % of the copy's time."))] : []));
    renew(this.refused, client.refused, () => (client.refused.length ? [el("div", { class: "refusals" }, el("p", {}, "Refused:"),
      el("ul", {}, client.refused.map((line) => el("li", {}, line))))] : []));
    const mark = "client " + client.client + " ";
    const files = now.files.filter((file) => file.client.startsWith(mark) || (client.name && file.client.includes('"' + client.name + '"') && file.client.includes(client.address)));
    this.filesBox.hidden = files.length === 0;
    say(this.filesCount, files.length === 1 ? "1 open file" : files.length + " open files");
    const shown = files.map((file) => [file.share, file.path, access(file), file.locked, file.oplock]);
    renew(this.files, shown, () => shown.map(([share, path, how, locked, oplock]) => el("li", {}, share + "/" + path + " – " + how + (locked ? ", locked" : "") + (oplock !== "none" ? ", oplock " + oplock : ""))));
  }
}

function access(file) {
  if (file.folder) return "folder";
  return file.reads && file.writes ? "reads and writes" : file.writes ? "writes" : file.reads ? "reads" : "attributes only";
}

function copyText(copy) {
  const verb = copy.direction === "to-client" ? (copy.ended ? "Read" : "Reads") : copy.ended ? "Wrote" : "Writes";
  const speed = copy.wall_us > 0 ? " (" + rate((copy.bytes * 1e6) / copy.wall_us) + ")" : "";
  const file = copy.file ? " of " + copy.file : "";
  return verb + " " + bytes(copy.bytes) + file + " in " + time(copy.wall_us / 1e6) + speed + ", mostly " + number(copy.block) + " bytes a request.";
}
