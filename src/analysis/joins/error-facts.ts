/** Converts the thrown value of `error.json` for the account, with reconstructed frames for each error of the chain. */
import type { RawFrame, SerializedError } from '../../bundle/layout/bundle.ts';
import type { ErrorFacts } from '../../model/account.ts';
import { clip } from '../../model/quantities.ts';
import type { Frame } from '../../model/thread.ts';
import type { Gap } from '../../model/verdict.ts';
import type { BundleParts } from '../bundle-parts.ts';
import { defined } from '../parts/fields.ts';
import type { StackInput } from '../stacks/reconstruct.ts';

/** Converts the text of a stack, and V8's own positions if known, to frames. Never throws. */
export type FrameReader = (input: StackInput) => Promise<Frame[]>;

/** Maximum number of stacks of an aggregate that are reconstructed; the others remain text. */
const maxStacks = 40;
const maxFieldsChars = 200;

export async function joinErrorFacts(
  { error: part, trigger }: BundleParts,
  readFrames: FrameReader,
  gaps: Gap[],
): Promise<ErrorFacts | undefined> {
  if (!part?.error) return undefined;
  const budget = { stacks: maxStacks };
  const facts = await joinOne(part.error, part.frames, readFrames, budget, gaps);
  return trigger?.handledByHost === undefined ? facts : { ...facts, handled: trigger.handledByHost };
}

/** The reasons of aborts, each like a thrown value. */
export async function joinAbortReasons(
  { error: part }: BundleParts,
  readFrames: FrameReader,
  gaps: Gap[],
): Promise<ErrorFacts[] | undefined> {
  if (!part?.abortReasons) return undefined;
  const reasons: ErrorFacts[] = [];
  for (const reason of part.abortReasons)
    reasons.push(await joinOne(reason, undefined, readFrames, { stacks: 1 }, gaps));
  return reasons;
}

async function joinOne(
  error: SerializedError,
  rawFrames: RawFrame[] | undefined,
  readFrames: FrameReader,
  budget: { stacks: number },
  gaps: Gap[],
): Promise<ErrorFacts> {
  for (const reason of error.gaps ?? []) gaps.push({ part: 'error.json', reason });
  const hasStack = error.stack !== undefined || rawFrames !== undefined;
  budget.stacks -= hasStack ? 1 : 0;
  const input = defined({ stackText: error.stack, message: error.message, frames: rawFrames });
  const frames = hasStack && budget.stacks >= 0 ? await readFrames(input) : undefined;
  const errors: ErrorFacts[] = [];
  for (const each of error.errors ?? [])
    errors.push(await joinOne(each, undefined, readFrames, budget, gaps));
  return defined({
    name: nameOf(error),
    message: error.message ?? textOf(error),
    code: error.code === undefined ? undefined : String(error.code),
    cause:
      error.cause && !isEmpty(error.cause)
        ? await joinOne(error.cause, undefined, readFrames, budget, gaps)
        : undefined,
    errors: errors.length ? errors : undefined,
    properties: error.properties,
    stackText: error.stack,
    frames: frames?.length ? frames : undefined,
  });
}

/** `cause: {}`, which some clients set. */
const isEmpty = ({ isError, type, code, properties }: SerializedError): boolean =>
  !isError && type === 'object' && code === undefined && Object.keys(properties ?? {}).length === 0;

/** For an object that is neither an error nor has a text, its fields: `{ code: "E_BUSY", status: 503 }`. */
function textOf({ isError, type, text, code, properties }: SerializedError): string | undefined {
  if (isError || type !== 'object') return text;
  const fields = Object.entries({ ...(code !== undefined && { code }), ...properties });
  if (fields.length === 0) return text;
  return clip(
    `{ ${fields.map(([name, value]) => `${name}: ${shortOf(value)}`).join(', ')} }`,
    maxFieldsChars,
  );
}

function shortOf(value: unknown): string {
  if (Array.isArray(value)) return '[…]';
  return typeof value === 'object' && value !== null ? '{…}' : JSON.stringify(value);
}

/**
 * The `name` of a class that extends Error without setting one is `Error`. Like Node, this returns the class name instead,
 * except for names of one or two letters, which come from a minifier.
 */
function nameOf({ name, className }: SerializedError): string | undefined {
  return name === 'Error' && /^[A-Z]\w{2,}$/.test(className ?? '') ? className : name;
}
