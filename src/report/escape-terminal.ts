/**
 * Makes text from a bundle safe for a terminal and for a CI log. Characters that control a terminal, change the writing
 * direction, or are invisible are escaped instead of removed (removal leaves the contents of an escape sequence: see
 * CVE-2021-25743). Both functions are one linear pass and return clean text unchanged.
 */

/**
 * Controls, format characters (bidi, zero width, tags), line separators, lone surrogates; then letters without a glyph.
 * Excludes tab and newline, and the two joiners, which emoji and several scripts need.
 */
export const unsafeCharacters =
  /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0/gu;

function visible(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point === 0x1b) return '\\x1b';
  if (point === 0x0d) return '\\r';
  if (point < 0x100) return `\\x${point.toString(16).padStart(2, '0')}`;
  return point < 0x10000 ? `\\u${point.toString(16).padStart(4, '0')}` : `\\u{${point.toString(16)}}`;
}

/** Matches most texts, several times faster than searching for the characters above. */
const plain = /^[\n\t\x20-\x7e]*$/;

/** `text` with every control or invisible character escaped, e.g. as `\x1b`; tabs and newlines are kept. */
export function escapeTerminal(text: string): string {
  return plain.test(text) ? text : text.replace(unsafeCharacters, visible);
}

/** Like `escapeTerminal`, but on one line: newlines and tabs are escaped too. */
export function escapeLine(text: string): string {
  return escapeTerminal(text).replace(/[\n\t]/g, (c) => (c === '\n' ? '\\n' : '\\t'));
}

/**
 * Changes a finished document so that no CI runner takes a line for a command: GitHub's runner reads `::name::` at the start
 * of a line after white space, and `##[name]` anywhere; Azure's reads `##vso[` anywhere. Whatever the variables say where it
 * is printed: those of a runner are missing in a container or on a machine that a step of its job asks, and a document may be
 * written to a file that a job prints later.
 */
export function defuseWorkflowCommands(document: string): string {
  return document.replace(/^([^\S\n]*):(?=:)/gm, '$1\\x3a').replace(/##(?=\[|vso\[)/g, '#\\x23');
}
