/** `heap-profile.json`: where live memory was allocated, if memory came near its limit. */
import { partNames } from '../../../bundle/layout/bundle.ts';
import type { PartProducer } from '../part.ts';

export const heapProfilePart: PartProducer = {
  name: partNames.heapProfile,
  produce: ({ heapProfile }) => heapProfile,
};
