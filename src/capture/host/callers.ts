/**
 * Who called, read from a stack made here. Where the program has frozen Error (--frozen-intrinsics) the text that is made then is
 * read instead of V8's call sites.
 */
import { indexOf, isArray, lastIndexOf, sliceText } from './intrinsics.ts';
import { makeStack } from './own-stack.ts';

export interface Caller {
  /** As V8 gives it, with the receiver's class where it is known; empty at top level. */
  functionName: string;
  /** URL or path; `node:events` and the like for Node's own. */
  file: string;
}

/** No array: what the program may have put on Array.prototype, a setter of `0`, is not asked. */
type List<Item> = { [at: number]: Item; length: number };
const emptyList = <Item>(): List<Item> => ({ __proto__: null, length: 0 }) as unknown as List<Item>;

/** The innermost `limit` callers of who called this, innermost first. */
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

/** The stack's maker, this file's, and that of who asked. */
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

/** Lines as `    at process.emit (node:events:524:28)` and `    at file:///a.mjs:1:2`. */
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
