/** `--leak-check` on ava, which starts all tests of a file at once and ends them together. */
import { testHealthy, testLeak } from '../support/leaky-suites.ts';

testLeak('ava', 'map');
testHealthy('ava', 'held for a moment');
