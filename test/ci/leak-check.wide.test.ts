/** `--leak-check` on runners of one process: who holds what a suite leaks. */
import { testLeak } from '../support/leaky-suites.ts';

testLeak('node:test', 'array');
testLeak('mocha', 'map');
