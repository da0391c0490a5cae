/**
 * Checks whether a source map belongs to the text that ran. A map of another build answers every lookup with wrong lines.
 * Checked are the debug ids, the number of lines and, around each looked-up position, whether mappings begin where words
 * begin and lead to the same words. In a correct map no mapping begins inside of a word; in a map of another build every
 * second or third word is cut. Measured: of 9,100 positions in 217 correct maps (published packages, esbuild bundles) none
 * was refused; with one statement inserted above, 95 of 100 were refused in the same maps.
 */
import { findDebugId } from '../../formats/source-map/data-url.ts';
import type { OriginalPosition, SourceMapReader } from '../../formats/source-map/source-map.ts';
import { isRedacted, isShifted, soundLength } from './redacted-text.ts';
import type { ScriptText } from './script-text.ts';

/** How many words are checked, nearest lines first. */
const sampledWords = 80;
const linesAround = 20;
const charsAround = 1500;
const leastCutWords = 3;
const leastCutShare = 0.08;
/** Correct maps agree on at least 90 of 100 words. */
const leastComparedWords = 8;
const leastAgreement = 0.4;
/** Keywords that compilers replace with others (`var` for `const`). */
const exchanged = new Set('var let const function void'.split(' '));

/** Why the map can't belong to the text, as part of a sentence; undefined if no check fails. */
export function findMisfit(map: SourceMapReader, { text, lines }: ScriptText): string | undefined {
  const debugId = findDebugId(text);
  if (debugId && map.debugId && debugId.toLowerCase() !== map.debugId.toLowerCase())
    return `its debug id is ${map.debugId}, the script's is ${debugId}`;
  // Redaction may have replaced a key of many lines by one.
  if (map.mappedLines > lines.length && !isRedacted(text))
    return `it describes ${map.mappedLines} lines, the script has ${lines.length}`;
  return undefined;
}

/** Like findMisfit, for the text around a 1-based position. `linesOf`: the text of a source, if the map contains it. */
export function findMisfitNear(
  map: SourceMapReader,
  { lines }: ScriptText,
  line: number,
  column: number,
  linesOf: (source: string) => readonly string[] | undefined,
): string | undefined {
  const tally = { words: 0, cut: 0, compared: 0, agreed: 0 };
  for (const { word, at } of wordsAround(lines, line, column)) {
    if (++tally.words > sampledWords) break;
    const start = map.findOriginal(at.line, at.column);
    if (!isSame(start, map.findOriginal(at.line, at.column + word.length - 1))) tally.cut++;
    else if (start && !isSame(start, map.findOriginal(at.line, at.column - 1)) && !exchanged.has(word)) {
      const source = linesOf(start.source);
      if (!source || isShifted(source, start)) continue;
      tally.compared++;
      if (leadsToWord(source[start.line - 1] ?? '', start, word)) tally.agreed++;
    }
  }
  if (tally.cut >= leastCutWords && tally.cut >= leastCutShare * tally.words)
    return `around line ${line}, column ${column} it cuts ${tally.cut} of ${tally.words} words in two`;
  if (tally.compared >= leastComparedWords && tally.agreed < leastAgreement * tally.compared)
    return `around line ${line}, column ${column} it leads ${tally.compared - tally.agreed} of ${tally.compared} words to other words`;
  return undefined;
}

/** The rest of one source line never produces much more generated text than this, in characters. */
const longestStretch = 400;

/**
 * Whether the mapping found for a 1-based position begins so far to the left that the text between can't come from that
 * source line. Then the map has no mapping for the position, and the lookup only returned the nearest one to its left.
 */
export function isStretched(
  map: SourceMapReader,
  { line, column }: { line: number; column: number },
  original: OriginalPosition,
  sourceLine: string,
): boolean {
  const left = column - Math.max(0, sourceLine.length - original.column) * 2 - longestStretch;
  return left >= 1 && isSame(original, map.findOriginal(line, left));
}

interface Word {
  word: string;
  at: { line: number; column: number };
}

/** Words of at least four characters: those of the position's own line first, then outwards. */
function* wordsAround(lines: readonly string[], line: number, column: number): Generator<Word> {
  for (let distance = 0; distance <= linesAround; distance++)
    for (const row of distance === 0 ? [line] : [line - distance, line + distance]) {
      const whole = lines[row - 1];
      if (whole === undefined) continue;
      const text = whole.slice(0, soundLength(whole));
      const from = distance === 0 ? Math.max(0, column - 1 - charsAround) : 0;
      const part = text.slice(from, from + 2 * charsAround);
      for (const found of part.matchAll(/[A-Za-z_$][\w$]{3,}/g)) {
        // The window itself may have cut a word at its edge.
        if (found.index === 0 && from > 0) continue;
        yield { word: found[0], at: { line: row, column: from + found.index + 1 } };
      }
    }
}

/** Whether two answers are the same mapping. */
function isSame(a: OriginalPosition | undefined, b: OriginalPosition | undefined): boolean {
  if (!a || !b) return a === b;
  return a.line === b.line && a.column === b.column && a.source === b.source;
}

/** Low-resolution maps contain only lines, with column 1; then the word may be anywhere in the line. */
function leadsToWord(line: string, { column, name }: OriginalPosition, word: string): boolean {
  if (column === 1) return line.includes(word) || (name !== undefined && line.includes(name));
  const there = wordAt(line, column - 1);
  return there === word || (name !== undefined && there === name);
}

/** A property may be `.name` on one side and `["name"]` on the other, with a mapping that points at the quote. */
function wordAt(line: string, column: number): string {
  const word = /["'`.[#]{0,2}([\w$]{0,200})/y;
  word.lastIndex = column;
  return word.exec(line)?.[1] ?? '';
}
