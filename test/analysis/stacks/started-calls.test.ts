/** Which calls can have started what failed: by the error, and by the text of a script. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findStartedCalls } from '../../../src/analysis/stacks/started-calls.ts';
import { startersOf } from '../../../src/bundle/layout/operations.ts';

const opening = startersOf({ syscall: 'open', code: 'ENOENT', message: 'ENOENT: no such file, open' });
const placesIn = async (text: string) =>
  (await findStartedCalls(text, 'commonjs', opening))?.map(({ name, line }) => `${name} ${line}`);

test('an error of a socket, a terminal or an unknown emitter is of no file', () => {
  const ofSocket = { syscall: 'read', code: 'ECONNRESET', message: 'read ECONNRESET' };
  assert.deepEqual(startersOf(ofSocket), []);
  assert.deepEqual(startersOf({ syscall: 'write', code: 'EPIPE', message: 'write EPIPE' }), []);
  const ofFile = { syscall: 'open', code: 'ENOENT', message: 'ENOENT: no such file, open' };
  assert.deepEqual(startersOf({ ...ofFile, emitter: 'Uploader' }), []);
  const ofConnection = { syscall: 'getaddrinfo', code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND a' };
  assert.deepEqual(
    startersOf({ ...ofConnection, stack: 'at GetAddrInfoReqWrap.onlookup (node:dns:1:2)' }),
    [],
  );
  const names = startersOf({ syscall: 'read', code: 'EISDIR', message: 'EISDIR: is a directory, read' });
  assert.ok(names.some(({ name }) => name === 'readFile'));
});

test('functions are followed through imports, other names and bundlers', async () => {
  assert.deepEqual(
    await placesIn(`const { readFile: load, ...rest } = require('node:fs').promises;\nload('a');`),
    ['readFile 2'],
  );
  assert.deepEqual(await placesIn(`const fs = require('fs');\n(0, fs.open)('a');\nfs?.open('b');`), [
    'open 2',
    'open 3',
  ]);
  assert.deepEqual(await placesIn(`function open() {}\nopen('a');\ndoor.open();\nfs['open']('b');`), []);
});

test('a script of many calls is searched in the time that its length asks for', async () => {
  const text = `const { readFile } = require('fs');\n${'readFile(x); '.repeat(40_000)}`;
  assert.equal((await placesIn(text))?.length, 40_000);
  assert.deepEqual(await placesIn(`${'import_fs.open_; '.repeat(40_000)}`), []);
});
