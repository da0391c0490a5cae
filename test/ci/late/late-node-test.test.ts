/** A late error is attributed to the test that began it, in node:test. */
import { testLate } from '../../support/runners/runner-matrix.ts';

testLate('node:test');
