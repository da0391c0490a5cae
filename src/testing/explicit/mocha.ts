/**
 * `mocha --require agentdump/mocha`: root hooks that report the running test to the preload, for runs without `agentdump ci`,
 * which does not need them.
 */
import { findTests } from './find-tests.ts';

interface MochaTest {
  file?: string;
  state?: string;
  err?: unknown;
  titlePath(): string[];
}

interface MochaContext {
  currentTest?: MochaTest;
}

export const mochaHooks = {
  beforeEach(this: MochaContext): void {
    const test = this.currentTest;
    if (!test) return;
    const tests = findTests();
    tests?.runnerIs('mocha', test.file);
    tests?.begin({ file: test.file, name: test.titlePath() }, test);
  },
  afterEach(this: MochaContext): void {
    const test = this.currentTest;
    if (test) findTests()?.end(test, test.state === 'failed' ? 'failed' : 'passed', test.err);
  },
};
