/** The doctor, which tests the installation: every way to die that it tries must be explained correctly here. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { onlyWide, testNodes } from '../../support/run/test-nodes.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));

for (const { name, path } of testNodes)
  test(`on ${name} every death it tries is explained`, { skip: onlyWide }, () => {
    const { stdout, stderr } = spawnSync(path, [agentdump, 'doctor', '--json'], { encoding: 'utf8' });
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
