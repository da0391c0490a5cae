/** Every error code has advice that names a real next step; the exit code of each is the contract's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adviceFor } from '../../src/cli/advice.ts';
import { exitCodeOf } from '../../src/cli/exit-codes.ts';
import { AgentdumpError, type ErrorCode } from '../../src/errors.ts';

const expected: [ErrorCode, Record<string, unknown>, number, RegExp][] = [
  ['usage', {}, 2, /--help/],
  ['unwritable', { reason: 'exists' }, 2, /nothing is overwritten/],
  ['unwritable', { reason: 'ENOSPC' }, 2, /room/],
  ['not-found', { name: 'latest', bundles: 0 }, 3, /--require agentdump\/register/],
  ['not-found', { name: 'x', bundles: 2 }, 3, /agentdump list/],
  ['not-found', { pid: 1 }, 3, /^$/],
  ['not-found', { run: 'trip-7' }, 3, /agentdump runs/],
  ['not-found', { name: 'heap.heapsnapshot.gz' }, 3, /AGENTDUMP_HEAP=always/],
  ['not-a-bundle', {}, 3, /\.agentdump/],
  ['unsupported-version', {}, 3, /newer/],
  ['unsupported-version', { format: 'xz', name: 'xz' }, 3, /`xz -d`/],
  ['unwritable', { reason: 'temporary' }, 2, /TMPDIR/],
  ['malformed-input', {}, 3, /verify/],
  ['over-limit', {}, 3, /limit/],
  ['locked', {}, 3, /--identity/],
];
for (const [code, details, exit, advice] of expected)
  test(`${code} ${JSON.stringify(details)}`, () => {
    assert.match(adviceFor({ code, details }) ?? '', advice);
    assert.equal(exitCodeOf(new AgentdumpError(code, 'x', details)), exit);
  });

test('a missing file is unreadable input; anything else that was not foreseen is ours', () => {
  assert.equal(exitCodeOf(Object.assign(new Error('x'), { code: 'ENOENT' })), 3);
  assert.equal(exitCodeOf(new TypeError('x')), 4);
  assert.equal(exitCodeOf('thrown text'), 4);
});
