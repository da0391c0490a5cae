/** The list of scripts that is made without a debugger is the one that the debugger gives; else the debugger is asked. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { testNodes } from '../../support/run/test-nodes.ts';
import { preload } from '../../support/victims/run-victim.ts';

const dir = mkdtempSync(join(tmpdir(), 'agentdump-scripts-'));
after(() => rmSync(dir, { recursive: true, force: true }));

const files: Record<string, string> = {
  'main.cjs': `const { fail } = require('./lib.cjs');
const dep = require('dep');
class A { x = 1; get z() { return 1; } async *w() {} static s() {} ['computed']() {} }
globalThis.kept = [new A(), [1].map((x) => x + 1), { m() {}, async n() {} }];
setTimeout(() => { fail(dep()); }, 10);
`,
  'lib.cjs': `'use strict';
module.exports.fail = function fail(x) {
  throw new Error('\u00e9 ' + x);
};
//# sourceMappingURL=lib.cjs.map
`,
  'lib.cjs.map': JSON.stringify({ version: 3, sources: ['lib.ts'], names: [], mappings: 'AAAA' }),
  'node_modules/dep/package.json': JSON.stringify({ name: 'dep', version: '1.0.0' }),
  'node_modules/dep/index.js': '\uFEFFmodule.exports = () => 7; // \u20ac \u{1f600}',
  'empty.cjs': '',
  'imports.cjs': `import('./module.mjs').then((module) => setTimeout(() => module.fail(), 10));`,
  'module.mjs': `export function fail() { throw new Error('in a module'); }`,
  'changes.cjs': `const fs = require('node:fs');
setTimeout(() => { fs.writeFileSync(__filename, '// another text\\n' + fs.readFileSync(__filename)); fail(); }, 10);
function fail() { throw new Error('the running text'); }
`,
  'hooks.cjs': `const { Module } = require('node:module');
const compile = Module.prototype._compile;
Module.prototype._compile = function (text, path) { return compile.call(this, '/* compiled */' + text, path); };
require('./hooked.cjs');
`,
  'hooked.cjs': `setTimeout(function late() { throw new Error('compiled'); }, 10);\n`,
  'shortens.cjs': `const { Module } = require('node:module');
const compile = Module.prototype._compile;
Module.prototype._compile = function (text, path) { return compile.call(this, text.slice(text.indexOf('throw')), path); };
require('./shortened.cjs');
`,
  'shortened.cjs': `// A comment that is not compiled.
throw new Error('outside of a function');
`,
  'evaluates.cjs': `const { runInThisContext } = require('node:vm');
const late = runInThisContext('(function late() { throw new Error(1); })', { filename: __dirname + '/evaluated.js' });
setTimeout(() => late(), 10);
`,
  'evaluates-outside.cjs': `const { runInThisContext } = require('node:vm');
let error;
try { runInThisContext('throw new Error(1)', { filename: __dirname + '/outside.js' }) } catch (thrown) { error = thrown; }
setTimeout(() => { throw error; }, 10);
`,
  'catches.cjs': `let error;
try { require('./fails.cjs') } catch (thrown) { error = thrown; }
setTimeout(() => { throw error; }, 10);
`,
  'fails.cjs': `throw new Error('while it is loaded');\n`,
  'same-length.cjs': `const { Module } = require('node:module');
const compile = Module.prototype._compile;
Module.prototype._compile = function (text, path) { return compile.call(this, text.replace('before', 'behind'), path); };
require('./replaced.cjs');
`,
  'loads.cjs': `const { Module } = require('node:module');
const compile = Module.prototype._compile;
Module.prototype._compile = function (text, path) { return compile.call(this, text.replace('before', 'behind'), path); };
require(${JSON.stringify(preload)});
require('./replaced.cjs');
`,
  'replaced.cjs': `setTimeout(() => { throw new Error('before'); }, 10);\n`,
  'writes-maps.cjs': `setTimeout(() => { throw new Error(\`
//# sourceMappingURL=\${__filename}
\`); }, 10);
`,
  'says.cjs': `const { Session } = require('node:inspector');
const { post } = Session.prototype;
Session.prototype.post = function (...given) { console.log(given[0]); return post.apply(this, given); };
setTimeout(() => { throw new Error('dies'); }, 10);
`,
};

before(async () => {
  mkdirSync(join(dir, 'node_modules', 'dep'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  // A file that is as new as the process is not trusted.
  await sleep(200);
});

interface Seen {
  scripts: Record<string, unknown>[];
  sources: string[];
  stdout: string;
}

const preloaded = ['--require', preload];
/** Another preload, for which the debugger is asked. */
const forced = [...preloaded, '--require', join(dir, 'empty.cjs')];

function die(node: string, program: string, flags = preloaded): Seen {
  const dumps = mkdtempSync(join(dir, 'dumps-'));
  const { stdout, stderr } = spawnSync(node, [...flags, join(dir, program)], {
    encoding: 'utf8',
    cwd: dir,
    env: { PATH: process.env['PATH'], HOME: dir, AGENTDUMP_DIR: dumps },
  });
  const bundle = readdirSync(dumps).find((name) => name.endsWith('.agentdump'));
  assert.ok(bundle, stderr);
  const { scripts } = JSON.parse(readFileSync(join(dumps, bundle, 'scripts.json'), 'utf8')) as Seen;
  const sources = readdirSync(join(dumps, bundle, 'sources')).map((name) =>
    readFileSync(join(dumps, bundle, 'sources', name), 'utf8'),
  );
  return { scripts: scripts.filter(({ url }) => !String(url).endsWith('/empty.cjs')), sources, stdout };
}

const comparable = ({ scripts, sources }: Seen) => ({
  scripts: scripts
    .map(({ scriptId: _, ...rest }) => rest)
    .sort((a, b) => (String(a['url']) < String(b['url']) ? -1 : 1)),
  sources: sources.sort(),
});

for (const { name, path } of testNodes)
  test(`the same list, hashes, maps and texts as the debugger's, ${name}`, () => {
    const plain = comparable(die(path, 'main.cjs'));
    assert.equal(plain.scripts.length, 3);
    assert.ok(plain.scripts.every(({ hash }) => /^[0-9a-f]{64}$/i.test(String(hash))));
    assert.deepEqual(plain, comparable(die(path, 'main.cjs', forced)));
  });

test('modules of import are listed', () => {
  const { scripts, sources } = die(process.execPath, 'imports.cjs');
  assert.ok(scripts.some(({ url, isModule }) => String(url).endsWith('/module.mjs') && isModule === true));
  assert.ok(sources.some((text) => text.includes("'in a module'")));
});

test('of a file that was changed, the text that runs', () => {
  const { sources } = die(process.execPath, 'changes.cjs');
  assert.ok(sources.some((text) => text.includes('the running text')));
  assert.ok(sources.every((text) => !text.includes('another text\n')));
});

test('of a file whose time was put back, the text that runs', () => {
  const path = join(dir, 'changes.cjs');
  writeFileSync(
    path,
    files['changes.cjs']!.replace('fail(); }', 'fs.utimesSync(__filename, 1, 1); fail(); }'),
  );
  utimesSync(path, 1, 1);
  const { sources } = die(process.execPath, 'changes.cjs');
  assert.ok(sources.every((text) => !text.startsWith('// another text')));
});

test('of a file that a hook compiles, the text that runs', () => {
  const { sources } = die(process.execPath, 'hooks.cjs');
  assert.ok(sources.some((text) => text.startsWith('/* compiled */')));
});

test('of a file that a hook shortens, and that throws outside of a function, too', () => {
  const { sources } = die(process.execPath, 'shortens.cjs');
  assert.ok(sources.some((text) => text.startsWith('throw')));
});

test('code that was evaluated under a name is listed', () => {
  const { scripts } = die(process.execPath, 'evaluates.cjs');
  assert.ok(scripts.some(({ url }) => String(url).endsWith('/evaluated.js')));
});

for (const { name, path } of testNodes) {
  test(`a script that only a frame names is listed, ${name}`, () => {
    for (const [program, script] of [
      ['evaluates-outside.cjs', 'outside.js'],
      ['catches.cjs', 'fails.cjs'],
    ] as const) {
      const { scripts } = die(path, program);
      assert.ok(
        scripts.some(({ url, sourcePart }) => String(url).endsWith(`/${script}`) && sourcePart),
        script,
      );
    }
  });

  test(`of a file that a hook compiles with the same length, the text that runs, ${name}`, () => {
    assert.ok(die(path, 'same-length.cjs').sources.some((text) => text.includes("'behind'")));
    assert.ok(die(path, 'loads.cjs', []).sources.some((text) => text.includes("'behind'")));
  });
}

test('a comment with a map within a text is none', () => {
  const { scripts } = die(process.execPath, 'writes-maps.cjs');
  assert.ok(scripts.length > 0 && scripts.every(({ sourceMapUrl }) => sourceMapUrl === undefined));
});

test('no debugger is enabled, by whatever name the preload is given', () => {
  const root = dirname(dirname(preload));
  symlinkSync(root, join(dir, 'node_modules', 'agentdump'), 'junction');
  for (const name of [preload, 'agentdump/register', './node_modules/agentdump/dist/register.cjs'])
    assert.doesNotMatch(
      die(process.execPath, 'says.cjs', ['--require', name]).stdout,
      /Debugger.enable/,
      name,
    );
  assert.match(die(process.execPath, 'says.cjs', forced).stdout, /Debugger.enable/);
});
