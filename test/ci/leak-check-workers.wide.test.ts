/** `--leak-check` on runners with workers of their own: what retains the objects that a suite leaks. */
import { testLeak } from '../support/leaky-suites.ts';
import { partInTurn } from '../support/test-nodes.ts';

const suites = [
  ['jest', 'listeners'],
  ['vitest', 'array'],
] as const;
for (const [runner, leak] of partInTurn(suites, 2)) testLeak(runner, leak);
