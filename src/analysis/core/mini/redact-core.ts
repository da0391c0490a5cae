/**
 * Removes secrets from the memory that a mini core keeps, without changing lengths, so that all addresses stay valid. Memory
 * is read as text with one and with two bytes per character wherever it looks like text, which covers V8's strings and native
 * ones. Secrets that only a name reveals (a variable called `password`) are first learnt from the account, then removed
 * everywhere. Paths in the list of mapped files are not changed, since modules are found by them.
 */

import type { Account } from '../../../model/account.ts';
import type { Policy } from '../../../redaction/index.ts';

export type CoreRedactor = Pick<
  Policy,
  'masked' | 'argv' | 'environment' | 'code' | 'text' | 'value' | 'addKnown'
>;

/** A range of kept memory and the memory around it: a secret may cross the edges. */
export interface KeptBytes {
  /** Changed in place. */
  target: Uint8Array;
  window: Uint8Array;
  /** Where the target begins in the window. */
  offset: number;
}

const newline = 10;
/** Shorter runs of two-byte characters are more often numbers than text. */
const shortestWide = 4;

/** Learns secrets that the names of variables and properties in the account reveal. */
export function learnSecrets(account: Account, redactor: CoreRedactor): void {
  const frames = [...(account.threads ?? []), ...(account.suspended ?? [])].flatMap((stack) => stack.frames);
  for (const { locals = [] } of frames)
    for (const { name, value } of locals) learnFromText(`${name} = ${value}`, redactor);
}

/** Learns quoted strings that redaction masks. */
function learnFromText(text: string, redactor: CoreRedactor): void {
  const masked = redactor.code(text);
  if (masked === text) return;
  for (const { 0: whole, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g)) {
    if (masked.slice(index, index + whole.length) === whole) continue;
    redactor.addKnown(whole.slice(1, -1).replace(/…$/, ''));
  }
}

/** One pass over all ranges, so that repeated text is searched only once. */
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

/** Bytes that aren't text become line breaks, so that nothing matches across them. */
function textOf(window: Uint8Array): string {
  const text = Buffer.from(window);
  for (let i = 0; i < text.length; i++) if (!isText(text[i] ?? 0)) text[i] = newline;
  return text.toString('latin1');
}

function isText(byte: number): boolean {
  return (byte >= 0x20 && byte !== 0x7f) || byte === 9;
}

/** `odd`: whether the two-byte characters begin at even or odd offsets of the window. */
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

/** Shifted text would overwrite registers and pointers: failing is better than a wrong mini core. */
function checkLength(text: string, clean: string): void {
  if (clean.length !== text.length)
    throw new Error(`redaction made ${clean.length} characters of memory out of ${text.length}`);
}

function putUnit(target: Uint8Array, place: number, code: number): void {
  if (place >= 0 && place < target.length) target[place] = code & 0xff;
  if (place >= -1 && place + 1 < target.length) target[place + 1] = code >> 8;
}

/** Empty if nothing looks like two-byte text. */
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
