/**
 * Which of many requests ended the program, identified by its asynchronous context, on Node's own server. The frameworks are
 * in requests.wide.test.ts. The expected answer is the number that each test chooses before it starts the program.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestName } from '../../../src/model/origin.ts';
import { sampleOf, usualNode } from '../../support/run/test-nodes.ts';
import { temporaryFolder } from '../../support/victims/run-victim.ts';
import { accountOfRequest, deathsOfRequests, isLost, traceOf } from '../../support/victims/server-victim.ts';

const followed = { AGENTDUMP_CONTEXT: 'always' };

for (const [index, how] of sampleOf(
  deathsOfRequests.filter((one) => !isLost(one, usualNode.major)),
  2,
).entries())
  test(`${how}: the one of fifty requests that ended it is named`, async (context) => {
    const at = 7 * index + 3;
    const run = { node: usualNode.path, kind: 'http', how, at, dir: temporaryFolder(context) } as const;
    const account = await accountOfRequest({ ...run, env: followed });
    const [culprit, ...others] = account.requests?.filter((request) => request.culprit) ?? [];
    assert.ok(culprit, 'no request is named');
    assert.deepEqual(others, []);
    assert.equal(requestName(culprit), `GET /orders/${at}`);
    assert.equal(culprit.path, `/orders/${at}?coupon=…&how=…`, 'values of the query were kept');
    assert.equal(culprit.traceId, traceOf(at));
    assert.equal(account.origin?.inFlight, 50);
    assert.match(account.verdict?.title ?? '', new RegExp(`^GET /orders/${at}: `));
    assert.match(account.verdict?.summary ?? '', /49 others were in flight/);
    assert.match(account.verdict?.refutedBy ?? '', /ran the failing code for another one/);
  });

test('who added the listener that failed is not claimed where the program emits the event', async (context) => {
  const run = { node: usualNode.path, kind: 'http', how: 'emitter', at: 12 } as const;
  const account = await accountOfRequest({ ...run, dir: temporaryFolder(context), env: followed });
  assert.match(
    account.verdict?.summary ?? '',
    /^GET \/orders\/12 emitted an event, and a listener threw in /,
  );
});

test('what calls again and again is there for all: who began it is said, and not blamed', async (context) => {
  const run = { node: usualNode.path, kind: 'http', how: 'interval', at: 30 } as const;
  const account = await accountOfRequest({ ...run, dir: temporaryFolder(context), env: followed });
  assert.ok(!account.requests?.some(({ culprit }) => culprit), 'a request was blamed');
  assert.equal(account.origin?.lost, 'recurring');
  assert.doesNotMatch(account.verdict?.title ?? '', /orders/);
  assert.match(
    account.verdict?.summary ?? '',
    /not known: it was called by a recurring timer, port or watcher, which GET \/orders\/30 started\./,
  );
});

test('without a context no request is blamed, and all are listed', async (context) => {
  const run = { node: usualNode.path, kind: 'http', how: 'rejection', at: 20 } as const;
  const account = await accountOfRequest({
    ...run,
    dir: temporaryFolder(context),
    env: { AGENTDUMP_CONTEXT: 'off' },
  });
  assert.equal(account.requests?.length, 50);
  assert.ok(!account.requests.some(({ culprit }) => culprit), 'a request was blamed');
  assert.equal(account.origin?.lost, 'not-followed');
  assert.match(account.verdict?.summary ?? '', /Which request caused it is not known/);
  assert.doesNotMatch(account.verdict?.title ?? '', /orders/);
});
