/** `error.json`: the thrown value with its causes. */
import { type ErrorPart, partNames } from '../../bundle/layout/bundle.ts';
import { readThrown } from '../fatal-path/serialize-error.ts';
import { findEmitter } from '../host/read-emitter.ts';
import { takeSchedulingStack } from '../stacks/locals-recorder.ts';
import { addFrames } from '../stacks/script-excerpt.ts';
import { findSyntaxErrorPlace } from '../stacks/syntax-error-place.ts';
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
