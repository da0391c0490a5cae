/** `--leak-check` on runners of one process: what retains the objects that a suite leaks. */

import { partInTurn } from '../../support/run/test-nodes.ts';
import { testLeak } from '../../support/runners/leaky-suites.ts';

const suites = [
  ['node:test', 'array'],
  ['mocha', 'map'],
] as const;
for (const [runner, leak] of partInTurn(suites, 2)) testLeak(runner, leak);
