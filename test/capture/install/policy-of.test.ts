/** The redaction policy of this process, whatever the program has made of its command line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyOf } from '../../../src/capture/install/policy-of.ts';

test('objects in the command line are left alone, and its words are known', (t) => {
  const { length } = process.argv;
  t.after(() => {
    process.argv.length = length;
  });
  let asked = 0;
  const word = ['Zq7', 'vR2', 'mX9', 'kL4'].join('');
  const objects = [Object.create(null), { toString: () => String(++asked) }];
  process.argv.push(...objects, `--password=${word}`);
  const policy = policyOf([], { allow: [], deny: [] });
  assert.match(policy.text(`it was ${word} then`), /^it was \[redacted:known-value#\w+\] then$/);
  assert.equal(asked, 0);
});

test('a command line that can not be read costs no policy', (t) => {
  const { length } = process.argv;
  t.after(() => {
    process.argv.length = length;
  });
  Object.defineProperty(process.argv, length, {
    configurable: true,
    get() {
      throw new Error('not to be read');
    },
  });
  assert.equal(policyOf([], { allow: [], deny: [] }).text('plain words'), 'plain words');
});
