import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldCommand, withoutFolders } from '../../src/model/command-text.ts';
import { quoteWords, splitWords } from '../../src/platform/paths.ts';

test('words with spaces, quotes and other characters of a shell survive as one text', () => {
  const all = [
    ['node', 'my file.mjs', '--name', "it's", '"quoted"', '', '$HOME', 'a\\b', 'C:\\dir\\', '\\\\server\\x'],
    ['/opt/größe/nœud', '日本 語', '🙂', 'a;b', '[redacted:x]', 'two\nlines', '*'],
  ];
  for (const words of all) assert.deepEqual(splitWords(quoteWords(words)), words);
  assert.equal(quoteWords(['node', "it's", 'a.mjs']), "node 'it'\\''s' a.mjs");
  assert.equal(splitWords('sh -c "cut'), undefined);
});

test('folders are left out of the words and of what a shell was given, and nothing else is', () => {
  const cases: [string, string][] = [
    ['/usr/bin/node /srv/app/server.mjs --port 80', 'node server.mjs --port 80'],
    ['/bin/sh -c \'"/usr/bin/node" 05c.mjs\'', "sh -c 'node 05c.mjs'"],
    ['/bin/sh -c "/usr/bin/node" 05c.mjs', 'sh -c node 05c.mjs'],
    ["'/opt/my dir/bin/node' dist/server.js", 'node server.js'],
    ["'/opt/bin/my node' a.mjs", "'my node' a.mjs"],
    ["sh -c 'cd /srv/app && /usr/bin/node a.mjs | tee /tmp/log'", "sh -c 'cd app && node a.mjs | tee log'"],
    ['npx @scope/server --url=http://host/path', 'npx @scope/server --url=http://host/path'],
    ['http://127.0.0.1:80/mcp', 'http://127.0.0.1:80/mcp'],
    ["'C:\\Program Files\\node.exe' a.mjs", 'node.exe a.mjs'],
    ['sh -c "not closed', 'sh -c "not closed'],
  ];
  for (const [command, text] of cases) assert.equal(withoutFolders(command), text);
});

test('a long command keeps its first word and its end', () => {
  const long = quoteWords(['node', 'a.mjs', '--data', `begin${'x'.repeat(500)}end`, '--last', 'word']);
  const text = foldCommand(long, 80);
  assert.ok(text.length <= 80);
  assert.match(text, /^node a\.mjs --data begin\S*…\S*xend --last word$/);
  const path = foldCommand(`/${'folder/'.repeat(40)}node a.mjs`, 60);
  assert.match(path, /^\/folder\/.*….*node a\.mjs$/);
  const emoji = foldCommand(`node ${'🙂'.repeat(200)}`, 40);
  assert.ok(emoji.length <= 40);
  assert.doesNotMatch(emoji, /[\ud800-\udfff]/u);
});
