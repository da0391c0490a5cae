/** By which words the code is sought that threw a value without a stack. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOfThrown } from '../../../src/capture/stacks/thrown-words.ts';

test('an object with a stack is not sought by its fields, even if it is no native error', () => {
  // Before Node 24 a DOMException is such an object; LangGraph gives it a field of its own.
  const stack = 'TimeoutError: The operation was aborted\n    at f (file:///app/a.mjs:1:2)';
  const timeout = Object.assign(Object.create(Error.prototype), { stack, taskId: 7 });
  assert.equal(wordsOfThrown(timeout), undefined);
  assert.match('throw { status, taskId }', wordsOfThrown({ status: 1, taskId: 7 })?.text ?? /^$/);
  assert.match('throw { stack, taskId }', wordsOfThrown({ stack: 'three high', taskId: 7 })?.text ?? /^$/);
});
