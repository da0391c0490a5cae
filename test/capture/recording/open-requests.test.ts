/**
 * What is written about the requests in flight while the program lives: changes, no quick requests, and not the same over and
 * over.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenRequests } from '../../../src/capture/recording/open-requests.ts';
import { RequestOrigin } from '../../../src/capture/recording/request-watch.ts';

const begun = (number: number, msAgo: number): RequestOrigin => {
  const request = { method: 'GET', url: `/orders/${number}?token=abc`, rawHeaders: [] };
  const origin = new RequestOrigin(number, { request } as never, false);
  Object.assign(origin, { startedMs: Date.now() - msAgo });
  return origin;
};

test('only changes are written, quick requests are none, and the end of the last one is', () => {
  let open: RequestOrigin[] = [];
  const requests = new OpenRequests({ open: () => open });
  assert.equal(requests.look(), undefined);
  open = [begun(1, 0)];
  assert.equal(requests.look(), undefined);
  open = [begun(2, 60_000), begun(3, 0)];
  const first = requests.look();
  assert.equal(first?.inFlight, 1);
  const [told] = (first?.requests ?? []) as { path: string; ageMs: number }[];
  assert.equal(told?.path, '/orders/2?token=…');
  assert.ok((told?.ageMs ?? 0) >= 60_000);
  assert.equal(requests.look(), undefined);
  open = [];
  assert.deepEqual(requests.look(), { leastAgeMs: 200, inFlight: 0, requests: [] });
  assert.equal(requests.look(), undefined);
});

test('what stays the same is said again now and then, and after a segment of the journal was dropped', () => {
  const open = Array.from({ length: 30 }, (_, n) => begun(n + 1, 60_000));
  const requests = new OpenRequests({ open: () => open });
  assert.equal(requests.look()?.requests.length, 10);
  const looks = Array.from({ length: 20 }, () => requests.look() !== undefined);
  assert.equal(looks.filter(Boolean).length, 2);
  requests.forget();
  assert.equal(requests.look()?.inFlight, 30);
});
