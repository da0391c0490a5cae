/** Scripts named in a stack's text, the same as simple regular expressions find, in time that is linear in the text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasOwnFrame, scriptNamesIn, scriptPathsIn } from '../../../src/capture/stacks/named-scripts.ts';

const stacks = [
  'Error: x\n    at f (/srv/app.js:1:2)\n    at /srv/b.mjs:3:4\n    at async file:///srv/c.cts:5:6',
  'at g (node:events:524:28)\n    at h (C:\\srv\\app.ts:1:2)\n at a.js:1, b.js:2 (c.tsx:3)',
  'at eval (eval at <anonymous> (/a b/c.js:1:1), <anonymous>:1:2)\n.js:1 /.js:1 x/.js:1 /x.js:no',
  'http://host/a.js:1:2 file://host/a.js:1:2 //a.js:1 /a.js:1/b.js:2 (/a.json:1) /é.js:1:2',
  '',
];

for (const text of stacks)
  test(JSON.stringify(text), () => {
    assert.deepEqual(
      scriptPathsIn(text),
      text.match(/(?:file:\/\/)?\/[^\s():]+\.[cm]?[jt]sx?(?=:\d+)/g) ?? [],
    );
    assert.deepEqual(
      scriptNamesIn(text),
      [...text.matchAll(/([^/\\\s(]+\.[cm]?[jt]sx?):\d+/g)].map(([, name]) => name),
    );
  });

test('megabytes without a blank in a message', () => {
  for (const unit of ['0f', 'a/b', 'x.js', '/'])
    assert.deepEqual(scriptNamesIn(`${unit.repeat(2 ** 20)}\n    at f (/srv/app.js:1:2)`), ['app.js']);
  assert.deepEqual(scriptPathsIn(`${'a/b'.repeat(2 ** 20)}\n    at f (/srv/app.js:1:2)`), ['/srv/app.js']);
});

test('a frame of the program, in linear time also after a message of many empty lines', () => {
  const frameAfter = (lines: number, place: string) => `Error: ${'\n'.repeat(lines)}\n    at f (${place})`;
  const before = process.cpuUsage();
  for (const lines of [0, 2 ** 16]) {
    assert.equal(hasOwnFrame(frameAfter(lines, '/srv/app.js:1:2')), true);
    assert.equal(hasOwnFrame(frameAfter(lines, 'node:events:524:28')), false);
    assert.equal(hasOwnFrame(frameAfter(lines, '/srv/node_modules/a/a.js:1:2')), false);
  }
  assert.ok(process.cpuUsage(before).user < 1e6);
});
