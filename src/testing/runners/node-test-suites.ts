/** Node's own objects for tests, and the suites whose `before` hooks run: the runner reports neither hooks nor that tests wait for them. */
import type { StartedTest } from '../../agent/api/test-port.ts';

/** Node's own class. Each test, suite and hook is the asynchronous resource of the code that it runs. */
export interface TestResource {
  name: string;
  parent: TestResource | null;
  subtests?: readonly TestResource[];
  hooks?: { before?: readonly TestResource[] };
  startTime?: bigint | null;
  isTodo?: boolean;
  error?: unknown;
  /** Set for a hook. */
  hookType?: string;
  parentTest?: TestResource;
  nesting?: number;
  loc?: { file?: string; line?: number; column?: number };
  passed?: boolean;
  endTime?: bigint | null;
}

/**
 * The innermost open suite that has `before` hooks and tests, of which none has started; otherwise the root, whose hooks run when they are
 * declared, while a test may already wait for them.
 */
export function startingSuite(
  open: readonly (TestResource | undefined)[],
  root: TestResource | undefined,
): StartedTest | undefined {
  const suite = open.findLast((one) => one !== undefined && isStarting(one));
  if (suite) return { file: suite.loc?.file, name: [...nameOf(suite), 'before hook'], isHook: true };
  const hook = root?.hooks?.before?.find(isRunning);
  return hook && { file: hook.loc?.file, name: ['before hook'], isHook: true, testsWait: true };
}

/** Node sets no end of a hook. */
const isRunning = ({ startTime, passed, error }: TestResource): boolean =>
  typeof startTime === 'bigint' && passed === false && (error === null || error === undefined);

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

export function nameOf(test: TestResource): string[] {
  const name: string[] = [];
  for (let one: TestResource | null = test; one?.parent; one = one.parent) name.unshift(one.name);
  return name;
}
