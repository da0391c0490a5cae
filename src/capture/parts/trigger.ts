/** `trigger.json`: the first part, which alone is enough to explain a bundle in one line. */
import { beginStack } from '../../agent/record/begin-sites.ts';
import { partNames, type TriggerPart } from '../../bundle/layout/bundle.ts';
import { findField } from '../host/read-field.ts';
import type { CaptureContext, PartProducer } from './part.ts';

export const triggerPart: PartProducer = {
  name: partNames.trigger,
  isVital: true,
  produce(context): TriggerPart {
    const { trigger } = context;
    const failedListen = trigger.kind === 'exit' ? findFailedListen(context) : undefined;
    return failedListen ? { ...trigger, failedListen } : trigger;
  },
};

function findFailedListen({ listens, ownFile, stackTexts }: CaptureContext): TriggerPart['failedListen'] {
  const failure = listens?.failure;
  if (!failure) return undefined;
  const message = findField(failure.error, 'message');
  const stack = failure.made ? beginStack(failure.made, ownFile) : '';
  if (stack !== '') stackTexts.push(stack);
  return { message: typeof message === 'string' ? message : 'listen failed', ...(stack !== '' && { stack }) };
}
