/**
 * Fills its heap in one way, prints the estimated cost of a snapshot, and writes one as a death would: `victim <make> <MB>`.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { canary } from '../../../src/capture/fatal-path/canary.ts';
import { estimateNamed, estimateUpper, largeBytes } from '../../../src/capture/heap/estimate.ts';
import { countHeapNames } from '../../../src/capture/heap/names.ts';
import { countHeapObjects } from '../../../src/capture/heap/objects.ts';
import { heapPart } from '../../../src/capture/parts/heap/heap.ts';
import type { CaptureContext } from '../../../src/capture/parts/part.ts';
import { fittedMakes } from './heap-estimate-makes.ts';

const [make = '', mbText = '12'] = process.argv.slice(2);
const total = Number(mbText) * 1024 ** 2;
const fill = <Value>(bytes: number, one: (at: number) => Value): Value[] => {
  const all: Value[] = [];
  for (let at = 0; at < bytes; at++) all.push(one(at));
  return all;
};

class Item {
  readonly id: number;
  readonly name: string;
  readonly children: Item[] = [];
  readonly score: number;
  constructor(id: number) {
    this.id = id;
    this.name = `item ${id}`;
    this.score = id + 0.5;
  }
}

class Account {
  readonly #id: number;
  readonly #history: number[] = [];
  #owner: { name: string } | undefined;
  constructor(id: number) {
    this.#id = id;
    this.#owner = id % 3 ? { name: `owner ${id}` } : undefined;
  }
  get label(): string {
    return `${this.#id} ${this.#owner?.name} ${this.#history.length}`;
  }
}

const keyed = (weak: WeakMap<object, object>, key: object): object => {
  weak.set(key, { key: 1 });
  return key;
};
const jsonTree = (at: number): string =>
  JSON.stringify({
    id: at,
    title: `document ${at}`,
    tags: ['a', 'b', `tag ${at}`],
    author: { name: `name ${at}`, mail: null, score: at / 3 },
    lines: fill(8, (line) => ({ line, text: `line ${line} of ${at}`, marks: [line, line + 0.5] })),
  });
const compiled = (at: number): unknown => {
  const make =
    new Function(`return function f${at}(a, b) { let c = a + ${at}; while (c < b) c += f(c); return c;
    function f(x) { return x > ${at} ? { x, y: [x] }.y.length : 'text ${at}'.length; } }`)();
  make(1, 3);
  return make;
};
const kindOf = Symbol('kind');
const accessors = (at: number): object => ({
  [kindOf]: `kind ${at}`,
  [Symbol.toStringTag]: 'Reading',
  get value() {
    return at;
  },
  set value(next: number) {
    void next;
  },
});
const pending = async (at: number): Promise<number> => {
  await new Promise(() => {});
  return at;
};

const adder = (a: number, b: object) => () => [a, b];
const makes: Record<string, (bytes: number) => unknown> = {
  'small objects': (bytes) => fill(bytes / 56, (at) => ({ at, none: null, word: 'word' })),
  'short strings': (bytes) => fill(bytes / 48, (at) => Buffer.from(`string ${at}`).toString()),
  'long strings': (bytes) =>
    fill(bytes / 10_000, (at) => Buffer.alloc(10_000, 65 + (at % 26)).toString('latin1')),
  Maps: (bytes) => fill(bytes / 1000, () => new Map(fill(16, (key) => [`key ${key}`, { value: key + 0.5 }]))),
  closures: (bytes) => fill(bytes / 110, (at) => adder(at, { at })),
  Buffers: (bytes) => fill(bytes / 600, () => Buffer.alloc(400)),
  'arrays of numbers': (bytes) => fill(bytes / 850, () => fill(100, (at) => at)),
  'typed arrays': (bytes) => fill(bytes / 6000, () => new Float64Array(700)),
  classes: (bytes) => {
    const items = fill(bytes / 220, (at) => new Item(at));
    for (const item of items) items[item.id >> 2]!.children.push(item);
    return items;
  },
  'deep tree': (bytes) => {
    let top = {};
    for (let at = 0; at < bytes / 100; at++) top = { next: top, leaf: { at } };
    return top;
  },
  mixed: (bytes) => fittedMakes.map((name) => makes[name]!(bytes / 10)),
  // No constant was fitted to these.
  'Maps of Maps': (bytes) =>
    new Map(
      fill(bytes / 2600, (at) => [at, new Map(fill(24, (key) => [`${at}.${key}`, new Map([[key, at]])]))]),
    ),
  'private fields': (bytes) => fill(bytes / 150, (at) => new Account(at)),
  'sparse arrays': (bytes) =>
    fill(bytes / 1500, (at) => {
      const sparse: object[] = [];
      for (let slot = 0; slot < 20; slot++) sparse[slot * 50_000 + at] = { slot };
      return sparse;
    }),
  'big strings': (bytes) => fill(bytes / 1e6, (at) => Buffer.alloc(1e6, 65 + (at % 26)).toString('latin1')),
  ropes: (bytes) => {
    let rope = 'x';
    for (let at = 0; at < bytes / 75; at++) rope += `part ${at} of a rope`;
    return { rope };
  },
  ArrayBuffers: (bytes) => fill(bytes / 250_000, () => new ArrayBuffer(250_000)),
  'Sets and WeakMaps': (bytes) => {
    const weak = new WeakMap<object, object>();
    return [weak, fill(bytes / 900, (at) => new Set(fill(12, (one) => keyed(weak, { at, one }))))];
  },
  'JSON trees': (bytes) => fill(bytes / 1700, (at) => JSON.parse(jsonTree(at))),
  'compiled code': (bytes) => fill(bytes / 1300, (at) => compiled(at)),
  'symbols and accessors': (bytes) => fill(bytes / 330, (at) => accessors(at)),
  'pending promises': (bytes) => fill(bytes / 330, (at) => pending(at)),
  'one cache by key': (bytes) =>
    Object.fromEntries(fill(bytes / 130, (at) => [`request ${at}`, { at, hits: 0 }])),
  dictionaries: (bytes) =>
    fill(bytes / 160_000, (at) => Object.fromEntries(fill(1500, (key) => [`entry ${at} ${key}`, { key }]))),
  'caches without a prototype': (bytes) => {
    const cache: Record<string, object> = Object.create(null);
    for (let at = 0; at < bytes / 130; at++) cache[`request ${at}`] = { at, hits: 0 };
    return cache;
  },
  'short words of JSON': (bytes) =>
    fill(bytes / 700, (at) => JSON.parse(JSON.stringify({ all: fill(12, (one) => `w${at}-${one}`) }))),
  'tiny words of JSON': (bytes) =>
    fill(bytes / 16_000, (at) => JSON.parse(JSON.stringify(fill(500, (one) => `${at}.${one}`)))),
  'a Map by string': (bytes) => new Map(fill(bytes / 150, (at) => [`session ${at}`, { at, open: true }])),
  'objects by number': (bytes) =>
    Object.fromEntries(fill(bytes / 130, (at) => [at * 7919, { at, text: `text ${at}` }])),
  'small WeakMaps': (bytes) =>
    fill(bytes / 500, (at) => {
      const owner = { at };
      return [owner, new WeakMap<object, object>([[owner, { secret: at }]])];
    }),
  'many objects of few keys': (bytes) => fill(bytes / 90, (at) => ({ [`field${at % 5000}`]: { at } })),
};

const kept = [makes[make]!(total), { planted: canary() }];
setFlagsFromString('--expose-gc');
runInNewContext('gc')();
const upper = estimateUpper();
const from = performance.now();
const objects = countHeapObjects();
const countMs = performance.now() - from;
if (objects === undefined) throw new Error('the objects could not be counted');
const large = largeBytes();
const namesFrom = performance.now();
const names = countHeapNames();
const namesMs = performance.now() - namesFrom;
if (names === undefined) throw new Error('the names could not be counted');
const said = estimateNamed(objects, names, large);
const before = memoryOf('VmRSS');
// Resets the peak (proc(5), clear_refs).
writeFileSync('/proc/self/clear_refs', '5');
const cpu = process.cpuUsage();
heapPart.produce(contextThatCounts());
const { user, system } = process.cpuUsage(cpu);
const mb = (bytes: number): number => bytes / 1024 ** 2;
console.log(
  JSON.stringify({
    saidMb: mb(said.bytes),
    takenMb: mb(memoryOf('VmHWM') - before),
    highestMb: mb(said.highestBytes),
    upperMb: mb(upper.bytes),
    saidMs: said.ms,
    takenMs: (user + system) / 1000,
    countMs,
    namesMs,
    kept: kept.length,
  }),
);

function memoryOf(field: string): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(line?.[1]) * 1024;
}

function contextThatCounts(): CaptureContext {
  const context = {
    config: { heap: 'always', heapStrings: 'names' },
    trigger: { kind: 'exception' },
    openPart: () => ({ write() {}, close() {}, abandon: (reason: string) => fail(reason) }),
    addGap: (_: string, reason: string) => fail(reason),
  };
  return context as unknown as CaptureContext;
}

function fail(reason: string): never {
  throw new Error(`no snapshot: ${reason}`);
}
