/**
 * The end of a log in the form in which it may leave the process: redacted together with much more text before it, so that no
 * secret is cut, and without a word that is still being written.
 */
import type { LogTail } from './log-tap.ts';

const slackChars = 8192;
const border = /[\s"'`,;{}()<>[\]]/;

/** The newest lines, at most `maxChars` of them. */
export function renderLogTail(
  tail: Pick<LogTail, 'pieces' | 'isCut'>,
  maxChars: number,
  redact: (text: string) => string,
): string {
  const held = tail.pieces.join('');
  const raw = held.slice(-(maxChars + slackChars));
  const clean = redact(withoutOpenWord(raw));
  const isCut = tail.isCut || raw.length < held.length || clean.length > maxChars;
  if (!isCut) return clean;
  const end = clean.slice(-maxChars);
  return end.slice(end.indexOf('\n') + 1);
}

function withoutOpenWord(text: string): string {
  if (text.endsWith('\n')) return text;
  let end = text.length;
  while (end > 0 && !border.test(text[end - 1] ?? ' ')) end--;
  return text.slice(0, end);
}
