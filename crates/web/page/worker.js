// The engine's thread: one message in, messages out. It is ended to cancel.
let engine = null;

/** How much of a file is read at once, bytes. Pieces of 1 MB take longer in Chromium, larger ones save nothing. */
const PIECE = 8 << 20;

/** Pieces that are read while earlier ones are analysed. */
const AHEAD = 8;

/** The pieces that the page is reading: what to do with each, by its number. */
const reading = new Map();
let lastPiece = 0;

/** The bytes of a piece of a file. The page's thread reads them: this one is busy with the pieces before. */
function read(piece) {
  lastPiece += 1;
  const bytes = new Promise((resolve, reject) => reading.set(lastPiece, { resolve, reject }));
  bytes.catch(() => {}); // the loop reports it when it is this piece's turn
  postMessage({ kind: 'read', number: lastPiece, piece });
  return bytes;
}

function hasRead({ number, bytes, text }) {
  const { resolve, reject } = reading.get(number);
  reading.delete(number);
  if (bytes) resolve(new Uint8Array(bytes)); else reject(new Error(text));
}

async function add(captures, file, report) {
  captures.begin(file.name);
  const pieces = [];
  let asked = 0;
  for (let at = 0; at < file.size; at += PIECE) {
    for (; asked < file.size && asked <= at + AHEAD * PIECE; asked += PIECE) pieces.push(read(file.slice(asked, asked + PIECE)));
    captures.push(await pieces.shift());
    report(Math.min(at + PIECE, file.size));
  }
  captures.end();
}

async function explain({ files }) {
  const captures = new wasm_bindgen.Captures();
  const problems = [];
  const total = files.reduce((sum, file) => sum + file.size, 0) || 1;
  let before = 0;
  let read = 0;
  for (const file of files) {
    try {
      await add(captures, file, (at) => postMessage({ kind: 'progress', name: file.name, share: (before + at) / total }));
      read += 1;
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) throw error;
      problems.push(`${file.name}: ${error.message}`);
    }
    before += file.size;
  }
  return read === 0 ? { problems } : { problems, page: captures.page(), json: captures.json(), summary: captures.summary() };
}

const ACTS = {
  explain,
  catalogue: () => JSON.parse(wasm_bindgen.catalogue()),
  describe: ({ request }) => JSON.parse(wasm_bindgen.describe(JSON.stringify(request))),
  decode: ({ request }) => JSON.parse(wasm_bindgen.decode(JSON.stringify(request))),
  run: ({ request }) => JSON.parse(wasm_bindgen.run(JSON.stringify(request))),
};

onmessage = async ({ data }) => {
  if (data.kind === 'begin') {
    engine = wasm_bindgen({ module_or_path: data.module });
    return;
  }
  if (data.kind === 'piece') {
    hasRead(data);
    return;
  }
  try {
    await engine;
    postMessage({ kind: 'done', id: data.id, value: await ACTS[data.kind](data) });
  } catch (error) {
    const defect = error instanceof WebAssembly.RuntimeError;
    const text = defect ? `This is a defect of coax, please report it: ${error.message}` : error.message;
    postMessage({ kind: 'failed', id: data.id, text, defect });
  }
};
