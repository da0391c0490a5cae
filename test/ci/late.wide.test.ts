/** A late error, rejection or exit is that of the test that began it, in every runner. */
import { testLate } from '../support/runner-matrix.ts';

// Mocha lets a rejection pass that nobody handles.
testLate('mocha', ['late rejection']);
testLate('mocha parallel', ['late rejection']);
for (const runner of ['jest workers', 'jest in band', 'vitest forks', 'vitest threads'] as const)
  testLate(runner);
for (const runner of ['ava', 'playwright', 'tap'] as const) testLate(runner);
