/**
 * While node:vm code runs, the debugger does not pause; whatever happens meanwhile, the program gets its own result or
 * exception.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createContext, runInContext, runInThisContext, Script } from 'node:vm';
import { guardVmCode } from '../../../src/capture/stacks/vm-guard.ts';

test('pauses are off in vm code, nested code too, and on again after it, thrown or returned', () => {
  const states: string[] = [];
  const undo = guardVmCode((state) => states.push(state));
  try {
    assert.equal(runInThisContext('20 + 1'), 21);
    assert.deepEqual(states.splice(0), ['none', 'uncaught']);
    const inner = () => runInThisContext('throw new RangeError("its own")');
    assert.throws(() => runInContext('inner()', createContext({ inner })), /its own/);
    assert.deepEqual(states, ['none', 'uncaught']);
  } finally {
    undo();
  }
});

test('undone in the midst of vm code: the debugger that is gone is not told, and the exception is the program’s', () => {
  const original = Script.prototype.runInContext;
  let isGone = false;
  const undo = guardVmCode(() => {
    if (isGone) throw new Error('session is not connected');
  });
  const disarm = () => {
    isGone = true;
    undo();
  };
  const context = createContext({ disarm });
  assert.throws(() => runInContext('disarm(); throw new TypeError("its own")', context), /its own/);
  assert.equal(Script.prototype.runInContext, original);
  assert.equal(runInContext('1', context), 1);
});
