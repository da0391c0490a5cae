/** A bundle of a hang whose main thread could not be asked names no test: the log of its process does, if only one never ended. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeBundle } from '../../../src/ci/report/describe-bundle.ts';
import type { LoggedTest, LoggedThread } from '../../../src/ci/report/test-logs.ts';
import { commonParts, synthParts, writeBundle } from '../../support/synth/synth-analysis-bundle.ts';

const at = '2026-11-21T03:04:05.678Z';
const begun = (name: string, startedAt: string, status: LoggedTest['status'] = 'unfinished'): LoggedTest => ({
  name: [name],
  startedAt,
  status,
});
const before = begun('books', '2026-11-21T03:04:00.000Z');

function threadOf(pid: number, threadId: number, ...tests: LoggedTest[]): LoggedThread {
  const rest = { bundles: [], repeats: [], memory: [], heaps: [], children: [] };
  return { pid, threadId, tests, dropped: { finished: 0, failed: 0 }, ...rest };
}

async function testNamed(parts: Record<string, unknown>, of: (pid: number) => LoggedThread[]) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-unasked-'));
  try {
    const common = commonParts();
    const { pid } = common['process.json'] as { pid: number };
    const path = writeBundle(
      join(folder, '20261121T030405.678Z-agent-event-loop-hang-00112233.agentdump'),
      synthParts({
        'trigger.json': {
          ...(common['trigger.json'] as object),
          kind: 'stall',
          stall: { where: 'native', silentMs: 5000, cpuMs: 10 },
          verdictKind: 'event-loop-hang',
        },
        'error.json': undefined,
        ...parts,
      }),
    );
    const listed = { name: 'x', path, state: 'sealed', at, shortId: '00112233', bytes: 1, gaps: 0 } as const;
    const { facts } = await describeBundle(listed, of(pid));
    assert.equal(facts.kind, 'event-loop-hang');
    return facts.test?.name;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('the only test that had begun by then and never ended', async () => {
  const after = begun('cancels', '2026-11-21T03:04:06.000Z');
  const ended = begun('finds', '2026-11-21T03:03:00.000Z', 'passed');
  assert.deepEqual(await testNamed({}, (pid) => [threadOf(pid, 0, ended, before, after)]), ['books']);
});

test('none of several, of another process, of a worker, or where the bundle has its own', async () => {
  const other = begun('pays', '2026-11-21T03:04:01.000Z');
  assert.equal(await testNamed({}, (pid) => [threadOf(pid, 0, before, other)]), undefined);
  assert.equal(await testNamed({}, (pid) => [threadOf(pid + 1, 0, before)]), undefined);
  assert.equal(await testNamed({}, (pid) => [threadOf(pid, 3, before)]), undefined);
  const told = { 'test.json': { runner: 'mocha', running: [other] } };
  assert.deepEqual(await testNamed(told, (pid) => [threadOf(pid, 0, before)]), ['pays']);
});
