/** Which folders Node watches, by the command lines of those who may have started a program, and what takes the place of a dump folder in one. */
import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { folderFor, replacementOf, stateFolder, watchedFolders } from '../../src/platform/watched-folder.ts';

const variables = ['XDG_STATE_HOME', 'LOCALAPPDATA'];
const before = variables.map((name) => process.env[name]);
afterEach(() => {
  for (const [at, name] of variables.entries())
    if (before[at] === undefined) delete process.env[name];
    else process.env[name] = before[at];
});

test('the folders of a command line', () => {
  const of = (...words: string[]) => watchedFolders(words, '/srv/app');
  assert.deepEqual(of('node', '--watch-path=.', 'a.js'), ['/srv/app']);
  assert.deepEqual(of('node', '--watch-path', 'src', '--watch-path=/etc/app', 'a.js'), [
    '/srv/app/src',
    '/etc/app',
  ]);
  assert.deepEqual(of('node', '--watch', 'a.js'), []);
  assert.equal(of('node', 'a.js'), undefined);
  assert.equal(of('sh', '-c', 'node --watch-path=. a.js'), undefined);
});

test('a dump folder in one of them is replaced, any other is kept', () => {
  process.env['XDG_STATE_HOME'] = '/home/ann/state';
  const folderOf = (words: string, dir: string) => folderFor(words.split(' '), join(process.cwd(), dir));
  const replaced = folderOf('node --watch-path=. a.js', '.agentdump');
  assert.match(replaced, /^\/home\/ann\/state\/agentdump\/[^/]+-[0-9a-f]{12}$/);
  assert.equal(
    folderOf('node --watch-path=./src a.js', 'src/dumps'),
    replacementOf(join(process.cwd(), 'src/dumps')),
  );
  for (const words of [
    'node --watch-path=./src a.js',
    'node --watch a.js',
    'node a.js',
    'node --watch-path=./.agent a.js',
  ])
    assert.equal(folderOf(words, '.agentdump'), join(process.cwd(), '.agentdump'), words);
  assert.throws(() => folderOf('node --watch-path=/ a.js', '.agentdump'), {
    code: 'usage',
    message: /AGENTDUMP_DIR/,
  });
});

test('two folders of one name have a replacement each', () => {
  assert.notEqual(replacementOf('/a/app/.agentdump'), replacementOf('/b/app/.agentdump'));
});

test('where each system keeps the state of programs', () => {
  for (const name of variables) delete process.env[name];
  assert.equal(stateFolder('linux'), join(homedir(), '.local/state'));
  assert.equal(stateFolder('darwin'), join(homedir(), 'Library/Application Support'));
  assert.equal(stateFolder('win32'), join(homedir(), 'AppData/Local'));
  process.env['XDG_STATE_HOME'] = 'relative';
  assert.equal(stateFolder('linux'), join(homedir(), '.local/state'));
  process.env['LOCALAPPDATA'] = '/users/ann/local';
  assert.equal(stateFolder('win32'), '/users/ann/local');
});
