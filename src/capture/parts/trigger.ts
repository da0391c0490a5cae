/** `trigger.json`: the first part, with which alone a bundle can be explained in a line. */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { PartProducer } from './part.ts';

export const triggerPart: PartProducer = {
  name: partNames.trigger,
  isVital: true,
  produce: ({ trigger }) => trigger,
};
