// The page: loads what is known, then follows the events.

const RETRY_MS = 3000, DAY_MS = 60000, SILENT_MS = 10000;
const live = { heard: 0, source: null, lost: false };

function draw(now, past) {
  live.heard = Date.now();
  const server = now.server;
  say(byId("server"), server.name + " in " + server.workgroup + ", version " + server.version + ", for " + time(server.seconds));
  const count = now.clients_total === 1 ? "1 client" : number(now.clients_total) + " clients";
  say(byId("headline"), "What the clients of " + server.name + " do now");
  const title = "coax: " + server.name + ", " + count;
  if (document.title !== title) document.title = title;
  state(server.state === "serving" ? "live, " + count : server.state + ", " + count, server.state === "serving");
  drawMachines(now, past);
  drawRecording(now.recording, now.clients);
  drawShares(now.shares);
  drawPrints(now.print_jobs);
  drawNames(now.networks);
  drawLimits(now.limits);
  document.body.dataset.at = now.at;
}

function state(text, good) {
  const it = byId("state");
  say(it, text);
  it.className = "badge " + (good ? "good" : "poor");
}

function lose() {
  if (!live.lost) announce("The connection to the server is lost; the page tries again.");
  live.lost = true;
  state("no connection", false);
}

function found() {
  if (live.lost) announce("The server answers again.");
  live.lost = false;
}

// a reader that is refused, or whose server restarts, tries again
async function follow() {
  if (live.source) live.source.close();
  try {
    const { now, past } = await get("/snapshot");
    found();
    draw(now, past);
  } catch {
    lose();
    return void setTimeout(follow, RETRY_MS);
  }
  const source = new EventSource("/events");
  live.source = source;
  source.onmessage = (event) => { found(); draw(JSON.parse(event.data)); };
  source.onerror = () => { source.close(); lose(); setTimeout(follow, RETRY_MS); };
}

function themes() {
  const kept = () => { try { return localStorage.getItem("coax-theme") || "auto"; } catch { return "auto"; } };
  const buttons = [...document.querySelectorAll("[data-theme-choice]")];
  const choose = (choice) => {
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    for (const it of buttons) it.setAttribute("aria-pressed", String(it.dataset.themeChoice === choice));
    for (const card of cards.values()) card.graph.draw();
    if (day.graph) day.graph.draw();
  };
  for (const it of buttons) it.addEventListener("click", () => {
    try { localStorage.setItem("coax-theme", it.dataset.themeChoice); } catch { /* a page that keeps nothing works too */ }
    choose(it.dataset.themeChoice);
  });
  choose(kept());
}

themes();
follow();
const renewDay = () => drawDay().catch(() => {});
renewDay();
setInterval(renewDay, DAY_MS);
byId("configuration").addEventListener("toggle", (event) => {
  if (event.target.open) drawConfiguration().catch((error) => announce("No configuration: " + error.message + "."));
});
setInterval(() => { if (!live.lost && Date.now() - live.heard > SILENT_MS) state("no news for " + time((Date.now() - live.heard) / 1000), false); }, 1000);
