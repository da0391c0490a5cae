/**
 * `mocha --require agentdump/mocha`: root hooks that tell the preload which test runs. For runs without `agentdump ci`,
 * which needs none of this.
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
