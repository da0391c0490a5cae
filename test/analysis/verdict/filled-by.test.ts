/** Which request filled the heap: only if the watchdog saw the heap grow during one uninterrupted stretch of its work. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainByOrigin } from '../../../src/analysis/verdict/additions/by-origin.ts';
import { markFiller } from '../../../src/analysis/verdict/additions/filled-by.ts';
import type { VerdictFacts } from '../../../src/analysis/verdict/facts.ts';
import { reachVerdict } from '../../../src/analysis/verdict/reach-verdict.ts';
import type { Verdict } from '../../../src/model/verdict.ts';

const mib = 2 ** 20;

/** For a heap of 100 MiB, with 12 requests in flight when they were last recorded. */
function explain(growth: { fromBytes: number; toBytes: number } | undefined): {
  verdict: Verdict;
  requests: VerdictFacts['account']['requests'];
} {
  const request = { id: 'r31', method: 'GET', path: '/orders/31' };
  const account: VerdictFacts['account'] = {
    schema: 'agentdump.analysis/1',
    gaps: [],
    requests: [{ id: 'r1', method: 'GET', path: '/orders/1', ageMs: 900 }],
    origin: { inFlight: 12, lastSeen: { at: '2026-01-01T00:00:00Z' } },
  };
  const facts: VerdictFacts = {
    account,
    trigger: { kind: 'found-dead', verdictKind: 'heap-out-of-memory' },
    heapProfile: { rows: [], limitBytes: 100 * mib, ...(growth && { growth: { ...growth, request } }) },
  };
  const cause = reachVerdict(facts);
  markFiller(cause, facts);
  return { verdict: explainByOrigin(cause, facts), requests: account.requests };
}

test('the request that filled most of the heap in one stretch is named', () => {
  const { verdict, requests } = explain({ fromBytes: 30 * mib, toBytes: 92 * mib });
  assert.match(verdict.title, /^GET \/orders\/31: The JavaScript heap ran out of memory/);
  assert.match(
    verdict.summary,
    /^GET \/orders\/31 filled the heap without returning to the event loop: it grew from 30 MiB to 92 MiB of 100 MiB meanwhile\. When the recorder last noted requests, 11 others were in flight\./,
  );
  assert.match(verdict.refutedBy ?? '', /ran the failing code for another one/);
  assert.deepEqual(
    requests?.map(({ id, culprit }) => [id, culprit]),
    [
      ['r31', true],
      ['r1', undefined],
    ],
  );
});

for (const [what, growth] of Object.entries({
  'nothing was seen': undefined,
  'most of the heap had been full before': { fromBytes: 70 * mib, toBytes: 97 * mib },
  'others may have filled the rest': { fromBytes: 10 * mib, toBytes: 60 * mib },
}))
  test(`none is named where ${what}`, () => {
    const { verdict, requests } = explain(growth);
    assert.doesNotMatch(verdict.title, /orders/);
    assert.match(verdict.summary, /Whether one of them filled the heap is not known\./);
    assert.ok(!requests?.some(({ culprit }) => culprit));
  });
