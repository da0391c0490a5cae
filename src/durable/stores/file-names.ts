/** File names for ids and other texts of the host. */
import { createHash } from 'node:crypto';
import { AgentdumpError } from '../../errors.ts';

const longestName = 200;
/** Unambiguous, because `encodeURIComponent` never returns a plus. */
export const hashMark = '+sha256-';

/** A file name for the text that is valid in every file system; for a long text its start and its hash. */
export function encodeName(text: string): string {
  const name = encodeURIComponent(text).replace(/^\./, '%2E').replace(/\*/g, '%2A');
  if (name === '') throw new AgentdumpError('usage', 'the id of a run must not be empty', { argument: 'id' });
  if (name.length <= longestName) return name;
  // Not within an escaped character.
  const start = name.slice(0, 100).replace(/%.?$/, '');
  return `${start}${hashMark}${createHash('sha256').update(text).digest('hex')}`;
}

/** Like `encodeName`, but a long one is only its hash, because it is never decoded. */
export function answerName(path: string): string {
  const isShort = path !== '' && encodeURIComponent(path).length <= longestName;
  return isShort ? encodeName(path) : `sha256-${createHash('sha256').update(path).digest('hex')}`;
}

export function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
