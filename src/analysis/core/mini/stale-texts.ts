/**
 * Blanks leftover text on stacks. Stacks are kept in whole pages for debuggers, and contain text of calls that ended long
 * ago, often half overwritten, so that no rule recognises the rest of a secret. Unwinding needs no text: whatever the account
 * didn't read is replaced, without changing lengths.
 */
import { touchBlockBytes } from '../../../bytes/memory.ts';

/** Longer than an address, whose upper two bytes are zero. */
const shortestText = 7;
const star = 0x2a;

/** Changes `target`, the memory of a stack at address `start`. `read`: numbers of the blocks that were read. */
export function blankStaleTexts(target: Uint8Array, start: number, read: ReadonlySet<number>): void {
  blankRuns(target, start, read, 1, 0);
  for (const odd of [0, 1]) blankRuns(target, start, read, 2, odd);
}

/** Characters of `size` bytes; the second byte of two must be zero. */
function blankRuns(
  target: Uint8Array,
  start: number,
  read: ReadonlySet<number>,
  size: 1 | 2,
  from: number,
): void {
  const isText = (at: number) => {
    const byte = target[at] ?? 0;
    return ((byte >= 0x20 && byte < 0x7f) || byte === 9) && (size === 1 || target[at + 1] === 0);
  };
  for (let at = from; at < target.length; at += size) {
    let end = at;
    while (end + size <= target.length && isText(end)) end += size;
    if ((end - at) / size >= shortestText && !wasRead(start + at, start + end, read))
      for (let i = at; i < end; i += size) target[i] = star;
    at = Math.max(at, end - size);
  }
}

/** A text that the account shows was read from its first character to its last. */
function wasRead(from: number, to: number, read: ReadonlySet<number>): boolean {
  for (let block = Math.floor(from / touchBlockBytes); block * touchBlockBytes < to; block++)
    if (!read.has(block)) return false;
  return true;
}
