/**
 * A thrown value that is no error has no stack: V8 keeps its place to itself, and Node prints it only after the process has let
 * go of everything. The analysis searches for the code that can give this value, in the scripts that contain its words.
 */
import { types } from 'node:util';
import { findField } from '../host/read-field.ts';

const mostWords = 3;
const longestRead = 2_000;
const throwing = String.raw`(?=[\s\S]*\b(?:throw|reject|abort|new\s+Promise)\b)`;
/** The end of Node's message for a rejection with a value that is not an error. */
const rejectedWith = /with the reason "([\s\S]*)"\.$/;

/** What a script must contain to be able to throw the value; those with `whole`, if there are any, come before all others. */
export interface ThrownWords {
  text: RegExp;
  whole?: string;
}

/** Undefined for an error, which has a stack. */
export function wordsOfThrown(value: unknown): ThrownWords | undefined {
  if (types.isNativeError(value)) {
    if (findField(value, 'code') !== 'ERR_UNHANDLED_REJECTION') return undefined;
    const [, reason] = rejectedWith.exec(String(findField(value, 'message') ?? '')) ?? [];
    if (reason === undefined) return undefined;
    const [, className] = /^#<(\w+)>$/.exec(reason) ?? [];
    return className === undefined ? wordsOfText(reason) : wordsOfClass(className);
  }
  if (typeof value === 'object' && value !== null) return hasStack(value) ? undefined : wordsOfObject(value);
  return typeof value === 'function' || typeof value === 'symbol' ? undefined : wordsOfText(String(value));
}

/** A DOMException is no native error before Node 24, and has a stack; a library may have given it fields, whose names say nothing. */
function hasStack(value: object): boolean {
  const stack = findField(value, 'stack');
  return typeof stack === 'string' && /^\s+at /m.test(stack.slice(0, longestRead));
}

/** Node says no more of an object that a promise was rejected with. */
function wordsOfClass(name: string): ThrownWords {
  const literal = /\bthrow\s*\{|\b(?:reject\w*|abort)\s*\(\s*\{/;
  return { text: name === 'Object' ? literal : new RegExp(String.raw`\bnew\s+${name}\b`) };
}

function wordsOfText(text: string): ThrownWords | undefined {
  if (text === 'undefined' || text === 'null')
    return { text: /\bthrow\s+(?:undefined|null|void\b)|\bPromise\s*\.\s*reject\b|\bnew\s+Promise\b/ };
  const words = text.slice(0, longestRead).match(/[\p{L}\p{N}_]{2,}/gu) ?? (/^\d$/.test(text) ? [text] : []);
  const longest = [...new Set(words)].sort((a, b) => b.length - a.length).slice(0, mostWords);
  // A part of the text may come from a variable, so one of its words is enough.
  if (!longest.length) return undefined;
  const pattern = `^${throwing}(?=[\\s\\S]*(?:${longest.join('|')}))`;
  return { text: new RegExp(pattern, 'u'), whole: text.slice(0, longestRead) };
}

function wordsOfObject(value: object): ThrownWords | undefined {
  if (types.isProxy(value)) return undefined;
  const names = Object.keys(value).filter((name) => /^\w+$/.test(name));
  if (names.length === 0) return undefined;
  const all = names.slice(0, mostWords).map((name) => `(?=[\\s\\S]*\\b${name}\\b)`);
  return { text: new RegExp(`^${throwing}${all.join('')}`, 'u') };
}
