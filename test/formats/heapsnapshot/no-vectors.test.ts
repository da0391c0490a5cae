/**
 * If the scanner's kernel can't run (an old or emulated processor, `--jitless`), the general readers give the same result.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { snapshotOf } from '../../support/synth/synth-large-heapsnapshot.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const path = join(mkdtempSync(join(tmpdir(), 'agentdump-heap-')), 'small.heapsnapshot');
writeFileSync(
  path,
  snapshotOf(20_000, (node) => [(node * 7919) % 20_000, (node * 2 + 1) % 20_000]),
);

const summary = (...flags: string[]): { nodes: number } =>
  JSON.parse(
    execFileSync(process.execPath, [...flags, agentdump, 'heap', 'summary', path, '--json'], {
      encoding: 'utf8',
    }),
  );

/** V8's flag that disables the vector instructions; other processors always have them. */
const withoutVectors = process.arch === 'x64' ? ['--no-enable-sse4-1'] : [];

test('a processor without vectors, and no WebAssembly at all', () => {
  const usual = summary();
  assert.equal(usual.nodes, 20_000);
  assert.deepEqual(summary(...withoutVectors), usual);
  assert.deepEqual(summary('--jitless'), usual);
});
