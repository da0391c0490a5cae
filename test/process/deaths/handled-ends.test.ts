/** What is recorded of the end of a program that handled an error: its exit code, also if a listener of `exit` sets it, or that its handler threw. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSequel } from '../../../src/bundle/read/sequel.ts';
import { sampleOf } from '../../support/run/test-nodes.ts';
import { bundlesIn, findNodes, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const command = join(import.meta.dirname, '..', '..', '..', 'bin', 'agentdump.js');
const handled = `process.on('uncaughtException', () => {}); setTimeout(() => { throw new Error('handled'); }, 10);`;
const sets = (code: number) => `process.on('exit', () => { process.exitCode = ${code}; });`;
const ends = [
  { name: 'a natural end', text: sets(2), code: 2 },
  { name: 'process.exit', text: `${sets(3)} setTimeout(() => process.exit(), 300);`, code: 3 },
  { name: 'a code of its own', text: 'setTimeout(() => process.exit(5), 300);', code: 5 },
  { name: 'no code', text: '', code: 0 },
  {
    name: 'two exceptions in one turn',
    // Busy until both are due, so that no microtask runs between them.
    text: `setTimeout(() => { throw new TypeError('second'); }, 10); setTimeout(() => process.exit(3), 300); for (const end = Date.now() + 30; Date.now() < end; );`,
    code: 3,
  },
];

for (const node of findNodes())
  for (const { name, text, code } of sampleOf(ends, 2))
    test(`${node.name}: ${name}`, (t) => {
      const folder = temporaryFolder(t);
      const dir = join(folder, 'dumps');
      const { status, stderr } = spawnSync(node.path, ['--require', preload, '-e', handled + text], {
        encoding: 'utf8',
        env: { ...process.env, AGENTDUMP_DIR: dir },
      });
      assert.equal(status, code, stderr);
      const bundles = bundlesIn(folder);
      assert.ok(bundles.length > 0, stderr);
      for (const bundle of bundles) {
        const { event, exitCode } = readSequel(join(dir, bundle)) ?? {};
        assert.deepEqual([event, exitCode], ['ended', code], stderr);
      }
    });

/** A listener of uncaughtExceptionMonitor is called from another line of `emit`, because ours is called with it. */
const comparable = (stderr: string): string =>
  stderr.replace(/^agentdump: .*\n/gm, '').replace(/node:events:[\d:]+/g, 'node:events');
const throwsLater = `setTimeout(() => { throw new Error('first'); }, 10);`;
const handlers = [
  {
    name: 'that throws',
    text: `process.on('uncaughtException', () => { throw new Error('second'); });`,
    code: 7,
  },
  {
    name: 'of uncaughtExceptionMonitor that throws',
    text: `process.on('uncaughtExceptionMonitor', () => { throw new Error('second'); });`,
    code: 7,
  },
  {
    name: 'of a domain that throws',
    text: `const domain = require('node:domain').create(); domain.on('error', () => { throw new Error('second'); }); domain.enter();`,
    code: 7,
  },
  {
    name: 'of uncaughtExceptionMonitor that returns',
    text: `process.on('uncaughtExceptionMonitor', () => {});`,
    code: 1,
  },
];

for (const node of findNodes())
  for (const { name, text, code } of sampleOf(handlers, 3))
    test(`${node.name}: a handler ${name}`, (t) => {
      const folder = temporaryFolder(t);
      const dir = join(folder, 'dumps');
      const bare = spawnSync(node.path, ['-e', text + throwsLater], { encoding: 'utf8' });
      const { status, stderr } = spawnSync(node.path, ['--require', preload, '-e', text + throwsLater], {
        encoding: 'utf8',
        env: { ...process.env, AGENTDUMP_DIR: dir },
      });
      assert.deepEqual([bare.status, status], [code, code], stderr);
      const [bundle, next] = bundlesIn(folder).sort();
      const sequel = readSequel(join(dir, bundle ?? ''));
      assert.deepEqual(
        [sequel?.event, sequel?.exitCode, sequel?.next],
        code === 7 ? ['died', 7, next] : [undefined, undefined, undefined],
        stderr,
      );
      assert.equal(next !== undefined, code === 7, stderr);
      assert.equal(comparable(stderr), comparable(bare.stderr));
    });

for (const node of findNodes())
  test(`${node.name}: a handler that throws the same error again, and one that throws what is no error`, (t) => {
    const ends = ['error', '"text"'].map((thrown) => {
      const folder = temporaryFolder(t);
      const dir = join(folder, 'dumps');
      const text = `process.on('uncaughtException', (error) => { throw ${thrown}; }); ${throwsLater}`;
      const { status, stderr } = spawnSync(node.path, ['--require', preload, '-e', text], {
        encoding: 'utf8',
        env: { ...process.env, AGENTDUMP_DIR: dir },
      });
      assert.equal(status, 7, stderr);
      const [bundle, ...others] = bundlesIn(folder);
      assert.deepEqual(others, [], stderr);
      const { event, rethrown } = readSequel(join(dir, bundle ?? '')) ?? {};
      return [event, rethrown];
    });
    assert.deepEqual(ends, [
      ['died', true],
      ['handling', undefined],
    ]);
  });

const emits = `const { EventEmitter } = require('node:events'); class Feed extends EventEmitter {} const feed = new Feed();
setTimeout(() => feed.emit('error', new Error('first')), 10);`;
const ofEmitted = [
  { name: 'throws it again', text: 'throw error;', sequel: ['died', true] },
  { name: 'emits it again', text: `new Feed().emit('error', error);`, sequel: ['handling', undefined] },
  {
    name: 'emits another',
    text: `feed.emit('error', new Error('second'));`,
    sequel: ['handling', undefined],
  },
];

for (const node of findNodes())
  for (const { name, text, sequel } of sampleOf(ofEmitted, 2))
    test(`${node.name}: a handler that is given the error of an event, and ${name}`, (t) => {
      const folder = temporaryFolder(t);
      const dir = join(folder, 'dumps');
      const program = `${emits} process.on('uncaughtException', (error) => { ${text} });`;
      const bare = spawnSync(node.path, ['-e', program], { encoding: 'utf8' });
      const { status, stderr } = spawnSync(node.path, ['--require', preload, '-e', program], {
        encoding: 'utf8',
        env: { ...process.env, AGENTDUMP_DIR: dir },
      });
      assert.deepEqual([bare.status, status], [7, 7], stderr);
      assert.match(bare.stderr, /^Emitted 'error' event on Feed instance at:$/m);
      assert.equal(comparable(stderr), comparable(bare.stderr));
      const { event, rethrown } = readSequel(join(dir, bundlesIn(folder)[0] ?? '')) ?? {};
      assert.deepEqual([event, rethrown], sequel);
    });

for (const node of findNodes())
  test(`${node.name}: an error that was handled keeps its properties, and is not kept`, (t) => {
    const program = `${emits}
const tell = (error) => { const [[key, { value, ...rest }]] = Reflect.ownKeys(error).filter((key) => typeof key === 'symbol')
  .map((key) => [key, Object.getOwnPropertyDescriptor(error, key)]); return String(key) + typeof value + JSON.stringify(rest); };
let kept;
process.on('uncaughtException', (error) => { kept = new WeakRef(error); setTimeout(() => {
  console.log(tell(kept.deref()));
  let rounds = 0;
  const timer = setInterval(() => { gc(); if (kept.deref() && ++rounds < 100) return;
    console.log(kept.deref() === undefined); clearInterval(timer); }, 5);
}, 10); });`;
    const run = (...words: string[]) =>
      spawnSync(node.path, ['--expose-gc', ...words, '-e', program], {
        encoding: 'utf8',
        env: { ...process.env, AGENTDUMP_DIR: join(temporaryFolder(t), 'dumps') },
      });
    const [bare, armed] = [run(), run('--require', preload)];
    assert.match(bare.stdout, /true\n$/, bare.stderr);
    assert.equal(armed.stdout, bare.stdout, armed.stderr);
  });

for (const node of findNodes())
  test(`${node.name}: nothing is left on Error.prototype when the handler has returned`, (t) => {
    const text = `const count = () => Reflect.ownKeys(Error.prototype).length; const before = count();
process.on('uncaughtException', () => setTimeout(() => console.log(count() - before), 10)); ${throwsLater}`;
    const { stdout, stderr } = spawnSync(node.path, ['--require', preload, '-e', text], {
      encoding: 'utf8',
      env: { ...process.env, AGENTDUMP_DIR: join(temporaryFolder(t), 'dumps') },
    });
    assert.equal(stdout, '0\n', stderr);
  });

for (const node of findNodes())
  test(`${node.name}: an exception while exit is emitted`, (t) => {
    const folder = temporaryFolder(t);
    const dir = join(folder, 'dumps');
    const text = `process.on('uncaughtException', () => {}); process.on('exit', () => { throw new Error('at exit'); });`;
    const { status, stderr } = spawnSync(node.path, ['--require', preload, '-e', text], {
      encoding: 'utf8',
      env: { ...process.env, AGENTDUMP_DIR: dir },
    });
    assert.equal(status, 0, stderr);
    const [bundle, ...others] = bundlesIn(folder);
    assert.ok(bundle !== undefined && others.length === 0, stderr);
    assert.notEqual(readSequel(join(dir, bundle))?.event, 'handling', stderr);
  });

test('under the supervisor, which sees the exit code', (t) => {
  const folder = temporaryFolder(t);
  const dir = join(folder, 'dumps');
  const program = join(folder, 'program.cjs');
  writeFileSync(program, `${handlers[0]?.text}${throwsLater}`);
  const { status, stderr } = spawnSync(process.execPath, [command, 'run', '--', process.execPath, program], {
    encoding: 'utf8',
    env: { ...process.env, AGENTDUMP_DIR: dir },
  });
  assert.equal(status, 7, stderr);
  const [bundle] = bundlesIn(folder).sort();
  const { event, exitCode } = readSequel(join(dir, bundle ?? '')) ?? {};
  assert.deepEqual([event, exitCode], ['died', 7], stderr);
});
