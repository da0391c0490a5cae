/**
 * A late error, rejection or exit is attributed to the test that began it, in Vitest (for node:test see late-node-test.test.ts).
 */
import { testLate } from '../../support/runners/runner-matrix.ts';

testLate('vitest forks');
testLate('vitest threads');
