/** When a program is restarted, after what pause, and when that is given up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLimits, RestartPolicy } from '../../../src/supervise/run/restart-policy.ts';

const failure = { code: 1 };
const limits = { ...defaultLimits, wish: 'on-failure' as const };

test('never is never', () => {
  assert.deepEqual(new RestartPolicy(defaultLimits).decide({ signal: 'SIGKILL' }, 5, 0), { kind: 'stop' });
});

test('on-failure leaves a good end alone, always does not', () => {
  assert.deepEqual(new RestartPolicy(limits).decide({ code: 0 }, 5, 0), { kind: 'stop' });
  const always = new RestartPolicy({ ...limits, wish: 'always' });
  assert.deepEqual(always.decide({ code: 0 }, 5, 0), { kind: 'restart', delayMs: 200 });
});

test('pauses double, are bounded, and begin anew after a long life', () => {
  const policy = new RestartPolicy({ ...limits, most: 100, longestPauseMs: 1000 });
  const pauses = [5, 5, 5, 5, 60_000, 5].map((ranMs, i) => policy.decide(failure, ranMs, i * 70_000));
  assert.deepEqual(
    pauses.map((decision) => decision.kind === 'restart' && decision.delayMs),
    [200, 400, 800, 1000, 200, 400],
  );
});

test('more than N restarts within the window are a crash loop; spread out they are not', () => {
  const quick = new RestartPolicy(limits);
  const kinds = [0, 1, 2, 3, 4, 5].map((second) => quick.decide(failure, 5, second * 1000).kind);
  assert.deepEqual(kinds, ['restart', 'restart', 'restart', 'restart', 'restart', 'crash-loop']);
  const slow = new RestartPolicy(limits);
  for (let i = 0; i < 50; i++) assert.equal(slow.decide(failure, 5, i * 13_000).kind, 'restart');
});
