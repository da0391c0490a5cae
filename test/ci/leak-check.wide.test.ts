/** `--leak-check` on runners of one process: what retains the objects that a suite leaks. */
import { testLeak } from '../support/leaky-suites.ts';
import { partInTurn } from '../support/test-nodes.ts';

const suites = [
  ['node:test', 'array'],
  ['mocha', 'map'],
] as const;
for (const [runner, leak] of partInTurn(suites, 2)) testLeak(runner, leak);
