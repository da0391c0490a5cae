// How many test files run beside each other, and in which order.
import { availableParallelism } from 'node:os';

/**
 * One more than there are cores: a third of a file's time is spent waiting, for a child to start, to hang or to be noticed.
 */
export const filesBeside = Number(process.env.AGENTDUMP_TESTS_BESIDE) || availableParallelism() + 1;

/**
 * Those that take longest in the wide run, by its closing lines, longest first: begun last, each would run alone at the end.
 * files-in-turn.mjs deals them out to the turns.
 */
export const longFiles = [
  'test/process/host/fidelity.test.ts',
  'test/supervise/doctor/doctor.test.ts',
  'test/process/host/fidelity-beside.test.ts',
  'test/truth/all.wide.test.ts',
  'test/analysis/core/emulated-arm64.wide.test.ts',
  'test/analysis/memory/graph/dominators.wide.test.ts',
  'test/taint/preload.test.ts',
  'test/taint/supervised.wide.test.ts',
  'test/taint/cores.wide.test.ts',
  'test/ci/matrix/matrix-jest-workers.wide.test.ts',
  'test/analysis/memory/growth/leaks.wide.test.ts',
  'test/process/host/own-exits.wide.test.ts',
  'test/ci/matrix/matrix-playwright.wide.test.ts',
  'test/ci/late/late-others.wide.test.ts',
  'test/bundlers/bundlers.wide.test.ts',
  'test/process/host/host-world.wide.test.ts',
  'test/cli/store.wide.test.ts',
  'test/ci/late/late-jest.wide.test.ts',
  'test/formats/heapsnapshot/threads.wide.test.ts',
  'test/ci/late/late-vitest.wide.test.ts',
  'test/ci/leak-check/leak-check-healthy.wide.test.ts',
  'test/agent/deaths/flood.wide.test.ts',
  'test/taint/further.wide.test.ts',
  'test/ci/matrix/matrix-pnpm-script.wide.test.ts',
  'test/analysis/core/graph/heap-graph.wide.test.ts',
  'test/ci/leak-check/leak-check-workers.wide.test.ts',
  'test/ci/matrix/matrix-jest-in-band.wide.test.ts',
  'test/ci/late/late-hooks.wide.test.ts',
  'test/durable/kills/worker-kills.wide.test.ts',
  'test/package.wide.test.ts',
  'test/process/agents/real-deaths-model.wide.test.ts',
  'test/process/stalls/watchdog.test.ts',
];

/** The long ones first, then in the order given. */
export function longestFirst(files) {
  const long = longFiles.filter((file) => files.includes(file));
  return [...long, ...files.filter((file) => !long.includes(file))];
}
