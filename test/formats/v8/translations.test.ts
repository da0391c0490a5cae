/** Frame translations: operations encoded as V8 does, by an independent writer, and invalid ones that must be refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ProcessMemory } from '../../../src/bytes/memory.ts';
import { mayAssign } from '../../../src/formats/v8/frames/assigned-parameters.ts';
import { nestValue, ValueResolver } from '../../../src/formats/v8/frames/translated-values.ts';
import {
  matchOpcodes,
  opcodesOfV8Line11,
  opcodesOfV8Line12,
  opcodesOfV8Line13,
  opcodesOfV8Line101,
  opcodesOfV8Line107,
  opcodesOfV8Line108,
} from '../../../src/formats/v8/frames/translation-opcodes.ts';
import { type Operation, TranslationReader } from '../../../src/formats/v8/frames/translation-reader.ts';
import { V8Heap } from '../../../src/formats/v8/heap/heap.ts';
import type { V8Layout } from '../../../src/formats/v8/heap/object-layout.ts';
import { VirtualMemory } from '../../../src/formats/v8/virtual-memory.ts';
import '../../support/run/fuzz-runs.ts';

/** The operand counts in the table of each V8 line's binary. */
const counts = {
  101: '2,1,0,3,1,1,3,1,3,1,1,1,1,1,1,1,1,1,5,3,3,4,1,1,1,1,1,2',
  107: '1,0,3,1,1,3,1,3,1,1,1,1,1,2,1,1,1,1,5,3,3,4,0,1,1,1,1,1,2',
  108: '1,0,3,1,1,3,1,3,1,1,1,1,1,2,1,1,1,1,1,1,1,1,5,3,3,4,0,1,1,1,1,1,2',
  11: '1,0,3,3,1,1,3,1,3,1,1,1,1,1,2,1,1,1,1,1,1,1,1,5,3,3,3,4,0,1,1,1,1,1,2,1',
  12: '5,3,3,3,2,1,3,4,3,2,1,0,3,3,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,1,1,1,1,1,2,1',
  13: '6,4,3,3,2,1,3,4,3,3,3,1,0,0,3,3,1,1,1,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,1,1,1,1,1,2,1',
};
const tableOf = (line: keyof typeof counts) => counts[line].split(',').map(Number);
const names = {
  101: opcodesOfV8Line101,
  107: opcodesOfV8Line107,
  108: opcodesOfV8Line108,
  11: opcodesOfV8Line11,
  12: opcodesOfV8Line12,
  13: opcodesOfV8Line13,
};

test('each list of names fits the table of its line and of no other', () => {
  const lines = [101, 107, 108, 11, 12, 13] as const;
  for (const list of lines)
    for (const line of lines)
      assert.equal(
        matchOpcodes(names[list], tableOf(line)) !== undefined,
        list === line,
        `${list} on ${line}`,
      );
  const moved = [...opcodesOfV8Line13];
  const at = moved.indexOf('LITERAL');
  [moved[at], moved[at - 1]] = [moved[at - 1] as string, 'LITERAL'];
  assert.equal(matchOpcodes(moved, tableOf(13)), undefined);
});

const opcodes = matchOpcodes(opcodesOfV8Line13, tableOf(13)) ?? assert.fail('the list does not fit');
const numberOf = (name: string) => opcodes.names.indexOf(name);

function vlq(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}
const encode = ({ name, operands }: Operation) => [numberOf(name), ...operands.flatMap(vlq)];
/** `frames` is the number of JavaScript frames, `lookback` is in bytes. */
const begin = (lookback: number, frames: number) => [
  numberOf('BEGIN_WITHOUT_FEEDBACK'),
  ...vlq(lookback),
  ...vlq(frames * 2),
  ...vlq(frames * 2),
];
function readAll(bytes: number[], start: number): Operation[] {
  const reader = new TranslationReader(Uint8Array.from(bytes), start, opcodes);
  assert.equal(reader.begin(), 1);
  const found: Operation[] = [];
  for (let next = reader.next(); next && !next.name.startsWith('BEGIN_'); next = reader.next())
    found.push(next);
  return found;
}

test('V8 10.1 encodes opcodes with a sign, and no translation repeats another', () => {
  const line101 = matchOpcodes(opcodesOfV8Line101, tableOf(101)) ?? assert.fail('the list does not fit');
  const written: [name: string, operands: number[]][] = [
    ['BEGIN', [1, 1, 0]],
    ['INTERPRETED_FRAME_WITH_RETURN', [7, 2, 1, 0, 1]],
    ['LITERAL', [3]],
    ['UPDATE_FEEDBACK', [4, 5]],
  ];
  for (const hasSignedOpcodes of [true, false]) {
    const bytes = written.flatMap(([name, operands]) => [
      line101.names.indexOf(name) * (hasSignedOpcodes ? 2 : 1),
      ...operands.flatMap((n) => vlq(n * 2)),
    ]);
    const reader = new TranslationReader(Uint8Array.from(bytes), 0, { ...line101, hasSignedOpcodes });
    assert.equal(reader.begin(), 1);
    const read = [reader.next(), reader.next(), reader.next()].map((o) => [
      o?.name,
      o?.operands.map((n) => n / 2),
    ]);
    assert.deepEqual(read, written.slice(1));
    assert.equal(reader.next(), undefined);
  }
});

const operationArbitrary = fc
  .constantFrom(...opcodes.names.filter((n) => !/^BEGIN_|^MATCH/.test(n)))
  .chain((name) =>
    fc
      .array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), {
        minLength: opcodes.operandCounts[numberOf(name)] ?? 0,
        maxLength: opcodes.operandCounts[numberOf(name)] ?? 0,
      })
      .map((operands) => ({ name, operands })),
  );

test('a translation reads as it was written, also where it repeats an earlier one', () => {
  fc.assert(
    fc.property(
      fc.array(operationArbitrary, { minLength: 1, maxLength: 40 }),
      fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      fc.boolean(),
      (operations, repeats, isShort) => {
        const first = [...begin(0, 1), ...operations.flatMap(encode)];
        const own = operations.map((o) => ({ ...o, operands: o.operands.map((n) => (n + 1) % 2 ** 31) }));
        const expected = operations.map((o, i) => (repeats[i] ? o : (own[i] as Operation)));
        const second: number[] = [];
        for (let i = 0; i < operations.length; ) {
          let run = 0;
          while (i + run < operations.length && repeats[i + run]) run++;
          if (run === 0) second.push(...encode(own[i++] as Operation));
          else if (isShort && opcodes.names.length + run < 256) second.push(opcodes.names.length + run);
          else second.push(numberOf('MATCH_PREVIOUS_TRANSLATION'), ...vlq(run));
          i += run;
        }
        const bytes = [...first, ...begin(first.length, 1), ...second];
        assert.deepEqual(readAll(bytes, 0), operations);
        assert.deepEqual(readAll(bytes, first.length), expected);
      },
    ),
  );
});

test('bytes without sense end, and never repeat themselves', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(200), (bytes, start) => {
      const reader = new TranslationReader(bytes, Math.min(start, bytes.length), opcodes);
      if (reader.begin() === undefined) return;
      let read = 0;
      while (reader.next() && read < 100_000) read++;
      assert.ok(read < 100_000);
    }),
  );
});

const types = { map: 200, heapNumber: 130, fixedDoubleArray: 150 };
const layout = {
  types,
  heapNumber: 8,
  map: { instanceType: 12 },
  string: { length: 12 },
} as unknown as V8Layout;

/** A heap that contains only one map, of plain objects. */
function resolverOf(operations: Operation[], fill = (_stack: DataView) => {}) {
  const stack = new DataView(new ArrayBuffer(256));
  fill(stack);
  const source = {
    size: 256,
    readInto: (target: Uint8Array, offset: number) => {
      const part = new Uint8Array(stack.buffer).subarray(offset, offset + target.length);
      target.set(part);
      return part.length;
    },
  };
  const start = 0x10000;
  const memory = new ProcessMemory([{ start, end: start + 256, source, offset: 0 } as never]);
  const virtual = new VirtualMemory(memory);
  const heap = new V8Heap(virtual, layout, virtual);
  const metaMap = virtual.allocate(2) ?? 0;
  virtual.writeWord(metaMap, BigInt(metaMap + 1));
  virtual.writeWord(metaMap + 8, BigInt(types.map) << 32n);
  const map = virtual.allocate(2) ?? 0;
  virtual.writeWord(map, BigInt(metaMap + 1));
  virtual.writeWord(map + 8, 500n << 32n);
  const resolver = new ValueResolver({
    heap,
    virtual,
    framePointer: start + 128,
    literal: (i) => [map + 1, 7 * 2 ** 32][i],
  });
  const values = [];
  for (let at = 0; at < operations.length; ) {
    const nested = nestValue(operations, at);
    if (!nested) break;
    values.push(nested[0]);
    at = nested[1];
  }
  for (const value of values) resolver.number(value);
  const texts = values.map((value) => {
    const found = resolver.resolve(value);
    return found === undefined ? undefined : (virtual.findNote(found) ?? found);
  });
  return { heap, texts };
}
const operation = (name: string, ...operands: number[]): Operation => ({ name, operands });
const literal = (i: number) => operation('LITERAL', i * 2);

test('an object that was never allocated reads like any other, also where it holds itself', () => {
  const { heap, texts } = resolverOf([
    operation('CAPTURED_OBJECT', 8),
    ...[literal(0), literal(1), literal(1)],
    operation('DUPLICATED_OBJECT', 0),
    literal(1),
  ]);
  const [object, seven] = texts as [number, number];
  assert.equal(heap.findType(object), 500);
  assert.equal(heap.field(object, 24), object);
  assert.equal(heap.smi(heap.field(object, 8)), 7);
  assert.equal(heap.smi(seven), 7);
});

test('slots hold what their operation says', () => {
  const slot = (i: number) => (i < 0 ? -i * 2 + 1 : i * 2);
  const at = (i: number) => 128 + 16 - (i + 1) * 8;
  const operations = [
    operation('BOOL_STACK_SLOT', slot(1)),
    operation('INT32_STACK_SLOT', slot(2)),
    operation('DOUBLE_STACK_SLOT', slot(3)),
    operation('HOLEY_DOUBLE_STACK_SLOT', slot(4)),
    operation('UNSIGNED_BIGINT64_STACK_SLOT', slot(5)),
    operation('STACK_SLOT', slot(-1)),
    operation('REGISTER', 3),
    operation('OPTIMIZED_OUT'),
  ];
  const { texts } = resolverOf(operations, (stack) => {
    stack.setUint32(at(1), 1, true);
    stack.setInt32(at(2), -5, true);
    stack.setFloat64(at(3), 0.5, true);
    stack.setBigUint64(at(4), 0xfff7_ffff_fff7_ffffn, true);
    stack.setBigUint64(at(5), 2n ** 63n, true);
    stack.setInt32(at(-1) + 4, 9, true);
  });
  const told = texts.map((text) => (typeof text === 'number' ? text / 2 ** 32 : text));
  assert.deepEqual(told, ['true', -5, '0.5', 'undefined', `${2n ** 63n}n`, 9, undefined, undefined]);
});

test('hostile values end: too deep, too many fields, strings made of themselves, no map', () => {
  const deep = Array.from({ length: 500 }, () => operation('CAPTURED_OBJECT', 2));
  assert.equal(nestValue(deep, 0), undefined);
  assert.equal(nestValue([operation('CAPTURED_OBJECT', 2 ** 31)], 0), undefined);
  assert.equal(nestValue([operation('CAPTURED_OBJECT', 4), literal(0)], 0), undefined);
  const own = resolverOf([
    operation('STRING_CONCAT'),
    operation('DUPLICATED_OBJECT', 0),
    operation('DUPLICATED_OBJECT', 0),
  ]);
  assert.deepEqual(own.texts, [undefined]);
  const chain = Array.from({ length: 5000 }, (_, i) => [
    operation('CAPTURED_OBJECT', 2),
    operation('DUPLICATED_OBJECT', (i + 1) * 4),
  ]).flat();
  assert.equal(resolverOf(chain).texts[0], undefined);
  assert.deepEqual(resolverOf([operation('CAPTURED_OBJECT', 2), literal(1)]).texts, [undefined]);
  assert.deepEqual(resolverOf([literal(99), operation('DUPLICATED_OBJECT', 98)]).texts, [
    undefined,
    undefined,
  ]);
});

test('the room for objects is bounded', () => {
  const virtual = new VirtualMemory(new ProcessMemory([]));
  assert.equal(virtual.allocate(1 << 20), undefined);
  let made = 0;
  while (virtual.note('x') !== undefined) made++;
  assert.ok(made > 1000 && made < 100_000);
  assert.throws(() => virtual.readWord(2 ** 47 + (1 << 20)), { code: 'not-found' });
});

test('parameters that a function may give another value', () => {
  const yes = [
    'a = 1',
    'a += 1',
    'a ??= b',
    'a >>>= 1',
    'a++',
    '--a',
    '[a] = b',
    '({ a } = b)',
    'for (a of b) {}',
  ];
  const no = [
    'a == 1',
    'a === b',
    'b.a = 1',
    'a.b = 1',
    'const { b } = a',
    '(a) => 1',
    'a <= 1',
    'ba = 1',
    'f(a)',
  ];
  for (const body of [...yes, 'eval(b)', 'arguments[0] = 1'])
    assert.equal(mayAssign(`(a) { ${body}; }`, 'a'), true, body);
  for (const body of no) assert.equal(mayAssign(`(a) { ${body}; }`, 'a'), false, body);
  assert.equal(mayAssign('({ b }) { b = 1; }', '{…}'), false);
  assert.equal(mayAssign('($a) { $a = 1; }', '$a'), true);
});
