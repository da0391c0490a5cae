/**
 * For a thrown value that is no error: the code in the program's own scripts whose text gives it. For an error that Node gave to a callback
 * of the program, whose stack has no frame of the program: the code that may have thrown it on.
 */
import type { SerializedError } from '../../bundle/layout/bundle.ts';
import type { ErrorFacts } from '../../model/account.ts';
import { isOfRuntime } from '../../model/frame-text.ts';
import type { Frame } from '../../model/thread.ts';
import type { BundleParts } from '../bundle-parts.ts';
import { findThrownPlaces, type ThrownValue } from '../stacks/thrown-places.ts';
import type { FrameReader } from './error-facts.ts';
import { soughtTexts } from './sought-scripts.ts';

/**
 * `passing`: places that throw a value which their text doesn't tell, so that any of them may be the one. `isRethrown`: the value is an
 * error that was made elsewhere; the only place that can have thrown it is then the one that gives it.
 */
export interface ThrownPlaces {
  giving: Frame[];
  passing: Frame[];
  isRethrown?: true;
}

const mostPlaces = 20;
const rejectedWith = /with the reason "([\s\S]*)"\.$/;

/** Undefined for an error with a place, and if a script could not be searched: it may throw the value as well. */
export async function readThrownPlaces(
  parts: BundleParts,
  joined: ErrorFacts | undefined,
  readPart: (name: string) => Uint8Array | undefined,
  read: FrameReader,
): Promise<ThrownPlaces | undefined> {
  const { error, trigger } = parts;
  const value = error?.error && (thrownValue(error.error) ?? othersError(error, trigger, joined));
  if (!value) return undefined;
  const searched = soughtTexts(parts, readPart);
  if (!searched) return undefined;
  const [giving, passing]: string[][] = [[], []];
  for (const { url, text, kind } of searched) {
    const found = await findThrownPlaces(text, kind, value);
    if (!found) return undefined;
    for (const { gives, line, column } of found)
      (gives ? giving : passing)?.push(`    at ${url}:${line}:${column}`);
  }
  const framesOf = async (places: string[] = []) =>
    places.length ? read({ stackText: places.slice(0, mostPlaces).join('\n'), isOfDebugger: true }) : [];
  if (value !== "another's error")
    return { giving: await framesOf(giving), passing: await framesOf(passing) };
  const rethrowing = await framesOf(passing);
  const isOnly = rethrowing.length === 1;
  return { giving: isOnly ? rethrowing : [], passing: isOnly ? [] : rethrowing, isRethrown: true };
}

/** Not if it was emitted, if what failed was begun at a known place, or if a module passed it on. */
function othersError(
  error: BundleParts['error'],
  trigger: BundleParts['trigger'],
  joined: ErrorFacts | undefined,
): ThrownValue | undefined {
  const isThrown = trigger?.kind === 'uncaught-exception' && trigger.origin !== 'unhandledRejection';
  const isKnown = error?.emitter || error?.begun || joined?.name === 'TimeoutError';
  return isThrown && !isKnown && joined?.frames?.every(isOfRuntime) !== false ? "another's error" : undefined;
}

/** Of a rejection only what Node's own error says is known; of an object that is its class. */
function thrownValue(error: SerializedError): ThrownValue | undefined {
  const { isError, type, className, text, code, message, name, properties } = error;
  if (isError) {
    const [, reason] = (code === 'ERR_UNHANDLED_REJECTION' && rejectedWith.exec(message ?? '')) || [];
    const [, className] = /^#<(\w+)>$/.exec(reason ?? '') ?? [];
    if (className !== undefined) return { type: 'object', className, fields: undefined };
    return reason === undefined ? undefined : { type: typeOf(reason), text: reason };
  }
  if (type !== 'object') return text === undefined || type === 'function' ? undefined : { type, text };
  const named = Object.entries({ code, message, name }).filter(([, value]) => value !== undefined);
  return { type, className, fields: { ...properties, ...Object.fromEntries(named) } };
}

function typeOf(reason: string): string {
  if (/^(?:undefined|null)$/.test(reason)) return reason;
  if (/^(?:true|false)$/.test(reason)) return 'boolean';
  return /^-?\d+(?:\.\d+)?$/.test(reason) ? 'number' : 'string';
}
