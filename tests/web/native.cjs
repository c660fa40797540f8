// Runs the page's engine under node: node native.cjs SCRIPT MODULE < requests. Each line of the input is a request, each
// line of the output its answer.
'use strict';
const fs = require('node:fs');
const vm = require('node:vm');

const [script, engineModule] = process.argv.slice(2);
const engine = vm.runInThisContext(`${fs.readFileSync(script, 'utf8')}; wasm_bindgen`);
engine.initSync({ module: fs.readFileSync(engineModule) });

const ACTS = {
  explain({ name, path }) {
    const captures = new engine.Captures();
    captures.begin(name);
    const bytes = fs.readFileSync(path);
    // pieces of odd sizes, so that records are cut everywhere
    for (let at = 0, len; at < bytes.length; at += len) {
      len = 1 + (at % 65_521);
      captures.push(new Uint8Array(bytes.subarray(at, at + len)));
    }
    captures.end();
    return { json: captures.json(), page: captures.page() };
  },
  run: ({ request }) => JSON.parse(engine.run(JSON.stringify(request))),
  decode: ({ request }) => JSON.parse(engine.decode(JSON.stringify(request))),
  describe: ({ request }) => JSON.parse(engine.describe(JSON.stringify(request))),
};

for (const line of fs.readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const asked = JSON.parse(line);
  let answer;
  try {
    answer = { value: ACTS[asked.act](asked) };
  } catch (error) {
    answer = { error: error.message, defect: error instanceof WebAssembly.RuntimeError };
  }
  console.log(JSON.stringify(answer));
}
