/** A store of one kind, opened for the first test and empty before each one, and what the conformance tests ask it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, type TestContext, test } from 'node:test';
import type { Store } from '../../../src/store/open-store.ts';
import { sendBundle } from '../../../src/store/sending/send.ts';
import { type SynthDeath, writeDeath } from '../synth-death.ts';

export interface StoreKind {
  name: string;
  skip?: string | undefined;
  /** @param folder an empty one. */
  open(folder: string): Promise<Store>;
}

/** In an order in which they can be emptied: signatures refer to issues. */
export const tables = [
  ...['alerts', 'names', 'hours', 'spans', 'releases', 'start_sums', 'start_logs'],
  ...['deaths', 'signatures', 'issues'],
];

export class StoreUnderTest {
  store!: Store;
  /** For bundles: a new folder for each test. */
  dumps = '';
  readonly #kind: StoreKind;

  constructor(kind: StoreKind) {
    this.#kind = kind;
    if (kind.skip) return;
    const folder = mkdtempSync(join(tmpdir(), 'agentdump-store-'));
    beforeEach(async () => {
      this.store ??= await kind.open(folder);
      for (const table of tables) await this.store.index.query(`delete from agentdump_${table}`);
      this.dumps = mkdtempSync(join(folder, 'dumps-'));
    });
    after(async () => {
      await this.store?.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    });
  }

  test(title: string, work: (t: TestContext) => Promise<void>): void {
    test(`${this.#kind.name}: ${title}`, { skip: this.#kind.skip ?? false }, work);
  }

  /** Returns its issue. */
  async send(death: SynthDeath = {}): Promise<string> {
    const sent = await sendBundle(this.store, writeDeath(this.dumps, death));
    assert.equal(sent.outcome, 'stored', sent.because);
    return sent.issue ?? assert.fail();
  }
}

/** Another signature like one that is there; the arguments are SQL. */
export const copySignature = (id: string, issue: string, where: string): string =>
  `insert into agentdump_signatures
     (id, version, parts, kind, title, program, issue, count, bundles, runs, first_seen, first_release, last_seen, last_release)
   select ${id}, version, parts, kind, title, program, ${issue}, count, bundles, runs, first_seen, first_release, last_seen,
     last_release
   from agentdump_signatures ${where}`;
const _day = 24 * 60 * 60_000;
