/**
 * The JavaScript stack of the thread that wrote the report, and its native one. V8 can walk no JavaScript stack when
 * the heap is exhausted, nor outside of JavaScript: then the report says so in words, and there is none here.
 */
import { addressIn, asText, entriesIn, type Json, objectIn, present, textIn, textsIn } from './lenient.ts';

export interface ReportStack {
  message?: string;
  /** As `error.stack` would have it; without frames when V8 could not walk the stack. */
  stackText: string;
  /** Own properties of the error; Node prints all values as texts. */
  properties: Record<string, string>;
}

/** Undefined when the report has no stack, or says itself that there was none. */
export function readReportStack(json: Json | undefined): ReportStack | undefined {
  const message = textIn(json, 'message');
  const lines = textsIn(json, 'stack').filter((line) => line !== 'Unavailable.');
  const known = message === 'No stack.' || message === 'Unavailable.' ? undefined : message;
  if (known === undefined && lines.length === 0) return undefined;
  return {
    ...present({ message: known }),
    stackText: [known ?? '', ...lines.map((line) => `    ${line}`)].join('\n'),
    properties: entriesIn(objectIn(json, 'errorProperties'), asText),
  };
}

export interface ReportNativeFrame {
  /** `0x` and lower-case digits, without leading zeros. */
  address: string;
  symbol?: string;
  /** The object that the symbol was found in, as printed: `node`, or a path. */
  object?: string;
}

/** A symbol is printed `name [object]` or `name+0x12 [object]`; either may be missing. */
export function readNativeStack(frames: readonly Json[]): ReportNativeFrame[] {
  return frames.flatMap((frame) => {
    const address = addressIn(frame, 'pc');
    if (address === undefined) return [];
    const printed = textIn(frame, 'symbol') ?? '';
    const open = printed.endsWith(']') ? printed.lastIndexOf('[') : -1;
    const symbol = (open < 0 ? printed : printed.slice(0, open)).trim();
    const object = open < 0 ? '' : printed.slice(open + 1, -1);
    return [{ address, ...(symbol ? { symbol } : {}), ...(object ? { object } : {}) }];
  });
}
