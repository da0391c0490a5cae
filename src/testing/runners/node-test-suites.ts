/** Suites of node:test whose `before` hooks run: the runner reports neither the hooks nor that their tests wait for them. */
import type { StartedTest } from '../../agent/api/test-port.ts';
import { nameOf, type TestResource } from './node-test-reporter.ts';

/** The innermost open suite that has `before` hooks and tests, of which none has started. */
export function startingSuite(open: readonly (TestResource | undefined)[]): StartedTest | undefined {
  const suite = open.findLast((one) => one !== undefined && isStarting(one));
  if (!suite) return undefined;
  return { file: suite.loc?.file, name: [...nameOf(suite), 'before hook'], isHook: true };
}

function isStarting({ hooks, startTime, subtests = [] }: TestResource): boolean {
  const hasBegun = startTime !== null && startTime !== undefined;
  return (
    hasBegun &&
    hooks?.before !== undefined &&
    hooks.before.length > 0 &&
    subtests.length > 0 &&
    subtests.every((test) => test.startTime === null || test.startTime === undefined)
  );
}
