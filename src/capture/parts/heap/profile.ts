/** `heap-profile.json`: who allocated what is still alive, where memory came near its limit. */
import { partNames } from '../../../bundle/layout/bundle.ts';
import type { PartProducer } from '../part.ts';

export const heapProfilePart: PartProducer = {
  name: partNames.heapProfile,
  produce: ({ heapProfile }) => heapProfile,
};
