/**
 * Any thrown value as plain data: errors of any realm, frozen ones, getters that throw, cyclic causes, proxies, primitives.
 * Runs no code of the program that could change anything. Redaction comes later.
 */

import { types } from 'node:util';
import type { RawFrame, SerializedError } from '../../bundle/layout/bundle.ts';
import { startOf } from '../../redaction/start-of.ts';
import { putBack, putProperty } from '../host/intrinsics/intrinsics.ts';
import { findField, requireField } from '../host/read-field.ts';
import { toUndo } from '../host/undo.ts';
import { GetterReader } from './getter-reader.ts';

const maxDepth = 8;
const maxErrors = 32;
/** How far a chain of causes is followed to find its last one, which says more than those in between. */
const longestChain = 100_000;
const maxProperties = 64;
const maxTextChars = 64 * 1024;
const knownFields = new Set(['name', 'message', 'stack', 'code', 'cause', 'errors']);

export interface ReadError {
  error: SerializedError;
  /** Stack texts of the error, its causes and its aggregated errors. */
  stackTexts: string[];
}

/** Reads `thrown`. Never throws. */
export function readThrown(thrown: unknown): ReadError {
  const getters = new GetterReader();
  const close = toUndo(() => getters.close());
  try {
    const reader = new ErrorReader(getters);
    const error = reader.read(thrown, 0);
    return { error, stackTexts: reader.stackTexts };
  } finally {
    close();
  }
}

class ErrorReader {
  readonly stackTexts: string[] = [];
  readonly #seen = new Set<unknown>();
  readonly #getters: GetterReader;

  constructor(getters: GetterReader) {
    this.#getters = getters;
  }

  read(thrown: unknown, depth: number): SerializedError {
    const isObject = (typeof thrown === 'object' && thrown !== null) || typeof thrown === 'function';
    if (!isObject)
      return { type: thrown === null ? 'null' : typeof thrown, isError: false, text: textOf(thrown) };
    this.#seen.add(thrown);
    return this.#readObject(thrown as object, depth);
  }

  #readObject(thrown: object, depth: number): SerializedError {
    const gaps: string[] = [];
    const field = (name: string): unknown => {
      try {
        return requireField(thrown, name, name === 'stack' ? undefined : this.#getters);
      } catch (error) {
        gaps.push(`${name}: ${textOf(error)}`);
        return undefined;
      }
    };
    const result: SerializedError = { type: typeof thrown, isError: isErrorLike(thrown) };
    const read = { stack: field('stack'), name: field('name'), message: field('message') };
    const text = result.isError ? completedByStack(read) : read;
    for (const name of ['name', 'message', 'stack'] as const) {
      const value = text[name];
      if (typeof value === 'string') result[name] = cut(value, gaps, name);
    }
    const className = constructorName(thrown);
    if (className !== undefined) result.className = className;
    if (result.stack !== undefined) this.stackTexts.push(result.stack);
    const code = field('code');
    if (typeof code === 'string') result.code = cut(code, gaps, 'code');
    else if (typeof code === 'number') result.code = code;
    if (!result.isError)
      result.text = types.isProxy(thrown) ? '(a proxy)' : `[object ${className ?? 'Object'}]`;
    const properties = ownProperties(thrown, gaps);
    if (properties) result.properties = properties;
    this.#readRelated(field, result, depth, gaps);
    if (gaps.length > 0) result.gaps = gaps;
    return result;
  }

  #readRelated(
    field: (name: string) => unknown,
    result: SerializedError,
    depth: number,
    gaps: string[],
  ): void {
    const cause = field('cause');
    const errors = field('errors');
    if (cause !== undefined) this.#readCause(cause, result, depth, gaps);
    if (!Array.isArray(errors)) return;
    if (depth >= maxDepth) {
      gaps.push(`${errors.length} aggregated errors, as deep as this, were not read`);
      return;
    }
    result.errors = [];
    for (const error of errors) {
      if (this.#seen.size >= maxErrors) {
        gaps.push(`${errors.length - result.errors.length} more aggregated errors were not read`);
        break;
      }
      if (this.#seen.has(error)) gaps.push('an aggregated error is one of those above');
      else result.errors.push(this.read(error, depth + 1));
    }
  }

  /** Reads the next cause; beyond the depth limit, the last one of the chain. */
  #readCause(cause: unknown, result: SerializedError, depth: number, gaps: string[]): void {
    if (depth > maxDepth) return;
    let next = cause;
    let between = 0;
    for (; depth === maxDepth && between < longestChain && !this.#seen.has(next); between++) {
      const further = findField(next, 'cause');
      if (further === undefined) break;
      this.#seen.add(next);
      next = further;
    }
    if (between > 0) gaps.push(`${between} causes in between were not read`);
    if (this.#seen.has(next)) gaps.push('its cause is one of the errors above');
    else result.cause = this.read(next, depth + 1);
  }
}

/**
 * V8's own call sites of an error's stack, 1-based; empty if the stack has been formatted before. V8 formats a stack once, on
 * first access, and only then passes the call sites to Error.prepareStackTrace, so this must be the first access to a thrown
 * value. The output of the host's own formatter stays the same.
 */
export function readRawFrames(thrown: unknown): RawFrame[] {
  // From the realm of the error: the program's.
  const HostError = globalThis.Error;
  const original = HostError?.prepareStackTrace;
  if (!types.isNativeError(thrown) || typeof original !== 'function') return [];
  const before = Object.getOwnPropertyDescriptor(HostError, 'prepareStackTrace');
  let frames: RawFrame[] = [];
  const format = (error: Error, callSites: NodeJS.CallSite[]): unknown => {
    frames = rawFrames(callSites);
    return Reflect.apply(original, HostError, [error, callSites]);
  };
  if (!putProperty(HostError, 'prepareStackTrace', format)) return [];
  const undo = toUndo(() => putBack(HostError, 'prepareStackTrace', before));
  try {
    findField(thrown, 'stack');
  } finally {
    undo();
  }
  return frames;
}

function rawFrames(callSites: NodeJS.CallSite[]): RawFrame[] {
  try {
    return Array.from(callSites, (site) => ({
      functionName: site.getFunctionName() ?? '',
      scriptId: '',
      url: site.getFileName() ?? '',
      line: site.getLineNumber() ?? 0,
      column: site.getColumnNumber() ?? 0,
    }));
  } catch {
    // Host code may pass made-up call sites to the formatter; the text still has the frames.
    return [];
  }
}

interface ErrorTexts {
  stack: unknown;
  name: unknown;
  message: unknown;
}

/**
 * V8 has put name and message in front of the stack, for which it has called their getters, as Node's report would have made it
 * do: from there comes what can't be read again without an effect.
 */
function completedByStack(read: ErrorTexts): ErrorTexts {
  const { stack, name, message } = read;
  if (typeof stack !== 'string' || (name !== undefined && message !== undefined)) return read;
  const end = stack.indexOf('\n    at ');
  const head = end < 0 ? stack : stack.slice(0, end);
  const known = typeof name === 'string' ? name : /^[\w$.]+(?=: |$)/.exec(head)?.[0];
  if (known === undefined || !head.startsWith(known)) return read;
  const rest = head.slice(known.length);
  return { stack, name: known, message: message ?? (rest.startsWith(': ') ? rest.slice(2) : '') };
}

function constructorName(value: object): string | undefined {
  try {
    const name = requireField(requireField(value, 'constructor'), 'name');
    return typeof name === 'string' && name !== '' ? name.slice(0, 200) : undefined;
  } catch {
    return undefined;
  }
}

function isErrorLike(value: object): boolean {
  try {
    return types.isNativeError(value) || (!types.isProxy(value) && value instanceof Error);
  } catch {
    return false;
  }
}

function ownProperties(thrown: object, gaps: string[]): Record<string, unknown> | undefined {
  if (types.isProxy(thrown)) return undefined;
  const result: Record<string, unknown> = {};
  let count = 0;
  try {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(thrown))) {
      if (knownFields.has(name) || !property.enumerable) continue;
      if (++count > maxProperties) {
        gaps.push(`properties after the first ${maxProperties} were not read`);
        break;
      }
      const value = 'value' in property ? property.value : '[Getter]';
      Object.defineProperty(result, name, { value, enumerable: true, configurable: true, writable: true });
    }
  } catch (error) {
    gaps.push(`properties: reading them threw ${textOf(error)}`);
  }
  return count > 0 ? result : undefined;
}

/** A short text for any value. Runs the host's toString at most once. Never throws. */
function textOf(value: unknown): string {
  try {
    if (typeof value === 'string') return startOf(value, maxTextChars);
    return typeof value === 'symbol' || typeof value === 'bigint' ? value.toString() : String(value);
  } catch {
    return '(cannot be turned into text)';
  }
}

function cut(text: string, gaps: string[], name: string): string {
  if (text.length <= maxTextChars) return text;
  gaps.push(`${name}: cut from ${text.length} to ${maxTextChars} characters`);
  return startOf(text, maxTextChars);
}
