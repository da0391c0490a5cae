/**
 * Dumps of bytes in rows (`hexdump -C`, `xxd`, packet tracers). The bytes of the rows are decoded as one text, and if it
 * contains a secret, the whole dump is replaced, both the bytes and the readable column. Knows only the format of rows.
 */
import type { DecodedRun } from './encoded-text.ts';
import type { Page } from './page.ts';

const mostRows = 256;
const longestRow = 120;
/** Offset, bytes in groups of one, two or four, and their readable form. */
const row =
  /^(?:0x)?[0-9a-f]{4,8}:?[ \t]{1,3}((?:[0-9a-f]{2}(?: {0,2}|\t)){1,16})(?:[ \t]{0,60}[ \t|][ -~\u2022\u00b7]{0,18})?\r?$/i;

/**
 * Decodes the dump whose first row starts at `start`; undefined unless there are two rows. `end` is the end of the last row.
 */
export function decodeDump({ text, units }: Page, start: number): DecodedRun | undefined {
  const bytes: string[] = [];
  let at = start;
  let end = start;
  for (let rows = 0; rows < mostRows; rows++) {
    const rest = text.slice(at, at + longestRow);
    const line = /^[^\n]*/.exec(rest)![0];
    const match = row.exec(line);
    if (!match) break;
    bytes.push(match[1]!.replace(/\s+/g, ''));
    end = at + line.length;
    if (units[end] !== 10) break;
    at = end + 1;
  }
  if (bytes.length < 2) return undefined;
  return { text: Buffer.from(bytes.join(''), 'hex').toString('latin1'), end };
}
