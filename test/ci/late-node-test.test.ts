/** A late error is that of the test that began it, in node:test. */
import { testLate } from '../support/runner-matrix.ts';

testLate('node:test');
