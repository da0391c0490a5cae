/** The command line that cmd.exe is given for a script, and when it is used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windowsCommand } from '../../src/platform/systems/windows-command.ts';

const environment = { Path: 'C:\\Windows;C:\\Program Files\\nodejs', ComSpec: 'C:\\Windows\\cmd.exe' };
const command = (there: string, file: string, ...words: string[]) =>
  windowsCommand(file, words, environment, (path) => path.toLowerCase() === there.toLowerCase());

test('a program is started as it is named', () => {
  const started = command('C:\\Program Files\\nodejs\\node.exe', 'node', 'a b.js', '"');
  assert.deepEqual(started, { file: 'node', words: ['a b.js', '"'] });
  assert.deepEqual(command('', 'nothing', 'x'), { file: 'nothing', words: ['x'] });
});

test('a script is run by cmd.exe, in its grammar', () => {
  const started = command(
    'C:\\Program Files\\nodejs\\npm.cmd',
    'npm',
    'test',
    '--',
    'a b',
    'say "hi" & go',
    'end\\',
  );
  assert.equal(started.file, 'C:\\Windows\\cmd.exe');
  assert.equal(started.windowsVerbatimArguments, true);
  assert.deepEqual(started.words, [
    '/d',
    '/s',
    '/c',
    `"C:\\Program^ Files\\nodejs\\npm.cmd ^"test^" ^"--^" ^"a^ b^" ^"say^ \\^"hi\\^"^ ^&^ go^" ^"end\\\\^""`,
  ]);
});

test('a script beside a package reads its arguments twice', () => {
  const { words } = command('.\\node_modules\\.bin\\vitest.cmd', '.\\node_modules\\.bin\\vitest', 'a&b');
  assert.equal(words.at(-1), '"node_modules\\.bin\\vitest.cmd ^^^"a^^^&b^^^""');
});
