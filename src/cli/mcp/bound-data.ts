/**
 * Sanitizes and limits the data of a tool's answer like its text: control and invisible characters are escaped, long texts
 * are cut, and the longest lists are truncated until the whole fits. The rest keeps its shape.
 */
import { clip } from '../../model/quantities.ts';
import { escapeTerminal } from '../../report/escape-terminal.ts';
import { mapStrings } from '../../report/map-strings.ts';
import { maxAnswerChars } from './envelope.ts';

const longestText = 2000;

export function boundData(data: object): Record<string, unknown> {
  // JSON semantics: undefined properties are absent.
  const plain = JSON.parse(JSON.stringify(data)) as Record<string, unknown>;
  const safe = mapStrings(plain, (value) => clip(escapeTerminal(value), longestText));
  let leftOff = 0;
  while (JSON.stringify(safe).length > maxAnswerChars) {
    const longest = findLongest(safe);
    if (!longest) break;
    leftOff += longest.splice(Math.floor(longest.length / 2)).length;
  }
  return leftOff ? { ...safe, leftOff } : safe;
}

/** The list with the most text that has more than one member; of nested ones with the same text, the innermost. */
function findLongest(data: object): unknown[] | undefined {
  let [found, most]: [unknown[] | undefined, number] = [undefined, 0];
  const open: unknown[] = [data];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const chars = Array.isArray(next) && next.length > 1 ? JSON.stringify(next).length : 0;
    if (chars > most) [found, most] = [next as unknown[], chars];
    open.push(...Object.values(next));
  }
  return found;
}
