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
  { file: 'throw-sync.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-async.mjs', bundles: ['uncaught-exception'] },
  { file: 'throw-string.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-undefined.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-symbol.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-frozen.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-aggregate.mjs', bundles: ['uncaught-exception'] },
  { file: 'throw-cause-chain.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-cyclic.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-hostile-getters.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-huge-properties.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-proxy.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-other-realm.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-after-prepare.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-in-exit.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-in-handler.cjs', bundles: ['uncaught-exception'] },
  { file: 'stack-overflow.cjs', bundles: ['uncaught-exception'] },
  { file: 'throw-sync.cjs', flags: ['--enable-source-maps'], bundles: ['uncaught-exception'] },
  { file: 'throw-sync.cjs', flags: ['--stack-trace-limit=0'], bundles: ['uncaught-exception'] },
  { file: 'throw-sync.cjs', env: { AGENTDUMP_LOCALS: 'uncaught' }, bundles: ['uncaught-exception'] },
  { file: 'context-hostile.cjs', bundles: ['uncaught-exception'] },
  { file: 'handled-exception.cjs', bundles: ['uncaught-exception'] },
  { file: 'handled-then-exit.cjs', bundles: ['uncaught-exception'] },
  { file: 'capture-callback.cjs', bundles: ['uncaught-exception'] },
  { file: 'reject-error.cjs', bundles: ['unhandled-rejection'] },
  { file: 'reject-plain.cjs', bundles: ['unhandled-rejection'] },
  { file: 'reject-undefined.cjs', bundles: ['unhandled-rejection'] },
  {
    file: 'reject-undefined.cjs',
    flags: ['--unhandled-rejections=strict'],
    bundles: ['unhandled-rejection'],
  },
  { file: 'reject-undefined.cjs', flags: ['--unhandled-rejections=warn'], bundles: [] },
  { file: 'reject-undefined.cjs', flags: ['--unhandled-rejections=none'], bundles: [] },
  { file: 'handled-rejection.cjs', bundles: ['unhandled-rejection'] },
  { file: 'rejection-handler-removed.cjs', bundles: ['unhandled-rejection'] },
  { file: 'exit-code.cjs', env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  { file: 'exit-code-set.cjs', env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  // A deliberate exit with no work in progress is no death.
  { file: 'exit-code.cjs', bundles: [] },
  { file: 'exit-code-set.cjs', bundles: [] },
  { file: 'exit-zero.cjs', bundles: [] },
  { file: 'exit-in-exit.cjs', args: ['set'], env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  { file: 'exit-in-exit.cjs', args: ['set', 'by-call'], env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  { file: 'exit-in-exit.cjs', args: ['call'], env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  { file: 'exit-in-exit.cjs', args: ['call', 'by-call'], env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  { file: 'exit-in-exit.cjs', args: ['back'], bundles: [] },
  { file: 'exit-from-promise.mjs', env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
  { file: 'pending-await.mjs', bundles: ['pending-exit'] },
  { file: 'missing-module.cjs', bundles: ['startup-failure'] },
  { file: 'missing-module.mjs', bundles: ['startup-failure'] },
  { file: 'missing-export.mjs', bundles: ['startup-failure'] },
  { file: 'syntax-error.cjs', bundles: ['startup-failure'] },
  { file: 'syntax-error.mjs', bundles: ['startup-failure'] },
  { file: 'syntax-error-imported.mjs', bundles: ['startup-failure'] },
  { file: 'bad-addon.cjs', bundles: ['startup-failure'] },
  { file: 'signal-self.cjs', args: ['SIGTERM'], bundles: ['terminated'] },
  { file: 'signal-self.cjs', args: ['SIGHUP'], bundles: ['terminated'] },
  { file: 'signal-self.cjs', args: ['SIGKILL'], bundles: [] },
  { file: 'signal-wait.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
  { file: 'signal-wait.cjs', signal: 'SIGHUP', bundles: ['terminated'] },
  { file: 'signal-wait.cjs', signal: 'SIGQUIT', bundles: ['terminated'] },
  { file: 'signal-wait.cjs', signal: 'SIGINT', bundles: [] },
  { file: 'signal-in-context.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
  { file: 'signal-handled.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
  // One for the signal that the program handled, one for the signal that ended it.
  { file: 'signal-reraised.cjs', signal: 'SIGTERM', bundles: ['terminated', 'terminated'] },
  { file: 'signal-only-listener.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
  { file: 'signal-handler-removed.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
  {
    file: 'snapshot-goes-on.cjs',
    env: { AGENTDUMP_SNAPSHOT_SIGNAL: 'SIGUSR2' },
    signal: 'SIGUSR2',
    bundles: ['snapshot'],
  },
  { file: 'signal-wait.cjs', signal: 'SIGUSR2', bundles: [] },
  { file: 'listeners-seen.cjs', bundles: [] },
  { file: 'lives-on.cjs', bundles: [] },
  { file: 'children-seen.cjs', bundles: [] },
  {
    file: 'stacks-seen.cjs',
    signal: 'SIGTERM',
    bundles: ['terminated', 'uncaught-exception', 'unhandled-rejection'],
  },
  { file: 'worker-throws.cjs', bundles: ['uncaught-exception', 'worker-death'] },
  { file: 'worker-handled.cjs', bundles: ['worker-death'] },
  { file: 'worker-exits.cjs', bundles: ['worker-death'] },
  { file: 'worker-out-of-memory.cjs', bundles: ['worker-death'] },
  { file: 'child-throws.cjs', bundles: ['uncaught-exception'] },
  { file: 'out-of-descriptors.cjs', maxDescriptors: 64, bundles: ['resource-exhaustion'] },
  { file: 'abort.cjs', bundles: [] },
  // With the watchdog running from the start.
  ...watched([
    { file: 'watchdog-unseen.cjs', bundles: [] },
    { file: 'exit-zero.cjs', bundles: [] },
    { file: 'exit-code.cjs', env: { AGENTDUMP_EXITS: 'all' }, bundles: ['exit'] },
    { file: 'pending-await.mjs', bundles: ['pending-exit'] },
    { file: 'throw-sync.cjs', bundles: ['uncaught-exception'] },
    { file: 'listeners-seen.cjs', bundles: [] },
    { file: 'signal-self.cjs', args: ['SIGTERM'], bundles: ['terminated'] },
    { file: 'signal-wait.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
    { file: 'signal-handled.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
    { file: 'signal-handler-removed.cjs', signal: 'SIGTERM', bundles: ['terminated'] },
    { file: 'worker-throws.cjs', bundles: ['uncaught-exception', 'worker-death'] },
  ]),
  { file: 'hang-recovers.cjs', env: { AGENTDUMP_HANG_MS: '1000' }, bundles: ['event-loop-hang'] },
  { file: 'hang-in-child.cjs', args: ['4'], env: { AGENTDUMP_HANG_MS: '500' }, bundles: ['event-loop-hang'] },
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
