/** `trigger.json`: the first part, which alone is enough to explain a bundle in one line. */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { PartProducer } from './part.ts';

export const triggerPart: PartProducer = {
  name: partNames.trigger,
  isVital: true,
  produce: ({ trigger }) => trigger,
};
