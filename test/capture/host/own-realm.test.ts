/** Our own context: what its code finds under the names of the language. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInOwnRealm } from '../../../src/capture/host/intrinsics/own-realm.ts';

test('the names of the language are bound around the code: no access asks the global object', () => {
  const read = `(function () {
    const global = Function('return this')();
    const asked = [];
    for (const name of ['Math', 'Uint16Array', 'Map', 'isNaN'])
      Object.defineProperty(global, name, { get: () => asked.push(name), configurable: true });
    return () => { Math.imul(2, 3), new Uint16Array(1), new Map(), isNaN(NaN); return asked.join(); };
  })()`;
  assert.equal((runInOwnRealm(read, 'test') as () => string)(), '');
});

test('they are the own realm’s', () => {
  assert.notEqual(runInOwnRealm('Map', 'test'), Map);
  assert.equal(runInOwnRealm('new Map()', 'test') instanceof Map, false);
});
