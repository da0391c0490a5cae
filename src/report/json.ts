/**
 * The account as one JSON document. Characters that control a terminal or hide text, and the marks of CI commands, are
 * written as `\u` escapes: the same values for a parser, harmless if the document is printed.
 */
import type { Account } from '../model/account.ts';
import { unsafeCharacters } from './escape-terminal.ts';

export function renderJson(account: Account): string {
  return `${harmlessJson(JSON.stringify(account, null, 2))}\n`;
}

/** Works for any JSON text, because the replaced characters only occur inside of strings. */
export function harmlessJson(json: string): string {
  return json.replace(unsafeCharacters, unicodeEscape).replace(/##(?=\[|vso\[)/g, '#\\u0023');
}

function unicodeEscape(character: string): string {
  let escaped = '';
  for (let i = 0; i < character.length; i++)
    escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return escaped;
}
