/**
 * The callers of a function, read from a stack captured here. If the program has frozen Error (--frozen-intrinsics), the text
 * of the stack is parsed instead of V8's call sites.
 */
import { indexOf, isArray, lastIndexOf, sliceText } from './intrinsics.ts';
import { makeStack } from './own-stack.ts';

export interface Caller {
  /** As V8 returns it, with the receiver's class if known; empty at top level. */
  functionName: string;
  /** URL or path; `node:events` and the like for Node's own files. */
  file: string;
}

/** Not an array, so that a setter of `0` that the program may have put on Array.prototype is not called. */
type List<Item> = { [at: number]: Item; length: number };
const emptyList = <Item>(): List<Item> => ({ __proto__: null, length: 0 }) as unknown as List<Item>;

/** The innermost `limit` callers of the function that calls this one, innermost first. */
export function readCallers(limit: number): Readonly<List<Caller>> {
  try {
    const stack = makeStack(limit + ownFrames, keepSites);
    if (isArray(stack)) return fromSites(stack as NodeJS.CallSite[]);
    return typeof stack === 'string' ? fromText(stack) : emptyList();
  } catch {
    return emptyList();
  }
}

const keepSites = (_error: Error, sites: NodeJS.CallSite[]): NodeJS.CallSite[] => sites;

/** makeStack, readCallers, and the function that called it. */
const ownFrames = 3;

function fromSites(sites: NodeJS.CallSite[]): List<Caller> {
  const callers = emptyList<Caller>();
  for (let at = ownFrames; at < sites.length; at++) {
    const site = sites[at] as NodeJS.CallSite;
    callers[callers.length++] = {
      functionName: site.getFunctionName() ?? '',
      file: site.getFileName() ?? '',
    };
  }
  return callers;
}

/** Parses lines like `    at process.emit (node:events:524:28)` and `    at file:///a.mjs:1:2`. */
function fromText(stack: string): List<Caller> {
  const callers = emptyList<Caller>();
  let seen = 0;
  for (let from = indexOf(stack, '\n    at '); from >= 0; ) {
    const next = indexOf(stack, '\n    at ', from + 1);
    const line = next < 0 ? sliceText(stack, from + 8) : sliceText(stack, from + 8, next);
    if (seen++ >= ownFrames) callers[callers.length++] = fromLine(line);
    from = next;
  }
  return callers;
}

function fromLine(line: string): Caller {
  const open = lastIndexOf(line, ' (');
  const place = open < 0 ? line : sliceText(line, open + 2, -1);
  const column = lastIndexOf(place, ':');
  const row = lastIndexOf(place, ':', column - 1);
  return { functionName: open < 0 ? '' : sliceText(line, 0, open), file: sliceText(place, 0, row) };
}
