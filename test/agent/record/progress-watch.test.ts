/** When a lack of progress is reported, how often, and what counts as a sign of progress. Uses Node's mock timers. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ProgressWatch, Stall } from '../../../src/agent/record/progress-watch.ts';

/** The watch captures the timer functions when it is loaded. */
let loads = 0;
async function startWatch(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  let shift = 0;
  t.mock.method(performance, 'now', () => Date.now() + shift);
  const module = await import(`../../../src/agent/record/progress-watch.ts?${loads++}`);
  const stalls: Stall[] = [];
  const watch = new module.ProgressWatch((stall: Stall) => stalls.push(stall)) as ProgressWatch;
  return {
    watch,
    stalls,
    pass: (ms: number) => t.mock.timers.tick(ms),
    sleep: (ms: number) => (shift += ms),
  };
}
const step = { id: 's1' };

test('silence is reported once, then at four times the deadline', async (t) => {
  const { watch, stalls, pass } = await startWatch(t);
  watch.expect(1000);
  watch.see('step.start', step, {});
  pass(999);
  assert.equal(stalls.length, 0);
  pass(1);
  assert.deepEqual(stalls, [
    { silentMs: 1000, deadlineMs: 1000, signs: 'any', lastSign: 'step.start', count: 1 },
  ]);
  pass(2999);
  assert.equal(stalls.length, 1);
  pass(1);
  assert.deepEqual([stalls[1]?.silentMs, stalls[1]?.deadlineMs, stalls[1]?.count], [4000, 4000, 2]);
});

test('every sign moves the deadline; a wait that begins is none', async (t) => {
  const { watch, stalls, pass } = await startWatch(t);
  watch.expect(1000);
  for (const kind of ['tool.start', 'model.delta', 'progress', 'step.end']) {
    pass(600);
    watch.see(kind, step, undefined);
  }
  pass(600);
  watch.see('wait.start', { wait: 'w1' }, { what: 'x' });
  pass(399);
  assert.equal(stalls.length, 0);
  pass(1);
  assert.equal(stalls[0]?.lastSign, 'step.end');
});

test('only agent.progress, where that is asked for', async (t) => {
  const { watch, stalls, pass } = await startWatch(t);
  watch.expect(1000, { signs: 'progress' });
  pass(900);
  watch.see('tool.start', { id: 't1' }, { name: 'x' });
  pass(100);
  assert.deepEqual([stalls.length, stalls[0]?.signs, stalls[0]?.lastSign], [1, 'progress', undefined]);
});

test('for work only: an agent that has nothing to do is left alone', async (t) => {
  const { watch, stalls, pass } = await startWatch(t);
  watch.expect(1000, {}, true);
  pass(5000);
  assert.equal(stalls.length, 0);
  watch.see('run.start', { run: 'r1' }, { name: 'x' });
  pass(500);
  watch.see('run.end', { run: 'r1' }, undefined);
  pass(5000);
  assert.equal(stalls.length, 0);
  watch.see('wait.start', { wait: 'w1', run: 'r2' }, { what: 'x' });
  pass(1000);
  assert.equal(stalls.length, 1);
});

test('the undoing ends it, and does nothing to a later expectation', async (t) => {
  const { watch, stalls, pass } = await startWatch(t);
  const first = watch.expect(1000);
  const second = watch.expect(500);
  first();
  pass(500);
  assert.equal(stalls.length, 1);
  second();
  pass(100_000);
  watch.expect(0);
  pass(100_000);
  assert.equal(stalls.length, 1);
});

test('after a blocked loop what has come in is heard first', async (t) => {
  const { watch, stalls, pass, sleep } = await startWatch(t);
  watch.expect(1000);
  sleep(60_000);
  pass(1000);
  assert.equal(stalls.length, 0);
  watch.see('model.delta', { call: 'c1' }, { text: 'x' });
  pass(1000);
  assert.equal(stalls.length, 1);
  assert.equal(stalls[0]?.silentMs, 1000);
});

test('a silence that was found late is not reported twice in a row', async (t) => {
  const { watch, stalls, pass, sleep } = await startWatch(t);
  watch.expect(1000);
  sleep(60_000);
  pass(1000);
  pass(1000);
  assert.equal(stalls.length, 1);
  pass(999);
  assert.equal(stalls.length, 1);
  pass(1);
  assert.equal(stalls.length, 2);
});

function callTool(watch: ProgressWatch, name: string, given: unknown, result: unknown): void {
  watch.see('tool.start', { id: 't1', run: 'r1' }, { name, arguments: given });
  watch.see('tool.end', { id: 't1', status: 'finished' }, { result });
}

test('the same calls with the same results are no progress, however busy they look', async (t) => {
  const { watch, stalls, pass } = await startWatch(t);
  watch.expect(60_000, { repeats: 5 });
  for (let i = 0; i < 9; i++) callTool(watch, i % 2 ? 'undo' : 'edit', { file: 'a' }, 'ok');
  pass(1);
  assert.equal(stalls.length, 0);
  callTool(watch, 'undo', { file: 'a' }, 'ok');
  pass(1);
  assert.deepEqual(stalls[0]?.repeated, { length: 4, times: 5 });
  for (let i = 0; i < 12; i++) callTool(watch, i % 2 ? 'undo' : 'edit', { file: 'a' }, 'ok');
  pass(1);
  assert.equal(stalls.length, 1, 'four times as patient');
});

test('so are calls that only the conversation shows', async (t) => {
  const { watch, stalls, pass } = await startWatch(t);
  watch.expect(60_000, { repeats: 3 });
  for (let i = 0; i < 3; i++) {
    const asked = { type: 'tool_call', id: `call_${i}`, name: 'search', arguments: { q: 'x' } };
    watch.see('message', { message: 'm', role: 'assistant' }, { parts: [asked] });
    const answered = { type: 'tool_call_response', id: `call_${i}`, response: 'nothing' };
    watch.see('message', { message: 'm', role: 'tool' }, { parts: [answered] });
  }
  pass(1);
  assert.deepEqual(stalls[0]?.repeated, { length: 2, times: 3 });
});

test('polling and calls without content do not repeat', async (t) => {
  const { watch, stalls, pass } = await startWatch(t);
  watch.expect(60_000, { repeats: 3 });
  for (let i = 0; i < 20; i++) callTool(watch, 'status', { id: 1 }, `${i} %`);
  for (let i = 0; i < 20; i++) watch.see('tool.start', { id: 't1', run: 'r2' }, { name: 'status' });
  pass(1);
  assert.equal(stalls.length, 0);
});
