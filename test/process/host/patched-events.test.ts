/**
 * A program that has replaced the methods of events lives and dies as without us: what we listen to does not go through them.
 */
import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { partInTurn, sampleOf, testNodes } from '../../support/run/test-nodes.ts';
import {
  bundlesIn,
  type NodeBinary,
  preload,
  programs,
  runVictim,
  temporaryFolder,
} from '../../support/victims/run-victim.ts';
import { dieInItsWorld } from './host-world-runs.ts';

/** By name in fixtures/programs/host/emit-ways.cjs, with what it says, and whether the second signal kills it. */
const ways: [way: string, says: string[], dies: boolean][] = [
  ['signal-exit 4', ['leaves'], true],
  ['signal-exit 3', ['leaves'], true],
  ['a minified function', ['leaves'], true],
  ['a bound function', ['leaves'], true],
  ['a proxy', ['leaves'], true],
  ['a proxy with a trap', ['leaves'], true],
  ['two functions', ['leaves'], true],
  ['a method of a class', ['leaves'], true],
  ['a getter', ['leaves'], true],
  // Node never holds the signal: the first one kills.
  ['a function that keeps all, and names emit, apply and call', [], true],
  ['a function that keeps what is added', [], true],
  // Node holds it for ever.
  ['a function that keeps what is removed', ['leaves', 'lives'], false],
  ['a function that keeps what is removed, for a while', ['leaves', 'lives'], false],
];

/** `isFirst`: a preload before ours replaces it. */
async function leave(
  dir: string,
  node: NodeBinary,
  [way, signal, isFirst, isLoaded]: [string, NodeJS.Signals, boolean, boolean],
): Promise<{ status: number; stdout: string; stderr: string }> {
  const file = 'host/emit-handed-on.cjs';
  const preloads = [
    ...(isFirst ? [join(programs, 'host', 'emit-ways.cjs')] : []),
    ...(isLoaded ? [preload] : []),
  ];
  const env = { NODE_OPTIONS: preloads.map((path) => `--require ${path}`).join(' '), EMIT_WAY: way };
  const victim = { file, args: [signal], signal, bundles: ['signal'] };
  const {
    code,
    signal: end,
    stdout,
    stderr,
  } = await runVictim(node, victim, { preload: isLoaded, dir, env });
  // As a shell sees it: where our thread gets no processor for a second, the program exits with this status instead.
  return { status: end === null ? Number(code) : 128 + constants.signals[end], stdout, stderr };
}

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

for (const node of testNodes)
  describe(`${node.name}: a signal below an emit of the program`, { concurrency: 2 }, () => {
    for (const [at, [way, says, dies]] of partInTurn(sampleOf([...ways.entries()], 3), 3))
      for (const isFirst of sampleOf([at % 2 === 0, at % 2 !== 0], 2))
        test(`${way}${isFirst ? ', before the preload' : ''}`, async (t) => {
          const signal = at % 3 === 0 ? 'SIGHUP' : 'SIGTERM';
          const expected = {
            status: dies ? 128 + constants.signals[signal] : 0,
            stdout: ['ready', ...says, ''].join('\n'),
            stderr: '',
          };
          for (const isLoaded of [false, true])
            assert.deepEqual(
              await leave(temporaryFolder(t), node, [way, signal, isFirst, isLoaded]),
              expected,
              isLoaded ? 'with the preload' : 'bare',
            );
        });
  });
