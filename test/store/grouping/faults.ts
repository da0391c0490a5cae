/**
 * A program with thirty-six faults, several of which fail in a shared function, and the variants in which the same fault
 * looks different: another build, another Node, another folder, another path to it. The expected groups are written down here
 * by hand, and don't depend on any rule.
 */
import { secondFaults, secondLib } from './second-faults.ts';

export interface Program {
  /** Relative path → text. */
  files: Record<string, string>;
}

/** Each in its own module below `faults/`, with `run` as the entry point. */
const faults: Record<string, string> = {
  'missing-customer': `
    function nameOf(order) { return order.customer.name; }
    export function run() { return nameOf({ id: Math.random() }); }`,
  'cart-empty': `
    import { invariant } from '../lib/invariant.mjs';
    function checkOut(cart) { invariant(cart.items.length > 0); }
    export function run() { checkOut({ items: [] }); }`,
  'stock-negative': `
    import { invariant } from '../lib/invariant.mjs';
    function takeFromStock(stock) { invariant(stock.left >= 0); }
    export function run() { takeFromStock({ left: -1 }); }`,
  'parcel-heavy': `
    import { invariant } from '../lib/invariant.mjs';
    function pack(parcel) { invariant(parcel.kg < 30, 'parcel ' + parcel.id + ' is too heavy'); }
    export function run() { pack({ kg: 31, id: 'P-' + process.pid }); }`,
  'bad-settings': `
    function readSettings(text) { return JSON.parse(text); }
    export function run() { return readSettings('{port: 80}'); }`,
  'cut-reply': `
    function readReply(text) { return JSON.parse(text); }
    export function run() { return readReply('{"items": [1, 2'); }`,
  'search-timeout': `
    import { within } from '../lib/within.mjs';
    async function search() { return within(20, new Promise(() => setTimeout(() => {}, 1000))); }
    export async function run() { await search(); }`,
  'booking-timeout': `
    import { within } from '../lib/within.mjs';
    async function book() { return within(20, new Promise(() => setTimeout(() => {}, 1000))); }
    export async function run() { await book(); }`,
  'not-a-list': `
    function render(rows) { return rows.map((row) => row.title); }
    export function run() { return render({ rows: [] }); }`,
  'endless-tree': `
    function walk(node) { return node.children.map(walk); }
    export function run() { const root = { children: [] }; root.children.push(root); return walk(root); }`,
  'no-template': `
    import { readFileSync } from 'node:fs';
    function readTemplate(name) { return readFileSync('/nowhere/templates/' + name + '.html', 'utf8'); }
    export function run() { return readTemplate('mail-' + process.pid); }`,
  'no-key': `
    import { readFileSync } from 'node:fs';
    function readKey(name) { return readFileSync('/nowhere/keys/' + name + '.pem', 'utf8'); }
    export function run() { return readKey('key-' + process.pid); }`,
  'thrown-text': `
    function decide(state) { throw 'bad state ' + state; }
    export function run() { decide(process.pid); }`,
  'lost-order': `
    class OrderError extends Error { name = 'OrderError'; }
    function find(id) { throw new OrderError('order ' + id + ' not found'); }
    export function run() { find('A-' + process.pid + '-' + Math.random().toString(16).slice(2, 10)); }`,
  'lost-invoice': `
    class InvoiceError extends Error { name = 'InvoiceError'; }
    function find(id) { throw new InvoiceError('invoice ' + id + ' not found'); }
    export function run() { find(process.pid); }`,
  'user-without-name': `
    import { requireField } from '../lib/require-field.mjs';
    function loadUser(user) { return requireField(user, 'name'); }
    export function run() { return loadUser({}); }`,
  'team-without-name': `
    import { requireField } from '../lib/require-field.mjs';
    function loadTeam(team) { return requireField(team, 'name'); }
    export function run() { return loadTeam({}); }`,
  'refused-model': `
    async function ask() {
      try { return await fetch('http://127.0.0.1:9/v1'); }
      catch (cause) { throw new Error('the model did not answer', { cause }); }
    }
    export async function run() { await ask(); }`,
};

/** By set. Only the first may be used to develop the rules. */
export const faultSets = { first: Object.keys(faults), second: Object.keys(secondFaults) };

const lib: Record<string, string> = {
  'lib/invariant.mjs': `
    export function invariant(holds, message = 'invariant violated') { if (!holds) throw new Error(message); }`,
  'lib/require-field.mjs': `
    function fail(text) { throw new Error(text); }
    export function requireField(value, field) { return value[field] ?? fail(field + ' is missing'); }`,
  'lib/within.mjs': `
    export function within(ms, work) {
      return new Promise((resolve, reject) => {
        const began = Date.now();
        setTimeout(() => reject(new Error('timed out after ' + (Date.now() - began) + ' ms')), ms);
        work.then(resolve, reject);
      });
    }`,
};

/** How the program reaches the fault. */
const ways = {
  direct: 'await run();',
  timer: 'setTimeout(() => run(), 5);',
  promise: 'Promise.resolve().then(() => run());',
  event:
    "import { EventEmitter } from 'node:events';\nconst bus = new EventEmitter().on('go', () => run());\nsetImmediate(() => bus.emit('go'));",
  awaited: 'async function start() { await null; await run(); }\nstart();',
  job: 'class Queue { async work(job) { await null; await job(); } }\nawait new Queue().work(async () => { await run(); });',
  table:
    "const handlers = { pay: run };\nfunction dispatch(name) { const handle = handlers[name]; return handle(); }\nawait dispatch('pay');",
  retried:
    'async function retry(work) { for (let left = 2; ; left--) { await null; if (left === 0) return await work(); } }\nawait retry(run);',
};
export type Way = keyof typeof ways;

export function programOf(
  fault: string,
  { way = 'direct', shift = 0 }: { way?: Way; shift?: number } = {},
): Program {
  const before = Array.from({ length: shift }, (_, n) => `// line ${n}`).join('\n');
  const text = faults[fault] ?? secondFaults[fault] ?? '';
  const texts = { ...lib, ...secondLib, [`faults/${fault}.mjs`]: text };
  const main = `import { run } from './faults/${fault}.mjs';\n${ways[way]}\n`;
  const files = Object.entries({ ...texts, 'main.mjs': main }).map(([name, text]) => [
    name,
    `${before}\n${text}\n`,
  ]);
  return {
    files: {
      ...Object.fromEntries(files),
      'package.json': '{"name":"shop","version":"1.0.0","type":"module"}',
    },
  };
}

export interface Variant {
  name: string;
  node: 20 | 22 | 24 | 26;
  way?: Way;
  shift?: number;
  /** Bundled and minified, with or without its source map. */
  build?: 'mapped' | 'unmapped';
  minifier?: 'esbuild' | 'terser';
}

export const variants: readonly Variant[] = [
  { name: 'as written', node: 20 },
  { name: 'lines shifted', node: 20, shift: 17 },
  { name: 'Node 22', node: 22 },
  { name: 'Node 24', node: 24 },
  { name: 'Node 26', node: 26 },
  { name: 'from a timer', node: 24, way: 'timer' },
  { name: 'from a promise', node: 20, way: 'promise' },
  { name: 'from a queue', node: 22, way: 'job' },
  { name: 'minified, with a map', node: 24, build: 'mapped' },
  { name: 'minified, with a map, shifted', node: 20, build: 'mapped', shift: 5 },
  { name: 'minified, no map', node: 24, build: 'unmapped' },
  { name: 'terser, with a map', node: 22, build: 'mapped', minifier: 'terser' },
  { name: 'terser, no map', node: 26, build: 'unmapped', minifier: 'terser', shift: 9 },
  { name: 'from an event', node: 22, way: 'event' },
  { name: 'after an await', node: 26, way: 'awaited' },
  { name: 'from a table of handlers', node: 20, way: 'table' },
  { name: 'retried, minified, with a map', node: 24, way: 'retried', build: 'mapped' },
];
