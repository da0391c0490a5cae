/** RFC 6902, with the cases of its appendix A that concern valid documents, and RFC 6901's pointers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  applyPatch,
  findAtPointer,
  type PatchOperation,
  readPointer,
  renderPointer,
} from '../../src/model/json-patch.ts';
import '../support/run/fuzz-runs.ts';

const cases: [document: unknown, operation: PatchOperation, after: unknown][] = [
  [{ foo: 'bar' }, { op: 'add', path: '/baz', value: 'qux' }, { foo: 'bar', baz: 'qux' }],
  [{ foo: ['bar', 'baz'] }, { op: 'add', path: '/foo/1', value: 'qux' }, { foo: ['bar', 'qux', 'baz'] }],
  [{ foo: ['bar'] }, { op: 'add', path: '/foo/-', value: ['abc'] }, { foo: ['bar', ['abc']] }],
  [{ baz: 'qux', foo: 'bar' }, { op: 'remove', path: '/baz' }, { foo: 'bar' }],
  [{ foo: ['bar', 'qux', 'baz'] }, { op: 'remove', path: '/foo/1' }, { foo: ['bar', 'baz'] }],
  [{ baz: 'qux' }, { op: 'replace', path: '/baz', value: 'boo' }, { baz: 'boo' }],
  [
    { foo: { bar: 'baz', waldo: 'fred' }, qux: {} },
    { op: 'move', from: '/foo/waldo', path: '/qux/thud' },
    { foo: { bar: 'baz' }, qux: { thud: 'fred' } },
  ],
  [{ foo: ['a', 'b', 'c'] }, { op: 'move', from: '/foo/0', path: '/foo/2' }, { foo: ['b', 'c', 'a'] }],
  [{ a: { b: 1 } }, { op: 'copy', from: '/a', path: '/c' }, { a: { b: 1 }, c: { b: 1 } }],
  [
    { '/': 9, '~1': 10 },
    { op: 'test', path: '/~01', value: 10 },
    { '/': 9, '~1': 10 },
  ],
  [{ a: 1 }, { op: 'add', path: '', value: [1] }, [1]],
];

test('operations do what the RFC says and leave the document as it was', () => {
  for (const [document, operation, after] of cases) {
    const before = structuredClone(document);
    assert.deepEqual(applyPatch(document, [operation]), after, JSON.stringify(operation));
    assert.deepEqual(document, before);
  }
});

test('what leads nowhere throws', () => {
  const broken: [unknown, PatchOperation][] = [
    [{}, { op: 'add', path: '/a/b', value: 1 }],
    [{}, { op: 'remove', path: '/a' }],
    [{}, { op: 'replace', path: '/a', value: 1 }],
    [[1], { op: 'add', path: '/2', value: 1 }],
    [[1], { op: 'add', path: '/01', value: 1 }],
    [{ a: 1 }, { op: 'test', path: '/a', value: 2 }],
    [{}, { op: 'move', from: '/a', path: '/b' }],
    [{ a: 1 }, { op: 'add', path: 'a', value: 1 }],
    [null, { op: 'add', path: '/a', value: 1 }],
  ];
  for (const [document, operation] of broken)
    assert.throws(() => applyPatch(document, [operation]), RangeError, JSON.stringify(operation));
});

test('names that an object inherits are no way in', () => {
  assert.throws(() => applyPatch({}, [{ op: 'add', path: '/__proto__/polluted', value: 1 }]), RangeError);
  const own = applyPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: 1 } }]) as object;
  assert.equal(Object.getPrototypeOf(own), Object.prototype);
  assert.equal(findAtPointer({}, '/constructor'), undefined);
});

test('pointers read back what they were made of', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 5 }), (tokens) => {
      assert.deepEqual(readPointer(renderPointer(tokens)), tokens);
    }),
  );
});
