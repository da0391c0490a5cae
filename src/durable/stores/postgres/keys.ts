/** The texts by which the tables know runs, answers and queues. */
import { createHash } from 'node:crypto';

const hashMark = '+sha256-';

/** Whether a key may be the short form of a longer id. */
export const isShortened = (key: string): boolean => key.includes(hashMark);

/** PostgreSQL accepts at most 2,700 bytes in an index, and 8,000 in a notification. */
const longestKey = 1_000;

export function keyOf(text: string): string {
  if (Buffer.byteLength(text) <= longestKey) return text;
  const start = Array.from(text.slice(0, 200)).slice(0, -1).join('');
  return `${start}${hashMark}${createHash('sha256').update(text).digest('hex')}`;
}

/** For the columns of queues. */
export const queueKeyOf = (text: string | undefined): string | null =>
  text === undefined ? null : keyOf(text);
