/**
 * A late error, rejection or exit is attributed to the test that began it, in mocha, ava, Playwright and tap (for node:test see late-node-test.test.ts).
 */
import { testLate } from '../../support/runners/runner-matrix.ts';

// Mocha ignores unhandled rejections.
testLate('mocha', ['late rejection']);
testLate('mocha parallel', ['late rejection']);
for (const runner of ['ava', 'playwright', 'tap'] as const) testLate(runner);
