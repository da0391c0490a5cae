/** `--leak-check` on runners with workers of their own: who holds what a suite leaks. */
import { testLeak } from '../support/leaky-suites.ts';

testLeak('jest', 'listeners');
testLeak('vitest', 'array');
