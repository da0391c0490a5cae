/** The thrown value and all that hangs on it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reconstructErrors } from '../../../src/analysis/stacks/error-facts.ts';
import type { ErrorPart, SerializedError } from '../../../src/bundle/layout.ts';

const sources = { scripts: [], readPart: () => undefined };
const error = (message: string, more: Partial<SerializedError> = {}): SerializedError => ({
  type: 'object',
  isError: true,
  name: 'Error',
  message,
  stack: `Error: ${message}\n    at f (/app/a.js:1:2)`,
  ...more,
});
const facts = (part: SerializedError, frames?: ErrorPart['frames']) =>
  reconstructErrors({ error: part, ...(frames ? { frames } : {}) }, sources);

test('an error has name, message, code, properties, stack and frames', async () => {
  const { error: found, gaps } = await facts(
    error('no', { code: 404, properties: { url: '/x' }, gaps: ['stack: getter threw'] }),
  );
  assert.deepEqual(
    [found.name, found.message, found.code, found.properties],
    ['Error', 'no', '404', { url: '/x' }],
  );
  assert.equal(found.frames?.[0]?.file, '/app/a.js');
  assert.equal(found.stackText, 'Error: no\n    at f (/app/a.js:1:2)');
  assert.deepEqual(gaps, [{ part: 'error.json', reason: 'stack: getter threw' }]);
});

test('a thrown value that is no error has its text, and no frames', async () => {
  const { error: found } = await facts({ type: 'string', isError: false, text: 'only words' });
  assert.deepEqual(found, { message: 'only words' });
});

test('raw positions belong to the outermost error only', async () => {
  const raw = { functionName: 'f', scriptId: '1', url: 'file:///app/a.js', line: 1, column: 2 };
  const { error: found } = await facts(error('a', { cause: error('b') }), [raw]);
  assert.deepEqual([found.frames?.[0]?.trust, found.cause?.frames?.[0]?.trust], ['inspector', 'stack-text']);
});

test('causes and aggregated errors keep their shape', async () => {
  const { error: found, gaps } = await facts(
    error('top', {
      cause: error('c1', { cause: error('c2') }),
      errors: [error('e1'), error('e2', { errors: [error('e3')] })],
    }),
  );
  assert.equal(found.cause?.cause?.message, 'c2');
  assert.deepEqual(
    found.errors?.map((e) => e.message),
    ['e1', 'e2'],
  );
  assert.equal(found.errors?.[1]?.errors?.[0]?.message, 'e3');
  assert.deepEqual(gaps, []);
});

test('hostile: a chain of 100,000 causes is cut, and it says so', async () => {
  let chain = error('end');
  for (let n = 0; n < 100_000; n++) chain = error(`level ${n}`, { cause: chain });
  const { error: found, gaps } = await facts(chain);
  let depth = 0;
  for (let at = found.cause; at; at = at.cause) depth++;
  assert.equal(depth, 32);
  assert.match(gaps[0]?.reason ?? '', /1 more errors/);
});

test('hostile: 10,000 aggregated errors are cut', async () => {
  const { error: found, gaps } = await facts(
    error('many', { errors: Array.from({ length: 10_000 }, (_, n) => error(`${n}`)) }),
  );
  assert.ok((found.errors?.length ?? 0) <= 200);
  assert.match(gaps[0]?.reason ?? '', /more errors/);
});

test('hostile: a cycle ends', async () => {
  const one = error('one');
  one.cause = error('two', { cause: one, errors: [one] });
  const { error: found } = await facts(one);
  assert.equal(found.cause?.message, 'two');
  assert.equal(found.cause?.cause, undefined);
});

test('hostile: fields of any type', async () => {
  const values = [null, 7, 'x', [], {}, [null], [7], { length: 3 }];
  for (const value of values) {
    const odd = {
      type: 'object',
      isError: true,
      name: value,
      message: value,
      stack: value,
      code: value,
      cause: value,
    };
    await reconstructErrors(
      { error: { ...odd, errors: value, properties: value, gaps: value }, frames: value } as never,
      sources,
    );
    await reconstructErrors({ error: value, frames: [value] } as never, sources);
  }
});
