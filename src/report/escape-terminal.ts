/**
 * Text from a bundle, made safe for a terminal and for a CI log. Characters that steer a terminal, turn the
 * direction of writing, or can't be seen are shown as escapes instead of being dropped (dropping leaves what an
 * escape sequence carried: see CVE-2021-25743). Both functions are one linear pass and keep clean text as it is.
 */

/**
 * Controls, format characters (bidi, zero width, tags), line separators, lone surrogates; then the letters that draw
 * nothing. Tab and newline stay, and the two joiners, which emoji and several scripts need.
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

/** Most texts are only this, and are found to be so several times faster than to hold nothing of the above. */
const plain = /^[\n\t\x20-\x7e]*$/;

/** `text` with every steering or invisible character written out, e.g. `\x1b`; tabs and newlines stay. */
export function escapeTerminal(text: string): string {
  return plain.test(text) ? text : text.replace(unsafeCharacters, visible);
}

/** The same, on one line: newlines and tabs are written out too. */
export function escapeLine(text: string): string {
  return escapeTerminal(text).replace(/[\n\t]/g, (c) => (c === '\n' ? '\\n' : '\\t'));
}

/**
 * A finished document whose lines no CI runner takes for a command: GitHub's runner reads `::name::` at a line's
 * start after white space, and `##[name]` anywhere; Azure's reads `##vso[` anywhere.
 */
export function defuseWorkflowCommands(document: string): string {
  return document.replace(/^([^\S\n]*):(?=:)/gm, '$1\\x3a').replace(/##(?=\[|vso\[)/g, '#\\x23');
}
