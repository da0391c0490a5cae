/** `--leak-check` on runners with workers of their own: what retains the objects that a suite leaks. */

import { partInTurn } from '../../support/run/test-nodes.ts';
import { testLeak } from '../../support/runners/leaky-suites.ts';

const suites = [
  ['jest', 'listeners'],
  ['vitest', 'array'],
] as const;
for (const [runner, leak] of partInTurn(suites, 2)) testLeak(runner, leak);
