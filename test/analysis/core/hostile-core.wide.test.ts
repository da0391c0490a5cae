/** Damaged cores: a clear error, or a partial account that lists what is missing; never a crash, a hang or a guess. */
import assert from 'node:assert/strict';
import { closeSync, openSync, readSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { accountForCore, type CoreOptions } from '../../../src/analysis/core/core-account.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import type { Account } from '../../../src/model/account.ts';
import { renderCore } from '../../../src/report/core.ts';
import { type Death, makeCore, noCores, nodes, victims } from '../../support/cores/core-victims.ts';

/** The account, or the error's code. */
async function read(path: string, options: CoreOptions = {}): Promise<Account | string> {
  try {
    const account = await accountForCore(path, options);
    assert.equal(typeof renderCore(account), 'string');
    return account;
  } catch (error) {
    assert.ok(error instanceof AgentdumpError, `${error instanceof Error ? error.stack : error}`);
    return error.code;
  }
}

suite('damaged cores', { skip: noCores }, () => {
  const [, node = nodes[0]] = nodes;
  let death: Death;
  before(() => {
    death = makeCore(node?.path ?? '', [join(victims, 'deaths.cjs'), 'abort']);
  });
  after(() => death?.remove());

  test('flipped bytes in headers and notes', async () => {
    await flip(40, (random) => random(40_000));
  });

  test('flipped bytes anywhere, more of them where pages begin', async () => {
    const { size } = statSync(death.core);
    await flip(15, (random) =>
      random(3) ? random(size) : 4096 * random(Math.floor(size / 4096)) + random(64),
    );
  });

  /** Several rounds; each flips up to two hundred bytes and restores them afterwards. */
  async function flip(rounds: number, place: (random: (n: number) => number) => number): Promise<void> {
    let state = 7;
    const random = (n: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * n);
    };
    const fd = openSync(death.core, 'r+');
    for (let round = 0; round < rounds; round++) {
      const undo: [number, Buffer][] = [];
      for (let i = random(200); i >= 0; i--) {
        const at = place(random);
        const old = Buffer.alloc(1);
        readSync(fd, old, 0, 1, at);
        undo.push([at, old]);
        writeSync(fd, Buffer.from([random(256)]), 0, 1, at);
      }
      await read(death.core);
      for (const [at, old] of undo.reverse()) writeSync(fd, old, 0, 1, at);
    }
    closeSync(fd);
  }

  test('an executable of another build is refused with a gap, and the rest is still told', async () => {
    const other = nodes.find((n) => n.major !== node?.major);
    const account = await read(death.core, { executable: other?.path ?? '' });
    assert.ok(typeof account === 'object');
    assert.match(JSON.stringify(account.gaps), /another build/);
    assert.equal(account.signal?.name, 'SIGABRT');
    assert.ok((account.threads?.length ?? 0) > 3);
    assert.equal(account.suspended, undefined);
  });

  test('no executable at all', async () => {
    const account = await read(death.core, { executable: '/nowhere/node' });
    assert.ok(typeof account === 'object');
    assert.match(JSON.stringify(account.gaps), /not on this machine/);
  });

  test('cut off, ever shorter', async () => {
    const { size } = statSync(death.core);
    for (const share of [0.999, 0.9, 0.7, 0.5, 0.3, 0.1, 0.01, 0.001, 0.0005, 0.0001, 0.00001, 0]) {
      truncateSync(death.core, Math.floor(size * share));
      const account = await read(death.core);
      if (typeof account === 'object') assert.ok(account.gaps.length > 0, `${share}`);
      else assert.equal(account, 'malformed-input');
    }
  });

  test('what is no file, and what is no core', async () => {
    assert.equal(await read('/nowhere/core'), 'not-found');
    assert.equal(await read('/'), 'not-found');
    assert.equal(await read(node?.path ?? ''), 'malformed-input');
  });
});
