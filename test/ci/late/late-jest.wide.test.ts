/**
 * A late error, rejection or exit is attributed to the test that began it, in Jest (for node:test see late-node-test.test.ts).
 */
import { testLate } from '../../support/runners/runner-matrix.ts';

testLate('jest workers');
testLate('jest in band');
