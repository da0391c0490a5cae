/**
 * Whether a source map belongs to the text that ran. A map of another build answers every question, with wrong lines;
 * so what can be checked is checked: the ids of both, the extent of the text, and whether tokens are the same on both
 * sides. Tokens: a right map leads most keywords, property names and identifiers of the generated text to the same
 * word in the source, also after minifying; a wrong one leads few. Thresholds measured on fixtures/source-maps.
 */
import { findDebugId } from '../../formats/source-map/data-url.ts';
import type { SourceMapReader } from '../../formats/source-map/source-map.ts';
import { beginsMapping } from './lookup.ts';
import type { ScriptText } from './scripts.ts';

const sampledTokens = 160;
/** Fewer comparable tokens than this prove nothing. */
const fewestTokens = 12;
/** Right maps of seven tools agree on 0.66 and more of the tokens, maps of another build on 0.2 and less. */
const leastAgreement = 0.35;
/** Words that bundlers put in the place of others (`var` for `const`) or that stand for nothing in the source. */
const uncomparable = new Set('var let const function void this'.split(' '));

/** Why the map can't be that of the text, as half a sentence; undefined when nothing speaks against it. */
export function findMisfit(
  map: SourceMapReader,
  generated: ScriptText,
  contentLines: (source: string) => readonly string[] | undefined,
): string | undefined {
  const debugId = findDebugId(generated.text);
  if (debugId && map.debugId && debugId.toLowerCase() !== map.debugId.toLowerCase())
    return `its debug id is ${map.debugId}, the script's is ${debugId}`;
  if (map.mappedLines > generated.lines.length)
    return `it describes ${map.mappedLines} lines, the script has ${generated.lines.length}`;
  const { agreed, compared } = compareTokens(map, generated, contentLines);
  if (compared >= fewestTokens && agreed < leastAgreement * compared)
    return `${agreed} of ${compared} sampled words are the same in the source that it leads to`;
  return undefined;
}

export interface TokenAgreement {
  agreed: number;
  compared: number;
}

/** Samples words of three letters and more, spread over the text, that a mapping begins at. */
export function compareTokens(
  map: SourceMapReader,
  generated: ScriptText,
  contentLines: (source: string) => readonly string[] | undefined,
): TokenAgreement {
  const result = { agreed: 0, compared: 0 };
  for (const { word, line, column } of sampleWords(generated)) {
    const original = map.findOriginal(line, column);
    if (!original || !beginsMapping(map, line, column, original)) continue;
    const lines = contentLines(original.source);
    if (!lines) continue;
    const there = wordAt(lines[original.line - 1] ?? '', original.column - 1);
    result.compared++;
    if (there === word || (original.name !== undefined && original.name === there)) result.agreed++;
  }
  return result;
}

function* sampleWords(generated: ScriptText): Generator<{ word: string; line: number; column: number }> {
  const { lines, text } = generated;
  const stride = Math.max(1, Math.floor(text.length / sampledTokens));
  const words = /[A-Za-z_][A-Za-z0-9_]{2,40}/g;
  let wanted = 0;
  let start = 0;
  for (const [row, line] of lines.entries()) {
    while (wanted < start + line.length) {
      words.lastIndex = Math.max(0, wanted - start);
      const found = words.exec(line);
      if (!found) break;
      const isWhole = found.index === 0 || !/[\w$]/.test(line[found.index - 1] as string);
      if (isWhole && !uncomparable.has(found[0]))
        yield { word: found[0], line: row + 1, column: found.index + 1 };
      wanted = start + words.lastIndex + (isWhole ? stride - 1 : 0);
    }
    start += line.length + 1;
  }
}

function wordAt(line: string, column: number): string {
  const word = /[\w$]{0,60}/y;
  word.lastIndex = column;
  return word.exec(line)?.[0] ?? '';
}
