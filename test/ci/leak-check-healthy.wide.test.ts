/** `--leak-check` on suites that leak nothing: not a word. */
import { testHealthy } from '../support/leaky-suites.ts';

testHealthy('node:test', 'nothing');
testHealthy('mocha', 'a full cache');
testHealthy('jest', 'nothing');
testHealthy('vitest', 'nothing');
