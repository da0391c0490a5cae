/** `--leak-check` on suites that leak nothing: no report. */

import { partInTurn } from '../../support/run/test-nodes.ts';
import { testHealthy } from '../../support/runners/leaky-suites.ts';

const suites = [
  ['node:test', 'nothing'],
  ['mocha', 'a full cache'],
  ['jest', 'nothing'],
  ['vitest', 'nothing'],
] as const;
for (const [runner, held] of partInTurn(suites, 2)) testHealthy(runner, held);
