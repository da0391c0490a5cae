/**
 * A program that has replaced the methods of events lives and dies as without us: what we listen to does not go through them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testNodes } from '../../support/run/test-nodes.ts';
import { bundlesIn, runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';
import { dieInItsWorld } from './host-world-runs.ts';

for (const node of testNodes) {
  test(`${node.name}: a signal in a program that has replaced the methods of events`, async (t) => {
    const dir = temporaryFolder(t);
    const args = ['events', 'patched', 'signal'];
    const victim = {
      file: 'host/events-patched.cjs',
      args,
      signal: 'SIGTERM',
      bundles: ['terminated'],
    } as const;
    const { stdout, stderr, code, signal } = await runVictim(
      node,
      { ...victim, args, bundles: [...victim.bundles] },
      { preload: true, dir },
    );
    assert.deepEqual(
      { stdout, stderr, code, signal },
      { stdout: 'ready\n', stderr: '', code: null, signal: 'SIGTERM' },
    );
    assert.match(bundlesIn(dir).join(), /^[^,]+-terminated-\w+\.agentdump$/);
  });

  test(`${node.name}: an exception in a program that has replaced the methods of events`, async (t) => {
    assert.equal(
      await dieInItsWorld(t, node, ['events', 'patched', 'throw'], 'host/events-patched.cjs'),
      'written',
    );
  });

  test(`${node.name}: a signal for which a program listens in vain`, async (t) => {
    const dir = temporaryFolder(t);
    const victim = {
      file: 'host/events-deaf.cjs',
      args: ['emit', '', 'signal'],
      signal: 'SIGTERM',
      bundles: ['terminated'],
    } as const;
    const { stdout, stderr, code, signal } = await runVictim(
      node,
      { ...victim, args: [...victim.args], bundles: [...victim.bundles] },
      { preload: true, dir },
    );
    assert.deepEqual(
      { stdout, stderr, code, signal },
      { stdout: 'ready\n', stderr: '', code: null, signal: 'SIGTERM' },
    );
    assert.match(bundlesIn(dir).join(), /^[^,]+-terminated-\w+\.agentdump$/);
  });

  for (const what of ['emit', 'store'])
    for (const death of ['throw', 'reject'])
      test(`${node.name}: a ${death} in a program in which no event is heard: ${what}`, async (t) => {
        assert.equal(await dieInItsWorld(t, node, [what, '', death], 'host/events-deaf.cjs'), 'written');
      });
}
