/** The thrown value of `error.json` as the account tells it, each error of the chain with its reconstructed frames. */
import type { RawFrame, SerializedError } from '../../bundle/layout/bundle.ts';
import type { ErrorFacts } from '../../model/account.ts';
import { clip } from '../../model/quantities.ts';
import type { Frame } from '../../model/thread.ts';
import type { Gap } from '../../model/verdict.ts';
import type { BundleParts } from '../bundle-parts.ts';
import { defined } from '../parts/fields.ts';
import type { StackInput } from '../stacks/reconstruct.ts';

/** Turns the text of a stack, and V8's own positions where known, into frames. Never throws. */
export type FrameReader = (input: StackInput) => Promise<Frame[]>;

/** Stacks of a large aggregate beyond these stay text. */
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
    cause: error.cause && (await joinOne(error.cause, undefined, readFrames, budget, gaps)),
    errors: errors.length ? errors : undefined,
    properties: error.properties,
    stackText: error.stack,
    frames: frames?.length ? frames : undefined,
  });
}

/** Of an object that is no error and bears no message, its fields: `{ code: "E_BUSY", status: 503 }`. */
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
 * A class that extends Error and sets no name says `Error` of itself; Node prints its class then, and so do we, but for
 * the one or two letters that a minifier leaves.
 */
function nameOf({ name, className }: SerializedError): string | undefined {
  return name === 'Error' && /^[A-Z]\w{2,}$/.test(className ?? '') ? className : name;
}
