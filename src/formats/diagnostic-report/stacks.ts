/**
 * The JavaScript and native stacks of the thread that wrote the report. V8 can't walk the JavaScript stack if the heap is
 * exhausted, or outside of JavaScript. The report then contains a message instead, and the stack is absent here.
 */
import { addressIn, asText, entriesIn, type Json, objectIn, present, textIn, textsIn } from './lenient.ts';

export interface ReportStack {
  message?: string;
  /** As in `error.stack`; without frames if V8 could not walk the stack. */
  stackText: string;
  /** Own properties of the error; Node prints all values as strings. */
  properties: Record<string, string>;
}

/** Undefined if the report has no stack, or states that there was none. */
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
  /** The object that contains the symbol, as printed: `node`, or a path. */
  object?: string;
}

/** A symbol is printed as `name [object]` or `name+0x12 [object]`; either part may be missing. */
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
