/**
 * Parses untrusted JSON. Documents that are too deep or have too many values are refused, and `__proto__` keys are removed,
 * to protect code that walks or copies the result. JSON.parse itself is safe at any depth, but recursion over its result is
 * not.
 */
import { AgentdumpError, MalformedInput } from '../../errors.ts';

const deepestJson = 200;
const mostJsonValues = 2_000_000;

export interface ParsedJson {
  value: unknown;
  /** How many `__proto__` keys were removed. */
  removedKeys: number;
}

/** Throws `malformed-input` for text that is no JSON, `over-limit` if it is too deep or has too many values. */
export function parseUntrustedJson(bytes: Uint8Array, name: string): ParsedJson {
  measureJson(bytes);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not whole JSON' : 'it cannot be held as text';
    throw new MalformedInput(
      reason,
      { format: 'bundle', field: name, available: `${bytes.length} bytes` },
      error,
    );
  }
  return { value, removedKeys: mayHoldProto(bytes) ? removeProtoKeys(value) : 0 };
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** One pass over the bytes; strings are skipped from quote to quote. */
function measureJson(bytes: Uint8Array): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === openBracket || byte === openBrace) {
      values++;
      if (++depth > deepestJson) throw overLimit('levels', deepestJson);
    } else if (byte === closeBracket || byte === closeBrace) depth--;
    else if (byte === comma && ++values > mostJsonValues) throw overLimit('values', mostJsonValues);
  }
}

function endOfString(bytes: Uint8Array, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
}

function overLimit(what: string, allowed: number): AgentdumpError {
  const details = { limit: `json ${what}`, allowed };
  return new AgentdumpError('over-limit', `its JSON has more than ${allowed} ${what}`, details);
}

function mayHoldProto(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return text.includes('__proto__') || text.includes('\\u005f') || text.includes('\\u005F');
}

/** Iterative, because the depth of the input is not ours to choose. */
function removeProtoKeys(root: unknown): number {
  let removed = 0;
  const open: object[] = isObject(root) ? [root] : [];
  for (let value = open.pop(); value; value = open.pop()) {
    if (Object.hasOwn(value, '__proto__')) {
      Reflect.deleteProperty(value, '__proto__');
      removed++;
    }
    for (const child of Object.values(value)) if (isObject(child)) open.push(child);
  }
  return removed;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
