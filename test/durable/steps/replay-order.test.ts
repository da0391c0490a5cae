/** Recorded results are returned in their order; what the program never asks for is reported, or waited for. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { pbkdf2, subtle } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep, setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { OrderedEntry, OrderedItem } from '../../../src/durable/steps/ordered-entry.ts';
import { ProgramWork } from '../../../src/durable/steps/program-work.ts';
import { ReplayOrder } from '../../../src/durable/steps/replay-order.ts';
import type { Patience } from '../../../src/durable/steps/replay-patience.ts';

/** True in the program's work, as opposed to that of its host. */
const program = new AsyncLocalStorage<boolean>();

/** The items of `a( b( a) b)`: `a(` is the start of a, and `a)` its end. */
function orderOf(record: string, patience?: Partial<Patience>) {
  const entries = new Map<string, OrderedEntry>();
  const items: OrderedItem[] = record.split(' ').map((word, seq) => {
    const path = word.replace(/[()]/, '');
    const entry = entries.get(path) ?? { path, isClaimed: false, seq };
    entries.set(path, entry);
    return { seq, entry, isEnd: word.endsWith(')') };
  });
  const said: string[] = [];
  const order = new ReplayOrder({
    items,
    notify: (line) => said.push(line),
    isOfProgram: () => program.getStore() === true,
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
  const hold = (path: string) => {
    entries.get(path)!.held = 'several';
  };
  return { order, ask, given, said, hold };
}

test('ends come in their recorded order, one when the other has had its effect', async () => {
  const { order, ask, given } = orderOf('a( b( b) c( c) a)');
  const a = ask('a');
  const behindB = ask('b').then(() => ask('c'));
  const fresh = order.through('new').then(() => given.push('new'));
  await Promise.all([a, behindB, fresh]);
  assert.deepEqual(given, ['b', 'c', 'a', 'new']);
});

test('one wait tells whose ends the calls that began together have, and not those that began later', async () => {
  const { ask, given, hold } = orderOf('a( b( a) c( b) c)', { lookMs: 5, holdMs: 20 });
  for (const path of ['a', 'b', 'c']) hold(path);
  let working: NodeJS.Timeout | undefined;
  const first = ask('a').then(() => {
    // Never quiet again.
    working = program.run(true, () => setTimeout(() => {}, 100_000));
  });
  const later = ask('c').catch(() => {});
  await Promise.all([first, ask('b')]);
  await sleep(100);
  assert.deepEqual(given, ['a', 'b']);
  clearTimeout(working);
  await later;
  assert.deepEqual(given, ['a', 'b', 'c']);
});

test('what nothing can bring any more is noticed, with what is asked for instead', async () => {
  const { order, ask } = orderOf('a( b( b) a)', { lookMs: 5, quietMs: 20 });
  const a = ask('a');
  const fresh = order.through('x', 'step x');
  await assert.rejects(a, /no b, but step x/);
  await assert.rejects(fresh, /no b/);
});

test('what waits for its turn rejects when the run is called off', async () => {
  const { order, ask, given } = orderOf('a( b( b) a)', { quietMs: Number.POSITIVE_INFINITY });
  const waiting = [ask('a'), order.through('x', 'step x')];
  const ticket = order.takeTicket('x');
  order.breakWith(new Error('the run was lost'));
  for (const outcome of waiting) await assert.rejects(outcome, /the run was lost/);
  await order.giveNew('x', ticket);
  assert.deepEqual(given, []);
});

test('what something may still bring is waited for, and given up after a while', async () => {
  const { order, ask, given, said } = orderOf('a( b( b) a)', {
    lookMs: 5,
    quietMs: 20,
    sayMs: 30,
    giveUpMs: 120,
  });
  const other = program.run(true, () => setTimeout(() => {}, 100_000));
  await ask('a');
  assert.deepEqual(given, ['a']);
  assert.match(said.join('\n'), /waits for the program to come to b.*\n.*has not come to b/);
  assert.equal(order.neverAsked?.path, 'b');
  await ask('b');
  assert.equal(order.neverAsked, undefined);
  clearTimeout(other);
});

/** Each takes many times the patience of the test, and can't be detected by what keeps the event loop alive. */
const unseen: Record<string, () => Promise<unknown>> = {
  'a job of crypto': () => promisify(pbkdf2)('word', 'salt', 200_000, 64, 'sha512'),
  'a job of Web Crypto': async () => {
    const key = await subtle.importKey('raw', Buffer.from('word'), 'PBKDF2', false, ['deriveBits']);
    const how = { name: 'PBKDF2', hash: 'SHA-512', salt: Buffer.from('salt'), iterations: 200_000 };
    await subtle.deriveBits(how, key, 512);
  },
  'a timer off the loop': () => new Promise<void>((resolve) => setTimeout(resolve, 300).unref()),
  'a signal of a limit': () =>
    new Promise((resolve) => AbortSignal.timeout(300).addEventListener('abort', resolve)),
};
for (const [name, begin] of Object.entries(unseen))
  test(`what the program does is waited for: ${name}`, async () => {
    const { order, ask, given } = orderOf('a( b( b) a)', { lookMs: 5, quietMs: 20 });
    const branch = program.run(true, () => begin().then(() => ask('b')));
    await Promise.all([ask('a'), branch]);
    assert.deepEqual(given, ['b', 'a']);
    order.end();
  });

for (const [name, begin] of Object.entries({ ...unseen, 'a job of zlib': () => promisify(gzip)('text') }))
  test(`what the program does is at work until it has ended: ${name}`, async () => {
    const work = new ProgramWork(() => program.getStore() === true);
    const alive = setInterval(() => {}, 1_000);
    work.begin();
    const ofHost = begin();
    assert.equal(work.wasAtWork(), false);
    await ofHost;
    assert.equal(work.wasAtWork(), false);
    let wasSeen = false;
    const ofProgram = program.run(true, begin).finally(() => {
      wasSeen = work.wasAtWork();
    });
    await ofProgram;
    assert.ok(wasSeen);
    // Returns once no work is left.
    while (work.wasAtWork()) await turnOfTheLoop();
    work.end();
    clearInterval(alive);
  });

test('what the program waits for is not taken for a timer of the host that has ended', async () => {
  const ofHost = setTimeout(() => {}, 100_000);
  const { ask, given } = orderOf('a( b( b) a)', { lookMs: 5, quietMs: 20 });
  clearTimeout(ofHost);
  const branch = program.run(true, () => sleep(300).then(() => ask('b')));
  await Promise.all([ask('a'), branch]);
  assert.deepEqual(given, ['b', 'a']);
});

test('a job that has ended, and one of the host, keep nothing waiting', async () => {
  const { order, ask } = orderOf('a( b( b) a)', { lookMs: 5, quietMs: 20 });
  await program.run(true, () => promisify(pbkdf2)('word', 'salt', 1, 64, 'sha512'));
  const ofHost = setTimeout(() => {}, 100_000).unref();
  const a = program.run(true, () => ask('a'));
  await assert.rejects(a, /no b/);
  clearTimeout(ofHost);
  order.end();
});

test('what was dropped holds nothing up', async () => {
  const { order, ask, given } = orderOf('a( b( b) a)');
  const a = ask('a');
  order.drop((path) => path === 'b');
  await a;
  assert.deepEqual(given, ['a']);
});
