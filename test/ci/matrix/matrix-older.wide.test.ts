/** Which test is named when it dies below `agentdump ci`, in jest 29, mocha 10 and vitest 3. */
import {
  type Death,
  olderRunners,
  type RunnerName,
  testRunner,
} from '../../support/runners/runner-matrix.ts';

const telling: readonly Death[] = ['assertion', 'crash', 'spin', 'none'];
const runners: readonly RunnerName[] = ['vitest forks', 'vitest threads', 'jest workers', 'mocha'];
for (const runner of runners) testRunner(runner, telling, olderRunners);
// Jest 29 reports a worker that died of a full heap as killed by a signal from another process.
testRunner('jest workers', ['oom'], olderRunners);
