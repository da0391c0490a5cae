/** Masked inputs: what is masked may differ between the processes of a run, everything else is a change of the program. */
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Mask } from '../../../src/agent/calls/masks.ts';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { hashingWithout } from '../../../src/durable/records/masked-input.ts';
import { hashOf } from '../../../src/durable/records/values.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';

const first = '2026-05-01T10:00:00.000Z';
const later = '2026-05-02T11:30:00.000Z';

/** Ends the first process after its tool call, and calls it with the other input in the second. */
async function callAgain(inputs: [unknown, unknown], masks?: Mask[]) {
  const store = new FileStore(mkdtempSync(join(tmpdir(), 'agentdump-masks-')));
  const keys: string[] = [];
  const live = (input: unknown, isLast: boolean) =>
    agent.run('r', { id: 'r', durable: true, store, notify: () => {}, ...(masks && { masks }) }, async () => {
      const result = await agent.tool('send', input, (_, { effect }) => keys.push(effect.key));
      if (!isLast) throw new Error('the process died here');
      return result;
    });
  await assert.rejects(live(inputs[0], false), /died here/);
  const outcome = await live(inputs[1], true).catch((error: { code?: string }) => error.code);
  return { outcome, performed: keys.length };
}

test('a time in an input is a change of the program, unless it is masked', async () => {
  const inputs: [unknown, unknown] = [
    { to: 'a', at: new Date(first), sent: Date.parse(first) },
    { to: 'a', at: new Date(later), sent: Date.parse(later) },
  ];
  assert.deepEqual(await callAgain(inputs), { outcome: 'changed', performed: 1 });
  assert.deepEqual(await callAgain(inputs, ['time']), { outcome: 1, performed: 1 });
  const other: [unknown, unknown] = [inputs[0], { ...(inputs[1] as object), to: 'b' }];
  assert.deepEqual(await callAgain(other, ['time']), { outcome: 'changed', performed: 1 });
});

test('a mask that matches nothing leaves the hash as it was', () => {
  const input = {
    text: 'hello',
    list: Object.assign(new Array(3), { 1: 'x', more: first }),
    map: new Map([['k', new Set([1n])]]),
    bytes: Buffer.from('x'),
  };
  assert.equal(hashingWithout([/never/])(input), hashOf(input));
});

test('masks apply in every kind of value, and keep what holds it apart', () => {
  const hash = hashingWithout(['time', /attempt (\d+)/]);
  const make = (at: string, attempt: number) => {
    const input: Record<string, unknown> = {
      map: new Map([[at, [`attempt ${attempt} of it`]]]),
      set: new Set([at]),
      [at]: 'as a key',
      twice: [at, first],
    };
    input['self'] = input;
    return input;
  };
  assert.equal(hash(make(first, 1)), hash(make(later, 2)));
  assert.notEqual(hash(make(first, 1)), hash({ ...make(first, 1), set: [first] }));
});

test('an answer is never for a request that differs in what is masked', async () => {
  const store = new FileStore(mkdtempSync(join(tmpdir(), 'agentdump-masks-')));
  const options = { id: 'r', durable: true, store, masks: ['time'] } as const;
  const asked: string[] = [];
  const ask = async (at: string) => {
    const life = new AbortController();
    const notify = (line: string) => {
      if (!line.includes('waits for ok')) return;
      asked.push(line);
      life.abort();
    };
    await assert.rejects(
      agent.run('r', { ...options, notify, signal: life.signal }, () => agent.waitForApproval('ok', { at })),
      { name: 'AbortError' },
    );
  };
  await ask(first);
  await ask(later);
  assert.equal(asked.length, 2);
});
