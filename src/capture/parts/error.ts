/** `error.json`: the thrown value with its causes. */
import { type ErrorPart, partNames } from '../../bundle/layout.ts';
import { takeSchedulingStack } from '../locals-recorder.ts';
import { findEmitter } from '../read-emitter.ts';
import { addFrames } from '../script-excerpt.ts';
import { readThrown } from '../serialize-error.ts';
import { findSyntaxErrorPlace } from '../syntax-error-place.ts';
import type { PartProducer } from './part.ts';

export const errorPart: PartProducer = {
  name: partNames.error,
  isVital: true,
  produce(context): ErrorPart | undefined {
    if (!context.thrown) return undefined;
    const { error, stackTexts } = readThrown(context.thrown.value);
    const { frames } = context.thrown;
    context.stackTexts.push(...stackTexts);
    addFrames(context.framePlaces, frames);
    const emitter = findEmitter(context.thrown.value);
    const place = findSyntaxErrorPlace(context.thrown.value);
    const promiseStack = takeSchedulingStack();
    return {
      error,
      ...(frames.length > 0 && { frames }),
      ...(promiseStack && { promiseStack }),
      ...(emitter && { emitter }),
      ...(place && { place }),
    };
  },
};
