/** YAML-specific forms of a name and its value: the value alone on the next line, and the data of a Kubernetes secret. */
import type { Page } from '../scan/page.ts';
import { indentOf, readIndented, skipBlanks, startsLine } from '../values/value-span.ts';

/** Distance within which a manifest's kind is searched for around its data. */
const manifestReach = 1500;
/** Behind an escaped line break, no word boundary is seen. */
const secretKind = /(?:\b|(?<=\\[nrt]))kind\\*["']?:[ ]?\\*["']?Secret\b/g;
const below = /\n([ \t]{1,40})(?=[^\s:#"'{}[\]-]{4,200}[ \t]*(?:\r?\n|$))/y;

/**
 * For `name:` and a single, deeper indented word in the next line: the start of that word. Otherwise returns the line break.
 */
export function valueBelow(page: Page, nameStart: number, lineBreak: number): number {
  if (!startsLine(page, nameStart)) return lineBreak;
  below.lastIndex = lineBreak;
  const match = below.exec(page.text);
  return match && match[1]!.length > indentOf(page, nameStart) ? lineBreak + 1 + match[1]!.length : lineBreak;
}

/** The end of the `data:` object of a Kubernetes secret, for a sign that ends at `behind`; undefined for other data. */
export function findSecretData(page: Page, nameStart: number, behind: number): number | undefined {
  const { text, units } = page;
  const at = skipBlanks(page, behind, false);
  const isInLiteral = units[at] === 92;
  if (units[at] !== 123 && units[at] !== 10 && !isInLiteral) return undefined;
  secretKind.lastIndex = 0;
  const around = text.slice(Math.max(0, nameStart - manifestReach), nameStart + manifestReach);
  if (!secretKind.test(around)) return undefined;
  if (isInLiteral) return escapedLinesEnd(text, nameStart, at);
  const end =
    units[at] === 123
      ? text.indexOf('}', at)
      : (readIndented(page, at + 1, indentOf(page, nameStart))?.end ?? at);
  return Math.max(at, end);
}

const escapedLine = /(?:\\{1,8}r)?\\{1,8}n([ ]*)[^\\"\n]{0,400}(?:\\{1,8}"[^\\"\n]{0,400}){0,4}/y;
const mostLines = 200;

/** The end of the lines that are indented deeper than the name at `nameStart`, where their breaks are escaped. */
function escapedLinesEnd(text: string, nameStart: number, at: number): number {
  let indent = 0;
  while (text[nameStart - 1 - indent] === ' ') indent += 1;
  let end = at;
  for (let lines = 0; lines < mostLines; lines++) {
    escapedLine.lastIndex = end;
    const match = escapedLine.exec(text);
    if (!match || match[1]!.length <= indent) break;
    end = escapedLine.lastIndex;
  }
  return end;
}
