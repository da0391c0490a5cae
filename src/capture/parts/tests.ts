/** `test.json`: the tests that ran in this thread, where a runner's hook or a reporter tells of them. */
import { partNames } from '../../bundle/layout.ts';
import type { PartProducer } from './part.ts';

export const testsPart: PartProducer = {
  name: partNames.tests,
  produce: ({ tests }) => tests?.describe(),
};
