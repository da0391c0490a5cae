/** What can be found out about the environment of a process that is gone. */
import assert from 'node:assert/strict';
import { release } from 'node:os';
import { test } from 'node:test';
import type { EvidencePart } from '../../../src/bundle/layout/evidence.ts';
import { describeEnvironment } from '../../../src/supervise/finish/environment-part.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';

const secret = ['ghp', 'Zk3nT8vQ1xW6yB4mC9pL2sD7fG5hJ0aR8eUt'].join('_');
process.env['AUDITED_TOKEN'] = secret;
process.env['AUDITED_PLACE'] = 'Tromso';
const scrubber = makeScrubber(process.env);

function evidence(changes: Partial<EvidencePart> = {}): EvidencePart {
  return {
    foundBy: 'supervisor',
    boot: { atStart: 'a', now: 'a' },
    exit: { signal: 'SIGKILL' },
    process: { pid: 7, parentPid: process.pid, startedAt: '2026-11-21T03:04:05.678Z', heartbeatMs: 0 },
    ...changes,
  } as EvidencePart;
}

test('of its own child a parent knows the variables, redacted, and the machine at that moment', () => {
  const found = describeEnvironment(evidence(), scrubber) ?? assert.fail('nothing');
  assert.ok(found.variables && 'withheld' in (found.variables['AUDITED_TOKEN'] ?? {}));
  assert.ok(!JSON.stringify(found).includes(secret));
  assert.equal(found.os.release, release());
  assert.equal(found.os.loadAverage?.length, 3);
});

test('of a grandchild nobody knows the variables', () => {
  const grandchild = evidence();
  grandchild.process.parentPid = process.pid + 1;
  const found = describeEnvironment(grandchild, scrubber);
  assert.equal(found?.variables, undefined);
  assert.equal(found?.os.release, release());
});

test('who comes later knows the machine, and not its load at that time', () => {
  const later = evidence();
  delete later.exit;
  const found = describeEnvironment(later, scrubber);
  assert.deepEqual(Object.keys(found ?? {}), ['os']);
  assert.equal(found?.os.loadAverage, undefined);
  assert.equal(found?.os.uptimeSeconds, undefined);
});

test('after a reboot, and on another machine, nothing is known', () => {
  assert.equal(describeEnvironment(evidence({ boot: { atStart: 'a', now: 'b' } }), scrubber), undefined);
  const elsewhere = evidence();
  delete elsewhere.boot;
  assert.equal(describeEnvironment(elsewhere, scrubber), undefined);
});
