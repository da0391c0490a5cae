import assert from 'node:assert/strict';
import { test } from 'node:test';
import { censusClasses, censusSuspects } from '../../src/analysis/census.ts';

const census = {
  objects: 1_000_000,
  classes: [
    { name: 'Object', count: 700_000 },
    { name: 'Session', count: 40_000 },
  ],
  shapes: [{ name: '{role, content}', count: 650_000 }],
  collections: [
    { name: 'Array', entries: 640_000, of: '{role, content}' },
    { name: 'Map', entries: 900 },
  ],
};

test('plain objects are told apart by their keys', () => {
  assert.deepEqual(
    censusClasses(census)?.map(({ name }) => name),
    ['{role, content}', 'Session'],
  );
});

test('what there is most of, and the large collections, are no more than possible', () => {
  const suspects = censusSuspects(census);
  assert.deepEqual(
    suspects.map(({ title, confidence }) => [title, confidence]),
    [
      ['650,000 objects of {role, content}', 'possible'],
      ['a collection of 640,000 entries', 'possible'],
    ],
  );
});

test('an ordinary heap has no suspect', () => {
  const classes = [{ name: 'Function', count: 9000 }];
  assert.deepEqual(censusSuspects({ objects: 20_000, classes, shapes: [], collections: [] }), []);
  assert.deepEqual(censusSuspects(undefined), []);
});

test('a sample says that it is one, and how a collection was reached', () => {
  const sample = { lookedAt: 900, reason: 'only what was reached' };
  const collections = [{ name: 'Map', entries: 640_000, at: 'cache.js.sessions' }];
  const [most, collection] = censusSuspects({ ...census, sample, collections });
  assert.match(
    most?.sentence ?? '',
    /^About 650,000 of some 1,000,000 objects .* an estimate from 900 objects \(only what was reached\)/,
  );
  assert.equal(collection?.sentence, 'One Map had 640,000 entries. It was reached as cache.js.sessions.');
});

test('where a sample reached few objects no classes are told: they are not what filled the memory', () => {
  const sample = { lookedAt: 63, reason: 'only so many' };
  assert.equal(censusClasses({ ...census, objects: 67, sample }), undefined);
  assert.equal(censusClasses({ ...census, sample })?.length, 2);
});
