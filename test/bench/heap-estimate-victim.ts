/** Fills its heap in one way, says what a snapshot would cost, and writes one as a death would: `victim <make> <MB>`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { canary } from '../../src/capture/canary.ts';
import { estimateCounted, estimateUpper } from '../../src/capture/heap-estimate.ts';
import { countHeapObjects } from '../../src/capture/heap-objects.ts';
import { heapPart } from '../../src/capture/parts/heap.ts';
import type { CaptureContext } from '../../src/capture/parts/part.ts';

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
  mixed: (bytes) =>
    Object.entries(makes).flatMap(([name, one]) => (name === 'mixed' ? [] : [one(bytes / 10)])),
};

const kept = [makes[make]!(total), { planted: canary() }];
setFlagsFromString('--expose-gc');
runInNewContext('gc')();
const upper = estimateUpper();
const from = performance.now();
const objects = countHeapObjects();
const countMs = performance.now() - from;
if (objects === undefined) throw new Error('the objects could not be counted');
const said = estimateCounted(objects);
const before = memoryOf('VmRSS');
// The peak starts anew (proc(5), clear_refs).
writeFileSync('/proc/self/clear_refs', '5');
const cpu = process.cpuUsage();
heapPart.produce(contextThatCounts());
const { user, system } = process.cpuUsage(cpu);
const mb = (bytes: number): number => bytes / 1024 ** 2;
console.log(
  JSON.stringify({
    saidMb: mb(said.bytes),
    takenMb: mb(memoryOf('VmHWM') - before),
    upperMb: mb(upper.bytes),
    saidMs: said.ms,
    takenMs: (user + system) / 1000,
    countMs,
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
