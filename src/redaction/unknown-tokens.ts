/**
 * Tokens of issuers that no rule knows, by their build: a short prefix and a long random body (`acme_live_x…`), or a long
 * random last part of a link that lets in whoever has it (`/hooks/x…`, `/reset-password/x…`).
 */
import type { NameBook } from './name-book.ts';
import type { Page } from './page.ts';
import { isPublicId, looksChosen, looksRandom } from './values.ts';

/** A digest behind these is a key that somebody drew, not the name of a content. */
export const keyedDigest = /^[a-z]{2,8}[-_](?:pat|sk|key|api|live|secret|token)[-_][0-9a-f]{32,64}$/;
const prefixed =
  /^(?<prefix>[a-z][a-z0-9]{1,9}(?:[-_][a-z]{2,6}){0,2})[-_](?<body>[A-Za-z0-9][A-Za-z0-9_-]{27,})$/;
/** What names contents, builds and styles, and not the right to something. */
const namesContent =
  /^(?:sha\d*|md5|blob|chunk|index|main|vendor|app|page|style|css|sc|pack|tree|commit|ref|rev|image|img|font|data|base64|webpack|vite|next|nuxt|uuid|guid|cache|etag|dpl|prj|team|bld|trace|span|h\d|rec|doc|pos)\b/i;
const lettingIn =
  /(?:hooks?|services|reset\w{0,12}(?:[-_]password)?|invit\w{1,8}|magic(?:[-_]?link)?|confirm\w{0,8}|verify\w{0,8}|activate|unsubscribe|tokens?|bot|share)(?:\/[\w@-]{1,60}){0,2}\/$/i;

/** The secret end of `word`; `before` is what stands before it in a path, or ''. */
export function findTokenBody(word: string, before: string): string | undefined {
  if (before !== '' && lettingIn.test(before) && isLongRandom(word, 20)) return word;
  const { prefix, body } = prefixed.exec(word)?.groups ?? {};
  if (prefix === undefined || body === undefined || before !== '') return undefined;
  if (namesContent.test(prefix) || isPublicId(word) || /publi|(?:^|[-_])p[bk]$/i.test(prefix))
    return undefined;
  return isLongRandom(body, 28) ? body : undefined;
}

/** Two digits and three letters at least. */
const mixed = /^(?=\D*\d\D*\d)(?=[^A-Za-z]*[A-Za-z][^A-Za-z]*[A-Za-z][^A-Za-z]*[A-Za-z])/;
const maySpeak = /pass|secret|token|cred|key|licen/i;
const telling =
  /(?<name>[\w.-]{0,40}(?:password|passwd|passphrase|passcode|secret|token|credential|(?:api|auth|private|unseal)[-_ ]?key|licen[sc]e))(?![a-z])(?<between>[^\n&]{0,60})$/i;

/** A random word in a line that speaks of a secret before it, with at most one sign and no other name between. */
export function isSpokenOf({ text }: Page, start: number, word: string, names: NameBook): boolean {
  if (!mixed.test(word)) return false;
  const before = text.slice(Math.max(0, start - 110), start);
  if (!maySpeak.test(before)) return false;
  const { name, between } = telling.exec(before)?.groups ?? {};
  if (name === undefined || between === undefined || (between.match(/[:=]/g) ?? []).length > 1) return false;
  if (/["'],\s*["']?\w+["']?\s*[:=]|\bid\b|\w_id\b|https?:/i.test(between)) return false;
  if (names.judge(name.replace(' ', '_')).strength < 2 && !/licen[sc]e$/i.test(name)) return false;
  return looksRandom(word, 16) && looksChosen(word) && !/^[a-z]{2,12}[-_]/.test(word);
}

/** One run of it alone is random, in both cases and digits; with small letters only it must be longer. */
function isLongRandom(body: string, least: number): boolean {
  if (isPublicId(body) || /^[0-9a-fA-F-]+$/.test(body)) return false;
  const run = Math.max(...body.split(/[-_]/).map((part) => part.length));
  const digits = body.replace(/\D/g, '').length;
  if (digits < 2 || run < 8 || !looksRandom(body, least)) return false;
  const isMixed = /[a-z].*[a-z]/.test(body) && /[A-Z].*[A-Z]/.test(body);
  return isMixed ? run >= 12 || body.length >= 36 : run >= 32 && digits >= 4;
}
