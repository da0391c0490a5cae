/**
 * Random programs that die repeatedly: no result may be returned to the wrong call, no answer given to another request, no
 * effect repeated without being named in doubt, and no program stuck. More of them: `npm run trial:durable`.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { countInTurn, isWideRun, partInTurn } from '../../support/run/test-nodes.ts';
import { runTrial } from './random-trial.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-random-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const programs = isWideRun ? countInTurn(60, 4) : 6;
const [part = 0] = partInTurn([0, 1, 2, 3], 4);

const kinds = {
  'driven by their steps': {},
  'with pauses between their steps': { raw: true },
  'with signals, sleeps, limits, tries and cancellations': { full: true },
};
for (const [kind, shape] of Object.entries(kinds))
  test(`random programs, ${kind}`, async (t) => {
    const { lives, faults } = await runTrial({ programs, firstSeed: 1 + part * programs, shape, folder });
    t.diagnostic(`${programs} programs, ${lives} lives, ${faults.length} with a fault`);
    assert.deepEqual(faults, []);
  });
