/** `--leak-check` on suites that leak nothing: no report. */
import { testHealthy } from '../support/leaky-suites.ts';
import { partInTurn } from '../support/test-nodes.ts';

const suites = [
  ['node:test', 'nothing'],
  ['mocha', 'a full cache'],
  ['jest', 'nothing'],
  ['vitest', 'nothing'],
] as const;
for (const [runner, held] of partInTurn(suites, 2)) testHealthy(runner, held);
