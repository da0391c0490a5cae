/**
 * Calls in branches whose functions capture the same data, but do different things: by what is not seen of them. None may get the
 * result of another.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { crashingStore, isCrash } from '../random/crashing-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-unlike-captures-'));
after(() => rmSync(folder, { recursive: true, force: true }));

type Work = () => unknown;
class Caller {
  readonly #index: number;
  constructor(index: number) {
    this.#index = index;
  }
  workOf(rate: number): Work {
    return () => this.#index * rate;
  }
}
const zero = (_: number) => 0;
const one = (_: number) => 1;
const wide = (index: number) =>
  Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, at && index]));

const rate = () => Number('1');
const programs: Record<string, (index: number) => Work> = {
  this: (index) => new Caller(index).workOf(rate()),
  'a function from further out': (index) => {
    const load = () => index;
    return (
      (factor: number) => () =>
        load() * factor
    )(rate());
  },
  'a promise': (index) => {
    const [loading, factor] = [Promise.resolve(index), rate()];
    return async () => (await loading) * factor;
  },
  'a proxy': (index) => {
    const [made, factor] = [new Proxy({ index }, {}), rate()];
    return () => made.index * factor;
  },
  'a variable named like a secret': (index) => {
    const [token, factor] = [index, rate()];
    return () => token * factor;
  },
  'a field named like a secret': (index) => {
    const [account, factor] = [{ token: index }, rate()];
    return () => account.token * factor;
  },
  'a getter': (index) => {
    const account = {
      get index() {
        return index;
      },
    };
    return () => account.index;
  },
  'a late one of many fields': (index) => {
    const fields = wide(index);
    return () => fields.k299;
  },
  'its code': (index) => {
    const factor = rate();
    return index === 0 ? () => 0 * factor : () => 1 * factor;
  },
  'the function that is bound': (index) => (index === 0 ? zero : one).bind(null, rate()),
  'what it is bound to': (index) =>
    function (this: { index: number }, factor: number) {
      return this.index * factor;
    }.bind({ index }, rate()),
  'the thirteenth variable': (index) => {
    const [a, b, c, d, e, f, g, h, i, j, k, l, m] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, index];
    return () => [m, a, b, c, d, e, f, g, h, i, j, k, l][0];
  },
};

let count = 0;
for (const [what, workOf] of Object.entries(programs))
  test(`calls that ${what} alone distinguishes are not mistaken for each other`, async () => {
    const store = new FileStore(join(folder, String(count++)));
    const live = (waits: number[], at?: number) =>
      agent.run(
        'p',
        { id: 'r', durable: true, notify: () => {}, store: at ? crashingStore(store, at, 'after') : store },
        () =>
          Promise.all(
            waits.map(async (ms, index) => {
              const work = workOf(index);
              await sleep(ms);
              return agent.step('work', work);
            }),
          ),
      );
    await assert.rejects(live([0, 40], 6), isCrash);
    const result = await live([60, 0]).catch((error: Error) => {
      assert.match(error.message, /told apart by time alone/);
      return [0, 1];
    });
    assert.deepEqual(result, [0, 1]);
  });
