/**
 * Deaths of programs that believe they run on macOS or Windows, with /proc hidden where that can be done: the bundle is
 * sealed, its account says what happened, and the program dies as it does without us.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { analyzeBundle } from '../../src/analysis/analyze.ts';
import { openBundle } from '../../src/bundle/read/reader.ts';
import { sampleOf } from '../support/run/test-nodes.ts';
import { nameOf, pretences, pretend } from '../support/system/pretend-platform.ts';
import { bundlesIn, programs, temporaryFolder } from '../support/victims/run-victim.ts';

interface Death {
  row: number;
  words: string[];
  verdict: string;
  signal?: NodeJS.Signals;
  env?: Record<string, string>;
  /** Without us it would wait for a long time. */
  waitsForUs?: true;
}

const deaths: readonly Death[] = [
  { row: 1, words: ['throws/throw-sync.cjs'], verdict: 'uncaught-exception' },
  { row: 1, words: ['throws/throw-async.mjs'], verdict: 'uncaught-exception' },
  { row: 2, words: ['rejections/reject-error.cjs'], verdict: 'unhandled-rejection' },
  { row: 3, words: ['signals/signal-wait.cjs'], signal: 'SIGTERM', verdict: 'terminated' },
  {
    row: 4,
    words: ['signals/snapshot-goes-on.cjs'],
    signal: 'SIGUSR2',
    env: { AGENTDUMP_SNAPSHOT_SIGNAL: 'SIGUSR2' },
    verdict: 'snapshot',
  },
  { row: 5, words: ['exits/exit-code.cjs'], env: { AGENTDUMP_EXITS: 'all' }, verdict: 'exit' },
  { row: 5, words: ['exits/pending-await.mjs'], verdict: 'pending-exit' },
  {
    row: 11,
    words: ['stalls/hang-recovers.cjs', '2000'],
    env: { AGENTDUMP_HANG_MS: '400' },
    verdict: 'event-loop-hang',
  },
  { row: 12, words: ['stalls/agent-deadlock.mjs', 'locks', '200'], verdict: 'no-progress', waitsForUs: true },
  { row: 14, words: ['startup/missing-module.cjs'], verdict: 'startup-failure' },
  { row: 15, words: ['workers/worker-exits.cjs'], verdict: 'worker-death' },
];

for (const pretence of pretences)
  describe(nameOf(pretence), () => {
    // On Linux itself: that its implementation of the platform also works without /proc.
    const rows =
      pretence.platform === 'linux'
        ? deaths.filter(({ row }) => row % 2 === 1 && row < 4)
        : sampleOf(deaths, 5);
    for (const { row, words, verdict, waitsForUs, ...options } of rows)
      test(`row ${row}: ${words.join(' ')}`, async (t) => {
        const cwd = temporaryFolder(t);
        const command = [join(programs, words[0] ?? ''), ...words.slice(1)];
        const { stderr, ...ended } = await pretend(pretence, command, { cwd, ...options });
        if (waitsForUs) assert.deepEqual([ended.code, ended.signal], [0, null]);
        else {
          const bare = join(cwd, 'bare');
          mkdirSync(bare);
          const { stderr: bareStderr, ...bareEnd } = await pretend(pretence, command, {
            cwd: bare,
            isBare: true,
            ...options,
          });
          assert.deepEqual(ended, bareEnd);
          assert.equal(withoutOurLines(stderr), bareStderr);
        }
        const [name, ...more] = bundlesIn(cwd);
        // A signal is obeyed within a second, whatever the bundle then lacks: on a busy machine its last parts and the seal.
        const end = options.signal === undefined ? '' : '(\\.partial)?';
        assert.match(name ?? stderr, new RegExp(`-${verdict}-[0-9a-f]{8}\\.agentdump${end}$`));
        assert.deepEqual(more, []);
        const bundle = openBundle(join(cwd, 'dumps', name ?? ''));
        t.after(() => bundle.close());
        if (!bundle.sealed && options.signal !== undefined)
          return t.diagnostic('cut short by its own signal');
        assert.ok(bundle.sealed);
        const { process: facts, environment } = await analyzeBundle(bundle);
        const names = bundle.parts.map((part) => part.name);
        for (const part of ['trigger.json', 'process.json', 'handles.json'])
          assert.ok(names.includes(part), `${part} is not among ${names}`);
        assert.equal(facts?.platform, pretence.platform);
        assert.ok(environment?.os);
      });
  });

const withoutOurLines = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('agentdump:'))
    .join('\n');
