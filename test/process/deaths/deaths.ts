/**
 * The table of deaths and its victims: which programs die in each way, and which test runs them on the Nodes of the run and
 * asserts the verdict. deaths.test.ts compares it with the tests and with README.md in this folder.
 */

export interface DeathRow {
  row: number;
  death: string;
  verdict: string;
  /** Different kinds of victim. The doctor's own (src/supervise/doctor/trials.ts) adds one more to every row. */
  victims: readonly { program: string; test: string }[];
}

const fidelity = 'process/host/fidelity.test.ts';
const watchdog = 'process/stalls/watchdog.test.ts';
const noProgress = 'process/stalls/no-progress.test.ts';
const by = (test: string, ...programs: string[]) => programs.map((program) => ({ program, test }));

export const deaths: readonly DeathRow[] = [
  {
    row: 1,
    death: 'uncaught exception',
    verdict: 'uncaught-exception',
    victims: by(fidelity, 'throws/throw-sync.cjs', 'throws/throw-async.mjs', 'throws/throw-other-realm.cjs'),
  },
  {
    row: 2,
    death: 'unhandled rejection',
    verdict: 'unhandled-rejection',
    victims: by(
      fidelity,
      'rejections/reject-error.cjs',
      'rejections/reject-plain.cjs',
      'rejections/handled-rejection.cjs',
    ),
  },
  {
    row: 3,
    death: 'SIGTERM, SIGHUP, SIGQUIT',
    verdict: 'terminated',
    victims: by(
      fidelity,
      'signals/signal-wait.cjs',
      'signals/signal-handled.cjs',
      'signals/signal-reraised.cjs',
    ),
  },
  {
    row: 4,
    death: 'snapshot, it goes on',
    verdict: 'snapshot',
    victims: [
      ...by(fidelity, 'signals/snapshot-goes-on.cjs'),
      ...by('supervise/attach/capture.test.ts', 'victim-spin.mjs'),
    ],
  },
  {
    row: 5,
    death: 'process.exit, or an await that never settles',
    verdict: 'exit, pending-exit',
    victims: by(fidelity, 'exits/exit-code.cjs', 'exits/exit-from-promise.mjs', 'exits/pending-await.mjs'),
  },
  {
    row: 6,
    death: 'JavaScript heap out of memory',
    verdict: 'heap-out-of-memory',
    victims: [
      ...by('process/memory/heap-filled-at-once.wide.test.ts', 'heap/heap-fills-at-once.cjs'),
      ...by('process/memory/memory-near-limit.test.ts', 'heap/heap-fills.cjs'),
    ],
  },
  {
    row: 7,
    death: 'killed by the kernel for memory',
    verdict: 'system-out-of-memory',
    victims: by('process/memory/killed-for-memory.wide.test.ts', 'heap/cgroup-fills.mjs'),
  },
  {
    row: 8,
    death: 'SIGKILL',
    verdict: 'killed',
    victims: by('process/agents/flight-recorder.test.ts', 'agents/agent-waits.mjs'),
  },
  {
    row: 9,
    death: 'native crash',
    verdict: 'native-crash',
    victims: by('supervise/native/run-addon.wide.test.ts', 'native/addon'),
  },
  {
    row: 10,
    death: 'abort',
    verdict: 'abort',
    victims: by('supervise/native/run-core.test.ts', 'victim.cjs'),
  },
  {
    row: 11,
    death: 'event loop stuck',
    verdict: 'event-loop-hang',
    victims: by(
      watchdog,
      'stalls/hang-spin.cjs',
      'stalls/hang-regex.cjs',
      'stalls/hang-microtasks.mjs',
      'stalls/hang-in-child.cjs',
    ),
  },
  {
    row: 12,
    death: 'alive but no progress',
    verdict: 'no-progress',
    victims: by(
      noProgress,
      'stalls/agent-deadlock.mjs',
      'stalls/agent-loops.mjs',
      'stalls/agent-ends-waiting.mjs',
    ),
  },
  {
    row: 13,
    death: 'memory near its limit',
    verdict: 'snapshot',
    victims: by('process/memory/memory-near-limit.test.ts', 'heap/heap-fills.cjs'),
  },
  {
    row: 14,
    death: 'fails at start',
    verdict: 'startup-failure',
    victims: [
      ...by(
        fidelity,
        'startup/missing-module.mjs',
        'startup/missing-export.mjs',
        'startup/syntax-error.cjs',
        'startup/bad-addon.cjs',
      ),
      ...by('process/deaths/abi.wide.test.ts', 'addon'),
    ],
  },
  {
    row: 15,
    death: 'a worker thread dies',
    verdict: 'worker-death',
    victims: by(
      fidelity,
      'workers/worker-throws.cjs',
      'workers/worker-handled.cjs',
      'workers/worker-out-of-memory.cjs',
    ),
  },
  {
    row: 16,
    death: 'a child process dies',
    verdict: 'that of the child, and of its parent',
    victims: by(fidelity, 'host/child-throws.cjs'),
  },
  {
    row: 17,
    death: 'out of descriptors, disk, sockets',
    verdict: 'resource-exhaustion',
    victims: [
      ...by(fidelity, 'descriptors/out-of-descriptors.cjs'),
      ...by('process/deaths/surroundings/creators.test.ts', 'descriptors/leaks-descriptors.cjs'),
    ],
  },
];

/** The rows as a Markdown table. */
export function renderDeaths(): string {
  const lines = deaths.map(({ row, death, verdict, victims }) => {
    const tests = [...new Set(victims.map(({ test }) => test))];
    const groups = tests.map((test) => {
      const programs = victims
        .filter((victim) => victim.test === test)
        .map(({ program }) => `\`${program}\``);
      return `${programs.join(', ')} (${test})`;
    });
    return `| ${row} | ${death} | ${verdict} | ${groups.join('; ')} |`;
  });
  return [
    '| # | death | verdict | victims beside the doctor’s, and their test |',
    '|---|---|---|---|',
    ...lines,
  ].join('\n');
}
