/** What V8 would name in a snapshot: the counts for known heaps, and that the counting has no visible effect. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import fc from 'fast-check';
import { DistinctStrings } from '../../../src/capture/heap/distinct-strings.ts';
import { estimateCounted, estimateNamed } from '../../../src/capture/heap/estimate.ts';
import { listObjects } from '../../../src/capture/heap/list-objects.ts';
import { countPlaces } from '../../../src/capture/heap/name-tables.ts';
import { countHeapNames, type HeapNames } from '../../../src/capture/heap/names.ts';
import { askV8 } from '../../../src/capture/host/ask-v8.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';

const near = (value: number, wanted: number, share: number): void =>
  assert.ok(Math.abs(value - wanted) <= wanted * share, `${value} where ${wanted} were wanted`);

/** The difference that the values created by `make` make to the counts. */
function added(make: () => unknown): HeapNames {
  const before = countHeapNames();
  const made = make();
  const after = countHeapNames();
  assert.ok(before && after && made);
  const less = (key: keyof HeapNames): number => after[key] - before[key];
  return {
    numbers: less('numbers'),
    strings: less('strings'),
    weakEntries: less('weakEntries'),
    boxedNumbers: less('boxedNumbers'),
    tableBytes: less('tableBytes'),
  };
}

const many = <Value>(count: number, one: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => one(at));

describe('places in tables', () => {
  test('those of arrays are counted once, of hash tables as chance has it', () => {
    const array = (length: number) => ({ span: length, filled: length });
    assert.equal(countPlaces([]), 0);
    assert.equal(countPlaces([array(5000), array(20_000), array(20_000)]), 20_000);
    assert.equal(countPlaces([{ span: 10_000, filled: 2500 }, array(4000)]), 4000 + 1500);
    // Half of the places, and half of the remaining ones.
    assert.equal(
      countPlaces([
        { span: 1000, filled: 500 },
        { span: 1000, filled: 500 },
      ]),
      750,
    );
  });

  test('they are never more than the longest is long, nor fewer than the fullest has', () => {
    const table = fc
      .tuple(fc.nat(1e6), fc.double({ min: 0, max: 1, noNaN: true }))
      .map(([span, share]) => ({ span, filled: Math.floor(span * share) }));
    fc.assert(
      fc.property(fc.array(table, { maxLength: 60 }), (tables) => {
        const places = countPlaces(tables);
        assert.ok(places <= Math.max(0, ...tables.map(({ span }) => span)));
        assert.ok(places >= Math.max(0, ...tables.map(({ filled }) => filled)) - 1);
      }),
    );
  });
});

describe('distinct strings of a sample', () => {
  const estimated = (all: number, texts: string[]): number => {
    const strings = new DistinctStrings();
    for (const text of texts) strings.see(text, all / texts.length);
    return strings.estimate;
  };

  test('those that all differ are as many as all', () => {
    near(
      estimated(
        100_000,
        many(1000, (at) => `${at}`),
      ),
      100_000,
      0.01,
    );
  });

  test('those that come again and again are no more than were seen', () => {
    assert.equal(
      estimated(
        1e6,
        many(1000, (at) => `${at % 50}`),
      ),
      50,
    );
  });

  test('of those that were seen once or twice each, about as many are missing', () => {
    // 10,000 names, each drawn twice on average, with xorshift32 so that every run is the same.
    let state = 1;
    const drawn = many(20_000, () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return `${(state >>> 0) % 10_000}`;
    });
    near(estimated(1e6, drawn), 10_000, 0.05);
  });

  test('beyond what is kept they are scaled up', () => {
    near(
      estimated(
        400_000,
        many(200_000, (at) => `${at}`),
      ),
      400_000,
      0.01,
    );
    assert.equal(new DistinctStrings().estimate, 0);
  });
});

describe('names of a heap', () => {
  test('keys of one large object, and of many', { skip: onlyWide }, () => {
    const cache = added(() => Object.fromEntries(many(60_000, (at) => [`request ${at}`, { at }])));
    near(cache.strings, 60_000, 0.1);
    // Key and value of each, in a table of three words per entry, and the table of strings.
    assert.ok(cache.numbers > 120_000 && cache.numbers < 190_000, `${cache.numbers}`);
    assert.ok(cache.tableBytes >= 60_000 * 24);
    const records = added(() =>
      many(40, (part) => Object.fromEntries(many(1500, (at) => [`entry ${part} ${at}`, at]))),
    );
    near(records.strings, 60_000, 0.1);
  });

  test('words that JSON.parse makes one of each, among others that come again and again', () => {
    const words = added(() =>
      many(120, (at) => JSON.parse(JSON.stringify(many(500, (one) => (one % 2 ? 'again' : `${at}.${one}`))))),
    );
    near(words.strings, 30_000, 0.25);
  });

  test('the same keys again are no more', () => {
    const shared = added(() => many(60_000, (at) => ({ [`field${at % 100}`]: at })));
    assert.ok(shared.strings < 3000, `${shared.strings}`);
  });

  test('entries of WeakMaps and WeakSets, one large or many small', { skip: onlyWide }, () => {
    const owners = many(20_000, (at) => ({ at }));
    const one = added(() => new WeakMap(owners.map((owner) => [owner, { of: owner }])));
    near(one.weakEntries, 20_000, 0.01);
    const small = added(() => owners.map((owner) => new WeakSet([owner])));
    near(small.weakEntries, 20_000, 0.01);
  });

  test('places of long arrays and Maps, but not of numbers', { skip: onlyWide }, () => {
    near(added(() => many(200_000, (at) => ({ at }))).numbers, 190_000, 0.15);
    assert.ok(added(() => many(200_000, (at) => at)).numbers < 10_000);
    const map = added(() => new Map(many(50_000, (at) => [{ at }, {}])));
    assert.ok(map.numbers > 60_000 && map.numbers < 120_000, `${map.numbers}`);
  });

  test('the list of one look is no array of the next, whoever still has it', () => {
    let kept: object[] = [];
    let length = 0;
    listObjects((objects) => {
      kept = objects;
      length = objects.length;
    });
    assert.ok(length > 1000);
    assert.deepEqual(kept, []);
  });

  test('no code of the program runs, and V8 speaks as before', () => {
    let ran = 0;
    const trap = (): never => {
      ran++;
      throw new Error('asked');
    };
    const hostile = many(3000, () =>
      Object.defineProperties(new WeakMap(), {
        size: { get: trap, enumerable: true },
        [Symbol.toStringTag]: { get: trap },
      }),
    );
    const array = many(5000, (at) => ({ at }));
    Object.defineProperty(array, 0, { get: trap });
    const proxies = many(
      2000,
      () => new Proxy([], { get: trap, ownKeys: trap, getOwnPropertyDescriptor: trap }),
    );
    const map = new (class extends Map {
      override entries = trap;
      override [Symbol.iterator] = trap;
    })();
    for (let at = 0; at < 5000; at++) map.set({ at }, at);
    const { next } = Object.getPrototypeOf(new Map().entries());
    assert.ok(countHeapNames());
    assert.equal(ran, 0);
    assert.equal(Object.getPrototypeOf(new Map().entries()).next, next);
    assert.deepEqual([hostile.length, array.length, proxies.length, map.size], [3000, 5000, 2000, 5000]);
    assert.throws(() => new Function('return %HasFastProperties({})'), SyntaxError);
  });

  test('who was allowed to ask V8 before still is', () => {
    setFlagsFromString('--allow-natives-syntax');
    try {
      assert.equal(
        askV8((v8) => v8.isFast({})),
        true,
      );
      assert.equal(new Function('return %HasFastProperties({})')(), true);
    } finally {
      setFlagsFromString('--no-allow-natives-syntax');
    }
  });
});

test('an estimate grows with each thing that is counted, and large tables that nobody saw make its highest', () => {
  const none = { numbers: 0, strings: 0, weakEntries: 0, boxedNumbers: 0, tableBytes: 0 };
  const bare = estimateNamed(500_000, none, 0);
  for (const key of ['numbers', 'strings', 'weakEntries'] as const) {
    const more = estimateNamed(500_000, { ...none, [key]: 100_000 }, 0);
    assert.ok(more.bytes > bare.bytes && more.ms > bare.ms && more.highestBytes > bare.highestBytes, key);
  }
  const unseen = estimateNamed(500_000, none, 8e6);
  assert.equal(unseen.bytes, bare.bytes);
  assert.ok(unseen.highestBytes > 2 * bare.highestBytes);
  assert.equal(estimateNamed(500_000, { ...none, tableBytes: 8e6 }, 8e6).highestBytes, bare.highestBytes);
  const counted = estimateCounted(500_000);
  assert.ok(counted.highestBytes > counted.bytes);
});
