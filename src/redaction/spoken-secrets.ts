/**
 * Secrets that only a word announces: `Bearer x`, `password is x`, `using token x`, `IDENTIFIED BY 'x'`. With no sign
 * between them what follows must look the part, more so behind words that people use for other things.
 */
import type { Finding, Page } from './page.ts';
import { nameByShape } from './shape-table.ts';
import { longestJudged, readBare, readQuoted } from './value-span.ts';
import { isPublicId, isStandIn, looksChosen, looksRandom } from './values.ts';

export const spokenWords =
  'bearer basic negotiate digest ssws splunk apikey token key secret password passwd pwd pw passphrase passcode by code kennwort passwort contrasena senha authtoken login unseal identify community oper bindpw plain auth';

const lead =
  /(?:[(]|(?:%20|\+|[ \t]{1,4})(?:for(?: user)? [\w.@'"%-]{1,60} |\d[ \t])?(?:=[ \t]?(?:password\()?|(?:is|was|of|to|as|set to|value|by|ist|lautet|es|est)[ \t]{1,4}|=> |-> |→ )?[[(]?)/iy;

const identifiedBefore = /identified\s+(?:with\s+[\w"'`]{1,40}\s+)?$/i;
const codeBefore =
  /(?:one-time|verification|security|login|confirmation|auth\w*|otp|mfa|2fa|access|backup|recovery|sms)\s$/i;

/** What stands between a word and a literal in quotes, or a value behind a mark of its own, in every tongue and log. */
const looseLead =
  /["'`>)\]]{0,3}(?:[ ]?[([][\w-]{1,12}[)\]]["']?[ ]?[:=]|\.{2,60}:?|[ ]==|[ ](?:was )?(?:changed|rotated|reset) from|[ ]for [\w.@-]{1,40}:|[ ]?<-|[ ][-\u2013](?=[ ]))[ ]?["'`]?(?=\S)|["'`>)\]]{0,3}(?:[ ]?,)?[ ](?:[a-z]{2,8}[ ]){0,3}<{0,2}(?=["'`])|["'`>]{1,4},[ ]?<{0,2}(?=["'`])/y;
const userThenSecret = /[ \t]{1,3}["']?[A-Za-z][\w.@-]{0,30}["']?(?:[ \t]{1,3}|:)(?=[^\s])/y;
const pairWords = /^(?:login|oper|identify|plain|auth)$/;

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
  if (span.end - span.start > 200 || !looksChosen(value) || (isPair && !isOddlySpelt(value)))
    return undefined;
  // `login with password=x`: the name before the sign says more.
  if (isPair && /^[\w.-]{1,40}=/.test(value)) return undefined;
  if ((!span.quoted && /[([{]/.test(value)) || (/^(?:token|secret)$/.test(word) && !looksRandom(value)))
    return undefined;
  return nameByShape(page, { start: span.start, end: span.end }, isPair ? 'password' : ruleOf(word));
}

/** Signs and digits among letters, or random: what no sentence goes on with. */
export const isOddlySpelt = (value: string): boolean =>
  looksRandom(value, 12) || (/[!#$%^&*~+?]/.test(value) && /\d.*\d/.test(value));

/** What the spoken word at [start, end) announces. */
export function findSpoken(page: Page, start: number, end: number): Finding | undefined {
  const { text } = page;
  const word = text.slice(start, end).toLowerCase();
  if (word === 'by' && !identifiedBefore.test(text.slice(Math.max(0, start - 60), start))) return undefined;
  if (word === 'code' && !codeBefore.test(text.slice(Math.max(0, start - 24), start))) return undefined;
  lead.lastIndex = end;
  if (!lead.test(text)) return findLoose(page, word, end);
  const at = lead.lastIndex;
  const span = readQuoted(page, at) ?? readBare(page, at, { encoded: false, wholeLine: false });
  const judged = text.slice(span.start, Math.min(span.end, span.start + longestJudged));
  const value = judged.length < longestJudged ? judged.replace(/[.!?]$/, '') : judged;
  if (!isAnnounced(word, value, span.quoted)) return findLoose(page, word, end);
  const spanEnd = judged.length < longestJudged ? span.start + value.length : span.end;
  return { ...nameByShape(page, { start: span.start, end: spanEnd }, ruleOf(word)), resume: span.resume };
}

function ruleOf(word: string): string {
  if (/^(?:bearer|basic|negotiate|digest|ssws|splunk)$/.test(word)) return 'authorization';
  if (word === 'code') return 'one-time-code';
  return word === 'by' ? 'password' : word;
}

function isAnnounced(word: string, value: string, quoted: boolean): boolean {
  if (isStandIn(value) || value.length < (word === 'code' ? 4 : 6)) return false;
  if (
    !/^pass|^pwd?$|^by$/.test(word) &&
    isPublicId(value) &&
    !(quoted && /^(?:apikey|secret|token)$/.test(word))
  )
    return false;
  if (word === 'basic') return isBasicPair(value);
  if (word === 'code') return /^(?=.*\d)[A-Z\d-]{4,10}$/.test(value);
  if (word === 'bearer') return isBearer(value);
  if (/^(?:login|unseal|identify|community|oper|authtoken|bindpw)$/.test(word))
    return looksRandom(value, 12) && !/^[\w.-]{1,40}=/.test(value);
  if (/^(?:negotiate|digest|ssws|splunk|apikey|token|key|secret)$/.test(word))
    return looksRandom(value, quoted || word !== 'key' ? 8 : 12);
  return isPasswordLike(value, quoted) || (word === 'passcode' && /^\d{4,10}$/.test(value));
}

function isBearer(value: string): boolean {
  if (value.length < 16) return looksRandom(value, 8);
  return /^[\w.~+/=%-]+$/.test(value) && (/[\d_.-]/.test(value) || looksRandom(value));
}

function isPasswordLike(value: string, quoted: boolean): boolean {
  if (/\s/.test(value) || value.includes('(')) return false;
  if (looksRandom(value)) return true;
  if (/\d/.test(value) && /[A-Za-z]/.test(value) && !/^[\d.]+[a-z]*$/.test(value)) return true;
  return quoted && /[^A-Za-z ]/.test(value) && !/^[A-Z_]+$/.test(value);
}

/** `user:password` in base64. */
function isBasicPair(value: string): boolean {
  if (!/^[\w+/-]{8,}={0,2}$/.test(value)) return false;
  return /^[\x20-\x7e]*:[\x20-\xff]+/.test(Buffer.from(value, 'base64').toString('latin1'));
}
