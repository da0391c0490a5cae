/**
 * A leak of a third-party library: openai 4.95.0 adds a listener to the caller's AbortSignal with each request and never
 * removes it (core.mjs, fetchWithTimeout); later majors do. docs/heap-and-leaks.md walks through it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { computeDigest, computeGrowth } from '../../../src/analysis/memory/growth/growth.ts';
import { openHeap } from '../../../src/analysis/memory/heap.ts';
import { computeSuspects } from '../../../src/analysis/memory/suspects/suspects.ts';
import { startMockModelServer } from '../../support/agents/mock-model-server.ts';
import { nodeBinary } from '../../support/heaps/real-heapsnapshots.ts';
import { majorsInTurn, usualNode } from '../../support/run/test-nodes.ts';
import { temporaryFolder } from '../../support/victims/run-victim.ts';

const agents = fileURLToPath(new URL('../../agents/', import.meta.url));
const skip = !existsSync(join(agents, 'node_modules', 'openai-4')) && 'npm ci --prefix test/agents';

type Cleaning = Parameters<typeof temporaryFolder>[0];

async function runAgent(t: Cleaning, name: string, major: number): Promise<[string, string]> {
  const folder = temporaryFolder(t);
  const server = await startMockModelServer(() => ({ text: 'It is sunny there.' }));
  try {
    const child = spawn(nodeBinary(major), [join(agents, 'shutdown-signal.mjs'), name, folder], {
      stdio: 'ignore',
      env: { ...process.env, MODEL_URL: server.url },
    });
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
  } finally {
    await server.close();
  }
  return [join(folder, 'early.heapsnapshot'), join(folder, 'late.heapsnapshot')];
}

for (const major of majorsInTurn(20, 24))
  test(`Node ${major}: the leak of openai 4 is named, with the line that adds the listeners`, {
    skip,
  }, async (t) => {
    const [early, late] = await runAgent(t, 'openai-4', major);
    const heap = await openHeap(late);
    const suspects = computeSuspects(heap);
    const listeners = suspects.find(({ rule }) => rule === 'listeners');
    assert.match(listeners?.title ?? '', /^400 listeners for "abort": \S*shutdown/);
    assert.match(
      listeners?.sentence ?? '',
      /^(?:AbortSignal|EventTarget) @\d+ .*at \S.*shutdown\S* has 400 listeners for "abort", such as the function at \S+\/openai-4\/core\.mjs:378:\d+; /,
    );
    assert.equal(suspects[0], listeners, suspects.map(({ title }) => title).join('\n'));
    const before = await openHeap(early);
    const digests = [computeDigest(before), computeDigest(heap)];
    const { grown, classes } = computeGrowth(digests, heap, 10);
    assert.match(grown[0]?.path ?? '', /shutdown.*<symbol kEvents>/);
    assert.equal(classes.find(({ class: name }) => name === 'AbortController')?.countGrowth, 300);
  });

test('the same agent with a release that takes its listeners away is not suspected', { skip }, async (t) => {
  const [, late] = await runAgent(t, 'openai', usualNode.major);
  assert.deepEqual(
    computeSuspects(await openHeap(late)).map(({ title }) => title),
    [],
  );
});
