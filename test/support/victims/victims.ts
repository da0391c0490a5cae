/** The table of victims: every program of fixtures/programs, how it is run, and which bundles it leaves. */

export interface Victim {
  /** File in fixtures/programs. */
  file: string;
  args?: string[];
  /** Options of Node itself. */
  flags?: string[];
  env?: Record<string, string>;
  /** Sent once the program has printed `ready`. */
  signal?: NodeJS.Signals;
  /** Limit on open descriptors, `ulimit -n`. */
  maxDescriptors?: number;
  /** Limit on the size of files in blocks of 512 bytes, `ulimit -f`. */
  maxFileBlocks?: number;
  /** Limit on address space, `ulimit -v`. */
  maxAddressKilobytes?: number;
  /** Verdict kinds in the names of the bundles that it leaves, sorted; empty if it leaves none. */
  bundles: string[];
}

export const victims: readonly Victim[] = [
  { file: 'throws/throw-sync.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-async.mjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-string.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-undefined.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-symbol.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-frozen.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-aggregate.mjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-cause-chain.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-cyclic.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-hostile-getters.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-huge-properties.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-proxy.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-other-realm.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-after-prepare.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-in-exit.cjs', bundles: ['uncaught-exception'] },
  // What the handler threw has a bundle of its own.
  { file: 'throws/throw-in-handler.cjs', bundles: ['uncaught-exception', 'uncaught-exception'] },
  { file: 'throws/stack-overflow.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/throw-sync.cjs', flags: ['--enable-source-maps'], bundles: ['uncaught-exception'] },
  { file: 'throws/throw-sync.cjs', flags: ['--stack-trace-limit=0'], bundles: ['uncaught-exception'] },
  { file: 'throws/throw-sync.cjs', env: { AGENTDUMP_LOCALS: 'uncaught' }, bundles: ['uncaught-exception'] },
  { file: 'throws/context-hostile.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/handled-exception.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/handled-then-exit.cjs', bundles: ['uncaught-exception'] },
  { file: 'throws/capture-callback.cjs', bundles: ['uncaught-exception'] },
  { file: 'rejections/reject-error.cjs', bundles: ['unhandled-rejection'] },
  { file: 'rejections/reject-plain.cjs', bundles: ['unhandled-rejection'] },
  { file: 'rejections/reject-undefined.cjs', bundles: ['unhandled-rejection'] },
  {
    file: 'rejections/reject-undefined.cjs',
    flags: ['--unhandled-rejections=strict'],
    bundles: ['unhandled-rejection'],
  },
  { file: 'rejections/reject-undefined.cjs', flags: ['--unhandled-rejections=warn'], bundles: [] },
  { file: 'rejections/reject-undefined.cjs', flags: ['--unhandled-rejections=none'], bundles: [] },
  { file: 'rejections/handled-rejection.cjs', bundles: ['unhandled-rejection'] },
  { file: 'rejections/rejection-handler-removed.cjs', bundles: ['unhandled-rejection'] },
  { file: 'exits/exit-code.cjs', env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  { file: 'exits/exit-code-set.cjs', env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  // A deliberate exit with no work in progress is no death.
  { file: 'exits/exit-code.cjs', bundles: [] },
  { file: 'exits/exit-code-set.cjs', bundles: [] },
  { file: 'exits/exit-zero.cjs', bundles: [] },
  { file: 'exits/exit-in-exit.cjs', args: ['set'], env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  {
    file: 'exits/exit-in-exit.cjs',
    args: ['set', 'by-call'],
    env: { AGENTDUMP_EXITS: 'all' },
    bundles: ['exit'],
  },
  { file: 'exits/exit-in-exit.cjs', args: ['call'], env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  {
    file: 'exits/exit-in-exit.cjs',
    args: ['call', 'by-call'],
    env: { AGENTDUMP_EXITS: 'all' },
    bundles: ['exit'],
  },
  { file: 'exits/exit-in-exit.cjs', args: ['back'], bundles: [] },
  { file: 'exits/exit-from-promise.mjs', env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  { file: 'exits/pending-await.mjs', bundles: ['pending-exit'] },
  { file: 'startup/missing-module.cjs', bundles: ['startup-failure'] },
  { file: 'startup/missing-module.mjs', bundles: ['startup-failure'] },
  { file: 'startup/missing-export.mjs', bundles: ['startup-failure'] },
  { file: 'startup/syntax-error.cjs', bundles: ['startup-failure'] },
  { file: 'startup/syntax-error.mjs', bundles: ['startup-failure'] },
  { file: 'startup/syntax-error-imported.mjs', bundles: ['startup-failure'] },
  { file: 'startup/bad-addon.cjs', bundles: ['startup-failure'] },
  { file: 'signals/signal-self.cjs', args: ['SIGTERM'], bundles: ['terminated'] },
  { file: 'signals/signal-self.cjs', args: ['SIGHUP'], bundles: ['terminated'] },
  { file: 'signals/signal-self.cjs', args: ['SIGKILL'], bundles: [] },
  { file: 'signals/signal-wait.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
  { file: 'signals/signal-wait.cjs', signal: 'SIGHUP', bundles: ['terminated'] },
  { file: 'signals/signal-wait.cjs', signal: 'SIGQUIT', bundles: ['terminated'] },
  { file: 'signals/signal-wait.cjs', signal: 'SIGINT', bundles: [] },
  { file: 'signals/signal-in-context.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
  { file: 'signals/signal-handled.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
  // One for the signal that the program handled, one for the signal that ended it.
  { file: 'signals/signal-reraised.cjs', signal: 'SIGTERM', bundles: ['terminated', 'terminated'] },
  { file: 'signals/signal-only-listener.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
  { file: 'signals/signal-handler-removed.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
  {
    file: 'signals/snapshot-goes-on.cjs',
    env: { AGENTDUMP_SNAPSHOT_SIGNAL: 'SIGUSR2' },
    signal: 'SIGUSR2',
    bundles: ['snapshot'],
  },
  { file: 'signals/signal-wait.cjs', signal: 'SIGUSR2', bundles: [] },
  { file: 'host/listeners-seen.cjs', bundles: [] },
  { file: 'host/lives-on.cjs', bundles: [] },
  { file: 'host/children-seen.cjs', bundles: [] },
  {
    file: 'host/stacks-seen.cjs',
    signal: 'SIGTERM',
    bundles: ['terminated', 'uncaught-exception', 'unhandled-rejection'],
  },
  { file: 'workers/worker-throws.cjs', bundles: ['uncaught-exception', 'worker-death'] },
  { file: 'workers/worker-handled.cjs', bundles: ['worker-death'] },
  { file: 'workers/worker-exits.cjs', bundles: ['worker-death'] },
  { file: 'workers/worker-out-of-memory.cjs', bundles: ['worker-death'] },
  { file: 'host/child-throws.cjs', bundles: ['uncaught-exception'] },
  { file: 'descriptors/out-of-descriptors.cjs', maxDescriptors: 64, bundles: ['resource-exhaustion'] },
  { file: 'signals/abort.cjs', bundles: [] },
  // With the watchdog running from the start.
  ...watched([
    { file: 'host/watchdog-unseen.cjs', bundles: [] },
    { file: 'exits/exit-zero.cjs', bundles: [] },
    { file: 'exits/exit-code.cjs', env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
    { file: 'exits/pending-await.mjs', bundles: ['pending-exit'] },
    { file: 'throws/throw-sync.cjs', bundles: ['uncaught-exception'] },
    { file: 'host/listeners-seen.cjs', bundles: [] },
    { file: 'signals/signal-self.cjs', args: ['SIGTERM'], bundles: ['terminated'] },
    { file: 'signals/signal-wait.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
    { file: 'signals/signal-handled.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
    { file: 'signals/signal-handler-removed.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
    { file: 'workers/worker-throws.cjs', bundles: ['uncaught-exception', 'worker-death'] },
  ]),
  { file: 'stalls/hang-recovers.cjs', env: { AGENTDUMP_HANG_MS: '1000' }, bundles: ['event-loop-hang'] },
  {
    file: 'stalls/hang-in-child.cjs',
    args: ['4'],
    env: { AGENTDUMP_HANG_MS: '500' },
    bundles: ['event-loop-hang'],
  },
];

function watched(rows: Victim[]): Victim[] {
  return rows.map((row) => ({ ...row, env: { ...row.env, AGENTDUMP_HANG_MS: '60000' } }));
}

/** A readable name: the file, and what distinguishes this row. */
export function victimName(victim: Victim): string {
  return [
    victim.file,
    ...(victim.args ?? []),
    ...(victim.flags ?? []),
    ...Object.keys(victim.env ?? {}),
    victim.signal,
  ]
    .filter(Boolean)
    .join(' ');
}
