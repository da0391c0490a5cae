/**
 * Finds the rest of a secret after the end of its own format: pieces that source code joins (`"a" + "b"`, a shell's backslash
 * at the line's end), and further codes of a list. Only reads text after a finding.
 */
import type { Finding, Page } from '../scan/page.ts';
import { looksRandom } from './randomness.ts';

const joined = /(["'`])(?:\s{0,40}(?:\+|\.|\\\n|\\)\s{0,60}|\s{1,60})(["'`])([\w+/=.~-]{4,400})(?=["'`])/y;
const continued = /[ \t]{0,40}([\w+/=~-]{8,400})/y;
const none: readonly Finding[] = [];
const mostPieces = 16;

/** The separate pieces that continue `found`, in order. */
export function findContinued(page: Page, found: Finding): readonly Finding[] {
  if (found.rule === 'one-time-code') return findCodes(page, found);
  const first = pieceAt(page, found.end);
  if (!first) return none;
  const rest: Finding[] = [{ ...first, rule: found.rule }];
  for (let { end } = first; rest.length < mostPieces; ) {
    const piece = pieceAt(page, end);
    if (!piece) break;
    rest.push({ ...piece, rule: found.rule });
    end = piece.end;
  }
  return rest;
}

function pieceAt({ text, units }: Page, end: number): { start: number; end: number } | undefined {
  const unit = units[end]!;
  // The finding includes the line break, because a finding never ends after a lone backslash.
  const isCut = units[end - 1] === 10 && units[end - 2] === 92;
  const pattern = isCut ? continued : unit === 34 || unit === 39 || unit === 96 ? joined : undefined;
  if (!pattern) return undefined;
  pattern.lastIndex = end;
  const match = pattern.exec(text);
  const piece = match?.[3] ?? match?.[1] ?? '';
  if (!match || !looksRandom(piece, 8)) return undefined;
  const to = end + match[0].length;
  return { start: to - piece.length, end: to };
}

/** Codes of the same length after the first one. */
function findCodes(page: Page, first: Finding): Finding[] {
  const { text } = page;
  const length = first.end - first.start;
  const next = /[ ,;\n"'\]]{1,6}(?=[A-Za-z\d-]{4,16}(?![\w-]))/y;
  const rest: Finding[] = [];
  for (let end = first.end; rest.length < mostPieces; end += length) {
    next.lastIndex = end;
    if (!next.test(text)) break;
    const start = next.lastIndex;
    const code = text.slice(start, start + length);
    if (!/^[A-Za-z\d-]+$/.test(code) || !/\d/.test(code) || /^[\w-]/.test(text.slice(start + length))) break;
    rest.push({ start, end: start + length, rule: first.rule });
    end = start;
  }
  return rest;
}
