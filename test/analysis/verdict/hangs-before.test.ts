/**
 * Hangs before the end of the process: a hang that had passed is not reported as the place where the process was last seen.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findBundlesBefore } from '../../../src/analysis/other-bundles.ts';
import type { Account } from '../../../src/model/account.ts';

const process = { pid: 7, startedAt: '2026-11-21T03:00:00.000Z' };
const hang = { process, verdict: { kind: 'event-loop-hang', confidence: 'likely', title: 'It hangs' } };

async function hangsBefore(stepAt: string) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-hangs-before-'));
  try {
    const at = '2026-11-21T03:00:10.000Z';
    const bundle = join(folder, '20261121T030010.000Z-app-event-loop-hang-aaaaaaaa.agentdump');
    const head = {
      schema: 'agentdump.bundle',
      version: 1,
      id: 'aaaaaaaaaaaaaaaa',
      createdAt: at,
      sealedAt: at,
    };
    mkdirSync(bundle);
    writeFileSync(
      join(bundle, 'manifest.json'),
      JSON.stringify({
        ...head,
        writer: '0.1.0',
        program: 'app',
        verdictKind: 'event-loop-hang',
        parts: [],
        gaps: [],
      }),
    );
    const step = { id: 's1', name: 'sort', status: 'running', startedAt: stepAt };
    const run = { id: 'r1', status: 'running', steps: [step], modelCalls: [], toolCalls: [], messages: [] };
    const killed = { process, bundle: { capturedAt: '2026-11-21T03:00:20.000Z' }, agent: { runs: [run] } };
    const own = join(folder, '20261121T030020.000Z-app-killed-bbbbbbbb.agentdump');
    return await findBundlesBefore(
      own,
      killed as unknown as Account,
      false,
      async () => hang as unknown as Account,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('a hang after which nothing began is the last that was seen', async () => {
  const { ongoing, facts } = await hangsBefore('2026-11-21T03:00:05.000Z');
  assert.equal(ongoing?.verdict?.title, 'It hangs');
  assert.match(facts[0]?.fact ?? '', /says \(likely\): It hangs\.$/);
});

test('a hang after which the agent began new work had passed', async () => {
  const { ongoing, facts } = await hangsBefore('2026-11-21T03:00:15.000Z');
  assert.equal(ongoing, undefined);
  assert.match(facts[0]?.fact ?? '', /It hangs, and the agent began new work after it\.$/);
});
