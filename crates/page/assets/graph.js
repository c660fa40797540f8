// Two lines over time: bytes received and sent.

const STEPS = [1, 2, 5];

// the next round number above: 1, 2 or 5 times a power of ten
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  const step = STEPS.find((one) => one * power >= value);
  return step ? step * power : 10 * power;
}

class Graph {
  // the names of the two lines, and the words for a place: how long ago, or the time of day
  constructor(canvas, describe) {
    this.canvas = canvas;
    this.describe = describe;
    this.lines = [[], []];
    this.length = 2;
    this.labels = ["", ""];
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  show(lines, length, labels) {
    [this.lines, this.length, this.labels] = [lines, Math.max(2, length), labels];
    this.draw();
    const highest = Math.max(0, ...lines[0], ...lines[1]);
    const text = this.describe(lines, highest);
    if (this.canvas.getAttribute("aria-label") !== text) this.canvas.setAttribute("aria-label", text);
  }

  draw() {
    const box = this.canvas.getBoundingClientRect(), scale = window.devicePixelRatio || 1;
    if (box.width < 2 || box.height < 2) return;
    const [width, height] = [Math.round(box.width * scale), Math.round(box.height * scale)];
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
    const pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, box.width, box.height);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const area = { left: 4, top: 16, right: box.width - 4, bottom: box.height - 16 };
    const top = roundUp(Math.max(1, ...this.lines[0], ...this.lines[1]));
    pen.strokeStyle = colour("--line");
    pen.lineWidth = 1;
    for (const share of [0, 0.5, 1]) {
      const y = Math.round(area.bottom - (area.bottom - area.top) * share) + 0.5;
      pen.beginPath(); pen.moveTo(area.left, y); pen.lineTo(area.right, y); pen.stroke();
    }
    pen.fillStyle = colour("--faint");
    pen.font = "11px system-ui, sans-serif";
    pen.fillText(rate(top), area.left, 11);
    pen.fillText(this.labels[0], area.left, box.height - 4);
    const last = this.labels[1];
    pen.fillText(last, area.right - pen.measureText(last).width, box.height - 4);
    this.line(pen, this.lines[0], area, top, colour("--in"));
    this.line(pen, this.lines[1], area, top, colour("--out"));
  }

  line(pen, values, area, top, colour) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.6;
    pen.lineJoin = "round";
    pen.beginPath();
    const first = this.length - values.length;
    values.forEach((value, place) => {
      const x = area.left + (area.right - area.left) * ((first + place) / (this.length - 1));
      const y = area.bottom - (area.bottom - area.top) * Math.min(1, value / top);
      if (place === 0) pen.moveTo(x, y); else pen.lineTo(x, y);
    });
    pen.stroke();
  }
}
