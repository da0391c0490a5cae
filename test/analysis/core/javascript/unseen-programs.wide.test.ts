/**
 * Programs that the readers were not developed with, on every Node. Suspended functions must equal the program's own list;
 * objects and closures of awkward shapes must be described as they are.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import { openCoreDump } from '../../../../src/analysis/core/core-dump.ts';
import { openV8 } from '../../../../src/analysis/core/javascript/v8-runtime.ts';
import { findHeapPages, walkPage } from '../../../../src/formats/v8/heap/heap-pages.ts';
import {
  findSuspended,
  isAsyncObject,
  type SuspendedFunction,
} from '../../../../src/formats/v8/suspended.ts';
import type { Account } from '../../../../src/model/account.ts';
import { makeCore, noCores, nodes, victims } from '../../../support/cores/core-victims.ts';

async function accountOf(node: string, args: string[]): Promise<Account> {
  const death = makeCore(node, args);
  try {
    return await accountForCore(death.core);
  } finally {
    death.remove();
  }
}

/** Suspended functions of the program's own script. Each is there once, however many stacks lead through it. */
function ownSuspended(core: string): SuspendedFunction[] {
  const dump = openCoreDump(core);
  const v8 = openV8(dump, []);
  assert.ok(v8);
  const ranges = dump.core.segments
    .filter((s) => s.fileSize > 0 && s.writable && !s.executable)
    .map((s) => [s.start, s.start + s.fileSize] as const);
  const all: SuspendedFunction[] = [];
  for (const page of findHeapPages(v8.heap, ranges))
    walkPage(v8.heap, page, ({ object }) => {
      const found = isAsyncObject(v8.heap, object)
        ? findSuspended(v8.heap, v8.functions, v8.scripts, object)
        : undefined;
      if (found?.place && found.function.script?.name.endsWith('waiting.cjs')) all.push(found);
    });
  dump.close();
  return all;
}

function countByName(all: SuspendedFunction[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { function: f } of all) counts[f.name] = (counts[f.name] ?? 0) + 1;
  return counts;
}

const shapes = [
  'Account { #floor: 4711, #notes: { a: [ 1 ] }, owner: "ann" }',
  'Savings { #floor: 4711, #notes: { a: [ 1 ] }, owner: "ann", #rate: 0.25 }',
  'Stack [ 1, 2 ]',
  'Registry(1) { "k" => 1 }',
  '[ToolError: no tool { tool: "search" }]',
  '{ field0: 0, field1: 1, field2: 2,',
  '{ a: 1, b: [ 1, 2 ] }',
  '[ … 5000001 in all ]',
  'second: "two", third: 3',
  'x: 1, "with space": 2',
  'plain: 3',
  'computed: [Getter], plain: 2',
  '{ name: "both", 0: "zero", 7: "seven" }',
  '"\u4e2d\u6587"',
  '[ -0, 2147483648, -2147483648, 9007199254740992, 1e+300, -1.5, Infinity ]',
  '[ 0n, -1n, 18446744073709551616n, -1606938044258990275541962092341162602522202993782792835301376n ]',
  'Float64Array(2) [ 1, 2 ]',
];

for (const node of nodes)
  suite(`Node ${node.major}`, { skip: noCores }, () => {
    for (const seed of [1, 2, 3])
      test(`suspended functions are the program's own list, seed ${seed}`, () => {
        const death = makeCore(node.path, ['--expose-gc', join(victims, 'waiting.cjs'), `${seed}`]);
        try {
          const own = JSON.parse(death.stdout) as Record<string, number>;
          const found = ownSuspended(death.core);
          assert.deepEqual(
            countByName(found),
            Object.fromEntries(Object.entries(own).filter(([, n]) => n > 0)),
          );
          const nameOf = new Map(found.map((each) => [each.object, each.function.name]));
          for (const { function: f, awaitedBy } of found)
            if (f.name === 'numbers') assert.equal(nameOf.get(awaitedBy ?? 0), 'consume');
        } finally {
          death.remove();
        }
      });

    test('objects of awkward shapes', async () => {
      const account = await accountOf(node.path, [join(victims, 'shapes.cjs')]);
      const frames = account.threads?.find((t) => t.crashed)?.frames ?? [];
      const die = frames.find((f) => f.function === 'die');
      const told = die?.locals?.find((l) => l.name === '..._all')?.value ?? '';
      for (const shape of shapes) assert.ok(told.includes(shape), `${shape}\nin ${told}`);
      const closure = (row: number) =>
        Object.fromEntries(
          (frames.filter((f) => f.file?.endsWith('shapes.cjs'))[row]?.locals ?? [])
            .filter((l) => l.scope === 'closure')
            .map((l) => [l.name, l.value]),
        );
      assert.equal(closure(0)['label'], '"loop-2"');
      assert.equal(closure(0)['counter'], '1');
      assert.equal(closure(1)['hidden'], '"block"');
    });
  });
