"use strict";
// What everything else is made with. Text goes into the page as text only.

function el(name, attributes, ...children) {
  const made = document.createElement(name);
  set(made, attributes, children);
  return made;
}

function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  set(made, attributes, children);
  return made;
}

function set(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) made.append(child);
  }
}

function section(title, id, ...children) {
  return el("section", { id, "aria-labelledby": id + "-title" }, el("h2", { id: id + "-title" }, title), ...children);
}

// frame numbers; a click copies them as a display filter of Wireshark
function frameList(frames) {
  return filtered(frames.map(number).join(", "), "frame.number in {" + frames.join(", ") + "}");
}

function frameRange([first, last]) {
  return filtered(number(first) + " to " + number(last), "frame.number >= " + first + " && frame.number <= " + last);
}

function filtered(text, filter) {
  const title = "Copy the display filter: " + filter;
  const button = el("button", { type: "button", class: "filter mono", title, "aria-label": text + ". " + title, "data-filter": filter }, text);
  button.addEventListener("click", () => {
    const told = (what) => { button.textContent = what; setTimeout(() => { button.textContent = text; }, 1500); };
    const byHand = () => told(filter);
    if (!navigator.clipboard) return byHand();
    navigator.clipboard.writeText(filter).then(() => told("copied"), byHand);
  });
  return button;
}

// 12.3 ms, as the text report writes it
function time(seconds) {
  if (seconds === null || seconds === undefined) return "?";
  const size = Math.abs(seconds);
  if (size === 0) return "0";
  if (size < 0.0009995) return (seconds * 1e6).toFixed(size < 1e-5 ? 1 : 0) + " µs";
  if (size < 0.99995) return (seconds * 1e3).toFixed(1) + " ms";
  if (size < 99.995) return seconds.toFixed(2) + " s";
  const whole = Math.round(seconds);
  if (whole < 7200) return Math.floor(whole / 60) + " min " + whole % 60 + " s";
  if (whole < 172800) return Math.floor(whole / 3600) + " h " + Math.floor(whole % 3600 / 60) + " min";
  return Math.floor(whole / 86400) + " days";
}

// parts of a whole in its unit, to its thousandth
function partOf(seconds, whole) {
  return whole < 1 ? (seconds * 1e3).toFixed(3) + " ms" : seconds.toFixed(3) + " s";
}

function many(count, one) {
  return number(count) + " " + one + (count === 1 ? "" : "s");
}

function bytes(count) {
  if (count === null || count === undefined) return "?";
  if (count < 1e4) return count + " bytes";
  if (count < 1e6) return (count / 1e3).toFixed(1) + " KB";
  if (count < 1e9) return (count / 1e6).toFixed(1) + " MB";
  return (count / 1e9).toFixed(2) + " GB";
}

function rate(count, seconds) {
  if (!(seconds > 0)) return "";
  const each = count / seconds;
  if (each < 100) return each.toFixed(1) + " bytes/s";
  return each >= 1e5 ? (each / 1e6).toFixed(2) + " MB/s" : (each / 1e3).toFixed(1) + " KB/s";
}

function number(value) {
  return typeof value === "number" ? value.toLocaleString("en") : String(value);
}

function percent(part, whole) {
  return whole > 0 ? (part * 100 / whole).toFixed(1) + " %" : "";
}

// what would turn the direction of the text, or not be seen, is shown as a question mark
function harmless(name) {
  return String(name).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, "?");
}

function nameOf(copy) {
  if (typeof copy.name === "string") return harmless(copy.name);
  return copy.requests.length ? "name not captured" : harmless(copy.ends || "transfer");
}

// marks at 1, 2 or 5 times a power of ten
function ticks(from, to, most) {
  const rough = (to - from) / Math.max(1, most);
  if (!(rough > 0) || !isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough);
  const all = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-9 && all.length < 100; at += step) all.push(at);
  return all;
}
