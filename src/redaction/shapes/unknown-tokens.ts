/**
 * Tokens of issuers that no rule knows, by their structure: a short prefix and a long random body (`acme_live_x…`), or the
 * long random last part of a link that grants access (`/hooks/x…`, `/reset-password/x…`).
 */

import type { NameBook } from '../names/name-book.ts';
import {
  alnum,
  base64Unit,
  characterTables,
  connector,
  digit,
  hexUnit,
  wordUnit,
} from '../scan/characters.ts';
import { mayBeEncoded } from '../scan/encoded-text.ts';
import type { Finding, Page } from '../scan/page.ts';
import { isExampleOf } from '../values/example-values.ts';
import { isAlphabet, isMark } from '../values/program-values.ts';
import { isPublicId } from '../values/public-ids.ts';
import { isDrawnLetters, looksRandom } from '../values/randomness.ts';
import { looksChosen } from '../values/values.ts';

/** A digest after one of these prefixes is a generated key, not the name of a content. */
const keyedDigest =
  /^(?:[a-z]{2,8}[-_](?:pat|key|api|live|secret|token)|(?:[a-z]{2,8}[-_])?(?:[a-z]{1,6}\d)?[a-z]?[a-z]k\d?)[-_][0-9a-f]{32,64}$/;
const namedDigest = /^([A-Za-z][\w-]{2,40})[-_]([0-9a-f]{32,64})$/;
const dotted = /[\w-]{20,400}(?:\.[\w-]{20,600}){1,3}(?![\w.-])/y;
/** A payload, its time and its signature, in the format of itsdangerous. */
const timed = /[\w-]{20,400}\.[\w-]{6,8}\.[\w-]{27}(?![\w.-])/y;
const prefixed =
  /^(?<prefix>[a-z][a-z0-9]{1,9}(?:[-_][a-z]{2,6}){0,2})[-_](?<body>[A-Za-z0-9][A-Za-z0-9_-]{23,})$/;
/** Prefixes of content, builds and styles, which grant no access. */
const namesContent =
  /^(?:sha\d*|md5|blob|chunk|index|main|vendor|app|page|style|css|sc|pack|tree|commit|ref|rev|image|img|font|data|base64|webpack|vite|next|nuxt|uuid|guid|cache|etag|dpl|prj|team|bld|trace|span|h\d|rec|doc|pos|nonce|diff)\b/i;
const lettingIn =
  /(?:hooks?|services|reset\w{0,12}(?:[-_]password)?|invit\w{1,8}|magic(?:[-_]?link)?|confirm\w{0,8}|verify\w{0,8}|activate|unsubscribe|tokens?|bot|share)(?:\/[\w@-]{1,60}){0,2}\/$|\/\/(?:\w{1,20}\.)?(?:web)?hooks?\.[\w.-]{3,60}(?:\/[\w@-]{1,40}){0,4}\/$|\.[a-z]{2,8}\/v\d\/$|\b(?:reset|invit\w{1,8}|sign-?in|log-?in|magic|activation|confirmation|verification)[ -](?:link|url)\W{1,4}https?:\/\/\S{1,60}\/$/i;

const lettingQuery =
  /\/[^\s"'<>?]{0,40}(?:reset|invit|magic|confirm|verif|activat|sign-?in|log-?in|set-?password|unlock|unsubscribe|download|share)[^\s"'<>?]{0,30}\?(?:[^\s"'<>]{0,60}&(?:amp;)?)?[a-z]{1,12}=$/i;

const genericBody =
  /^(?:[A-Za-z0-9]{1,12}[-_]){0,3}?(?:sk|rk|key|api|apikey|token|tok|tk|pat|secret|sec|live|test|prod|priv|private|auth|access|cred|pwd|oauth|bearer|at|rt|svc|admin|webhook|whsec|sig|session|refresh|deploy|agent|bot|(?:[a-z]{1,6}\d)?[a-z]?[a-z]k\d?)[-_](?:v\d+[-_])?([A-Za-z0-9]{18,}(?:[-_][A-Za-z0-9]{4,}){0,4})$/i;

/** Flags for the characters of a long word; the bits above contain the number of digits. */
const small = 1;
const capital = 2;
const joined = 4;
const digitShift = 3;

/** A word of several parts with fewer than two digits needs a part of this length (`acme_live_x…`). */
const leastWithoutDigits = 18;

/** Longer words are never tokens. */
const longestToken = 400;

/** The long word [start, end) may be encoded text or a token. The same test, in steps, as the scanner's. */
export function mayBeLongSecret(units: Uint16Array, start: number, end: number): boolean {
  const before = units[start - 1];
  if (before !== 43 && before !== 47 && mayBeEncoded(units, start)) return true;
  if (units[end] === 46 && units[start]! >= 77 && units[start]! <= 79) return true;
  return end - start <= longestToken && (buildOf(units, start, end) !== 0 || isBehindKey(units, start));
}

/** `key 5f…`, `secret <5f…`: the letters of the word before, behind a blank. */
function isBehindKey(units: Uint16Array, start: number): boolean {
  let i = start - 1;
  if (units[i] === 60 || units[i] === 34 || units[i] === 39) i -= 1;
  if (units[i] !== 32) return false;
  const letters = ((units[i - 3]! & 31) << 10) | ((units[i - 2]! & 31) << 5) | (units[i - 1]! & 31);
  return letters === keyLetters || letters === secretLetters;
}

const keyLetters = (11 << 10) | (5 << 5) | 25;
const secretLetters = (18 << 10) | (5 << 5) | 20;

/** Which keys are secret, by the word before or within: not `cache key`, `gpg key`. */
const keyBefore =
  /(?:secret|(?:^|[^A-Za-z])(?:app|nwk|nwks|apps|network|link|install|hmac|aes|des|enc(?:ryption)?|decryption|sign(?:ing)?|session|shared|master|private|api|auth|access|root|device|pairing|group|join|transport|wallet|spend(?:ing)?|view(?:ing)?|license|webhook|service|server|client|storage|account|bridge|zone|admin|user|[A-Za-z\d]{1,8}_[A-Za-z]{2,20})[ _-]?s?key)[ ][<"']?$/i;

/** `HMAC key <hex digits>`: a digest's length, but said to be a key. */
export function isKeyInHex({ text, units }: Page, start: number, end: number): boolean {
  if (!isBehindKey(units, start) || !isDigestLength(end - start)) return false;
  return (
    keyBefore.test(text.slice(Math.max(0, start - 40), start)) && /^[\da-f]+$/i.test(text.slice(start, end))
  );
}

/**
 * The characters of the long word [start, end), as flags and a digit count. Returns 0 if it can't be a token: fewer than two
 * digits and only short parts, length and digits of a digest, or only words and numbers. A word followed by a dot and a
 * timestamp is never excluded.
 */
export function buildOf(units: Uint16Array, start: number, end: number): number {
  const { classes } = characterTables();
  let common = alnum | hexUnit;
  let build = 0;
  let part = start;
  let longest = 0;
  let isReadable = true;
  for (let i = start; i <= end; i++) {
    const unit = units[i]!;
    const kind = i < end ? classes[unit]! : connector;
    if (kind & connector) {
      if (i - part > longest) longest = i - part;
      isReadable &&= i === part || isPlainPart(units, part, i);
      part = i + 1;
      if (i < end) build |= joined;
    } else if (kind & digit) build += 1 << digitShift;
    else build |= unit > 96 ? small : capital;
    if (i < end) common &= kind;
  }
  if (isTimeBehind(units, end)) return build;
  if (build & joined) {
    const isWords = isReadable && (build & (small | capital)) !== 0;
    return isWords || (build >>> digitShift < 2 && longest < leastWithoutDigits) ? 0 : build;
  }
  return build >>> digitShift < 2 || (common & hexUnit && isDigestLength(end - start)) ? 0 : build;
}

/** A word, a short number, or a word and a short number: the cases of `isReadable` that need no regular expression. */
function isPlainPart(units: Uint16Array, start: number, end: number): boolean {
  if (end - start > 23) return false;
  let i = start;
  while (i < end && units[i]! > 64 && units[i]! < 91) i += 1;
  const capitals = i - start;
  while (i < end && units[i]! > 96) i += 1;
  const letters = i - start;
  if (capitals > 1 && capitals < letters) return false;
  while (i < end && units[i]! < 58) i += 1;
  const digits = end - start - letters;
  return i === end && (letters === 0 ? digits < 9 : digits === 0 || (letters > 1 && digits < 5));
}

/** `.x….` with six to eight characters, as in `timed`. */
function isTimeBehind(units: Uint16Array, end: number): boolean {
  if (units[end] !== 46) return false;
  const { classes } = characterTables();
  let i = end + 1;
  while (classes[units[i]!]! & wordUnit && i - end < 10) i += 1;
  return units[i] === 46 && i - end > 6 && i - end < 10;
}

/** `256-`, `384-`, `512-` */
const integrityBits = new Set(['256-', '384-', '512-']);

/** The end of a Subresource Integrity value (`sha512-<base64>`) that starts at `start`, or 0. */
export function integrityEnd(units: Uint16Array, start: number): number {
  if (units[start] !== 115 || units[start + 1] !== 104 || units[start + 2] !== 97) return 0;
  if (!integrityBits.has(String.fromCharCode(...units.subarray(start + 3, start + 7)))) return 0;
  const { classes } = characterTables();
  let end = start + 7;
  while (classes[units[end]!]! & base64Unit && end - start < 100) end += 1;
  return end - start >= 40 && units[end] === 61 ? end : 0;
}

const isDigestLength = (length: number): boolean =>
  length === 32 || length === 40 || length === 56 || length === 64 || length === 96 || length === 128;

/** `20230914T223155647Z1b64098b-…`: sortable by time. */
const startsWithTime = /^\d{8}T\d{6,12}Z/;

/** The secret part of a long word, by its structure or by the name it starts with. */
export function findUnknownToken(
  page: Page,
  start: number,
  word: string,
  build: number,
  { names, context }: { names: NameBook; context: boolean },
): Finding | undefined {
  const { text, units } = page;
  const end = start + word.length;
  if (isPublicPart(page, start) || (units[start + 8] === 84 && startsWithTime.test(word))) return undefined;
  const isPathPart = units[start - 1] === 47;
  const behindDot = units[start - 1] === 46 ? dotPrefixed(page, start, word) : false;
  if (behindDot) return { start, end, rule: 'prefixed-token' };
  const dots = units[end] === 46 && word.length >= 20 && !isPathPart ? dottedTokenEnd(page, start) : 0;
  // `new _aeadAes256Cbc….AeadAes256Cbc…(`, `(0, _aeadAes256Cbc….AeadAes256Cbc…)(`: a call.
  const isCall = units[dots] === 40 || (units[dots] === 41 && units[dots + 1] === 40);
  if (dots && !isCall) return { start, end: dots, rule: 'dotted-token' };
  if (word.length === 55 && /^\d{6}(?:-\d{6}){7}$/.test(word)) return { start, end, rule: 'recovery-code' };
  // `/reset?uid=7&t=x`
  if (
    units[start - 1] === 61 &&
    word.length >= 20 &&
    lettingQuery.test(text.slice(Math.max(0, start - 120), start))
  )
    if (isLongRandom(word, 20)) return { start, end, rule: 'prefixed-token' };
  if (word.length < 24 && !(isPathPart && word.length >= 20)) return undefined;
  const isJoined = (build & joined) !== 0;
  const body =
    (context && isJoined ? findNamedDigest(word, names) : undefined) ??
    (isJoined ? findGenericBody(word) : undefined) ??
    (build >>> digitShift >= 2 && (isJoined || isPathPart)
      ? findTokenBody(word, isPathPart ? text.slice(Math.max(0, start - 80), start) : '')
      : undefined);
  if (body !== undefined) return { start: end - body.length, end, rule: 'prefixed-token' };
  const isMixed = (build & (joined | small | capital)) === (small | capital) && build >>> digitShift >= 2;
  return context && isMixed && isBareToken(page, start, word)
    ? { start, end, rule: 'bare-token' }
    : undefined;
}

const printName = '(?:fingerprint|thumbprint|checksum|etag)';
const calledPrint = new RegExp(String.raw`${printName}\\*["']?\s?[:=]\s?\\*["']?$`, 'i');
const publicName = new RegExp(`(?:^[xyn]|${printName})$`, 'i');

/**
 * Names whose values are not withheld. They are only recognized before a value, as in JSON: a value on its own is judged by
 * its structure.
 */
export const isPublicName = (name: string): boolean => publicName.test(name);

/** `"x":"…"`, `y`, `n`: the public numbers of a JSON Web Key, regardless of their characters. */
function isPublicPart({ text, units }: Page, start: number): boolean {
  const isQuoted = units[start - 1] === 34 || units[start - 1] === 39;
  let sign = isQuoted ? start - 2 : start - 1;
  while (units[sign] === 92) sign -= 1;
  if (units[sign]! <= 32 || units[sign]! > 127) sign -= 1;
  if (units[sign] !== 58 && units[sign] !== 61) return false;
  if (calledPrint.test(text.slice(Math.max(0, start - 40), start))) return true;
  return isQuoted && /(?:["'\s{,])[xyn]\\*["']?:\s?\\*["']$/.test(text.slice(Math.max(0, start - 16), start));
}

/** The preceding words call it an identifier, which grants no access. */
const calledAnId =
  /(?:\bids?|hash|digest|etag|cursor|nonce|sum|sha\d*|fingerprint|kid|commit|address|cid|uid|build|page|offset|certs?|certificates?|account|wallet|transaction|tx|signature|thumbprint|challenge|public key|contract|video|image|content)\W{0,4}(?:(?:is|was|of) )?["'`(]{0,2}$/i;
const signBefore = /[:=>]\s{0,4}["'`]?$/;
const standsAlone = /(?=$|[\s"'`)\],]|\.(?:\s|$))/y;

/** Of 32 characters drawn from 62, about 25 are distinct. */
const fewestDistinct = 14;

/**
 * A word of letters in both cases and digits that alternate more often than in words, with no name before it. Common ids are
 * shorter.
 */
function isBareToken({ text, units }: Page, start: number, word: string): boolean {
  const { length } = word;
  // 43 and 44 characters: digests, key thumbprints and addresses; 34 and 46: other addresses; `AAAA`: the start of public
  // keys.
  if (length < 32 || length > 100 || length === 43 || length === 44) return false;
  if (start > 0 && !/[\s"'`([]/.test(text[start - 1]!)) return false;
  if (/^(?:[13]\w{33}$|Qm\w{44}$|AAAA)/.test(word)) return false;
  standsAlone.lastIndex = start + length;
  if (units[start + length] !== 0 && !standsAlone.test(text)) return false;
  const before = text.slice(Math.max(0, start - 40), start);
  // `createAIV5PromptToAIV4Core`: contains words.
  if (/[a-z]{8}|[a-z]{5}.*[a-z]{5}/.test(word)) return false;
  if (signBefore.test(before) || calledAnId.test(before) || turnsOf(word) < length * 0.42) return false;
  // The base64 of a line of dashes.
  return new Set(word).size >= fewestDistinct;
}

/** How often the class changes: lower case, upper case, digit. For characters drawn from all 62, three in five times. */
const turnsOf = (word: string): number => (word.match(/[a-z]+|[A-Z]+|\d+/g) ?? []).length - 1;

/** `acme.x…`: nothing but a short word precedes the dot, and no other dot follows, as it would in a file name. */
function dotPrefixed({ text, units }: Page, start: number, word: string): boolean {
  if (units[start + word.length] === 46 || units[start + word.length] === 40) return false;
  if (text.startsWith('this.', start - 5)) return false;
  if (!/(?:^|[\s"'`([])[a-z]{2,6}\.$/.test(text.slice(Math.max(0, start - 8), start))) return false;
  return word.length >= 22 && /[a-z].*[A-Z]|[A-Z].*[a-z]/.test(word) && isLongRandom(word, 22);
}

/** After a word that issuers use: `acme_live_x…`. */
function findGenericBody(word: string): string | undefined {
  const body = genericBody.exec(word)?.[1];
  if (body === undefined || !looksRandom(body) || isPublicId(word)) return undefined;
  if (isPublicId(body) && !keyedDigest.test(word)) return undefined;
  return /publi|(?:^|[-_])p[bk][-_]/i.test(word) ? undefined : body;
}

/** The secret end of `word`. `before` is the path before it, or ''. */
function findTokenBody(word: string, before: string): string | undefined {
  if (before !== '' && lettingIn.test(before) && isLongRandom(word, 20)) return word;
  const { prefix, body } = prefixed.exec(word)?.groups ?? {};
  if (prefix === undefined || body === undefined || before !== '') return undefined;
  if (
    namesContent.test(prefix) ||
    isPublicId(word) ||
    /publi|(?:^|[-_])p[bk](?:$|[-_])|^(?=.*\d)[\da-f]{3,}$/i.test(prefix)
  )
    return undefined;
  return isLongRandom(body, 24) && !isAlphabet(body) ? body : undefined;
}

/** `signkey-prod-<digest>`: the part before the digest is a sensitive name. */
function findNamedDigest(word: string, names: NameBook): string | undefined {
  const [, name = '', digest] = namedDigest.exec(word) ?? [];
  return digest !== undefined && names.judge(name).strength >= 2 ? digest : undefined;
}

/** Two or more long random parts joined by dots, as in signed values; the first starts at `start`. Returns the end, or 0. */
function dottedTokenEnd({ text }: Page, start: number): number {
  dotted.lastIndex = start;
  timed.lastIndex = start;
  if (timed.test(text) && mixed.test(text.slice(start, timed.lastIndex))) return timed.lastIndex;
  const parts = dotted.exec(text)?.[0].split('.');
  const isToken = parts?.every((part) => mixed.test(part) && isLongRandom(part, 20));
  return isToken ? dotted.lastIndex : 0;
}

/** At least two digits and three letters. */
const mixed = /^(?=\D*\d\D*\d)(?=[^A-Za-z]*[A-Za-z][^A-Za-z]*[A-Za-z][^A-Za-z]*[A-Za-z])/;
const maySpeak = /pass|secret|token|cred|key|licen/i;
const telling =
  /(?<name>[\w.-]{0,40}(?:password|passwd|passphrase|passcode|secret|token|credential|(?:api|auth|private|unseal)[-_ ]?key|licen[sc]e))(?![a-z])(?<between>[^\n&]{0,60})$/i;

const calledSo =
  /["'`]?\s(?:as|is|was|for)\s(?:(?:the|your|my|our|an?|its?)\s)?(?:\w{2,12}\s)?(?:api[ -]?key|(?:auth|access|bearer)?[ -]?token|password|secret|passphrase|credential)\b/iy;

/** `use x as the API key`. */
function isCalledSo({ text, units }: Page, end: number): boolean {
  if (units[end]! < 128 && units[end]! > 32 && !/["'`]/.test(text[end]!)) return false;
  calledSo.lastIndex = end;
  return calledSo.test(text);
}

/** `getSharedPointOnEd25519(key, x)`; not `aB3dE5fG7hI9jK1lM3nQ(expires soon)`. */
const isCalledHere = (text: string, open: number, word: string): boolean =>
  /^[A-Za-z_$]{2}/.test(word) &&
  !isDrawnLetters(word.replace(/[^A-Za-z]+/g, '')) &&
  !/^\((?!(?:new|await|async|function|typeof) )[A-Za-z]+ [A-Za-z]/.test(text.slice(open, open + 60));

/**
 * A random word that is no public id, after the name of a secret in the same line, with at most one sign and no other name
 * between them.
 */
export function isSpokenOf(page: Page, start: number, word: string, build: number, names: NameBook): boolean {
  const { text } = page;
  if (build >>> digitShift < 2 || !mixed.test(word)) return false;
  if (page.units[start + word.length] === 40 && isCalledHere(text, start + word.length, word)) return false;
  const isCalled = isCalledSo(page, start + word.length);
  const before = text.slice(Math.max(0, start - 110), start);
  if (!isCalled && !maySpeak.test(before)) return false;
  if (isMark(word) || isExampleOf(word, 'token')) return false;
  if (isCalled) return looksRandom(word, 16) && looksChosen(word);
  const { name, between } = telling.exec(before)?.groups ?? {};
  if (name === undefined || between === undefined) return false;
  if ((between.match(/[:=]/g) ?? []).length > 1) return false;
  if (/["'],\s*["']?\w+["']?\s*[:=]|^[_-](?:ids?|keys)\b|\bid\b|\w_id\b|https?:/i.test(between)) return false;
  if (names.judge(name.replace(' ', '_')).strength < 2 && !/licen[sc]e$/i.test(name)) return false;
  if (!looksRandom(word, 16) || !looksChosen(word)) return false;
  return !/^[a-z]{2,12}[-_]/.test(word) || between.length < 20;
}

/** `v1beta1_generated_Firestore_GetDocument_async`. */
const nameOrVersion = /^(?:v\d{1,2}(?:p\d)?(?:(?:alpha|beta)\d{0,2})?|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*)$/;

/** `xchacha20poly1305`, `KEYBYTES`: parts of a name in a library of ciphers. */
const cipherOrCapitals =
  /^(?:(?:x?chacha|x?salsa|poly|scrypt|sha|blake|ed|x|curve|secp|aes|gcm|hmac|argon|ripemd|siphash)(?:\d{1,5})?){1,4}$|^[A-Z]{2,24}$/;

/** Random, in both cases and digits, with one long run of characters. Without one of the cases the run must be longer. */
function isLongRandom(body: string, least: number): boolean {
  if (isPublicId(body) || /^[0-9a-fA-F-]+$/.test(body)) return false;
  const parts = body.split(/[-_]/);
  // A digest at the end names content: `linux-node20-<sha256>`.
  if (parts.length > 1 && /^[0-9a-f]{32,128}$/.test(parts.at(-1)!)) return false;
  if (parts.every((part) => nameOrVersion.test(part) || cipherOrCapitals.test(part))) return false;
  const run = Math.max(...parts.map((part) => part.length));
  const digits = body.replace(/\D/g, '').length;
  if (digits < 2 || run < 8 || !looksRandom(body, least)) return false;
  const isMixed = /[a-z].*[a-z]/.test(body) && /[A-Z].*[A-Z]/.test(body);
  return isMixed ? run >= 12 || body.length >= 36 : run >= 32 && digits >= 4;
}
