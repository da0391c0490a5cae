/**
 * The tainted program under the supervisor and in a test run: reduced cores, memory that is read while a thread is held,
 * deaths that the process itself couldn't report, CI reports, and what is on disk if the writer is killed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCores } from '../support/cores/core-victims.ts';
import { testNodes } from '../support/run/test-nodes.ts';
import { makeTaint } from './places.ts';
import { findTaint } from './readings.ts';
import { type Death, runTainted } from './run-tainted.ts';

const noHold =
  process.platform !== 'linux' || process.arch !== 'x64' ? 'threads are held on Linux x64 only' : false;
const heap = { AGENTDUMP_HEAP: 'always' };

interface Told extends Death {
  skip?: string | false;
  /** Matches a part that must exist; otherwise the death was not the intended one. */
  part?: RegExp;
}

const deaths: Readonly<Record<string, Told>> = {
  'an exception under run': { how: 'throw', run: [] },
  'an exception, read from a core': {
    how: 'throw',
    run: ['--locals', 'core'],
    part: /mini-core/,
    skip: noCores,
  },
  'a SIGKILL under run': { how: 'kill', run: [], part: /journal/ },
  'an abort, with its core': { how: 'abort', run: [], part: /mini-core/, skip: noCores },
  'a fault, with its core': { how: 'fault', run: [], part: /mini-core/, skip: noCores },
  'a fault, held': { how: 'fault', run: ['--hold'], noCore: true, part: /mini-core/, skip: noHold },
  'an out-of-memory under run': { how: 'fill', run: [], flags: ['--max-old-space-size=60'] },
  'a test run': { how: 'throw', ci: ['--locals', '--heap', 'always'], part: /summary/ },
  'a kill while the heap is written': { how: 'throw', env: heap, killAt: /heap\.heapsnapshot/ },
  'a kill while a report is written': { how: 'throw', env: heap, killAt: /environment\.json|report\.json/ },
};
const seed = Number(process.env['AGENTDUMP_TEST_SEED'] ?? 20_261_126);

// Each on one of the Nodes: what differs between them is in the preload (preload.test.ts).
for (const [i, [name, { skip, part, ...death }]] of Object.entries(deaths).entries()) {
  const node = testNodes[i % testNodes.length]!;
  test(`${name}: no secret in any file or answer (${node.name})`, { skip: skip ?? false }, async () => {
    const taint = makeTaint(seed + i);
    const { bundles, files, told } = await runTainted(node.path, death, taint);
    assert.ok(death.killAt || bundles.length > 0, `no bundle: ${told}`);
    assert.ok(!part || files.some(({ path }) => part.test(path)), `no ${part}: ${told}`);
    assert.deepEqual(findTaint(files, taint.canaries), []);
  });
}
