/**
 * Copies any value of a program to plain JSON and withholds its secrets. Property names are context for their values, strings
 * are searched as text, cycles and throwing getters are marked, and depth, entries and length are bounded. The only host code
 * it calls are getters, and traps of proxies; none at all with `isProxy`.
 */
import type { NameBook } from './names/name-book.ts';
import { judgeSelector } from './names/selectors.ts';
import { renderPlaceholder } from './placeholder.ts';
import { isPublicName } from './shapes/unknown-tokens.ts';
import { startOf } from './start-of.ts';
import { isSecretValue } from './values/values.ts';

export interface ValueLimits {
  /** Levels of nesting below the value itself. */
  maxDepth: number;
  /** Total number of properties and elements. */
  maxEntries: number;
  /** Longer strings are truncated after redaction; much longer ones also before it, to bound the cost. */
  maxStringChars: number;
}

export const defaultLimits: ValueLimits = { maxDepth: 12, maxEntries: 20_000, maxStringChars: 100_000 };

export interface ValueRules {
  names: NameBook;
  text: (value: string) => string;
  count: (rule: string, value: string, isCertain?: boolean) => void;
  /** Given for values of a program that must not notice: its getters are not run, and its proxies not read. */
  isProxy?: ((value: object) => boolean) | undefined;
}

export function redactValue(value: unknown, rules: ValueRules, limits: ValueLimits): unknown {
  return new ValueCopier(rules, limits).copy(value, '', 0);
}

/** Markers in the copy for what was left out. */
const marks = {
  cycle: '[circular]',
  depth: '[deeper levels left out]',
  entries: '[further entries left out]',
  threw: '[getter threw]',
  getter: '[getter]',
  proxy: '[proxy]',
};

/** What an error may inherit. */
const longestChain = 64;

const longestLabel = 200;
/** A larger object is judged by its names alone. */
const longestAsText = 16_384;
const markedSecret = /^(?:is_?)?(?:sensitive|secret|secured|masked)$/i;
const idOfField = /^(?:id|ref|target)$/;

const standAlone = { quoted: true, tight: false, startsLine: false, endsLine: true, next: 0 };

class ValueCopier {
  private readonly rules: ValueRules;
  private readonly limits: ValueLimits;
  private readonly open = new Set<object>();
  private entries = 0;

  constructor(rules: ValueRules, limits: ValueLimits) {
    this.rules = rules;
    this.limits = limits;
  }

  /** Recursion is bounded by maxDepth. */
  copy(value: unknown, name: string, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        return this.copyString(value, name);
      case 'number':
      case 'bigint':
        return this.copyNumber(value, name);
      case 'boolean':
        return value;
      case 'undefined':
        return undefined;
      case 'symbol':
        return this.cut(this.rules.text(`[${describeSymbol(value)}]`));
      case 'function':
        return this.cut(this.rules.text(`[function ${ownText(value, 'name')}]`));
      default:
        return value === null ? null : this.copyObject(value as object, name, depth);
    }
  }

  private copyString(value: string, name: string): string {
    const verdict = name === '' ? undefined : this.rules.names.judge(name);
    if (
      verdict &&
      verdict.strength > 0 &&
      !verdict.form &&
      isSecretValue(value.slice(0, 4096), verdict, standAlone)
    ) {
      this.rules.count(verdict.rule, value, verdict.strength === 3);
      return renderPlaceholder(verdict.rule, value);
    }
    // Long enough that the effects of this first cut are removed by the last one.
    const start = startOf(value, 2 * this.limits.maxStringChars);
    const further = value.length - start.length;
    if (verdict?.form) return this.copyBehind(`${name}: `, start, '', further);
    if (isPublicName(name)) return this.copyBehind(`"${name}":"`, start, '"', further);
    return this.cut(this.rules.text(start), further);
  }

  /**
   * Redacts the value as part of the line or piece of JSON that it comes from, because some headers have their own format and
   * some names mark a value as public.
   */
  private copyBehind(lead: string, value: string, tail: string, further: number): string {
    const line = this.rules.text(lead + value + tail);
    const isFramed = line.startsWith(lead) && line.endsWith(tail);
    return this.cut(
      isFramed ? line.slice(lead.length, line.length - tail.length) : this.rules.text(value),
      further,
    );
  }

  private copyNumber(value: number | bigint, name: string): unknown {
    const plain = typeof value === 'bigint' || !Number.isFinite(value) ? String(value) : value;
    const text = String(value);
    if (text.length < 4) return plain;
    const verdict = name === '' ? undefined : this.rules.names.judge(name);
    if (verdict && verdict.strength > 1 && isSecretValue(text, verdict, standAlone)) {
      this.rules.count(verdict.rule, text);
      return renderPlaceholder(verdict.rule, text);
    }
    const redacted = this.rules.text(text);
    return redacted === text ? plain : redacted;
  }

  /** @param further number of characters that were cut before. */
  private cut(text: string, further = 0): string {
    const { maxStringChars } = this.limits;
    if (text.length + further <= maxStringChars) return text;
    const left = Math.max(0, text.length - maxStringChars) + further;
    return `${text.slice(0, maxStringChars).replace(/[\ud800-\udbff]$/, '')}… [${left} more characters]`;
  }

  private copyObject(value: object, name: string, depth: number): unknown {
    if (this.rules.isProxy?.(value)) return marks.proxy;
    if (this.open.has(value)) return marks.cycle;
    if (depth >= this.limits.maxDepth) return marks.depth;
    this.open.add(value);
    try {
      return this.copyEntries(value, name, depth);
    } catch {
      return marks.threw;
    } finally {
      this.open.delete(value);
    }
  }

  private copyEntries(value: object, name: string, depth: number): unknown {
    if (Array.isArray(value)) return this.copyList(value, name, depth);
    if (ArrayBuffer.isView(value)) return `[${nameOfType(value)} of ${value.byteLength} bytes]`;
    if (value instanceof ArrayBuffer) return `[ArrayBuffer of ${value.byteLength} bytes]`;
    if (value instanceof Date) return dateText(value);
    if (value instanceof RegExp) return this.cut(this.rules.text(RegExp.prototype.toString.call(value)));
    if (value instanceof Map) return this.copyPairs(value, depth);
    if (value instanceof Set) return this.copyList([...Set.prototype.values.call(value)], name, depth);
    if (value instanceof URL) return this.copyString(hrefOf(value), name);
    if (value instanceof String) return this.copy(String.prototype.valueOf.call(value), name, depth);
    if (value instanceof Number) return this.copy(Number.prototype.valueOf.call(value), name, depth);
    if (value instanceof Boolean) return this.copy(Boolean.prototype.valueOf.call(value), name, depth);
    const out: Record<string, unknown> = {};
    if (value instanceof Error) this.copyErrorText(value, out, depth);
    let isTelling = false;
    for (const key of Object.keys(value)) {
      if (this.isFull()) {
        out['…'] = marks.entries;
        break;
      }
      const copied = this.readOwn(value, key, depth);
      isTelling ||= this.tellsOfOthers(key, copied);
      this.put(out, key, copied);
    }
    return isTelling ? this.judgeAsText(out) : out;
  }

  /** `type: 'random_password'`, `OutputKey: 'AdminPassword'`, `sensitive: true`: a field that says what is in another one. */
  private tellsOfOthers(key: string, value: unknown): boolean {
    if (value === true) return markedSecret.test(key);
    if (typeof value !== 'string' || value.length < 3 || value.length > longestLabel) return false;
    const { form, rule } = this.rules.names.judge(key);
    if (form !== 'label' && !idOfField.test(key)) return false;
    return rule === 'selector'
      ? judgeSelector(value) !== undefined
      : this.rules.names.judge(value).strength > 1;
  }

  /** What the text of an object tells of its fields, and of those of the objects in it, as in a log of the same object. */
  private judgeAsText(copy: Record<string, unknown>): unknown {
    const text = JSON.stringify(copy);
    if (text.length > longestAsText) return copy;
    const redacted = this.rules.text(text);
    if (redacted === text) return copy;
    try {
      return JSON.parse(redacted);
    } catch {
      return copy;
    }
  }

  private readOwn(value: object, key: string, depth: number): unknown {
    let inner: unknown;
    try {
      inner = this.rules.isProxy ? this.readData(value, key) : (value as Record<string, unknown>)[key];
    } catch {
      return marks.threw;
    }
    const copied = this.copy(inner, this.nameFor(value, key), depth + 1);
    return copied === undefined ? '[undefined]' : copied;
  }

  /** Runs V8's and Node's own getters only, such as that of an error's stack. */
  private readData(value: object, key: string): unknown {
    let holder: object | null = value;
    for (let depth = 0; holder && depth < longestChain; depth++) {
      if (this.rules.isProxy?.(holder)) return marks.proxy;
      const property = Object.getOwnPropertyDescriptor(holder, key);
      if (property?.get && !isNative(property.get)) return marks.getter;
      if (property) return property.get ? Reflect.apply(property.get, value, []) : property.value;
      holder = Object.getPrototypeOf(holder) as object | null;
    }
    return undefined;
  }

  /** In `{name: 'X', value: 'y'}`, the name of the value is X. */
  private nameFor(value: object, key: string): string {
    const verdict = this.rules.names.judge(key);
    if (verdict.form !== 'content') return key;
    const fields = value as Record<string, unknown>;
    for (const label of ['name', 'key', 'Name', 'Key', 'header']) {
      const descriptor = Object.getOwnPropertyDescriptor(fields, label);
      if (typeof descriptor?.value === 'string' && descriptor.value.length < 80) return descriptor.value;
    }
    return key;
  }

  private copyList(list: readonly unknown[], name: string, depth: number): unknown[] {
    const out: unknown[] = [];
    for (let i = 0; i < list.length; i++) {
      if (this.isFull()) {
        out.push(marks.entries);
        break;
      }
      const before = i > 0 && typeof list[i - 1] === 'string' ? (list[i - 1] as string) : '';
      const flag = /^-{1,2}[A-Za-z][\w-]*$/.test(before) ? before : this.headerName(list, i);
      out.push(this.copy(list[i], flag || name, depth + 1) ?? null);
    }
    return out;
  }

  /** Raw headers: names and values alternate. */
  private headerName(list: readonly unknown[], i: number): string {
    const before = i % 2 === 1 ? list[i - 1] : undefined;
    if (typeof before !== 'string' || before.length > 80 || !/^[\w-]+$/.test(before)) return '';
    const verdict = this.rules.names.judge(before);
    return verdict.form === 'authorization' ||
      verdict.form === 'cookie' ||
      verdict.form === 'set-cookie' ||
      (verdict.strength > 1 && before.includes('-'))
      ? before
      : '';
  }

  private copyPairs(map: Map<unknown, unknown>, depth: number): Record<string, unknown> {
    const out: Record<string, unknown> = {};
    for (const [key, inner] of Map.prototype.entries.call(map)) {
      if (this.isFull()) {
        out['…'] = marks.entries;
        break;
      }
      const name =
        typeof key === 'string'
          ? key
          : typeof key === 'object' || typeof key === 'function'
            ? `[${nameOfType(key)}]`
            : String(key);
      this.put(out, name, this.copy(inner, name, depth + 1) ?? null);
    }
    return out;
  }

  /** An error's message, stack and cause are not enumerable. */
  private copyErrorText(error: Error, out: Record<string, unknown>, depth: number): void {
    for (const key of ['name', 'message', 'stack', 'cause', 'errors']) {
      if (Object.prototype.propertyIsEnumerable.call(error, key) || !this.has(error, key)) continue;
      // V8 calls the getters of the other two when the stack is first read.
      if (key === 'stack' && [out['name'], out['message']].includes(marks.getter)) continue;
      this.put(out, key, this.readOwn(error, key, depth));
    }
  }

  private has(error: Error, key: string): boolean {
    let holder: object | null = error;
    for (let depth = 0; holder && depth < longestChain; depth++) {
      if (this.rules.isProxy?.(holder)) return false;
      if (Object.hasOwn(holder, key)) return true;
      holder = Object.getPrototypeOf(holder) as object | null;
    }
    return false;
  }

  /** Names can be secrets too (a cache by token). `__proto__` must not set the prototype. */
  private put(out: Record<string, unknown>, key: string, value: unknown): void {
    const name = key.length < 8 ? key : this.cut(this.rules.text(key));
    Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true });
  }

  private isFull(): boolean {
    this.entries += 1;
    return this.entries > this.limits.maxEntries;
  }
}

const hrefOf = (url: URL): string => (Object.hasOwn(url, 'href') ? '[URL]' : url.href);

function isNative(get: () => unknown): boolean {
  const text = Function.prototype.toString.call(get);
  return text.includes('[native code]') || ofDomException.test(text);
}

/** Node has these getters in JavaScript (lib/internal/per_context/domexception.js, Node 20 to 26). Nothing else knows `internalsMap`. */
const ofDomException =
  /^get \w+\(\) \{\s*const internals = internalsMap\.get\(this\);\s*if \(internals === undefined\) \{\s*throwInvalidThisError\(TypeError, 'DOMException'\);\s*\}/;

function ownText(value: object, key: string): string {
  const descriptor = Object.getOwnPropertyDescriptor(value, key);
  return typeof descriptor?.value === 'string' ? descriptor.value : '';
}

/** Doesn't call the value's own methods, which the program may have replaced. */
function dateText(value: Date): string {
  const time = Date.prototype.getTime.call(value);
  return Number.isNaN(time) ? 'Invalid Date' : new Date(time).toISOString();
}

const describeSymbol = (value: symbol): string => String(value);

function nameOfType(value: unknown): string {
  const prototype = Object.getPrototypeOf(value) as object | null;
  const maker = prototype && Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  return (typeof maker === 'function' && ownText(maker, 'name')) || 'object';
}
