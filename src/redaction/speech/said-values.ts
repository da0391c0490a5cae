/**
 * A password that a sentence tells, in any language of said-words.ts: `das Kennwort fürs NAS lautet x`, `hasło do
 * serwera to x`, `x is the admin password`, `पासवर्ड x है`. Two facts decide: where the value stands (behind what joins it with
 * the word), and how little it looks like a word of the sentence.
 */

import { characterTables, digit } from '../scan/characters.ts';
import type { Finding, Page } from '../scan/page.ts';
import { nameByShape } from '../scan/shape-table.ts';
import { isInvented, isTypedWord } from '../values/plain-words.ts';
import { isPublicId } from '../values/public-ids.ts';
import { looksRandom } from '../values/randomness.ts';
import { isKeeper, isStandIn } from '../values/stand-ins.ts';
import { looksChosen } from '../values/values.ts';
import { isNativeCode } from './said-codes.ts';
import { gluedWord, isPiece, joinsIn, nativeSpeech, type Speech, speaker, speechOf } from './said-words.ts';

/** How little a value looks like a word of the sentence. */
const shapes = {
  /** A word that ends the sentence and describes nothing. */
  word: 1,
  /** A word with digits, as people choose them. */
  chosen: 2,
  /** Drawn, or with signs and digits among its letters. */
  odd: 3,
} as const;

const reach = 110;
/** `Passwort auf x zurückgesetzt`, `cambié la contraseña a «x»`: a word for a change, and one that leads to the new value. */
const leadsToNew = /^(?:auf|in|zu|a|por|para|en|till?|naar|to|til|na|au?)$/i;
const change =
  /setz|änder|geaender|wechsel|chang|reset|cambi|actualiz|restablec|restaur|modific|alter[oae]|mud(?:ei|ou|ad)|redefin|troqu|réinitialis|mis à jour|byt(?:t|e)|ändra|endre|wijzig|veranderd|zmieni|ustawi|změn/iu;

/** What a sentence does not contain, and its end. */
const endsClause = /[\r\n\\{}<>|;]|[.!?](?=[\s"'”»]|$)/;
const piece = /[^\s"'`«»„“”‘「」()[\],]+/gu;
const joiningSign = /^(?:[:=—–-]|->|=>|→)$/;
const mostPieces = 9;

/** The password that the word at [start, end) tells; `stop` is its lower case. */
export function findSaid(page: Page, stop: string, start: number, end: number): Finding | undefined {
  const speech = speechOf(stop);
  const whole = speech && wholeWord(page, stop, start, end, speech);
  if (!whole) return undefined;
  return (
    findBehindWord(page, stop, whole.end, speech) ??
    findBeforeWord(page, whole.start, speech) ??
    findAnswered(page, whole.end)
  );
}

/** The same of a word that ends with one for a password: `Das WLAN-Passwort im Büro ist x`. */
export function findSaidGlued(page: Page, start: number, end: number): Finding | undefined {
  const stop = gluedWord(page.text.slice(start, end));
  const speech = stop === undefined ? undefined : speechOf(stop);
  if (stop === undefined || speech === undefined) return undefined;
  return (
    findBehindWord(page, stop, end, speech) ?? findBeforeWord(page, start, speech) ?? findAnswered(page, end)
  );
}

let answered: RegExp | undefined;
const longestAnswer = 220;

/** The word asks, and the next line answers with little more than a value: `Was ist das Passwort vom NAS?`, `Ben: klar: x`. */
function findAnswered(page: Page, end: number): Finding | undefined {
  const rest = page.text.slice(end, end + longestAnswer);
  const asks = /^[^\n?!\\{}<>=;]{0,90}[?]/.exec(rest)?.[0].length;
  if (asks === undefined) return undefined;
  answered ??= new RegExp(
    `(?:[ ]?\\r?\\n|\\\\n){1,2}${speaker}(?:[\\p{L}'’]{1,12}[,:—–-]{0,2} ){0,5}["'\`«„“]?([^\\s"'\`«»„“”]{6,80})["'\`»”]?[.!]?(?=[ ]?(?:\\r?\\n|\\\\n|["']|$))`,
    'uy',
  );
  answered.lastIndex = asks;
  const value = answered.exec(rest)?.[1]?.replace(/[.,:]+$/, '');
  if (
    value === undefined ||
    (shapeOf(value) < shapes.chosen && !isMadeUp(value)) ||
    /[(){}[\]<>=]|^https?:|\/.*\//.test(value)
  )
    return undefined;
  return asFinding(page, end + rest.indexOf(value, asks), value);
}

/** The word with its letters that are not ASCII; undefined if it is another word. */
function wholeWord({ text, units }: Page, stop: string, start: number, end: number, { spelled }: Speech) {
  if (units[end]! < 128 && (start === 0 || units[start - 1]! < 128))
    return isPiece(stop) ? undefined : { start, end };
  let from = start;
  let to = end;
  while (from > 0 && start - from < 12 && isLetter(text[from - 1]!)) from -= 1;
  while (to < text.length && to - end < 12 && isLetter(text[to]!)) to += 1;
  if (from === start && to === end) return isPiece(stop) ? undefined : { start, end };
  return spelled?.test(text.slice(from, to).toLowerCase()) ? { start: from, end: to } : undefined;
}

const isLetter = (character: string): boolean => /\p{L}/u.test(character);

function findBehindWord(page: Page, stop: string, end: number, speech: Speech): Finding | undefined {
  const { text } = page;
  // A value right behind a sign is not said, but set: context.ts decides about it.
  if (!/^[ \t]+[^\s:=]/.test(text.slice(end, end + 4))) return undefined;
  const rest = text.slice(end, end + reach);
  // Where no word counts as a value, a digit or a capital within is needed, and something that joins; few lines have both.
  if (speech.describes === undefined && !/\d|[a-z][A-Z]/.test(rest)) return undefined;
  const isOfPair = userBefore.test(text.slice(Math.max(0, end - longestPair), end));
  if (speech.describes === undefined && !isOfPair && !joinsIn(speech).test(rest)) return undefined;
  const clause = rest.slice(0, endsClause.exec(rest)?.index);
  /** How many words ago a joining one was read; the value stands behind it, or behind one word more. */
  let sinceJoin = speech.joining?.test(stop) || isOfPair ? 0 : Number.NaN;
  let isAtOnce = speech.joining?.test(stop) ?? false;
  /** In the languages that borrow the word: then no program is described, in which a word and a number may be a variable. */
  let isForeign = false;
  let count = 0;
  for (const { 0: word, index } of clause.matchAll(piece)) {
    if (leadsToNew.test(word) && Number.isNaN(sinceJoin) && count <= 3) {
      const value = newValue(rest.slice(index + word.length), text.slice(Math.max(0, end - reach), end));
      if (value) return asFinding(page, end + index + word.length + value.at, value.text);
    }
    if (joiningSign.test(word) || speech.joins.test(word)) {
      sinceJoin = 0;
      isAtOnce = !joiningSign.test(word);
      isForeign = isAtOnce && !/^(?:is|was)$/i.test(word);
      continue;
    }
    if (++count > mostPieces || sinceJoin > 1) return undefined;
    const value = word.replace(/[.:!?]+$/, '');
    const shape = Number.isNaN(sinceJoin) ? 0 : shapeOf(value);
    const isTold =
      shape === shapes.odd ||
      (count === 1 && speech.describes !== undefined && shapeOf(value) === shapes.odd) ||
      (sinceJoin === 0 &&
        (shape === shapes.chosen ||
          (isForeign && isMadeUp(value)) ||
          (shape === shapes.word &&
            isAtOnce &&
            speech.describes?.test(value) === false &&
            endsSaying.test(rest.slice(index + word.length)))));
    if (isTold && !/^[\w.-]{1,40}[=:]/.test(value) && !(stop === 'pass' && ofCompiler.test(value)))
      return asFinding(page, end + index, value);
    sinceJoin += 1;
    if (word.endsWith(':')) sinceJoin = 0;
    isAtOnce = false;
  }
  return undefined;
}

/** Words with a sign and a digit; they need not have two digits, as they do beside English words. */
const isMadeUp = (value: string): boolean =>
  isInvented(value) || (/^[\p{L}\d]{3,}[!#$%&*+?^~]/u.test(value) && /\d/.test(value) && value.length >= 8);

/** Where it was changed: `Passwort auf web01 geändert`. */
const ofMachine =
  /^(?:[a-z]+[-.])*[a-z]*(?:web|srv|server|host|db|node|vm|prod|staging|app|nas|mail|pc|box|gw)[-.]?\d{1,4}(?:[-.][a-z]+)*$/i;

/** The value behind a word that leads to a new one: chosen or in quotes, with a word for the change before or behind. */
function newValue(rest: string, before: string): { at: number; text: string } | undefined {
  const match = /^(\s{1,2}["'`«„“”‘「]?)([^\s"'`«»„“”‘」,;]{5,80})(["'`»“”’」]?)(?=[\s.,;:!]|$)/u.exec(rest);
  if (!match) return undefined;
  const [all, open = '', written = '', closing = ''] = match;
  const value = written.replace(/[.:?]+$/, '');
  const shape = shapeOf(value);
  const isMarked = (closing !== '' && /["'`«„“”‘「]$/.test(open)) || /[!#$%^&*]$/.test(value);
  if (shape < (isMarked ? shapes.word : shapes.chosen) || (!isMarked && ofMachine.test(value)))
    return undefined;
  const line = before.slice(before.lastIndexOf('\n') + 1);
  return change.test(line) || change.test(rest.slice(all.length, all.length + 40))
    ? { at: open.length, text: value }
    : undefined;
}

/** `user root and pass x`: a user and a password. */
const userBefore =
  /\b(?:user|username|login|account) ["'`]?[\w.@+-]{1,40}["'`]?,? (?:and |with |\/ )?(?:the )?[a-z]{2,10}$/i;
const longestPair = 72;

/** A pass of a compiler: `pass is O3-inline`, `mem2reg`. */
const ofCompiler = /^(?:[A-Za-z]\d-[a-z]+(?:-[a-z]+)*|[a-z]{2,}2[a-z]{2,})$/;

const endsSaying =
  /^(?:[.,;:!)"'”»\r\n]|$| [^\w\s]| (?:y|e|i|a|og|och|und|en|et|ja|ya|nhé|bitte|svp|pls) ?)/i;

/** `try x, it is the password`: what points from a value to the word behind it, in the languages that put a verb between. */
const pointing =
  /^["'`»”]?[,;]?(?: for now[,;]?| doesn['’]?t work[,;]?| please[,;]?)?(?: (?:but|and|da|weil|car))?(?: (?:it|that|this|which|das|ce|c['’]est|esa?|ese|questa|dat))?(?:['’]?s| is| as| ist| est| es| é| è| är| er| to| jest| on| je| este)(?: [\p{L}\d-]{1,12}){0,3} $/iu;
/** Its end, from the verb on. */
const pointed =
  /(?:s| is| as| ist| est| es| é| è| är| er| to| jest| on| je| este)(?: [\p{L}\d-]{1,12}){0,3} $/iu;
const longestPointed = 48;

function findBeforeWord(page: Page, start: number, speech: Speech): Finding | undefined {
  if (start < 8) return undefined;
  const { text } = page;
  const from = Math.max(0, start - reach);
  const before = text.slice(from, start);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  // Nearly no line has a digit before the word, and one that points to it.
  if (!/\d/.test(line) || !pointed.test(line.slice(-longestPointed))) return undefined;
  const pieces = [...line.matchAll(piece)].reverse();
  for (const { 0: word, index } of pieces.slice(0, mostPieces)) {
    const value = word.replace(/[.:!?;]+$/, '');
    if (shapeOf(value) < shapes.chosen) continue;
    if (!pointing.test(line.slice(index + word.length)) || speech.joins.test(value)) return undefined;
    return asFinding(page, start - line.length + index, value);
  }
  return undefined;
}

/** The value that a word at `at` belongs to, which stands beside letters of no Latin script and has a digit or a capital within. */
export function findSaidNatively({ text, units }: Page, at: number): Finding | undefined {
  const number = /^\d{4,8}(?![\w-]|[.,:]\d)/.exec(text.slice(at, at + 10))?.[0];
  if (number !== undefined) {
    const end = at + number.length;
    return isNativeCode(text, at, end) ? { start: at, end, rule: 'one-time-code' } : undefined;
  }
  let start = at;
  while (start > 0 && at - start < 40 && units[start - 1]! > 32 && units[start - 1]! < 127) start -= 1;
  while (start < at && opening.test(text[start]!)) start += 1;
  const { word, atOnce, before, behind, ends } = nativeSpeech();
  // Most words beside other scripts have no word for a password near.
  if (!word.test(text.slice(Math.max(0, start - reach), start + longestNative))) return undefined;
  const value = valueAt(text, start);
  const shape = shapeOf(value);
  if (shape < shapes.word) return undefined;
  const end = start + value.length;
  const lead = text.slice(Math.max(0, start - reach), start);
  if (shape === shapes.word)
    return atOnce.test(lead) && ends.test(text.slice(end, end + 12))
      ? { start, end, rule: 'password' }
      : undefined;
  // `密码在 1Password 里，看 infra-2024`: other words lead to other things.
  const isTold =
    (shape === shapes.odd ? before : atOnce).test(lead) || behind.test(text.slice(end, end + 40));
  return isTold ? { start, end, rule: 'password' } : undefined;
}

/** The longest value, and the text behind it. */
const longestNative = 120;
/** Also of a channel and of a person. */
const opening = /["'`:(<[=,#@]/;
const valueAt = (text: string, start: number): string =>
  (/^[!-~]{6,80}/.exec(text.slice(start, start + 80))?.[0] ?? '')
    .replace(endOfString, '')
    .replace(/["'`,.:;!?)\]>]+$/, '');
/** Of JSON: what follows belongs to it. */
const endOfString = /\\*"(?:[,}\]:]|\\+[nr"]).*$/;

/** The word at [start, end) has a digit or a capital within, and one of its neighbours, a blank or a quote apart at most, is of no Latin script. */
export function isBesideNative(units: Uint16Array, start: number, end: number): boolean {
  if (end - start < 4) return false;
  if (!(neighbour(units, start - 1, -1) > 255 || neighbour(units, end, 1) > 255)) return false;
  const { classes } = characterTables();
  for (let i = start; i < end; i++)
    if (classes[units[i]!]! & digit || (units[i]! < 91 && units[i - 1]! > 96 && i > start)) return true;
  return false;
}

/** The unit at `at`, behind at most two blanks, colons, quotes and brackets. */
function neighbour(units: Uint16Array, at: number, step: number): number {
  let i = at;
  for (const to = at + 2 * step; i !== to && isThin(units[i]!); ) i += step;
  return units[i]!;
}

const isThin = (unit: number): boolean =>
  unit === 32 ||
  unit === 34 ||
  unit === 39 ||
  unit === 40 ||
  unit === 58 ||
  unit === 91 ||
  unit === 93 ||
  unit === 96;

function shapeOf(value: string): number {
  if (value.length < 5 || value.length > 80 || isStandIn(value) || isPublicId(value)) return 0;
  if (isKeeper(value)) return 0;
  if (looksChosen(value))
    return looksRandom(value, 10) || (/.[!#$%^&*~+?]/.test(value) && /\d/.test(value))
      ? shapes.odd
      : shapes.chosen;
  return isTypedWord(value) ? shapes.word : 0;
}

const asFinding = (page: Page, start: number, value: string): Finding =>
  nameByShape(page, { start, end: start + value.length }, 'password');
