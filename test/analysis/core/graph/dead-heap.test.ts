/**
 * Objects of a dead process for which a heap snapshot contains too little, compared with what the program created
 * (fixtures/programs/native/dead-heap.cjs), on every Node.
 */
import assert from 'node:assert/strict';
import { basename, dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import { readCoreGraph } from '../../../../src/analysis/core/graph/core-graph.ts';
import { type InspectedObject, inspectObject } from '../../../../src/analysis/core/graph/inspect-object.ts';
import { writeMiniCore } from '../../../../src/analysis/core/mini/mini-core.ts';
import { idOfNode } from '../../../../src/formats/v8/graph/graph.ts';
import { createPolicy } from '../../../../src/redaction/index.ts';
import { type Death, makeCore, noCores, nodes, victims } from '../../../support/cores/core-victims.ts';

const program = join(victims, 'dead-heap.cjs');
/**
 * By the property that holds the object. Weak collections are matched by patterns, because their hashed keys have no order.
 */
const truth: Record<string, string | RegExp> = {
  text: '"tides at Brest, high water 04:31" in Buffer(32)',
  octets: 'Uint8Array(4) [ 0, 255, 1, 254 ]',
  part: 'Uint8Array(4) [ 1, 2, 3, 250 ]',
  small: 'Float64Array(3) [ 0.5, -2.25, NaN ]',
  words: 'Int16Array(2) [ -1, 300 ]',
  wide: 'BigInt64Array(2) [ -1099511627776n, 7n ]',
  shared: 'Int32Array(2) [ 9, 9 ]',
  view: 'DataView(2) [ 32, 48 ]',
  large: 'Uint8Array(100000) [ 7, 7, 7, 7, 7, 7, 7, 7, … ]',
  growing: 'Uint8Array(4) [ 5, 5, 5, 5 ]',
  text16: '"wide text" in Uint16Array(9)',
  weakMap:
    /^WeakMap\(2\) \{ (?=.*\{ id: "first" \} => \(a string\))(?=.*\{ id: "second" \} => \{ of: "the second" \})/,
  weakSet: /^WeakSet\(2\) \{ (?=.*\{ id: "first" \})(?=.*\{ id: "second" \})/,
  weakRef: 'WeakRef { { id: "first" } }',
  proxy: 'Proxy of { target: "here" }, handled by { get: [Function: get] }',
  revoked: 'Proxy (revoked)',
  pattern: '/a+(?<year>\\d{4})/dgimsuy',
  sets: '/[a--b]/v',
  plain: '/plain/',
  closure: '[Function: inner]',
  bound: '[Function: bound inner]',
  counts: '[ 1, 2, 3 ]',
  flag: 'true',
};

for (const node of nodes)
  suite(`objects of a dead Node ${node.major}`, { skip: noCores }, () => {
    let death: Death;
    let kept: InspectedObject | undefined;
    const found = new Map<string, InspectedObject | undefined>();
    before(() => {
      death = makeCore(node.path, [program]);
      const { close } = readCoreGraph(death.core, {
        onGraph(graph, v8) {
          const policy = createPolicy();
          const inspect = (pointer: number) => inspectObject(v8, pointer, 50, (text) => policy.text(text));
          const objects: number[] = [];
          let node = 0;
          for (const { count, names } of graph.nodes())
            for (let i = 0; i < count; i++, node++)
              if (graph.names.text(names[i]!) === 'Object') objects.push(node);
          for (const object of objects) {
            const value = inspect((graph.addressOf(idOfNode(object)) ?? 0) + 1);
            if (value?.entries.some(({ key }) => key === 'weakMap')) {
              kept = value;
              break;
            }
          }
          for (const { key, pointer } of kept?.entries ?? [])
            if (pointer !== undefined) found.set(key, inspect(pointer));
        },
      });
      close();
    });
    after(() => death?.remove());

    test('each value is what the program made', () => {
      const texts = Object.fromEntries(kept?.entries.map(({ key, text }) => [key, text]) ?? []);
      for (const [key, wanted] of Object.entries(truth))
        if (typeof wanted === 'string') assert.equal(texts[key], wanted);
        else assert.match(texts[key] ?? '', wanted, key);
    });

    test('bytes are redacted as text, and withheld where they are numbers that would be text', () => {
      assert.match(found.get('token')?.text ?? '', /^"authorization: \[redacted:.*" in Buffer\(55\)$/);
      assert.match(found.get('numbers')?.text ?? '', /withheld/);
      for (const value of [kept, ...found.values()]) assert.doesNotMatch(JSON.stringify(value), /A1b2C3d4/);
    });

    test('a function tells where it was written, and what it closes over', () => {
      const { source, entries = [] } = found.get('closure') ?? {};
      assert.deepEqual({ ...source, scriptId: 0 }, { file: program, scriptId: 0, line: 11, column: 24 });
      assert.deepEqual(
        entries.slice(0, 2).map(({ key, text }) => [key, text]),
        [
          ['(scope 0) limit', '41'],
          ['(scope 0) label', '"from outside"'],
        ],
      );
    });

    test('WebAssembly functions have the names that V8 gives them, from a full and from a mini core', async () => {
      const mini = join(dirname(death.core), 'mini');
      const { account } = await writeMiniCore(death.core, mini);
      for (const { threads } of [account, await accountForCore(mini)]) {
        const frames = threads?.[0]?.frames.filter(({ tier }) => tier !== undefined) ?? [];
        const own = frames.slice(0, 4).map(({ function: name, file = '' }) => `${name} ${basename(file)}`);
        assert.deepEqual(
          own.map((text) => text.replace(/-[0-9a-f]{8}$/, '')),
          ['stop dead-heap.cjs', 'deepest tides', 'enter tides', 'Timeout.start dead-heap.cjs'],
        );
      }
    });

    test('weak entries and what a Proxy stands for are objects to go on with', () => {
      const entries = found.get('weakMap')?.entries ?? [];
      assert.deepEqual(entries.map(({ key, text }) => `${key}: ${text}`).sort(), [
        '{ id: "first" }: "of the first"',
        '{ id: "second" }: { of: "the second" }',
      ]);
      assert.ok(found.get('proxy')?.entries.every(({ pointer }) => pointer !== undefined));
    });
  });
