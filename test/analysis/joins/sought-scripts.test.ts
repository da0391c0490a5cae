/** What is said to be the only place is said only if all scripts that may have another could be searched. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BundleParts } from '../../../src/analysis/bundle-parts.ts';
import { readCalls } from '../../../src/analysis/joins/calls.ts';
import { readThrownPlaces } from '../../../src/analysis/joins/thrown-value.ts';
import type { LoadedScript } from '../../../src/bundle/layout/surroundings.ts';
import { workerMemoryCode } from '../../../src/bundle/layout/verdict-codes.ts';
import type { ErrorFacts } from '../../../src/model/account.ts';
import type { Frame } from '../../../src/model/thread.ts';

type Told = Partial<LoadedScript> & { text?: string };

const read = async ({ stackText = '' }: { stackText?: string }): Promise<Frame[]> =>
  stackText.split('\n').map((raw) => ({ raw, inApp: true }) as unknown as Frame);

function partsOf(scripts: readonly Told[], error: object, trigger: object) {
  const texts = new Map(scripts.map(({ text }, at) => [`sources/${at}.js`, text]));
  const loaded = scripts.map(({ text, ...script }, at) => ({
    url: `file:///app/${at}.js`,
    isModule: false,
    sourcePart: `sources/${at}.js`,
    ...script,
  }));
  const readPart = (name: string) => {
    const text = texts.get(name);
    return text === undefined ? undefined : Buffer.from(text);
  };
  return { parts: { scripts: loaded, error, trigger } as unknown as BundleParts, readPart };
}

const trigger = { kind: 'uncaught-exception', origin: 'uncaughtException' };
const others: [name: string, other: Told, isTold: boolean][] = [
  ['one that was searched in vain', { isSought: true, text: '1;' }, true],
  ['one that was not sought, as it has none of the words', { text: '(' }, true],
  ['an excerpt', { isSought: true, isExcerpt: true, text: '1;' }, false],
  ['one whose text is missing', { isSought: true }, false],
  ['one that cannot be parsed', { isSought: true, text: 'throw [withheld: x] (' }, false],
];

for (const [name, other, isTold] of others) {
  test(`a place is the only one beside ${name}`, async () => {
    for (const [error, text] of [
      [{ isError: true, type: 'object' }, 'read((e) => { throw e; });'],
      [{ isError: false, type: 'string', text: 'no' }, `throw 'no';`],
    ] as const) {
      const { parts, readPart } = partsOf([{ isSought: true, text }, other], { error }, trigger);
      const found = await readThrownPlaces(parts, { frames: [] } as unknown as ErrorFacts, readPart, read);
      assert.equal(found?.giving.length, isTold ? 1 : undefined, text);
    }
  });

  test(`the start of a thread is the only one beside ${name}`, async () => {
    const text = `new (require('worker_threads').Worker)(file);`;
    const { parts, readPart } = partsOf([{ isSought: true, text }, other], {}, trigger);
    const { workerStarts } = await readCalls({ code: workerMemoryCode } as ErrorFacts, parts, readPart, read);
    assert.equal(workerStarts.length, isTold ? 1 : 0);
  });
}

test('a script with a text that was not kept for its words is no place: others were not looked at', async () => {
  const { parts, readPart } = partsOf(
    [{ text: `throw 'no';` }],
    { error: { isError: false, type: 'string', text: 'no' } },
    trigger,
  );
  assert.equal(await readThrownPlaces(parts, undefined, readPart, read), undefined);
});
