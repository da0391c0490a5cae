/** `test.json`: the tests that ran in this thread, if a runner's hook or a reporter reports them. */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { TestPart } from '../../bundle/layout/tests.ts';
import { readOrigin } from '../recording/read-origin.ts';
import { isByCode } from './origin.ts';
import type { CaptureContext, PartProducer } from './part.ts';

export const testsPart: PartProducer = {
  name: partNames.tests,
  produce: (context): TestPart | undefined => {
    const part = context.tests?.describe();
    return part && { ...part, ...originOf(context, part) };
  },
};

/** For a test that has just failed the runner provides everything. */
function originOf({ tests, origins, trigger }: CaptureContext, { failure }: TestPart): Partial<TestPart> {
  if (!origins || failure || tests?.isFollowed !== true || !isByCode(trigger)) return {};
  const { current } = readOrigin(origins);
  const origin = current && tests.describeOrigin(current, Date.parse(trigger.at));
  return { isFollowed: true, ...(origin && { origin }) };
}
