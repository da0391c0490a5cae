/** `error.json`: the thrown value with its causes. */

import { type BeginSite, beginStack } from '../../agent/record/begin-sites.ts';
import { type ErrorPart, partNames } from '../../bundle/layout/bundle.ts';
import { type ReadError, readThrown } from '../fatal-path/serialize-error.ts';
import { abortReasons } from '../host/abort-reasons.ts';
import { everyCauseOf } from '../host/cause-chain.ts';
import { emittingObject, findEmitter, pathOfStream, stdioOf } from '../host/read-emitter.ts';
import { findField } from '../host/read-field.ts';
import { takeSchedulingStack } from '../stacks/locals-recorder.ts';
import { addFrames } from '../stacks/script-excerpt.ts';
import { findSyntaxErrorPlace } from '../stacks/syntax-error-place.ts';
import type { CaptureContext, PartProducer } from './part.ts';

export const errorPart: PartProducer = {
  name: partNames.error,
  isVital: true,
  produce(context): ErrorPart | undefined {
    if (!context.thrown) return undefined;
    const { error, stackTexts } = readThrown(context.thrown.value);
    const { frames } = context.thrown;
    context.stackTexts.push(...stackTexts);
    addFrames(context.framePlaces, frames);
    const { value } = context.thrown;
    const emitted = findEmitter(value);
    const source = emitted && emittingObject(value);
    const path = pathOfStream(source);
    const worker = emitted?.stack.includes('node:internal/worker') ? context.workers.erring : undefined;
    const stdio = stdioOf(source);
    const emitter = emitted && {
      ...emitted,
      ...(path !== undefined && { path }),
      ...(stdio !== undefined && { stdio }),
      ...(worker && { worker }),
    };
    const begun =
      context.recording?.recorder.sites.find(everyCauseOf(value), source, context.ownFile) ??
      listenSite(context, source);
    if (begun) context.stackTexts.push(begun.stack);
    const place = findSyntaxErrorPlace(context.thrown.value);
    const promiseStack = takeSchedulingStack();
    const reasons = mayListSignals(context) ? abortReasons(value).map(readThrown).filter(saysMore) : [];
    for (const reason of reasons) context.stackTexts.push(...reason.stackTexts);
    return {
      error,
      ...(frames.length > 0 && { frames }),
      ...(promiseStack && { promiseStack }),
      ...(emitter && { emitter }),
      ...failedStdio(context, value),
      ...(begun && { begun: { what: begun.what, stack: begun.stack } }),
      ...(reasons.length > 0 && { abortReasons: reasons.map((reason) => reason.error) }),
      ...(place && { place }),
    };
  },
};

/** The collection before V8 lists objects takes 75 ms and more, which most deaths don't have. */
const mayListSignals = ({ mayDebug, tests, config }: CaptureContext): boolean =>
  mayDebug && (tests !== undefined || config.heap === 'always');

/** Than Node's own reason, if `abort()` is given none. */
const saysMore = ({ error }: ReadError): boolean =>
  error.name !== 'AbortError' || error.message !== 'This operation was aborted';

/** A rejection follows the write that caused it at once: later ones with the same code are of other streams. */
const handedOnMs = 100;

/** `pipeline` hands on the error of a stream, and nothing emits it. */
function failedStdio({ logs, trigger }: CaptureContext, thrown: unknown): Pick<ErrorPart, 'failedStdio'> {
  const { failed } = logs ?? {};
  const isAlike =
    failed && Date.parse(trigger.at) - failed.at <= handedOnMs && findField(thrown, 'errno') === failed.errno;
  return isAlike && findField(thrown, 'syscall') === 'write' ? { failedStdio: failed.descriptor } : {};
}

/** For a server whose error event ended the process, such as an address that is taken. */
function listenSite({ listens, ownFile }: CaptureContext, emitter: unknown): BeginSite | undefined {
  const made = listens?.find(emitter);
  const stack = made ? beginStack(made, ownFile) : '';
  return stack === '' ? undefined : { what: 'call of listen', stack };
}
