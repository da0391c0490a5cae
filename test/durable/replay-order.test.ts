/** What is recorded is given in its order; what the program never asks for is noticed, or waited for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OrderedItem, type Patience, ReplayOrder } from '../../src/durable/steps/replay-order.ts';

/** The items of `a( b( a) b)`: a start for each name with a bracket behind it, an end for each with one before it. */
function orderOf(record: string, patience?: Partial<Patience>) {
  const entries = new Map<string, { path: string; isClaimed: boolean }>();
  const items: OrderedItem[] = record.split(' ').map((word, seq) => {
    const path = word.replace(/[()]/, '');
    const entry = entries.get(path) ?? { path, isClaimed: false };
    entries.set(path, entry);
    return { seq, entry, isEnd: word.endsWith(')') };
  });
  const said: string[] = [];
  const order = new ReplayOrder({
    items,
    notify: (line) => said.push(line),
    onChanged: ({ path }, asked) => new Error(`no ${path}, but ${asked}`),
    patience: patience ?? {},
  });
  order.begin();
  const given: string[] = [];
  const ask = async (path: string) => {
    const end = items.find(({ entry, isEnd }) => isEnd && entry.path === path)!;
    end.entry.isClaimed = true;
    order.noteStart();
    await order.turnOf(end.seq);
    given.push(path);
  };
  return { order, ask, given, said };
}

test('ends come in their recorded order, one when the other has had its effect', async () => {
  const { order, ask, given } = orderOf('a( b( b) c( c) a)');
  const a = ask('a');
  const behindB = ask('b').then(() => ask('c'));
  const fresh = order.through('new').then(() => given.push('new'));
  await Promise.all([a, behindB, fresh]);
  assert.deepEqual(given, ['b', 'c', 'a', 'new']);
});

test('what nothing can bring any more is noticed, with what is asked for instead', async () => {
  const { order, ask } = orderOf('a( b( b) a)', { lookMs: 5, quietMs: 20 });
  const a = ask('a');
  const fresh = order.through('step x');
  await assert.rejects(a, /no b, but step x/);
  await assert.rejects(fresh, /no b/);
});

test('what something may still bring is waited for, and given up after a while', async () => {
  const { order, ask, given, said } = orderOf('a( b( b) a)', {
    lookMs: 5,
    quietMs: 20,
    sayMs: 30,
    giveUpMs: 120,
  });
  const other = sleep(400);
  await ask('a');
  assert.deepEqual(given, ['a']);
  assert.match(said.join('\n'), /waits for the program to come to b.*\n.*has not come to b/);
  assert.equal(order.neverAsked?.path, 'b');
  await ask('b');
  assert.equal(order.neverAsked, undefined);
  await other;
});

test('what was dropped holds nothing up', async () => {
  const { order, ask, given } = orderOf('a( b( b) a)');
  const a = ask('a');
  order.drop((path) => path === 'b');
  await a;
  assert.deepEqual(given, ['a']);
});
