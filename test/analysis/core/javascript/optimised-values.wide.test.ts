/**
 * Receivers and arguments of optimised and inlined frames, compared with the program's own output: it prints what each
 * function holds just before that calls the next one, and dies in the innermost one when all of it is optimised.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import type { Frame } from '../../../../src/model/thread.ts';
import { makeCore, noCores, nodes, victims } from '../../../support/cores/core-victims.ts';
import { assertOfSchema } from '../../../support/system/of-schema.ts';

interface Told {
  name: string;
  this?: string;
  locals: Record<string, string>;
}

interface Compared {
  frame: Frame;
  told: Told;
}

const lost = '(optimised away)';
/** By default, code is optimised on another thread, on a busy machine perhaps only after the death. */
const atOnce = '--no-concurrent-recompilation';

async function compare(node: string, seed: number, rounds: number): Promise<Compared[]> {
  const death = makeCore(node, [atOnce, join(victims, 'optimised.cjs'), `${seed}`, '14', `${rounds}`]);
  try {
    const account = await accountForCore(death.core);
    assertOfSchema(account);
    assert.deepEqual(account.gaps, []);
    const frames = account.threads?.find((t) => t.crashed)?.frames ?? [];
    const mine = frames.filter(
      (f) => f.file === '/generated/optimised.js' && !/^f14$/.test(f.function ?? ''),
    );
    const told = JSON.parse(death.stdout) as Told[];
    assert.equal(
      mine.length,
      told.length,
      `${mine.map((f) => f.function)} instead of ${told.map((t) => t.name)}`,
    );
    return mine.map((frame, i) => ({ frame, told: told[i] as Told }));
  } finally {
    death.remove();
  }
}

/** The wrong values as text, and how many values were right and how many were lost. */
function judge(compared: Compared[]) {
  const wrong: string[] = [];
  let right = 0;
  let missing = 0;
  for (const { frame, told } of compared) {
    const expected = { ...told.locals, ...(told.this === undefined ? {} : { this: told.this }) };
    for (const [name, text] of Object.entries(expected)) {
      const found = frame.locals?.find(
        (l) => l.scope !== 'closure' && l.name.replace('...', '') === name,
      )?.value;
      if (found === text) right++;
      else if (found === lost) missing++;
      else
        wrong.push(
          `${frame.function} (${frame.tier}${frame.inlined ? ', inlined' : ''}) ${name}: ${found}, not ${text}`,
        );
    }
  }
  return { wrong, right, missing };
}

for (const node of nodes)
  suite(`Node ${node.major}`, { skip: noCores }, () => {
    for (const [seed, rounds] of [
      [1, 20_000],
      [2, 20_000],
      [3, 20_000],
      [4, 1500],
    ] as const)
      test(`seed ${seed}, ${rounds} rounds`, async (t) => {
        const compared = await compare(node.path, seed, rounds);
        const { wrong, right, missing } = judge(compared);
        const inlined = compared.filter(({ frame }) => frame.inlined).length;
        t.diagnostic(
          `${right} right, ${missing} optimised away, ${inlined} of ${compared.length} frames inlined`,
        );
        assert.deepEqual(wrong, []);
        assert.ok(missing <= right / 20, `${missing} of ${right + missing} optimised away`);
        if (rounds > 10_000) assert.ok(inlined >= 4, `${inlined} frames inlined`);
      });
  });
