// The page: it shows what the engine says. All texts of captures are set as text, never as markup.
const $ = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in made && key !== 'list' && key !== 'form') made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// ---- the engine -------------------------------------------------------------------------------------------------

/** Reads a piece of a file for a worker, which analyses the piece before meanwhile. */
async function readFor(worker, { number, piece }) {
  try {
    const bytes = await piece.arrayBuffer();
    worker.postMessage({ kind: 'piece', number, bytes }, [bytes]);
  } catch (error) {
    worker.postMessage({ kind: 'piece', number, text: error.message });
  }
}

/** A thread with the engine; `ask` returns a promise of its answer. */
class Engine {
  constructor(module, script) {
    this.module = module;
    this.script = script;
    this.next = 0;
    this.begin();
  }

  begin() {
    this.waiting = new Map();
    const url = URL.createObjectURL(new Blob([this.script], { type: 'text/javascript' }));
    const worker = new Worker(url);
    this.worker = worker;
    worker.onmessage = ({ data }) => { if (data.kind === 'read') readFor(worker, data); else this.hear(data); };
    this.worker.onerror = (event) => this.fail(event.message || 'the engine could not start');
    this.worker.postMessage({ kind: 'begin', module: this.module });
  }

  hear(data) {
    if (data.kind === 'progress') {
      this.progress?.(data);
      return;
    }
    const { resolve, reject } = this.waiting.get(data.id);
    this.waiting.delete(data.id);
    if (data.kind === 'done') resolve(data.value); else reject(new Error(data.text));
    // after a panic the engine's memory is in an unknown state
    if (data.defect) this.restart();
  }

  fail(text) {
    for (const { reject } of this.waiting.values()) reject(new Error(text));
    this.waiting.clear();
  }

  restart() {
    this.worker.terminate();
    this.fail('cancelled');
    this.begin();
  }

  ask(kind, data) {
    this.next += 1;
    const id = this.next;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ ...data, kind, id });
    });
  }
}

async function compiled() {
  const packed = Uint8Array.from(atob($('engine').textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

// ---- tabs -------------------------------------------------------------------------------------------------------

const PARTS = ['explain', 'lab', 'decode'];

function choosePart(part, focus) {
  for (const other of PARTS) {
    const chosen = other === part;
    $(other).hidden = !chosen;
    $(`tab-${other}`).setAttribute('aria-selected', chosen);
    $(`tab-${other}`).tabIndex = chosen ? 0 : -1;
    if (chosen && focus) $(`tab-${other}`).focus();
  }
}

function beginTabs(opened) {
  PARTS.forEach((part, at) => {
    $(`tab-${part}`).onclick = () => { choosePart(part); opened(part); };
    $(`tab-${part}`).onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = PARTS[(at + step + PARTS.length) % PARTS.length];
      choosePart(next, true);
      opened(next);
    };
  });
}

// ---- captures ---------------------------------------------------------------------------------------------------

function beginExplain(engine) {
  const drop = $('drop');
  let saved = null;
  const show = (files) => explain(engine, [...files], (result) => { saved = result; });
  $('files').onchange = ({ target }) => show(target.files);
  drop.ondragover = (event) => { event.preventDefault(); drop.classList.add('over'); };
  drop.ondragleave = () => drop.classList.remove('over');
  drop.ondrop = (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    show(event.dataTransfer.files);
  };
  $('cancel').onclick = () => engine.restart();
  $('save-page').onclick = () => save('coax-explain.html', 'text/html', saved.page);
  $('save-json').onclick = () => save('coax-explain.json', 'application/json', saved.json);
}

async function explain(engine, files, keep) {
  if (files.length === 0) return;
  $('problems').replaceChildren();
  $('result').hidden = true;
  $('working').hidden = false;
  engine.progress = ({ name, share }) => {
    $('doing').textContent = share < 1 ? `Reading ${name}` : 'Predicting what changes would bring';
    $('progress').value = share;
  };
  try {
    const result = await engine.ask('explain', { files });
    $('problems').replaceChildren(...result.problems.map((text) => element('p', { className: 'error' }, text)));
    if (result.page) {
      keep(result);
      $('report').srcdoc = result.page;
      $('summary').textContent = result.summary;
      $('result').hidden = false;
      $('summary').focus();
    }
  } catch (error) {
    $('problems').replaceChildren(element('p', { className: 'error' }, error.message));
  }
  $('working').hidden = true;
}

// ---- lab --------------------------------------------------------------------------------------------------------

const NUMBER = /^[\d.]+/;
/** What a scenario's text means on a slider, and the other way round. */
const FORMS = {
  number: { read: (text) => Number(text), write: (value) => String(Math.round(value)) },
  megabytes: { read: (text) => Number(text) / 1e6, write: (value) => String(Math.round(value * 1e6)) },
  milliseconds: {
    read: (text) => Number(NUMBER.exec(text)?.[0]) * (/us$/.test(text) ? 1e-3 : /\dms$| ms$/.test(text) ? 1 : 1e3),
    write: (value) => `${Math.round(value * 1000)} us`,
  },
  megabits: {
    read: (text) => Number(NUMBER.exec(text)?.[0]) * (/kbit/.test(text) ? 1e-3 : /Gbit/.test(text) ? 1e3 : 1),
    write: (value) => `${Math.round(value * 1000)} kbit/s`,
  },
};
const STEPS = 200;
const SMALL_BYTES = 2_000_000;

class Lab {
  constructor(engine, catalogue) {
    this.engine = engine;
    this.catalogue = catalogue;
    this.causes = new Map(catalogue.causes.map((cause) => [cause.key, cause]));
    this.state = { scenario: 'dos-ms-net-full', changes: [] };
    this.pinned = [];
    this.cells = new Map();
    this.wanted = null;
    this.build();
  }

  build() {
    const { scenarios, choices, sliders, switches, tables } = this.catalogue;
    $('scenario').append(...scenarios.map(({ name, title }) => element('option', { value: name }, title)));
    $('scenario').onchange = ({ target }) => this.open(target.value);
    $('direction').onchange = ({ target }) => this.change('direction', target.value);
    $('choices').append(...choices.map((choice) => this.choice(choice)));
    $('sliders').append(...sliders.map((slider) => this.slider(slider)));
    $('switches').append(...switches.map((it) => this.switch(it)));
    $('tables').append(...tables.filter(({ cells }) => cells.length).map((table, at) => this.table(table, at === 0)));
    $('reset').onclick = () => this.open(this.state.scenario);
    $('pin').onclick = () => this.pin();
    $('export').onclick = () => save('scenario.toml', 'text/plain', this.described.file);
  }

  choice({ key, label, files }) {
    const select = element('select', { id: `choice-${key}` }, ...files.map(({ name, title }) => element('option', { value: name }, title)));
    select.onchange = () => this.change(key, select.value);
    return element('label', {}, label, select);
  }

  slider(slider) {
    const value = element('output', { className: 'value', id: `value-${slider.key}` });
    const input = element('input', { type: 'range', id: `slider-${slider.key}`, min: 0, max: STEPS, step: 1, 'aria-label': slider.label });
    const [low, high] = [Math.log(Math.max(slider.min, slider.max / 1e5)), Math.log(slider.max)];
    slider.at = (step) => (step === 0 ? slider.min : Math.exp(low + ((high - low) * step) / STEPS));
    slider.step = (number) => Math.round(number <= slider.min ? 0 : (STEPS * (Math.log(number) - low)) / (high - low));
    input.oninput = () => this.slide(slider, Number(input.value), true);
    input.onchange = () => this.slide(slider, Number(input.value), false);
    return element('label', {}, value, slider.label, input);
  }

  slide(slider, step, dragging) {
    this.change(slider.key, FORMS[slider.form].write(slider.at(step)), dragging);
  }

  switch({ key, label, values }) {
    const input = element('input', { type: 'checkbox', id: `switch-${key}` });
    input.onchange = () => this.change(key, values[input.checked ? 0 : 1]);
    return element('label', {}, input, label);
  }

  table(table, open) {
    const rows = table.cells.map((cell) => {
      this.cells.set(cell.name, cell);
      const button = element('button', { type: 'button' }, cell.name);
      button.onclick = () => { this.open(cell.name); $('time').scrollIntoView({ block: 'center' }); };
      const figure = cell.published === null ? '' : `${figures(cell.published)} ${cell.unit}`;
      return element('tr', {}, element('td', {}, button), element('td', { className: 'number' }, figure), element('td', {}, cell.title));
    });
    const head = element('tr', {}, ...['Copy', 'Published', ''].map((text) => element('th', { scope: 'col' }, text)));
    const body = element('div', { className: 'wide' }, element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)));
    return element('details', { open }, element('summary', {}, table.title), element('p', { className: 'faint' }, table.about), body);
  }

  /** Begins with a scenario of the lab or a cell of a table, without changes. */
  open(scenario, changes = []) {
    this.state = { scenario, changes };
    this.update();
  }

  change(key, value, dragging = false) {
    const changes = this.state.changes.filter(([other]) => other !== key && !other.startsWith(`${key}.`));
    this.state = { ...this.state, changes: [...changes, [key, value]] };
    this.update(dragging);
  }

  request() {
    const cell = this.cells.get(this.state.scenario);
    return { scenario: cell ? cell.scenario : this.state.scenario, changes: this.state.changes };
  }

  /** Runs the newest state; what comes while a run is in progress replaces what waits. */
  async update(dragging = false) {
    history.replaceState(null, '', this.fragment());
    this.wanted = { dragging };
    if (this.busy) return;
    this.busy = true;
    while (this.wanted) {
      const { dragging: small } = this.wanted;
      this.wanted = null;
      try {
        await this.once(small);
        $('error').textContent = '';
      } catch (error) {
        $('error').textContent = error.message;
      }
    }
    this.busy = false;
  }

  async once(small) {
    const request = this.request();
    const described = await this.engine.ask('describe', { request });
    this.described = described;
    this.showValues(described.values, described.without_effect);
    const bytes = Number(described.values.size);
    const less = small && bytes > SMALL_BYTES;
    const changes = less ? [...request.changes, ['size', String(SMALL_BYTES)]] : request.changes;
    const run = await this.engine.ask('run', { request: { ...request, changes, picture: !small } });
    this.show(run, less ? bytes / SMALL_BYTES : 1);
  }

  showValues(values, withoutEffect) {
    const changed = new Set(this.state.changes.map(([key]) => key));
    if (this.cells.has(this.state.scenario)) $('scenario').value = ''; else $('scenario').value = this.state.scenario;
    $('direction').value = values.direction;
    for (const { key } of this.catalogue.choices) {
      $(`choice-${key}`).value = values[key === 'client' ? 'client.profile' : key] ?? '';
    }
    for (const slider of this.catalogue.sliders) {
      const [input, output] = [$(`slider-${slider.key}`), $(`value-${slider.key}`)];
      const known = values[slider.key] !== undefined;
      const number = known ? FORMS[slider.form].read(values[slider.key]) : NaN;
      if (document.activeElement !== input) input.value = known ? slider.step(number) : 0;
      const shown = slider.form === 'number' ? number.toLocaleString('en') : figures(number);
      output.textContent = known ? `${shown} ${slider.unit}` : 'no limit';
      input.setAttribute('aria-valuetext', output.textContent);
      output.classList.toggle('changed', changed.has(slider.key));
      input.disabled = withoutEffect.includes(slider.key);
    }
    for (const { key, values: [on], usual } of this.catalogue.switches) $(`switch-${key}`).checked = (values[key] ?? usual) === on;
    for (const { key } of this.catalogue.switches) $(`switch-${key}`).disabled = withoutEffect.includes(key);
    const cell = this.cells.get(this.state.scenario);
    const figure = cell && cell.published !== null ? `; published: ${figures(cell.published)} ${cell.unit}` : '';
    $('published').textContent = `${this.state.scenario}: ${this.described.title}${figure}`;
  }

  show({ summary, text, picture }, factor) {
    const seconds = summary.seconds * factor;
    const about = factor > 1 ? 'about ' : '';
    this.last = { seconds, rate: (summary.bytes * factor) / seconds, cause: dominant(summary.causes_ns), failed: summary.failed };
    $('time').textContent = summary.failed ? `fails after ${duration(seconds)}: ${summary.failed}` : about + duration(seconds);
    $('causes').replaceChildren(...this.account(summary.causes_ns));
    if (picture) $('picture').innerHTML = picture; else $('picture').replaceChildren();
    $('details').textContent = text;
  }

  account(causes) {
    const total = Object.values(causes).reduce((sum, ns) => sum + ns, 0) || 1;
    const sorted = Object.entries(causes).filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
    const bar = element('div', { className: 'stack', role: 'img', 'aria-label': sorted.map(([key, ns]) => `${this.label(key)} ${percent(ns / total)}`).join(', ') });
    const legend = element('ul', { className: 'legend' });
    for (const [key, ns] of sorted) {
      const colour = this.causes.get(key)?.colour ?? 'gray';
      const piece = element('span', { title: this.label(key) });
      piece.style.cssText = `flex: ${ns / total}; background: ${colour}`;
      bar.append(piece);
      const dot = element('i');
      dot.style.background = colour;
      legend.append(element('li', { title: this.causes.get(key)?.meaning ?? '' }, dot, `${this.label(key)} ${percent(ns / total)}`));
    }
    return [bar, legend];
  }

  label(key) {
    return this.causes.get(key)?.label ?? key;
  }

  pin() {
    if (!this.last) return;
    const { seconds, rate, cause, failed } = this.last;
    const changes = this.state.changes.map(([key, value]) => `${key} = ${value}`).join(', ') || 'no change';
    const [scenario, kept] = [this.state.scenario, this.state.changes];
    const again = element('button', { type: 'button' }, 'Show');
    again.onclick = () => this.open(scenario, kept);
    const cells = [`${scenario}: ${changes}`, failed ? 'failed' : duration(seconds), `${figures(rate / 1000)} kB/s`, cause ? this.label(cause) : ''];
    const row = element('tr', {}, ...cells.map((text) => element('td', {}, text)), element('td', {}, again));
    $('pinned').tBodies[0].append(row);
    $('pinned').hidden = false;
  }

  fragment() {
    return `#lab=${encodeURIComponent(JSON.stringify(this.state))}`;
  }

  /** Takes up the state of the address; false if it holds none. */
  restore() {
    const text = /^#lab=(.*)$/.exec(location.hash)?.[1];
    if (!text) return false;
    try {
      const { scenario, changes } = JSON.parse(decodeURIComponent(text));
      if (typeof scenario !== 'string' || !Array.isArray(changes)) throw new Error('not a state of the lab');
      this.open(scenario, changes.filter((it) => Array.isArray(it) && it.length === 2).map(([key, value]) => [String(key), String(value)]));
    } catch (error) {
      $('error').textContent = `The address contains a damaged state: ${error.message}`;
      this.open('dos-ms-net-full');
    }
    return true;
  }
}

function dominant(causes) {
  return Object.entries(causes).sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}

function percent(share) {
  return share < 0.005 ? '< 1 %' : `${Math.round(share * 100)} %`;
}

/** Three figures. */
function figures(number) {
  return Number.isFinite(number) ? Number(number.toPrecision(3)).toLocaleString('en') : '?';
}

function duration(seconds) {
  if (seconds < 1) return `${figures(seconds * 1000)} ms`;
  if (seconds < 120) return `${figures(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes} min ${Math.round(seconds - minutes * 60)} s`;
}

// ---- messages ---------------------------------------------------------------------------------------------------

/** A negotiation with the dialects of Windows for Workgroups 3.11. */
const EXAMPLE = '0000008eff534d4272000000000000000000000000000000000000000000331c0000014c006b00025043204e4554574f524b'
  + '2050524f4752414d20312e3000024d4943524f534f4654204e4554574f524b5320332e300002444f53204c4d312e32583030'
  + '320002444f53204c414e4d414e322e31000257696e646f777320666f7220576f726b67726f75707320332e316100';
const ROW = 16;

class Decoder {
  constructor(engine, kinds) {
    this.engine = engine;
    $('kind').append(...kinds.map(({ name, title }) => element('option', { value: name }, title)));
    $('digits').oninput = () => this.decode();
    $('kind').onchange = () => this.decode();
    $('example').onclick = () => { $('digits').value = EXAMPLE; $('kind').value = ''; this.decode(); };
    $('save-decoded').onclick = () => { if (this.shown) save('message.json', 'application/json', this.shown.json); };
    $('decoded-bytes').onclick = ({ target }) => { if (target.dataset.at) this.chooseByte(Number(target.dataset.at)); };
  }

  /** Decodes what is typed; of several changes while the engine works, the last one counts. */
  async decode() {
    const digits = $('digits').value;
    const request = { digits, kind: $('kind').value };
    this.newest = request;
    if (digits.trim() === '') {
      this.show(null);
      return;
    }
    try {
      const decoded = await this.engine.ask('decode', { request });
      if (this.newest === request) this.show(decoded);
    } catch (error) {
      if (this.newest === request) this.show(null, error.message);
    }
  }

  show(decoded, error = '') {
    this.shown = decoded;
    $('decode-error').textContent = error;
    $('decoded').hidden = !decoded;
    history.replaceState(null, '', decoded ? this.fragment() : location.href.split('#')[0]);
    if (!decoded) return;
    const problems = { 0: 'nothing invalid', 1: '1 problem' }[decoded.problems] ?? `${decoded.problems} problems`;
    $('decoded-title').textContent = `${decoded.title}, ${decoded.length.toLocaleString('en')} bytes, ${problems}`;
    const more = decoded.rows_left ? [element('tr', {}, element('td', { colSpan: 4 }, `and ${decoded.rows_left} more fields`))] : [];
    $('decoded-fields').tBodies[0].replaceChildren(...decoded.rows.map((row, at) => this.row(row, at)), ...more);
    $('decoded-bytes').replaceChildren(...this.bytes(decoded));
    $('decoded-seen').hidden = !decoded.seen;
    $('decoded-seen').querySelector('pre').textContent = decoded.seen;
  }

  row({ at, len, depth, name, value, meaning, problem }, index) {
    const button = element('button', { type: 'button' }, name);
    button.style.paddingLeft = `${depth}rem`;
    button.onclick = () => this.choose(index);
    const words = element('td', {}, [value, meaning].filter(Boolean).join('  '));
    if (problem) words.append(element('span', { className: 'problem' }, problem));
    return element('tr', {}, element('td', {}, String(at)), element('td', {}, String(len)), element('td', {}, button), words);
  }

  bytes({ bytes, length }) {
    const lines = [];
    for (let at = 0; at < bytes.length; at += ROW) {
      const part = bytes.slice(at, at + ROW);
      const cells = part.flatMap((byte, column) => [byteCell(at + column, byte.toString(16).padStart(2, '0')), ' ']);
      const letters = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
      lines.push(at.toString(16).padStart(4, '0'), '  ', ...cells, '   '.repeat(ROW - part.length), ' ', letters, '\n');
    }
    if (length > bytes.length) lines.push(`and ${(length - bytes.length).toLocaleString('en')} more bytes`);
    return lines;
  }

  /** The innermost field that contains this byte. */
  chooseByte(byte) {
    const contains = ({ at, len }) => at <= byte && byte < at + len;
    const index = this.shown.rows.reduce((best, row, index, rows) => (contains(row) && (best < 0 || row.len <= rows[best].len) ? index : best), -1);
    if (index >= 0) this.choose(index).scrollIntoView({ block: 'nearest' });
  }

  /** Marks a field and its bytes; its row. */
  choose(index) {
    const { at, len } = this.shown.rows[index];
    for (const cell of $('decoded-bytes').querySelectorAll('b')) {
      const byte = Number(cell.dataset.at);
      cell.classList.toggle('chosen', at <= byte && byte < at + len);
    }
    $('decoded-bytes').querySelector('.chosen')?.scrollIntoView({ block: 'nearest' });
    const rows = [...$('decoded-fields').tBodies[0].rows];
    rows.forEach((row, other) => row.classList.toggle('chosen', other === index));
    return rows[index];
  }

  fragment() {
    const digits = this.shown.bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const kind = $('kind').value;
    return digits.length > 8192 ? '#decode' : `#decode=${kind ? `${kind}:` : ''}${digits}`;
  }

  /** Takes up the message of the address. */
  restore() {
    const [, kind, digits] = /^#decode=(?:([a-z]+):)?(.*)$/.exec(location.hash) ?? [];
    if (digits === undefined) return;
    $('digits').value = digits;
    $('kind').value = kind ?? '';
    if ($('kind').selectedIndex < 0) $('kind').value = '';
    this.decode();
  }
}

function byteCell(at, text) {
  const cell = element('b', {}, text);
  cell.dataset.at = at;
  return cell;
}

// ---- start ------------------------------------------------------------------------------------------------------

/** The lab and the decoder, each with a thread that begins when its tab is opened first. */
class Parts {
  constructor(module, script) {
    this.engine = () => new Engine(module, script);
    this.opened = new Map();
  }

  async open(part) {
    if (part === 'explain' || this.opened.has(part)) return;
    this.opened.set(part, true);
    const engine = this.engine();
    const catalogue = await engine.ask('catalogue', {});
    $('version').textContent = catalogue.version;
    if (part === 'lab') {
      const lab = new Lab(engine, catalogue);
      if (!lab.restore()) lab.open('dos-ms-net-full');
    } else {
      new Decoder(engine, catalogue.kinds).restore();
    }
  }
}

async function begin() {
  try {
    const module = await compiled();
    const script = $('engine-script').textContent;
    beginExplain(new Engine(module, script));
    const parts = new Parts(module, script);
    beginTabs((part) => parts.open(part));
    const named = PARTS.find((part) => location.hash.startsWith(`#${part}`));
    if (named) {
      choosePart(named);
      await parts.open(named);
    }
    document.body.dataset.ready = 'yes';
  } catch (error) {
    $('problems').replaceChildren(element('p', { className: 'error' }, `This browser cannot run the engine: ${error.message}`));
  }
}
