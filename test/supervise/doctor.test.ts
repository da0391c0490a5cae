/** The doctor, which is the test of the test: every way to die that it tries must be explained rightly here. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const agentdump = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
const nodes = fileURLToPath(new URL('../nodes/node_modules', import.meta.url));

for (const major of [20, 22, 24, 26])
  test(`on Node ${major} every death it tries is explained`, () => {
    const node = join(nodes, `node-${major}/bin/node`);
    const { stdout, stderr } = spawnSync(node, [agentdump, 'doctor', '--json'], { encoding: 'utf8' });
    const { deaths, machine, notTried } = JSON.parse(stdout || stderr);
    for (const { death, expected, verdict, problem, gaps } of deaths)
      assert.equal(verdict, expected, `${death}: ${problem ?? ''} ${gaps.join('; ')}`);
    const rows = new Set([...deaths, ...notTried].map(({ row }) => row));
    assert.deepEqual(
      [...rows].sort((a, b) => a - b),
      Array.from({ length: 17 }, (_, i) => i + 1),
    );
    assert.ok(machine.some(({ name }: { name: string }) => name === 'core_pattern'));
  });
