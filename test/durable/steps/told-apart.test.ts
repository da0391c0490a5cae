/**
 * Calls of one name that follow something unrecorded (a file, a reply), so that only their order distinguishes them: those of a loop
 * are the recorded ones in turn, and those of branches are refused.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { crashingStore, isCrash } from '../random/crashing-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-told-apart-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function newRun() {
  const store = new FileStore(join(folder, String(count++)));
  const options = { id: 'r', durable: true, notify: () => {} } as const;
  const live = (work: () => Promise<unknown>) => agent.run('program', { ...options, store }, work);
  const dieAt = (at: number, work: () => Promise<unknown>) =>
    agent.run('program', { ...options, store: crashingStore(store, at, 'after') }, work).then(
      () => false,
      (error: unknown) => isCrash(error),
    );
  return { store, live, dieAt };
}

const pauses = {
  'a timer': () => sleep(2),
  'a file': () => readFile(fileURLToPath(import.meta.url)),
  'another turn': () => new Promise((resolve) => setImmediate(resolve)),
};
for (const [what, pause] of Object.entries(pauses))
  test(`a loop over a function that waits for ${what} before its first step, killed after each record`, async () => {
    const done: number[] = [];
    const handle = async (doc: number) => {
      await pause();
      const text = await agent.step('fetch', () => {
        done.push(doc);
        return `text ${doc}`;
      });
      await pause();
      return agent.step('summarize', () => `summary of ${text}`);
    };
    const program = async () => {
      const texts: string[] = [];
      for (let doc = 0; doc < 3; doc++) texts.push(await handle(doc));
      return texts;
    };
    for (let at = 3, dies = true; dies; at++) {
      const { live, dieAt } = newRun();
      done.length = 0;
      dies = await dieAt(at, program);
      assert.deepEqual(
        await live(program),
        [0, 1, 2].map((doc) => `summary of text ${doc}`),
      );
      assert.deepEqual([...new Set(done)], [0, 1, 2]);
    }
  });

test('a loop over a function that waits for a file before its signal', async () => {
  const next = async () => {
    await pauses['a file']();
    return (await agent.waitForSignal('mail'))?.value;
  };
  const program = async () => [await next(), await next(), await next()];
  for (let at = 4, dies = true; dies; at++) {
    const { store, live, dieAt } = newRun();
    const isDead = dieAt(at, program);
    for (const value of [1, 2, 3])
      while (
        !(await sendSignal(store, 'r', 'mail', { value }).then(
          () => true,
          () => false,
        ))
      )
        await sleep(2);
    dies = await isDead;
    assert.deepEqual(await live(program), [1, 2, 3]);
  }
});

test('branches of which one is recorded: another that comes first does not get its result', async () => {
  const program = (waits: number[]) => () =>
    Promise.all(
      waits.map(async (ms, index) => {
        await sleep(ms);
        return agent.step('work', () => index);
      }),
    );
  const { live, dieAt } = newRun();
  assert.ok(await dieAt(4, program([0, 200])));
  await assert.rejects(live(program([60, 0])), /told apart by time alone/);
});
