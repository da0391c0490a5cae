/**
 * Reads untrusted JSON parts: every field is requested by name and type; a wrong type is a fault, which becomes a gap, and
 * the field counts as absent. Never throws. Knows no specific part. Values without a fixed shape are copied with a limited
 * depth and count, because JSON.parse accepts JSON nested 200,000 levels deep, which breaks recursive code later.
 */
import type { Gap } from '../../model/verdict.ts';

const maxTextChars = 1 << 20;
const maxItems = 100_000;
const maxValueDepth = 40;
const maxValueNodes = 200_000;
const maxFaultsShown = 5;

/** Collects the faults of one part. */
export class PartFaults {
  readonly part: string;
  readonly #faults: string[] = [];
  #count = 0;

  constructor(part: string) {
    this.part = part;
  }

  add(fault: string): void {
    this.#count += 1;
    if (this.#faults.length < maxFaultsShown) this.#faults.push(fault);
  }

  /** One gap per fault; after the first few, a single gap with the number of the others. */
  gaps(): Gap[] {
    const gaps = this.#faults.map((reason): Gap => ({ part: this.part, reason }));
    const more = this.#count - this.#faults.length;
    if (more > 0) gaps.push({ part: this.part, reason: `${more} more fields of a wrong shape` });
    return gaps;
  }
}

/** The fields of one JSON object. */
export class Fields {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #faults: PartFaults;

  private constructor(value: Record<string, unknown>, path: string, faults: PartFaults) {
    this.#value = value;
    this.#path = path;
    this.#faults = faults;
  }

  /** Undefined, with a fault, if the value is not a JSON object. `path` is the prefix of field names in faults. */
  static of(value: unknown, path: string, faults: PartFaults): Fields | undefined {
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return new Fields(value as Record<string, unknown>, path, faults);
    faults.add(`${path || 'the whole'} is ${kindOf(value)}, not an object`);
    return undefined;
  }

  /** Records that something of this object was omitted on purpose. */
  leaveOut(what: string): void {
    this.#faults.add(`${this.#path ? `${this.#path}: ` : ''}${what} left out`);
  }

  /** Names of the existing fields. */
  names(): string[] {
    return Object.keys(this.#value);
  }

  text(name: string): string | undefined {
    const value = this.#expect(name, 'text', (v): v is string => typeof v === 'string');
    if (value === undefined || value.length <= maxTextChars) return value;
    this.#faults.add(`${this.#at(name)} is cut: ${value.length} characters`);
    return `${value.slice(0, maxTextChars)}…`;
  }

  number(name: string): number | undefined {
    return this.#expect(name, 'number', (v): v is number => typeof v === 'number' && Number.isFinite(v));
  }

  flag(name: string): boolean | undefined {
    return this.#expect(name, 'flag', (v): v is boolean => typeof v === 'boolean');
  }

  /** A string or a number, converted to a string; for example error codes. */
  textOrNumber(name: string): string | undefined {
    const value = this.#expect(
      name,
      'text or number',
      (v): v is string | number => typeof v === 'string' || typeof v === 'number',
    );
    return value === undefined ? undefined : String(value).slice(0, maxTextChars);
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    return this.#expect(name, `one of ${allowed.join(', ')}`, (v): v is T => allowed.includes(v as T));
  }

  object(name: string): Fields | undefined {
    const value = this.#own(name);
    return value === undefined || value === null ? undefined : Fields.of(value, this.#at(name), this.#faults);
  }

  /** Items for which `read` returns undefined are omitted. */
  list<T>(name: string, read: (item: Fields) => T | undefined): T[] | undefined {
    return this.#items(name)?.flatMap((item, index) => {
      const fields = Fields.of(item, `${this.#at(name)}[${index}]`, this.#faults);
      const result = fields && read(fields);
      return result === undefined ? [] : [result];
    });
  }

  texts(name: string): string[] | undefined {
    return this.#items(name)?.filter((item): item is string => {
      if (typeof item !== 'string') this.#faults.add(`${this.#at(name)} holds ${kindOf(item)}, not text`);
      return typeof item === 'string';
    });
  }

  numbers(name: string): number[] | undefined {
    return this.#items(name)?.filter((item): item is number => Number.isFinite(item));
  }

  /** A map by name; values for which `read` returns undefined are omitted, with a fault. */
  record<T>(name: string, read: (value: unknown) => T | undefined): Record<string, T> | undefined {
    const map = this.object(name);
    if (!map) return undefined;
    const entries: [string, T][] = [];
    for (const [key, raw] of Object.entries(map.#value).slice(0, maxItems)) {
      const value = read(raw);
      if (value === undefined) this.#faults.add(`${this.#at(name)}.${key} is ${kindOf(raw)}`);
      else entries.push([key, value]);
    }
    // fromEntries defines own properties, so the key `__proto__` is harmless.
    return Object.fromEntries(entries);
  }

  objects<T>(name: string, read: (item: Fields) => T | undefined): Record<string, T> | undefined {
    return this.record(name, (value) => {
      const fields = Fields.of(value, this.#at(name), this.#faults);
      return fields && read(fields);
    });
  }

  /** A value without a fixed shape, copied with a limited depth and count. */
  value(name: string): unknown {
    const { value, cut } = boundValue(this.#own(name));
    if (cut) this.#faults.add(`${this.#at(name)} is cut: ${cut}`);
    return value;
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#value, name) ? this.#value[name] : undefined;
  }

  #at(name: string): string {
    return this.#path ? `${this.#path}.${name}` : name;
  }

  #expect<T>(name: string, wanted: string, is: (value: unknown) => value is T): T | undefined {
    const value = this.#own(name);
    if (value === undefined || value === null) return undefined;
    if (is(value)) return value;
    this.#faults.add(`${this.#at(name)} is ${kindOf(value)}, not ${wanted}`);
    return undefined;
  }

  #items(name: string): unknown[] | undefined {
    const value = this.#expect(name, 'a list', (v): v is unknown[] => Array.isArray(v));
    if (!value || value.length <= maxItems) return value;
    this.#faults.add(`${this.#at(name)} is cut: ${value.length} items`);
    return value.slice(0, maxItems);
  }
}

export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, maxTextChars) : undefined;
export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** A copy without undefined fields, as the account requires for optional fields. */
export function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** A copy of a JSON value with a limited size and depth, and the reason if it is incomplete. */
function boundValue(value: unknown): { value: unknown; cut?: string } {
  let left = maxValueNodes;
  let cut: string | undefined;
  const some = <T>(items: T[]): T[] => {
    if (items.length > left) cut = `more than ${maxValueNodes} values`;
    return items.slice(0, Math.max(left, 0));
  };
  const copy = (item: unknown, depth: number): unknown => {
    left -= 1;
    if (typeof item === 'string')
      return item.length > maxTextChars ? `${item.slice(0, maxTextChars)}…` : item;
    if (typeof item !== 'object' || item === null) return item;
    if (depth >= maxValueDepth) {
      cut = `nested deeper than ${maxValueDepth}`;
      return '(nested deeper than agentdump reads)';
    }
    if (Array.isArray(item)) return some(item).map((each) => copy(each, depth + 1));
    return Object.fromEntries(some(Object.entries(item)).map(([key, each]) => [key, copy(each, depth + 1)]));
  };
  const copied = copy(value, 0);
  return cut === undefined ? { value: copied } : { value: copied, cut };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
