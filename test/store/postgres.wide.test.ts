/** The store in PostgreSQL: the conformance tests, several senders at once, and a database that is down. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { listIssues } from '../../src/store/issues.ts';
import { openStore } from '../../src/store/open-store.ts';
import { sendBundle } from '../../src/store/sending/send.ts';
import { type PostgresServer, startPostgres, whyNoPostgres } from '../support/system/postgres.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';
import { testStore } from './conformance/conformance.ts';
import { testCounts } from './conformance/counts.ts';
import { writeDeath } from './synth-death.ts';

const skip = whyNoPostgres();
let server: PostgresServer;
before(async () => {
  if (!skip) server = await startPostgres();
});
after(() => server?.remove());

const kind = {
  name: 'PostgreSQL',
  skip,
  open: (folder: string) => openStore(`${server.url} ${join(folder, 'blobs')}`),
};
testStore(kind);
testCounts(kind);

test('four senders with the same bundles at once: each death once', { skip: skip ?? false }, async (t) => {
  const folder = temporaryFolder(t);
  const place = `${server.url} ${join(folder, 'blobs')}`;
  const paths = Array.from({ length: 25 }, (_, n) =>
    writeDeath(folder, { message: `at once, fault ${'abcde'[n % 5]}`, release: `1.0.${n % 3}` }),
  );
  const senders = await Promise.all([1, 2, 3, 4].map(() => openStore(place)));
  try {
    const sent = await Promise.all(
      senders.map(async (store) => {
        const outcomes = [];
        for (const path of paths) outcomes.push((await sendBundle(store, path)).outcome);
        return outcomes;
      }),
    );
    assert.equal(sent.flat().filter((outcome) => outcome === 'stored').length, paths.length);
    assert.equal(sent.flat().filter((outcome) => outcome === 'there').length, 3 * paths.length);
    const [first] = senders;
    const issues = (await listIssues(first ?? assert.fail())).filter(({ title }) => /at once/.test(title));
    assert.deepEqual(
      issues.map(({ count }) => count),
      [5, 5, 5, 5, 5],
    );
  } finally {
    for (const store of senders) await store.close();
  }
});

test('a database that is not there is said, with what is lost: nothing', {
  skip: skip ?? false,
}, async (t) => {
  const folder = temporaryFolder(t);
  await assert.rejects(
    openStore(`postgres://nobody@127.0.0.1:1/none ${folder}`),
    (error: Error & { code?: string }) => {
      assert.equal(error.code, 'unwritable');
      return true;
    },
  );
});
