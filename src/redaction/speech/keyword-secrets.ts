/**
 * Secrets after a keyword: `Bearer x`, `password is x`, `using token x`, `IDENTIFIED BY 'x'`. Without a sign between them,
 * the value must look like a secret, the more so after words with other common uses.
 */

import type { Finding, Page } from '../scan/page.ts';
import { nameByShape } from '../scan/shape-table.ts';
import { isExampleWords, isOfOwner } from '../values/example-values.ts';
import { isInvented, isPhraseOfWords, isTypedWord } from '../values/plain-words.ts';
import { isPartName } from '../values/program-values.ts';
import { isPublicId } from '../values/public-ids.ts';
import { looksRandom } from '../values/randomness.ts';
import { isKeeper, isStandIn } from '../values/stand-ins.ts';
import { longestJudged, readBare, readQuoted } from '../values/value-span.ts';
import { looksChosen } from '../values/values.ts';
import { describesPassword } from './said-words.ts';

export const secretKeywords =
  'bearer basic negotiate digest ssws splunk apikey token key secret password passwd pwd pw passphrase passcode by code kennwort passwort wachtwoord haslo heslo adgangskode contrasena contrase senha passe salasana parola passord clave lozinka sandi senord senordet ifresi authtoken login unseal identify community oper bindpw plain auth verify confirm passkey';

const lead =
  /(?:ña|['’]s)?(?:[(]|(?:%20|\+|[ \t]{1,4})(?:for(?: user)? [\w.@'"%-]{1,60} |\d[ \t])?(?:=[ \t]?(?:password\()?|(?:is|was|of|to|as|set to|value|by|ist|lautet|es|est|é|è|er|jest|je|este|adalah|är)[ \t]{1,4}|= |=> |-> |→ )?(?:[[(]|[«„“][ \u00a0]?)?)/iy;

const identifiedBefore = /identified\s+(?:with\s+[\w"'`]{1,40}\s+)?$/i;
const codeBefore =
  /(?:one-time|verification|security|login|confirmation|auth\w*|otp|mfa|2fa|access|backup|recovery|sms|unlock|sign-?in|log-?in|pin|pass|door|gate|alarm|entry|activation|pairing|device|reset|confirm\w*|temporary)\s$/i;

/** What may be between a keyword and a quoted literal, or a value after a mark, in several languages and log formats. */
const looseLead =
  /["'`>)\]]{0,3}(?:[ ]?[([](?:[\w-]{1,12}|[a-z ]{1,40})[)\]]["']?[ ]?[:=]|\.{2,60}:?|[ ]==|[ ]\.(?= ["'])|[ ](?:(?:was|has been) )?(?:changed|rotated|reset|updated)(?: from)?(?: \S{1,64} to)?|[ ]for [\w.@-]{1,40}:|[ ]?<-|[ ][-\u2013](?=[ ]))[ ]?["'`]?(?=\S)|["'`>)\]]{0,3}(?:[ ]?,)?[ ](?:[a-z]{2,8}[ ]){0,3}(?:%[qsv] )?<{0,2}(?=["'`])|["'`>]{1,4},[ ]?<{0,2}(?=["'`])/y;
const userThenSecret = /[ \t]{1,3}["']?[A-Za-z][\w.@-]{0,30}["']?(?:[ \t]{1,3}|:)(?=[^\s])/y;
const pairWords = /^(?:login|oper|identify|plain|auth)$/;

/** `password for the staging box is x`, `senha do banco: x`, and a question that is answered in the next line. */
const farLead =
  /(?:ña)?(?:[ \t]["'`]?[\p{L}\w.@%'’-]{1,40}["'`]?){1,6}?(?:[ \t]?(?::|=|->|=>|→)|[ \t](?:is|was|lautet|ist|es|est|é|c['’]est))[ \t]{1,4}["'`]?(?=[^\s"'`])/uy;
const questionLead =
  /[^\n?]{0,40}\?[ ]?\r?\n(?:[>|][ ]?)?(?:\[?[\d:. -]{1,20}\]?[ ]?)?(?:<?[\w.@-]{1,30}>?:[ ]{0,2})?(?:(?:it['’]?s|it is|that['’]s|it should be|try|use|es ist|das ist|ist|es|c['’]est|è|é)[ ])?["'`]?(?=[^\s]{5,80}(?:\s|$))/iy;
/** The answer says what it is. */
const answers = /(?:it['’]?s|it is|that['’]s|should be|try|use|ist|es|c['’]est|è|é)[ ]["'`]?$/i;
const isPasswordWord =
  /^(?:pass|pwd|pw$|kennwort$|wachtwoord$|haslo$|heslo$|adgangskode$|senha$|contrase|salasana$|parola$|clave$|lozinka$|sandi$|senord|ifresi$)/;

/** What the password is of: `pw for the wifi: `, `Kennwort vom Drucker: `, `senha do banco: ` */
const subject =
  /^ (?:for|of|to|für|vom|von|zum|zur|des|der|voor|van|del?|la|para|do|da|du|pour|di|per|för|till?|do|dla|pro|za) [^:]{2,60}: $/i;

/** An answer with a hyphen, or `my password for the shop is sunflower,`. */
function isToldWord(
  { text }: Page,
  pattern: RegExp,
  end: number,
  at: number,
  value: string,
  word: string,
): boolean {
  if (describesPassword(word, value)) return false;
  if (pattern === questionLead)
    return (
      /-/.test(value) ||
      (answers.test(text.slice(end, at)) &&
        /^["'`.!]?[\s,]|^$/.test(text.slice(at + value.length, at + value.length + 2)))
    );
  if (joinedWords.test(value) && / (?:es|est|é|è|ist|c['’]est) $/.test(text.slice(end, at))) return true;
  const lead = text.slice(end, at);
  // `pw for the wifi in the office: sunflower`
  if (subject.test(lead) && /^(?:[\r\n"]|$)/.test(text.slice(at + value.length, at + value.length + 1)))
    return true;
  const owned = /\b(?:my|our|your|root|admin|database|db|wi-?fi|router) [\w-]{0,12} ?$/i.test(
    text.slice(Math.max(0, end - 32), end).replace(/\w+$/, ''),
  );
  return (
    owned && /(?: is|['’]s) $/.test(text.slice(end, at)) && endsSaying.test(text.slice(at + value.length))
  );
}

/** The least length of a key or a token that is only spoken of. */
const leastDrawn = 24;

/** A word of that length in the rest of the line: nearly no line has one. */
function holdsLongWord({ units }: Page, from: number): boolean {
  let start = from;
  for (let i = from; i < from + 320; i++) {
    const unit = units[i]!;
    if (unit > 32) continue;
    if (i - start >= leastDrawn) return true;
    if (unit === 10 || unit === 0) return false;
    start = i + 1;
  }
  return false;
}

/** The most units, and blanks, that farLead reads, and the most units before a question mark, of any kind. */
const longestLead = 290;
const mostBlanks = 8;
const longestQuestion = 40;

/** What farLead and questionLead end with: a sign, a verb, or a question mark. Most lines have none so near. */
function mayLeadFar({ units }: Page, end: number): boolean {
  let blank = end;
  let blanks = 0;
  for (let i = end; i < end + longestLead; i++) {
    const unit = units[i]!;
    if (unit === 58 || unit === 61 || unit === 62 || unit === 0x2192 || unit === 63) return true;
    if (unit > 32) continue;
    if (isVerb(units, blank + 1, i)) return true;
    if (unit === 10 || unit === 0) return false;
    if (++blanks > mostBlanks && i - end > longestQuestion) return false;
    blank = i;
  }
  return false;
}

/** `is`, `was`, `ist`, `est`, `es`, `é`, `c'est`, `lautet`; also others like them. */
function isVerb(units: Uint16Array, start: number, end: number): boolean {
  const length = end - start;
  const last = units[end - 1]!;
  if (length === 1) return last === 233;
  if (length > 6 || (last !== 115 && last !== 116)) return false;
  const before = units[end - 2]!;
  if (length === 2) return last === 115 && (before === 101 || before === 105);
  if (length === 6) return last === 116 && units[start] === 108;
  return length === 3 ? before === 97 || before === 115 : length === 5 && before === 115;
}

/** `bucket key prefix: uploads/2026/02/<uuid>/` */
const isPathOfIds = (value: string): boolean =>
  /\/.*\//.test(value) && value.split('/').every((part) => isPublicId(part) || !looksRandom(part, 8));

function findFar(page: Page, word: string, end: number): Finding | undefined {
  const isDrawn = /^(?:key|token|secret)$/.test(word);
  if (isDrawn ? !holdsLongWord(page, end) : !isPasswordWord.test(word) || !mayLeadFar(page, end))
    return undefined;
  // A long value was looked for in the rest of this line only, so the answer of the next line is for passwords.
  for (const pattern of isDrawn ? [farLead] : [farLead, questionLead]) {
    pattern.lastIndex = end;
    if (!pattern.test(page.text)) continue;
    const at = pattern.lastIndex;
    const span = readQuoted(page, at) ?? readBare(page, at, { encoded: false, wholeLine: false });
    const value = page.text.slice(span.start, Math.min(span.end, span.start + 200)).replace(/[.!?]$/, '');
    if (/[([{=]/.test(value) || /^[\w.-]{1,40}:/.test(value) || isStandIn(value) || isKeeper(value)) continue;
    if (isDrawn && (value.length < leastDrawn || !looksRandom(value) || isPublicId(value))) continue;
    if (isDrawn && isPathOfIds(value)) continue;
    if (!looksChosen(value) && !(isTypedWord(value) && isToldWord(page, pattern, end, at, value, word)))
      continue;
    return nameByShape(
      page,
      { start: span.start, end: span.start + value.length },
      isDrawn ? word : 'password',
    );
  }
  return undefined;
}

const calledBefore =
  /(?:^|[\s"'`(]|\\[nrt])(?:use|used|using|enter|entered|type|typed|try|tried|with|put|paste|set|chose) ["'`]?([^\s"'`]{6,64})["'`]? (?:as|for) (?:(?:the|your|my|our|a|its|their) )?(?:[\w-]{2,12} )?$/i;
const codeFirst =
  /(?:^|[\s"'`(:]|\\[nrt])([A-Z]{0,2}-?\d{4,8}|\d{3}[- ]\d{3})["'`)]? (?:is (?:your|the) (?:[\w-]{1,16} ){0,4}$|to (?:\w{2,10} ){0,2}$)/;
const pairFirst =
  /(?:^|[\s"'`(]|\\[nrt])[\w.@-]{1,40}[:/]([^\s"'`]{6,64}) is (?:the|your|my|our|a) (?:[\w-]{2,12} )?$/;
const codeAsked =
  /(?:\b|\\[nrt])(?:use|enter|type) ["'`]?(?:[A-Z]{0,2}-?\d{4,8}|\d{3}[- ]\d{3})["'`]? to (?:\w{2,10} ){0,2}$/i;

/** What the expressions below need, and nearly no text has. */
function mayCallBefore(word: string, before: string): boolean {
  if (isPasswordWord.test(word)) return / (?:as|for) /.test(before.slice(-32));
  return /\d/.test(before) || before.includes(' is ');
}

/** `use x as the password`, `123456 is your login code`: the value precedes its keyword. */
function findBefore(page: Page, word: string, start: number): Finding | undefined {
  const isCode = /^(?:code|verify|confirm|login)$/.test(word);
  if (!isCode && !isPasswordWord.test(word)) return undefined;
  const before = page.text.slice(Math.max(0, start - 110), start);
  if (!mayCallBefore(word, before)) return undefined;
  if (word === 'login') {
    const pair = pairFirst.exec(before)?.[1];
    const first = start - before.length + before.lastIndexOf(pair ?? ' ');
    if (pair !== undefined && looksChosen(pair))
      return { start: first, end: first + pair.length, rule: 'password' };
  }
  if (isCode && word !== 'code' && !codeAsked.test(before)) return undefined;
  const value = (isCode ? codeFirst : calledBefore).exec(before)?.[1];
  const isQuoted = /["'`] (?:as|for) [^"'`]*$/.test(before);
  if (value === undefined || (!isCode && !looksChosen(value) && !(isQuoted && isTypedWord(value))))
    return undefined;
  if (word === 'code' && !codeBefore.test(before)) return undefined;
  const at = start - before.length + before.lastIndexOf(value);
  return { start: at, end: at + value.length, rule: isCode ? 'one-time-code' : 'password' };
}

/** `password (prod): x`, `"password" with value "x"`, `login bob x`: the value must look chosen. */
function findLoose(page: Page, word: string, end: number): Finding | undefined {
  const isPair = pairWords.test(word);
  if (!isPair && !/^(?:pass|pwd|pw$|token$|secret$|kennwort$)/.test(word)) return undefined;
  const pattern = isPair ? userThenSecret : looseLead;
  pattern.lastIndex = end;
  if (!pattern.test(page.text)) return undefined;
  const at = pattern.lastIndex;
  const span = readQuoted(page, at) ?? readBare(page, at, { encoded: false, wholeLine: false });
  const value = page.text.slice(span.start, Math.min(span.end, span.start + 200));
  const isQuoted = span.quoted || /["'`]/.test(page.text[at - 1] ?? '');
  const isWord =
    isQuoted &&
    page.text[at - 1] !== ',' &&
    page.text[at - 2] !== ',' &&
    isPasswordWord.test(word) &&
    !/\b(?:for|of|user|from|by|in|on|at|to|and|or)\b/.test(page.text.slice(end, at));
  if (span.end - span.start > 200 || isStandIn(value)) return undefined;
  if (!looksChosen(value) && !(isWord && isTypedWord(value))) return undefined;
  if (isPair && !isOddlySpelt(value)) return undefined;
  // `login with password=x`: the name before the sign is more specific.
  if (isPair && /^[\w.-]{1,40}=/.test(value)) return undefined;
  if ((!span.quoted && /[([{]/.test(value)) || (/^(?:token|secret)$/.test(word) && !looksRandom(value)))
    return undefined;
  return nameByShape(page, { start: span.start, end: span.end }, isPair ? 'password' : ruleOf(word));
}

/** Signs and digits among letters, or random: not the next word of a sentence. */
export const isOddlySpelt = (value: string): boolean =>
  looksRandom(value, 12) || (/[!#$%^&*~+?]/.test(value) && /\d.*\d/.test(value));

/** The mechanisms of SASL that carry no secret in the same line: `AUTH CRAM-MD5`. */
const mechanism =
  /^ (?:XOAUTH2?|OAUTHBEARER|(?:CRAM|DIGEST)-MD5|SCRAM-[A-Z\d-]{3,12}|GSSAPI|EXTERNAL|ANONYMOUS|NTLM)(?= [a-z]{2,12}\b| ["'`]|[\s"'`.,;)]{0,3}$|["'`.,;)])/m;

/** A user and a password, both in base64: tool-rules.ts reads it. */
const ofSmtp = /^ LOGIN [A-Za-z\d+/]{4,120}={0,2} [A-Za-z\d+/]{4}/;

/** The id of a public key: `gpg: key 3AA5C34371567BD2: public key imported`. */
const ofOpenPgp = /^ [\dA-F]{8,40}(?:[: ]|$)/;

/** The secret that the keyword at [start, end) announces; `word` is its lower case. */
export function findSpoken(page: Page, word: string, start: number, end: number): Finding | undefined {
  const { text } = page;
  if (word === 'by' && !identifiedBefore.test(text.slice(Math.max(0, start - 60), start))) return undefined;
  if (word === 'code' && !codeBefore.test(text.slice(Math.max(0, start - 24), start))) return undefined;
  // `identified by \`fs.rmdir\`` is ordinary prose: SQL statements use other quotes.
  if (word === 'by' && /^ \\{0,2}`/.test(text.slice(end, end + 4))) return undefined;
  if (
    word === 'auth' &&
    (mechanism.test(text.slice(end, end + 24)) || ofSmtp.test(text.slice(end, end + 140)))
  )
    return undefined;
  if (
    word === 'key' &&
    ofOpenPgp.test(text.slice(end, end + 44)) &&
    /gpg2?: $/.test(text.slice(Math.max(0, start - 6), start))
  )
    return undefined;
  lead.lastIndex = end;
  const elsewhere = (): Finding | undefined =>
    findLoose(page, word, end) ?? findFar(page, word, end) ?? findBefore(page, word, start);
  if (/^(?:verify|confirm)$/.test(word) || !lead.test(text)) return elsewhere();
  const at = lead.lastIndex;
  const span = readQuoted(page, at) ?? readBare(page, at, { encoded: false, wholeLine: false });
  const judged = text.slice(span.start, Math.min(span.end, span.start + longestJudged));
  const isBare = judged.length < longestJudged && !span.quoted;
  const value = isBare ? judged.replace(/(?:[.!?]|[”“»][.,!?]?)$/, '') : judged;
  if (
    !isAnnounced(word, value, span.quoted) &&
    !isSaidWord(page, word, { end, at, to: span.end }, value, span.quoted)
  )
    return elsewhere();
  if (isExampleWords(value) && (isInComment(text, end) || isDeclared(text, start))) return undefined;
  const spanEnd = judged.length < longestJudged ? span.start + value.length : span.end;
  return { ...nameByShape(page, { start: span.start, end: spanEnd }, ruleOf(word)), resume: span.resume };
}

/** No other languages here: their words that describe passwords are unknown, and would be taken for one. */
const joinedWords = /^[a-z]{3,20}[-_.][a-z]{3,20}$/i;
const otherVerb = /^ (?:ist|lautet|es|est|é|è|er|jest|je) $/;
const announces = /(?:\b(?:is|was|lautet)|['’]s|[=>→])[ \t]{1,4}[[(]?$/;
const endsSaying =
  /^(?:[.,;:!)\]\n\r"'`]|$|[ ](?:--|–|—|\(|and\b|but\b|so\b|please\b|for now\b|until\b|now\b|in case\b|if\b))/;

/** `the password is sunflower, …`, `password "sunflower"`, `PASSWORD 'x'`: a word that doesn't describe a password. */
function isSaidWord(
  { text }: Page,
  word: string,
  { end, at, to }: { end: number; at: number; to: number },
  value: string,
  quoted: boolean,
): boolean {
  // `authenticated with secret "magnolia-ferry-3"`; a `secret "x"` alone may be the name of one.
  if (word === 'secret')
    return (
      quoted &&
      isInvented(value) &&
      /\b(?:with|using) (?:the |shared )?$/i.test(text.slice(Math.max(0, end - 24), end - 6))
    );
  if (word !== 'by' && !isPasswordWord.test(word)) return false;
  if (isStandIn(value) || value.length < 3) return false;
  if (
    quoted &&
    word === 'by' &&
    !/[A-Z]/.test(text.slice(end - 2, end)) &&
    /^[a-z]+(?:-[a-z]+)+$/.test(value)
  )
    return false;
  // In a statement that is written in capitals, any literal is the password.
  if (quoted && word === 'by' && text.slice(end - 2, end) === 'BY') return true;
  if (quoted && (word === 'by' || text.slice(end - 8, end) === 'PASSWORD')) return !/\s/.test(value);
  if (!isPasswordWord.test(word)) return false;
  // `the new wifi pass is "pancake tuesday"`
  if (quoted && announces.test(text.slice(end, at)) && isPhraseOfWords(value)) return true;
  if (!isTypedWord(value)) return false;
  const lead = text.slice(end, at);
  if (/^ [[(]$/.test(lead)) return /[\])]/.test(text[to] ?? '') && !isInComment(text, end);
  // After an assignment, code continues on the line; a sentence doesn't.
  if (/[=>→]/.test(lead) && !/^(?:[\n\r"'`]|$)/.test(text.slice(to, to + 1))) return false;
  if (quoted || /[«„“][ \u00a0]?$/.test(lead)) return !/\b(?:for|of|to|on|at|by)\b/.test(lead);
  // What is quoted or in brackets is told, even if it ends as an adjective does: `clave es "mariposa"`.
  if (describesPassword(word, value)) return false;
  // `la password è ivory-letmein`: in other languages one word may describe a password, two joined ones hardly ever.
  if (joinedWords.test(value) && otherVerb.test(lead)) return true;
  // `wifi / password sunflower`
  if (/^ $/.test(lead))
    return (
      /[/,] $/.test(text.slice(end - word.length - 2, end - word.length)) &&
      /^(?:[\r\n"]|$)/.test(text.slice(to, to + 1))
    );
  return (
    announces.test(lead) && (endsSaying.test(text.slice(to, to + 12)) || /[.!?]$/.test(text.slice(at, to)))
  );
}

/** ` * @example Sign up with phone and password (whatsapp)` */
const isInComment = (text: string, at: number): boolean =>
  /(?:^|\n)[ \t]{0,40}(?:\*|\/\/)[^\n]{0,160}$/.test(text.slice(Math.max(0, at - 200), at));

/** `static PASSWORD = "root"` */
const isDeclared = (text: string, start: number): boolean =>
  /\b(?:static|const|let|var|final|readonly) $/.test(text.slice(Math.max(0, start - 10), start));

function ruleOf(word: string): string {
  if (/^(?:bearer|basic|negotiate|digest|ssws|splunk)$/.test(word)) return 'authorization';
  if (word === 'code') return 'one-time-code';
  return word === 'by' ||
    /^(?:passe|senha|contrase|contrasena|kennwort|passwort|wachtwoord|haslo|heslo|adgangskode|salasana|parola|passord|clave|lozinka|sandi)$/.test(
      word,
    )
    ? 'password'
    : word;
}

/** After these the value is random, or, for a quoted secret, chosen. */
const drawnWords = /^(?:negotiate|digest|ssws|splunk|apikey|token|key|secret)$/;

function isAnnounced(word: string, value: string, quoted: boolean): boolean {
  // `Pluggable Auth "credential_source"`, `` auth = `${user}:${password}` ``
  if (word === 'auth' && quoted && (/^[a-z]+(?:_[a-z]+)+$/.test(value) || /\$\{.*\$\{/.test(value)))
    return false;
  if (
    drawnWords.test(word) &&
    !looksRandom(value, quoted || word !== 'key' ? 8 : 12) &&
    !(word === 'secret' && quoted && looksChosen(value))
  )
    return false;
  if (isStandIn(value) || value.length < (word === 'code' ? 4 : 6)) return false;
  // `curl -u user:password https://…`
  if (/^https?:\/\/[^@\s]*$/.test(value)) return false;
  if (
    !/^pass|^pwd?$|^by$/.test(word) &&
    isPublicId(value) &&
    !(quoted && /^(?:apikey|secret|token)$/.test(word))
  )
    return false;
  // A type or a variable: `type Token = OAuth2Token`.
  if (isPartName(value) || /^[A-Za-z]\w{0,40}[a-z\d](?:Token|Secret|Key|Password)$/.test(value)) return false;
  if (word === 'basic') return isBasicPair(value);
  if (word === 'code') return /^(?=.*\d)[A-Z\d-]{4,10}#?$/.test(value);
  if (word === 'bearer') return isBearer(value);
  if (/^(?:login|unseal|identify|community|oper|authtoken|bindpw|plain)$/.test(word))
    return looksRandom(value, 12) && !/^[\w.-]{1,40}=/.test(value);
  if (drawnWords.test(word)) return true;
  return isPasswordLike(value, quoted) || (/^pass(?:code|key)$/.test(word) && /^\d{4,10}$/.test(value));
}

function isBearer(value: string): boolean {
  if (value.length < 16) return looksRandom(value, 8) || isOfOwner(value);
  return /^[\w.~+/=%-]+$/.test(value) && (/[\d_.-]/.test(value) || looksRandom(value));
}

function isPasswordLike(value: string, quoted: boolean): boolean {
  if (/[\s([]/.test(value)) return false;
  if (looksChosen(value)) return true;
  if (/\d/.test(value) && /[A-Za-z]/.test(value) && !/^[\d.]+[a-z]*$/.test(value)) return true;
  return quoted && /[^A-Za-z ]/.test(value) && !/^[A-Z_]+$/.test(value);
}

/** `user:password` in base64. */
function isBasicPair(value: string): boolean {
  // Without a digit or a capital within, it is a word: the walk relies on it.
  if (!/^[\w+/-]{8,}={0,2}$/.test(value) || !/\d|.[A-Z]/.test(value)) return false;
  return /^[\x20-\x7e]*:[\x20-\xff]+/.test(Buffer.from(value, 'base64').toString('latin1'));
}
