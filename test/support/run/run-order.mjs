// How many test files run beside each other, and in which order.
import { availableParallelism } from 'node:os';

/**
 * One more than there are cores: a third of a file's time is spent waiting, for a child to start, to hang or to be noticed.
 */
export const filesBeside = Number(process.env.AGENTDUMP_TESTS_BESIDE) || availableParallelism() + 1;

/** Those that take longest in the wide run, by its closing lines: begun last, each would run alone at the end. */
export const longFiles = [
  'test/process/host/fidelity.test.ts',
  'test/supervise/doctor/doctor.test.ts',
  'test/process/host/fidelity-beside.test.ts',
  'test/truth/all.wide.test.ts',
  'test/analysis/core/emulated-arm64.wide.test.ts',
  'test/ci/late/late.wide.test.ts',
  'test/analysis/memory/dominators.wide.test.ts',
  'test/taint/preload.test.ts',
  'test/taint/supervised.wide.test.ts',
  'test/analysis/memory/leaks.wide.test.ts',
  'test/process/host/host-world.wide.test.ts',
  'test/cli/store.wide.test.ts',
  'test/process/stalls/watchdog.test.ts',
];

/** The long ones first, then in the order given. */
export function longestFirst(files) {
  const long = longFiles.filter((file) => files.includes(file));
  return [...long, ...files.filter((file) => !long.includes(file))];
}
