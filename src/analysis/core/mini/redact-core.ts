/**
 * Takes secrets out of memory that a mini core keeps, at their length, so that every address stays true. The memory is
 * read as text, of one byte a character and of two, wherever it looks like text: V8's strings and native ones alike.
 * What only a name gives away (a variable called `password`) is learnt from the account first, and then withheld
 * wherever it stands. Paths in the list of mapped files stay as they are: modules are found by them.
 */

import type { Account } from '../../../model/account.ts';
import type { Policy } from '../../../redaction/index.ts';

export type CoreRedactor = Pick<
  Policy,
  'masked' | 'argv' | 'environment' | 'code' | 'text' | 'value' | 'addKnown'
>;

/** A stretch of kept memory, and what surrounds it in the process: a secret may reach over its edges. */
export interface KeptBytes {
  /** Changed in place. */
  target: Uint8Array;
  window: Uint8Array;
  /** Where the target begins in the window. */
  offset: number;
}

const newline = 10;
/** Shorter runs of two-byte characters are numbers more often than text. */
const shortestWide = 4;

/** Learns the secrets that names in the account give away: of variables and properties. */
export function learnSecrets(account: Account, redactor: CoreRedactor): void {
  const frames = [...(account.threads ?? []), ...(account.suspended ?? [])].flatMap((stack) => stack.frames);
  for (const { locals = [] } of frames)
    for (const { name, value } of locals) learnFromText(`${name} = ${value}`, redactor);
}

/** Quoted texts that are withheld where they stand. */
function learnFromText(text: string, redactor: CoreRedactor): void {
  const masked = redactor.code(text);
  if (masked === text) return;
  for (const { 0: whole, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g)) {
    if (masked.slice(index, index + whole.length) === whole) continue;
    redactor.addKnown(whole.slice(1, -1).replace(/…$/, ''));
  }
}

/** One pass over all of it: what is alike is searched once. */
export function redactMemory(kept: readonly KeptBytes[], redactor: CoreRedactor): void {
  redactAs(kept, redactor, (window) => textOf(window));
  for (const odd of [0, 1] as const) redactWide(kept, redactor, odd);
}

function redactAs(
  kept: readonly KeptBytes[],
  redactor: CoreRedactor,
  read: (window: Uint8Array) => string,
): void {
  const texts = kept.map(({ window }) => read(window));
  const joined = texts.join('\n');
  const clean = redactor.masked(joined);
  checkLength(joined, clean);
  let at = 0;
  kept.forEach(({ target, offset }, i) => {
    const text = texts[i] ?? '';
    for (let j = 0; j < target.length; j++) {
      const code = clean.charCodeAt(at + offset + j);
      if (code !== text.charCodeAt(offset + j)) target[j] = code;
    }
    at += text.length + 1;
  });
}

/** Bytes that are no text end a line, so that nothing is read across them. */
function textOf(window: Uint8Array): string {
  const text = Buffer.from(window);
  for (let i = 0; i < text.length; i++) if (!isText(text[i] ?? 0)) text[i] = newline;
  return text.toString('latin1');
}

function isText(byte: number): boolean {
  return (byte >= 0x20 && byte !== 0x7f) || byte === 9;
}

/** `odd`: characters of two bytes begin at even addresses of the window, or at odd ones. */
function redactWide(kept: readonly KeptBytes[], redactor: CoreRedactor, odd: 0 | 1): void {
  const texts = kept.map(({ window }) => wideTextOf(window, odd));
  if (texts.every((text) => text === '')) return;
  const joined = texts.join('\n');
  const clean = redactor.masked(joined);
  checkLength(joined, clean);
  let at = 0;
  kept.forEach(({ target, offset }, i) => {
    const text = texts[i] ?? '';
    for (let j = 0; j < text.length; j++) {
      const code = clean.charCodeAt(at + j);
      if (code !== text.charCodeAt(j)) putUnit(target, j * 2 + odd - offset, code);
    }
    at += text.length + 1;
  });
}

/** Shifted text would write over registers and pointers: no mini core is better than a wrong one. */
function checkLength(text: string, clean: string): void {
  if (clean.length !== text.length)
    throw new Error(`redaction made ${clean.length} characters of memory out of ${text.length}`);
}

function putUnit(target: Uint8Array, place: number, code: number): void {
  if (place >= 0 && place < target.length) target[place] = code & 0xff;
  if (place >= -1 && place + 1 < target.length) target[place + 1] = code >> 8;
}

/** Empty where nothing looks like text of two bytes a character. */
function wideTextOf(window: Uint8Array, odd: 0 | 1): string {
  const units = Buffer.from(window.subarray(odd, odd + ((window.length - odd) & ~1)));
  let run = 0;
  let isWide = false;
  for (let i = 0; i < units.length; i += 2) {
    const unit = units.readUInt16LE(i);
    run = unit < 0x80 && isText(unit) ? run + 1 : 0;
    isWide ||= run >= shortestWide;
    if (unit > 0xff || isText(unit)) continue;
    units.writeUInt16LE(newline, i);
  }
  return isWide ? units.toString('utf16le') : '';
}
