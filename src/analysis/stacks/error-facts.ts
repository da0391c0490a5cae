/**
 * The thrown value with all that hangs on it (causes, aggregated errors), each with its own reconstructed frames.
 * The shape comes from a file, so the walk is iterative, bounded in depth and number, and trusts no field's type.
 */
import { type ErrorPart, partNames, type RawFrame, type SerializedError } from '../../bundle/layout.ts';
import type { ErrorFacts } from '../../model/account.ts';
import type { Gap } from '../../model/verdict.ts';
import { StackReconstructor, type StackSources } from './reconstruct.ts';

const deepest = 32;
const mostErrors = 200;

interface Pending {
  source: SerializedError;
  target: ErrorFacts;
  depth: number;
  raw?: readonly RawFrame[];
}

/** `error.json` → the account's error. Raw positions exist for the outermost error only. */
export async function reconstructErrors(
  part: ErrorPart,
  sources: StackSources,
): Promise<{ error: ErrorFacts; gaps: Gap[] }> {
  const reconstructor = new StackReconstructor(sources);
  const gaps: Gap[] = [];
  const error: ErrorFacts = {};
  const raw = Array.isArray(part.frames) ? part.frames.filter(isRawFrame) : [];
  const queue: Pending[] = [{ source: asError(part.error), target: error, depth: 0, raw }];
  const seen = new Set<SerializedError>();
  try {
    for (let item = queue.shift(); item; item = queue.shift()) {
      seen.add(item.source);
      await describe(item, reconstructor, gaps);
      queue.push(...relatives(item, seen, mostErrors - seen.size - queue.length, gaps));
    }
    return { error, gaps: [...gaps, ...reconstructor.gaps] };
  } finally {
    reconstructor.close();
  }
}

async function describe(item: Pending, reconstructor: StackReconstructor, gaps: Gap[]): Promise<void> {
  const { source, target, raw } = item;
  const message = text(source.message) ?? text(source.text);
  const name = nameOf(text(source.name), text(source.className));
  if (name !== undefined) target.name = name;
  if (message !== undefined) target.message = message;
  if (typeof source.code === 'string' || typeof source.code === 'number') target.code = String(source.code);
  if (isObject(source.properties)) target.properties = source.properties;
  const stackText = text(source.stack);
  if (stackText !== undefined) target.stackText = stackText;
  for (const gap of Array.isArray(source.gaps) ? source.gaps : [])
    if (typeof gap === 'string') gaps.push({ part: partNames.error, reason: gap });
  const frames = await reconstructor.reconstruct({
    ...(stackText === undefined ? {} : { stackText }),
    ...(message === undefined ? {} : { message }),
    ...(raw === undefined ? {} : { frames: raw }),
  });
  if (frames.length > 0) target.frames = frames;
}

/** The next errors to describe, already hung on their parent. */
function relatives(item: Pending, seen: Set<SerializedError>, room: number, gaps: Gap[]): Pending[] {
  const { source, target, depth } = item;
  const next: Pending[] = [];
  const wanted = [
    ...(isObject(source.cause) ? [source.cause] : []),
    ...(Array.isArray(source.errors) ? source.errors.filter(isObject) : []),
  ] as SerializedError[];
  const fresh = wanted.filter((error) => !seen.has(error));
  for (const error of depth < deepest ? fresh.slice(0, Math.max(0, room)) : []) {
    const facts: ErrorFacts = {};
    if (error === source.cause) target.cause = facts;
    else {
      target.errors ??= [];
      target.errors.push(facts);
    }
    next.push({ source: error, target: facts, depth: depth + 1 });
  }
  if (next.length < fresh.length)
    gaps.push({
      part: partNames.error,
      reason: `${fresh.length - next.length} more errors hang on "${(target.message ?? '').slice(0, 60)}"`,
    });
  return next;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const asError = (value: unknown): SerializedError =>
  isObject(value) ? (value as unknown as SerializedError) : { type: typeof value, isError: false };

function isRawFrame(value: unknown): value is RawFrame {
  if (!isObject(value)) return false;
  const { functionName, scriptId, url, line, column } = value;
  return (
    [functionName, scriptId, url].every((field) => typeof field === 'string') &&
    [line, column].every((field) => Number.isInteger(field) && (field as number) >= 0)
  );
}

/** A class that extends Error and sets no name says `Error` of itself; Node prints its class then, and so do we. */
function nameOf(name: string | undefined, className: string | undefined): string | undefined {
  return name === 'Error' && className !== undefined ? className : name;
}
