/**
 * Before the process exits, no compile job of V8 may wait for a collection, so each way in which the command line ends forces
 * one (nodejs/node 54918: on a loaded machine a few in a hundred exits hang; a test can only check for the collection).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));

/** V8 prints one line for each; if a collection was already in progress, it is finished first and prints a second line. */
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
