/**
 * An approximate census of the heap in a few milliseconds, whatever its size: a walk from what the program holds
 * (heap/roots.ts) that visits only some members of a large collection, each of which stands for its share. V8's own list of
 * all objects (heap/census.ts) needs several garbage collections first: 0.1 s for an empty heap, 5 s for one of 200 MB. Runs
 * no code of the host. Not reached: private fields, WeakMaps, and what only timers and promises hold.
 */

import type { HeapCensusPart } from '../../bundle/layout/bundle.ts';
import type { AskV8 } from '../host/ask-v8.ts';
import { hostObjectPrototype } from '../host/intrinsics/host-intrinsics.ts';
import type { ClosureScopes } from '../stacks/closure-scopes.ts';
import { leastLarge, mostLargest, mostRows, mostShapes, sizeOfMap, sizeOfSet } from './census.ts';
import { Chance } from './chance.ts';
import { nameOf, plainValue, shapeName } from './object-names.ts';
import type { HeapRoot } from './roots.ts';

const mostLookedAt = 20_000;
const mostMembers = 48;
const mostKeys = 64;
/** Each takes a tenth to half a millisecond. */
const mostScopes = 40;
const scopesOfCollection = 2;
const scopesOfRoot = 6;
const longestPlace = 200;
/** Longer strings are not compared, because V8 would flatten them. */
const longestCompared = 200;

export interface WalkTools {
  scopes: ClosureScopes | undefined;
  v8: AskV8 | undefined;
  /** Bytes in objects above 128 KB: if these are few, there is no object with many keys. */
  largeBytes: number;
  hasTime(): boolean;
}

interface Item {
  value: object;
  /** How many objects it stands for. */
  weight: number;
  at: string;
  /** Shared by the members of a collection. */
  scopes: { left: number };
}

/** Enumerating keys takes about 0.3 µs each, and their number is not known before. */
const fewLargeBytes = 4 * 1024 ** 2;

export function walkHeap(roots: Iterable<HeapRoot>, tools: WalkTools): Omit<HeapCensusPart, 'ms'> {
  const walk = new HeapWalk(tools);
  for (const { value, at } of roots) walk.add(value, 1, at, { left: scopesOfRoot });
  return walk.run();
}

class HeapWalk {
  readonly #tools: WalkTools;
  readonly #types = process.getBuiltinModule('node:util').types;
  readonly #known = new Map<unknown, Item | { weight: number }>();
  /** Members of collections come first, since they are the numerous objects. */
  readonly #many: Item[] = [];
  readonly #single: Item[] = [];
  readonly #prototypes = new Map<object | null, number>();
  readonly #shapes = new Map<string, number>();
  readonly #strings: { weight: number }[] = [];
  readonly #largest: HeapCensusPart['collections'] = [];
  readonly #chance = new Chance(64);
  #scopesLeft = mostScopes;
  #scopesSkipped = 0;
  #lookedAt = 0;

  constructor(tools: WalkTools) {
    this.#tools = tools;
  }

  run(): Omit<HeapCensusPart, 'ms'> {
    let many = 0;
    let single = 0;
    let reason = `only what was reached from the program's modules, globals and state`;
    for (;;) {
      const item = many < this.#many.length ? this.#many[many++] : this.#single[single++];
      if (!item) break;
      if (this.#lookedAt >= mostLookedAt || (this.#lookedAt % 64 === 63 && !this.#tools.hasTime())) {
        reason += `, and of that the first ${this.#lookedAt} objects`;
        break;
      }
      this.#lookedAt++;
      try {
        this.#look(item);
      } catch {
        // A variable of a module whose line has not run yet, or an object that refuses to be listed: counted without its
        // contents.
      }
    }
    if (this.#scopesSkipped > 0) reason += `, without the variables of ${this.#scopesSkipped} functions`;
    return this.#result(reason);
  }

  add(value: unknown, weight: number, at: string, scopes: Item['scopes']): void {
    if (typeof value === 'string') this.#addString(value, weight);
    if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return;
    if (this.#isKnown(value)) return;
    const item = { value: value as object, weight, at: at.slice(0, longestPlace), scopes };
    this.#known.set(value, item);
    (weight > 1 ? this.#many : this.#single).push(item);
  }

  /** A value that is found twice is shared, and then stands only for itself. */
  #isKnown(value: unknown): boolean {
    const known = this.#known.get(value);
    if (known) known.weight = 1;
    return known !== undefined;
  }

  #addString(text: string, weight: number): void {
    const found = { weight };
    if (text.length <= longestCompared) {
      if (this.#isKnown(text)) return;
      this.#known.set(text, found);
    }
    this.#strings.push(found);
  }

  #look(item: Item): void {
    const { value, weight } = item;
    if (this.#types.isProxy(value)) return;
    const prototype = Object.getPrototypeOf(value);
    this.#prototypes.set(prototype, (this.#prototypes.get(prototype) ?? 0) + weight);
    if (Array.isArray(value)) this.#lookAtArray(value, item);
    else if (this.#types.isMap(value)) this.#lookAtMap(value, item);
    else if (this.#types.isSet(value)) this.#lookAtSet(value, item);
    else if (!ArrayBuffer.isView(value) && !this.#types.isAnyArrayBuffer(value)) this.#lookAtFields(item);
    if (typeof value === 'function') this.#lookAtScopes(item);
  }

  #lookAtArray(array: unknown[], item: Item): void {
    this.#offer(
      'Array',
      array.length,
      item,
      array.length > 0 ? this.#nameOfMember(ownValue(array, array.length - 1)) : undefined,
    );
    const looked = Math.min(array.length, mostMembers);
    this.#addMembers(item, array.length, looked, (n) => {
      const from = Math.floor((n * array.length) / looked);
      const room = Math.floor(((n + 1) * array.length) / looked) - from;
      return ownValue(array, from + (this.#chance.step() % room));
    });
  }

  #lookAtMap(map: Map<unknown, unknown>, item: Item): void {
    const size = Reflect.apply(sizeOfMap, map, []) as number;
    this.#offer('Map', size, item);
    const entries = first(Reflect.apply(entriesOfMap, map, []), nextOfMap, Math.min(size, mostMembers / 2));
    this.#addMembers(item, size, entries.length, (n) => (entries[n] as unknown[])[0]);
    this.#addMembers(item, size, entries.length, (n) => (entries[n] as unknown[])[1]);
  }

  #lookAtSet(set: Set<unknown>, item: Item): void {
    const size = Reflect.apply(sizeOfSet, set, []) as number;
    this.#offer('Set', size, item);
    const values = first(Reflect.apply(valuesOfSet, set, []), nextOfSet, Math.min(size, mostMembers));
    this.#addMembers(item, size, values.length, (n) => values[n]);
  }

  #addMembers(item: Item, size: number, looked: number, member: (n: number) => unknown): void {
    const scopes = size > looked ? { left: Math.min(item.scopes.left, scopesOfCollection) } : item.scopes;
    for (let n = 0; n < looked; n++)
      this.add(member(n), (item.weight * size) / looked, `${item.at}[]`, scopes);
  }

  #lookAtFields(item: Item): void {
    const { value, weight, at } = item;
    if (this.#mayHaveManyKeys(value)) {
      this.#shapes.set('(of many keys)', (this.#shapes.get('(of many keys)') ?? 0) + weight);
      return;
    }
    const keys = Object.keys(value);
    if (Object.getPrototypeOf(value) === hostObjectPrototype) {
      const shape = shapeName(value, keys);
      this.#shapes.set(shape, (this.#shapes.get(shape) ?? 0) + weight);
      this.#offer(
        'Object',
        keys.length,
        item,
        keys.length >= leastLarge ? this.#nameOfMember(ownValue(value, keys.at(-1)!)) : undefined,
      );
    }
    const looked = Math.min(keys.length, mostKeys);
    const scopes = keys.length > looked ? { left: scopesOfCollection } : item.scopes;
    for (let n = 0; n < looked; n++) {
      const key = keys[Math.floor((n * keys.length) / looked)]!;
      this.add(
        ownValue(value, key),
        (weight * keys.length) / looked,
        looked < keys.length ? `${at}.*` : `${at}.${key.slice(0, 60)}`,
        scopes,
      );
    }
  }

  /** Must not be enumerated: an object in dictionary mode, or with elements, of which there may be a million. */
  #mayHaveManyKeys(value: object): boolean {
    const { v8, largeBytes } = this.#tools;
    if (largeBytes < fewLargeBytes) return false;
    if (v8 && (!v8.isFast(value) || v8.isSparse(value))) return true;
    for (let at = 1024; at < 2 ** 27; at = Math.ceil(at * 1.4)) if (Object.hasOwn(value, at)) return true;
    return v8 === undefined;
  }

  #lookAtScopes({ value, weight, at, scopes }: Item): void {
    if (!this.#tools.scopes || scopes.left <= 0 || this.#scopesLeft <= 0) return;
    // One takes as long as hundreds of other objects.
    if (!this.#tools.hasTime()) {
      this.#scopesSkipped++;
      return;
    }
    scopes.left--;
    this.#scopesLeft--;
    const name = plainValue(value, 'name');
    const place = typeof name === 'string' && !at.endsWith(name) ? `${at} ${name}()` : `${at}()`;
    // Only the innermost scope can be specific to each function.
    for (const [depth, variables] of this.#tools.scopes.of(value).entries())
      for (const key of Object.keys(variables))
        this.add(ownValue(variables, key), depth === 0 ? weight : 1, `${place} ${key}`, {
          left: scopesOfCollection,
        });
  }

  #offer(name: string, entries: number, { at, weight }: Item, of?: string): void {
    if (entries < leastLarge || weight > 1) return;
    this.#largest.push({ name, entries, ...(of === undefined ? {} : { of }), at });
    this.#largest.sort((a, b) => b.entries - a.entries).splice(mostLargest);
  }

  #nameOfMember(value: unknown): string | undefined {
    if (typeof value !== 'object' || value === null) return value === undefined ? undefined : typeof value;
    if (this.#types.isProxy(value)) return undefined;
    const prototype = Object.getPrototypeOf(value);
    return prototype === hostObjectPrototype && !this.#mayHaveManyKeys(value)
      ? shapeName(value)
      : nameOf(prototype);
  }

  #result(reason: string): Omit<HeapCensusPart, 'ms'> {
    // Without those that were found but not visited: nothing is known about them except that they exist.
    const classes = new Map<string, number>();
    for (const [prototype, count] of this.#prototypes)
      classes.set(nameOf(prototype), (classes.get(nameOf(prototype)) ?? 0) + count);
    const objects = [...classes.values()].reduce((sum, count) => sum + count, 0);
    classes.set(
      'string',
      this.#strings.reduce((sum, { weight }) => sum + weight, 0),
    );
    return {
      objects: Math.round(objects),
      sample: { lookedAt: this.#lookedAt, reason },
      classes: mostFirst(classes, mostRows),
      shapes: mostFirst(this.#shapes, mostShapes),
      collections: this.#largest,
    };
  }
}

function mostFirst(counts: Map<string, number>, most: number): { name: string; count: number }[] {
  return [...counts]
    .map(([name, count]) => ({ name, count: Math.round(count) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .slice(0, most);
}

function ownValue(holder: object, key: string | number): unknown {
  return Object.getOwnPropertyDescriptor(holder, key)?.value;
}

const entriesOfMap = Map.prototype.entries;
const nextOfMap = Object.getPrototypeOf(new Map().entries()).next as () => IteratorResult<unknown>;
const valuesOfSet = Set.prototype.values;
const nextOfSet = Object.getPrototypeOf(new Set().values()).next as () => IteratorResult<unknown>;

function first(iterator: object, next: () => IteratorResult<unknown>, count: number): unknown[] {
  return Array.from(
    { length: count },
    () => (Reflect.apply(next, iterator, []) as IteratorResult<unknown>).value,
  );
}
