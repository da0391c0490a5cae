/** `--leak-check` on ava, which starts all tests of a file at once and ends them together. */
import { testHealthy, testLeak } from '../support/leaky-suites.ts';
import { partInTurn } from '../support/test-nodes.ts';

const both = [() => testLeak('ava', 'map'), () => testHealthy('ava', 'held for a moment')];
for (const add of partInTurn(both, 2)) add();
