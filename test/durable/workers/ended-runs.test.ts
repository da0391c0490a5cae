/** A run that has ended permanently takes nothing from outside, and doesn't seem to wait for anything. */
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { cancelRun, sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import { answerApproval, rollBack, summarizeRun } from '../../../src/durable/inspect.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { until } from '../until.ts';

const newStore = () => new FileStore(mkdtempSync(join(tmpdir(), 'agentdump-ended-')));
const isWaiting = async (store: FileStore) =>
  (await summarizeRun(store, 'r').catch(() => undefined))?.state === 'waiting';

async function requireClosed(store: FileStore, state: string): Promise<void> {
  const refusal = { code: 'usage', message: `run r is ${state}` };
  assert.deepEqual((await summarizeRun(store, 'r')).waitingFor, []);
  await assert.rejects(answerApproval(store, 'r', 'pay', { approved: true }), refusal);
  await assert.rejects(sendSignal(store, 'r', 'go'), refusal);
  await assert.rejects(cancelRun(store, 'r'), refusal);
}

test('a cancelled run takes no answer, and does not go back', async () => {
  const store = newStore();
  const life = new AbortController();
  const options = { id: 'r', durable: true, store, notify: () => {} } as const;
  const program = async () => {
    await agent.step('first', () => 1);
    return agent.waitForApproval('pay', { sum: 5 });
  };
  const first = agent.run('program', { ...options, signal: life.signal }, program);
  await until(() => isWaiting(store));
  life.abort();
  await assert.rejects(first, { name: 'AbortError' });
  assert.equal((await summarizeRun(store, 'r')).waitingFor.length, 1);
  await cancelRun(store, 'r', { reason: 'ordered twice' });
  await requireClosed(store, 'cancelled');
  await assert.rejects(rollBack(store, 'r', 'first'), { code: 'usage', message: 'run r is cancelled' });
  await assert.rejects(
    agent.run('program', options, program),
    /^AbortError: run r was cancelled: ordered twice$/,
  );
});

test('a question that lost a race takes no answer after the end, and the run can go back before it', async () => {
  const store = newStore();
  const options = { id: 'r', durable: true, store, notify: () => {} } as const;
  const late = async () => {
    await agent.sleep('limit', 30);
    return 'late';
  };
  const program = async () => Promise.race([agent.waitForApproval('pay', { sum: 5 }), late()]);
  assert.equal(await agent.run('program', options, program), 'late');
  await requireClosed(store, 'finished');
  await rollBack(store, 'r', 'pay');
  const again = agent.run('program', options, () => agent.waitForApproval('pay', { sum: 5 }));
  await until(() => isWaiting(store));
  await answerApproval(store, 'r', 'pay', { approved: true });
  assert.equal(((await again) as { approved: boolean }).approved, true);
});
