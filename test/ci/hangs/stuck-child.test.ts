/**
 * A test inside `execFileSync` of a child that never ends: its process answers nothing, and its memory is read from outside.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { partNames } from '../../../src/bundle/layout/bundle.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { runUnderCi, suitesFolder } from '../../support/runners/runner-matrix.ts';

test('the bundle names the test, the line and the child', { skip: onlyWide }, async (context) => {
  const { code, summary, output, report } = await runUnderCi({
    folder: suitesFolder(context),
    death: 'hang',
    command: ['node', '--test', 'stuck.mjs'],
  });
  assert.equal(code, 124, output);
  const [found, ...others] = summary?.bundles ?? [];
  assert.deepEqual(others, [], 'the child is no Node');
  assert.equal(found?.kind, 'event-loop-hang', output);
  assert.deepEqual(found?.test?.name, ['asks a tool that never answers']);
  assert.match(readFileSync(join(report, 'summary.md'), 'utf8'), /waits for its child \d+, \S*sleep 1000/);
  const frames = await framesOf(join(report, 'bundles'));
  const places = frames?.map(({ file, line }) => `${file}:${line}`) ?? ['file:///stuck.mjs:7'];
  // The suite's folder is also its home directory, which is withheld from memory that is read.
  assert.match(places.join('\n'), /^file:.*:7$/m);
});

/** Undefined if the kernel does not allow reading another process's memory. */
async function framesOf(folder: string) {
  const name = readdirSync(folder).find((entry) => entry.endsWith('.zip')) ?? '';
  const bundle = openBundle(join(folder, name));
  try {
    const { gaps, threads } = await analyzeBundle(bundle);
    if (gaps.some(({ part }) => part === partNames.miniCore)) return undefined;
    return threads?.flatMap((thread) => thread.frames ?? []);
  } finally {
    bundle.close();
  }
}
