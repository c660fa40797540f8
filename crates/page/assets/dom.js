// Elements, numbers, and what is asked of the server. Names from clients are untrusted: they are set as text only.

const byId = (id) => document.getElementById(id);

function el(name, attributes, ...children) {
  const it = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) it.addEventListener(key.slice(2), value);
    else if (value === true) it.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) it.setAttribute(key, value);
  }
  it.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return it;
}

// sets a text only if it is another one, so that selections and screen readers are left alone
function say(it, text) {
  if (it.textContent !== text) it.textContent = text;
}

// makes the children again only if what they show has changed
function renew(it, value, children) {
  const key = JSON.stringify(value);
  if (it.dataset.key === key) return;
  it.dataset.key = key;
  it.replaceChildren(...children().flat().filter(Boolean));
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB", "PB"];

function bytes(count) {
  let unit = 0, value = count;
  while (value >= 999.5 && unit < UNITS.length - 1) { value /= 1000; unit += 1; }
  const digits = unit === 0 || value >= 99.5 ? 0 : value >= 9.95 ? 1 : 2;
  return value.toFixed(digits) + " " + UNITS[unit];
}

const rate = (count) => bytes(count) + "/s";
const number = (count) => count.toLocaleString("en-US");
const percent = (share) => (share > 0 && share < 0.01 ? "< 1 %" : Math.round(share * 100) + " %");

function time(seconds) {
  if (seconds < 10) return seconds.toFixed(1).replace(/\.0$/, "") + " s";
  if (seconds < 120) return Math.round(seconds) + " s";
  if (seconds < 7200) return Math.round(seconds / 60) + " min";
  if (seconds < 172800) return Math.round(seconds / 3600) + " h";
  return Math.round(seconds / 86400) + " days";
}

const clock = (ms) => new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

function table(it, heads, rows, value, caption) {
  renew(it, value, () => [
    caption ? el("caption", {}, caption) : null,
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: head.number && "number" }, head.text || head)))),
    el("tbody", {}, rows),
  ]);
}

const cell = (...children) => el("td", {}, ...children);
const wide = (...children) => el("td", { class: "wide" }, ...children);
const figure = (text) => el("td", { class: "number" }, text);
const rowHead = (...children) => el("th", { scope: "row" }, ...children);

async function get(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" } });
  if (response.status === 401) location.reload();
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).error || "status " + response.status);
  return response.json();
}

async function post(path, object) {
  const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(object) });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error || "status " + response.status);
  return answer;
}

// for what a reader has asked for, and for the connection: nothing else is announced
function announce(text) {
  say(byId("said"), text);
}
