/**
 * Before an end no compile job of V8 waits for a collection: each way in which the command line ends has one before it
 * (nodejs/node 54918 hangs a few ends in a hundred on a loaded machine; a test can only look that the collection comes).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));

/** V8 prints a line of each; one that it was already about is ended first, and is a second. */
const collections = (stdout: string): number =>
  stdout.match(/Mark-Compact.*testing|testing.*Mark-Compact/g)?.length ?? 0;

for (const [how, words, code] of [
  ['a result', ['--version'], 0],
  ['a usage error', ['analize'], 2],
  ['a command that reads without yargs', ['heap', 'no-such-file'], 3],
  ['a supervised program', ['run', '--', process.execPath, '-e', 'process.exitCode = 7'], 7],
  ['a server whose client has gone', ['mcp'], 0],
] as const)
  test(`a full collection before the end: ${how}`, () => {
    const { status, stdout } = spawnSync(process.execPath, ['--trace-gc', program, ...words], {
      encoding: 'utf8',
      input: '',
    });
    assert.equal(status, code);
    assert.ok(collections(stdout) >= 1, stdout);
  });
