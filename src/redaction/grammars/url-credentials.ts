/**
 * Finds the password in an address: `scheme://user:password@host`, `scheme://token@host`, `user:password@tcp(host)`, a
 * `.pgpass` line. Half-open ranges in units of the page.
 */
import { characterTables, digit, wordUnit } from '../scan/characters.ts';
import type { Finding, Page } from '../scan/page.ts';
import { isExampleInAddress } from '../values/example-values.ts';
import { isPublicId } from '../values/public-ids.ts';
import { looksRandom } from '../values/randomness.ts';
import { isStandIn } from '../values/stand-ins.ts';
import { looksChosen } from '../values/values.ts';
import { isInProgram } from './program-line.ts';

const longestUserInfo = 2048;

/** The address begins with a scheme and `://`, which ends at `start`. */
export function findUserInfo(page: Page, start: number): Finding | undefined {
  if (page.units[start] === 47) return undefined;
  const at = findAt(page, start);
  if (at < 0) return undefined;
  const info = page.text.slice(start, at);
  const separator = /:|%3A/i.exec(info);
  if (!separator) return findTokenUser(page.text, info, start, at);
  const from = start + separator.index + separator[0].length;
  const password = page.text.slice(from, at);
  // GitHub's name for a token in the place of a user.
  if (password === 'x-oauth-basic' && separator.index >= 16)
    return { start, end: start + separator.index, rule: 'url-token' };
  const isKept = isStandIn(password) || isExample(info);
  if (password === '' || isKept || (isExampleInAddress(password) && isInProgram(page, start, at)))
    return findTokenUser(page.text, info.slice(0, separator.index), start, from - separator[0].length);
  return { start: from, end: at, rule: 'url-password' };
}

/** `USER:PASS@HOST`, `user:pass@host`: examples in documentation. */
const isExample = (info: string): boolean =>
  /^(?:(?:user(?:name)?|u|abc|admin)?:(?:pass|p(?:@|%40)ss|pw|pwd|xyz)|guest:guest|hello:world)$/i.test(info);

/** The `@` that ends the user info, or -1. A slash may be part of a password, but not after a port. */
function findAt(page: Page, start: number): number {
  const { units } = page;
  const stop = Math.min(page.length, start + longestUserInfo);
  let last = -1;
  let slash = -1;
  for (let i = start; i < stop; i++) {
    const unit = units[i]!;
    if (unit === 64) {
      last = i;
      if (slash < 0 && !continuesUserInfo(page, i + 1)) return i;
    } else if (unit === 58 && units[i + 1] === 47 && units[i + 2] === 47) break;
    else if (unit === 47 && slash < 0) {
      if (last >= 0 || !isPasswordSlash(page, start, i)) return last;
      slash = i;
    } else if (unit === 92 && isDomainSlash(page, start, i)) i += units[i + 1] === 92 ? 1 : 0;
    else if (
      unit <= 32 ||
      unit === 34 ||
      unit === 39 ||
      unit === 96 ||
      unit === 60 ||
      unit === 62 ||
      unit === 92 ||
      (unit === 44 && !isDirectory(page, start))
    )
      break;
  }
  return last;
}

/** LDAP distinguished names contain commas: `ldap://cn=admin,dc=x:password@host`. */
const isDirectory = ({ text }: Page, start: number): boolean =>
  /ldaps?:(?:\\{0,8}\/){2}$/.test(text.slice(Math.max(0, start - 25), start));

/** `http://corp\user:x@proxy`: one or two backslashes that don't escape a line's end or a quote. */
function isDomainSlash({ text, units }: Page, start: number, at: number): boolean {
  const isDoubled = units[at + 1] === 92;
  if (!isDoubled && /[nrtbfu"'\\/]/.test(text[at + 1] ?? '"')) return false;
  const user = /^[\w.-]{1,64}:/.exec(text.slice(at + (isDoubled ? 2 : 1), at + 70));
  return user !== null && /^[\w.-]{1,40}$/.test(text.slice(start, at).slice(-41));
}

/** Another `@` follows before the host ends, so the first one is part of the password. */
function continuesUserInfo(page: Page, from: number): boolean {
  const stop = Math.min(page.length, from + 256);
  for (let i = from; i < stop; i++) {
    const unit = page.units[i]!;
    if (unit === 64) return true;
    if (
      unit <= 34 ||
      unit === 39 ||
      unit === 47 ||
      unit === 44 ||
      unit === 59 ||
      unit === 63 ||
      unit === 35 ||
      unit === 92 ||
      unit === 96
    )
      return false;
  }
  return false;
}

/** `user:pa/ss@host`, as opposed to `host:8080/path@1.2`. */
function isPasswordSlash(page: Page, start: number, slash: number): boolean {
  const authority = page.text.slice(start, slash);
  const colon = authority.indexOf(':');
  return colon > 0 && !/^\d{0,5}$/.test(authority.slice(colon + 1)) && !authority.startsWith('[');
}

/** `http://attacker.example%2F@trusted.example/`: a host in the place of a user, to deceive. */
const otherHost = /^[a-z][a-z-]*(?:\.[a-z][a-z-]*)+(?:%2F|%40|%3F|%23|%5C)?$/i;
/** The key in the address that browsers report to, which every page that uses it shows. */
const isPublicOfSentry = (text: string, info: string, end: number): boolean =>
  info.length === 32 && /^@o\d{1,9}\.ingest(?:\.[a-z]{2})?\.sentry\.io\//.test(text.slice(end, end + 40));

/** Ethereum's addresses of nodes, which begin with a public key. */
const ofNode = /\ben(?:ode|rtree):\/\/$/;

/** `https://<token>@host`. A plain user name is kept. */
function findTokenUser(text: string, info: string, start: number, end: number): Finding | undefined {
  if (ofNode.test(text.slice(Math.max(0, start - 10), start))) return undefined;
  if (info.length < 16 && !/^[A-Za-z\d_-]{12,}$/.test(info)) return undefined;
  if (!looksRandom(info, 12) || isStandIn(info) || otherHost.test(info) || isPublicOfSentry(text, info, end))
    return undefined;
  return { start, end, rule: 'url-token' };
}

const driverHost = /@(?:tcp|unix|udp|cloudsql|pipe)\(/y;

/** `user:password@tcp(host:port)/db` as Go drivers write it. There is an `@` at `at`. */
export function findDriverPassword(page: Page, at: number): Finding | undefined {
  if (!mayHoldPassword(page.units, at)) return undefined;
  driverHost.lastIndex = at;
  if (!driverHost.test(page.text)) return findHostlessUser(page, at);
  const before = page.text.slice(Math.max(0, at - 130), at);
  const password = /[\w.-]:([^\s"'\\]{1,128})$/.exec(before)?.[1];
  if (password === undefined || isStandIn(password)) return undefined;
  return { start: at - password.length, end: at, rule: 'url-password' };
}

/**
 * What follows the `@` at `at` contains a dot or precedes a bracket, or a colon is before it: package scopes, decorators and user
 * names do neither.
 */
export function mayHoldPassword(units: Uint16Array, at: number): boolean {
  const { classes } = characterTables();
  let i = at + 1;
  while (classes[units[i]!]! & wordUnit) i += 1;
  if (units[i] === 46 || units[i] === 40) return true;
  for (let k = at - 1; i > at + 1 && k >= 0 && at - k < 82; k--) {
    const unit = units[k]!;
    if (unit === 58) return true;
    if (unit <= 32 || unit === 34 || unit === 39 || unit === 92 || unit === 47) return false;
  }
  return false;
}

/** A dot may end the name or the sentence. */
const bareHost = /@[A-Za-z][\w-]{0,40}(?:\.[\w-]{1,40}){0,9}(?![\w@-]|\.\w)/y;

/** `docker:27.0-alpine@sha256:…`, `npm:string-width4@latest`: a version and what identifies it. */
const versionMark =
  /^@(?:sha\d+|latest|next|beta|alpha|canary|nightly|stable|edge|lts|main|master)(?![\w.-])/;

/** `bot@mail.host:password`, as in lists of accounts. */
const mailPair = /@[\w-]{1,40}(?:\.[\w-]{1,40}){1,4}:([^\s"'\\/:,;|]{6,80})(?=[\s"',;|]|$)/y;

function findMailPair(page: Page, at: number): Finding | undefined {
  mailPair.lastIndex = at;
  const password = mailPair.exec(page.text)?.[1];
  if (password === undefined || !looksChosen(password) || /\.[a-z]{2,4}$/.test(password)) return undefined;
  return { start: mailPair.lastIndex - password.length, end: mailPair.lastIndex, rule: 'password' };
}

/** `mailto:name@host.name`: the part before the colon is no user. */
const mailSchemes = /^(?:mailto|sips?|xmpp|acct|im|news|mid|cid)$/i;

/** `npm:name@tag`: the tag has no dot, unlike most hosts. */
const packageSchemes = /^(?:npm|jsr|file|link|workspace|catalog|patch)$/i;

/** `user:password@host.name` without a scheme. */
function findHostlessUser(page: Page, at: number): Finding | undefined {
  const pair = findMailPair(page, at);
  if (pair) return pair;
  bareHost.lastIndex = at;
  const host = bareHost.exec(page.text)?.[0];
  if (host === undefined || versionMark.test(page.text.slice(at, at + 10))) return undefined;
  const before = page.text.slice(Math.max(0, at - 130), at);
  const [, user = '', password] = /(?:^|[\s"'=(])([\w.-]{1,40}):([^\s"'\\/:]{6,80})$/.exec(before) ?? [];
  if (password === undefined || !looksChosen(password) || mailSchemes.test(user)) return undefined;
  if (!/[A-Za-z]/.test(user)) return undefined;
  if (!host.includes('.') && !isForPlainHost(page.text, user, password, at + host.length)) return undefined;
  return { start: at - password.length, end: at, rule: 'url-password' };
}

/** A host without a dot is also a tag, a realm or a company (`To:alice2024@corp`): the password or a port must tell. */
function isForPlainHost(text: string, user: string, password: string, hostEnd: number): boolean {
  if (packageSchemes.test(user)) return false;
  if (/^(?::\d|\/)/.test(text.slice(hostEnd, hostEnd + 2)) || text.endsWith('@localhost', hostEnd))
    return true;
  return (
    /[^\w.-]/.test(password) || (/[a-z]/.test(password) && /[A-Z]/.test(password) && /\d/.test(password))
  );
}

const passwordFile =
  /:(\d{2,5}|\*):([^:\s"'\\]{1,64}):([^:\s"'\\]{1,64}):((?:[^:\s"'\\]|\\{1,8}:){4,200})(?=\s|["'\\]|$)/y;

/** `host:5432:database:user:password`. The first `:` is at `colon`. */
export function findPasswordFileLine(page: Page, colon: number): Finding | undefined {
  if (!isPortField(page.units, colon + 1)) return undefined;
  passwordFile.lastIndex = colon;
  const match = passwordFile.exec(page.text);
  if (!match) return undefined;
  const [whole, , database = '', user = '', password = ''] = match;
  if (/^\d+$/.test(database) || /^\d+$/.test(user) || isStandIn(password) || isPublicId(password))
    return undefined;
  // Groups of an IPv6 address: `fe80::4619:e830:fe6e:db82`.
  if ([database, user].every((part) => /^[\da-f]{1,4}$/i.test(part)) && /^[\da-f]{1,5}$/i.test(password))
    return undefined;
  const end = colon + whole.length;
  return { start: end - password.length, end, rule: 'password-file' };
}

/** Digits or a star, a colon, and no digit after it: not a time, not a position in a file. */
export function isPortField(units: Uint16Array, start: number): boolean {
  const { classes } = characterTables();
  let i = start;
  while (classes[units[i]!]! & digit && i - start < 6) i += 1;
  if (i === start && units[i] === 42) i += 1;
  return i > start && units[i] === 58 && units[i + 1]! > 32 && !(classes[units[i + 1]!]! & digit);
}

const mapLine = /:\d{2,5}[ \t]{1,16}[\w.@+-]{1,64}:([^\s"']{4,128})[ \t]*(?=\r?\n|$)/y;

/** `[mail.host]:587 user:password`, a line of Postfix's map. The colon of the port is at `colon`. */
export function findMapLine({ text, units }: Page, colon: number): Finding | undefined {
  mapLine.lastIndex = colon;
  const match = units[colon - 1] === 93 ? mapLine.exec(text) : null;
  const password = match?.[1];
  if (!match || password === undefined || isStandIn(password)) return undefined;
  const end = colon + match[0].trimEnd().length;
  return { start: end - password.length, end, rule: 'password-file' };
}

const oracle = /:[^/\s"'@]{1,64}\/([^@\s"']{1,128})@/y;

/** `jdbc:oracle:thin:user/password@host`. The colon before the user is at `colon`. */
export function findOraclePassword(page: Page, colon: number): Finding | undefined {
  oracle.lastIndex = colon;
  const password = oracle.exec(page.text)?.[1];
  if (password === undefined) return undefined;
  const end = oracle.lastIndex - 1;
  return { start: end - password.length, end, rule: 'url-password' };
}
