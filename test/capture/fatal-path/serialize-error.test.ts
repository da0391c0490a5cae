/** What a program's getters compute is read where V8 can prove that reading has no effect, and otherwise from the stack. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readThrown } from '../../../src/capture/fatal-path/serialize-error.ts';

test('getters without an effect are read', () => {
  class Issues extends Error {
    issues = [{ path: ['a'], code: 'bad' }];
    override get name() {
      return 'IssuesError';
    }
    override get message() {
      return JSON.stringify(this.issues);
    }
    get code() {
      return `E_${this.issues.length}`;
    }
    override get cause() {
      return this.issues[0];
    }
  }
  const thrown = new Issues();
  const { error } = readThrown(thrown);
  assert.deepEqual(
    [error.name, error.message, error.code],
    ['IssuesError', '[{"path":["a"],"code":"bad"}]', 'E_1'],
  );
  assert.equal(error.cause?.text, '[object Object]');
  assert.equal(error.gaps, undefined);
  assert.equal(readThrown(new DOMException('was cancelled', 'AbortError')).error.name, 'AbortError');
});

test('getters with an effect, or that never end, are not run, and the stack has their texts', () => {
  let reads = 0;
  class Counted extends Error {
    override get message() {
      return `read ${++reads} times`;
    }
    get code(): string {
      for (;;);
    }
    get errors(): never {
      throw new Error('no');
    }
  }
  const thrown = new Counted();
  void thrown.stack;
  assert.equal(reads, 1);
  const { error } = readThrown(thrown);
  assert.deepEqual([error.message, error.code, reads], ['read 1 times', undefined, 1]);
  assert.equal(error.gaps?.length, 3, error.gaps?.join('\n'));
  assert.deepEqual(
    Object.keys(globalThis).filter((name) => name.includes('agentdump')),
    [],
  );
});

test('a formatter of the program is not asked about what a getter throws', (t) => {
  const { prepareStackTrace } = Error;
  t.after(() => {
    Error.prepareStackTrace = prepareStackTrace;
  });
  const thrown = Object.defineProperty(new Error('own'), 'code', {
    get() {
      throw new Error('of the getter');
    },
  });
  void thrown.stack;
  const asked: string[] = [];
  Error.prepareStackTrace = (error) => {
    asked.push(error.message);
    return '';
  };
  readThrown(thrown);
  assert.deepEqual(asked, []);
});
