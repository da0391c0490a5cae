/** `--leak-check` on ava, which starts all tests of a file at once and ends them together. */

import { partInTurn } from '../../support/run/test-nodes.ts';
import { testHealthy, testLeak } from '../../support/runners/leaky-suites.ts';

const both = [() => testLeak('ava', 'map'), () => testHealthy('ava', 'held for a moment')];
for (const add of partInTurn(both, 2)) add();
