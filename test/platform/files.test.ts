/** Files, names and processes, as each system's file in src/platform implements them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { choosePlatform } from '../../src/platform/index.ts';
import { readSmallFile } from '../../src/platform/small-file.ts';
import { parseProcessList as parsePs } from '../../src/platform/systems/darwin.ts';
import { parseProcessList as parsePowerShell } from '../../src/platform/systems/windows.ts';

const names = ['linux', 'darwin', 'win32', 'freebsd'] as const;

test('each system has a file, and one that has none is taken for POSIX without /proc', () => {
  const titles = names.map((name) => choosePlatform(name)).map(({ name, title }) => [name, title]);
  assert.deepEqual(titles, [
    ['linux', 'Linux'],
    ['darwin', 'macOS'],
    ['win32', 'Windows'],
    ['freebsd', 'freebsd'],
  ]);
});

test('what a file may be called', () => {
  const { files } = choosePlatform('win32');
  const refused = [
    'con',
    'NUL.json',
    'com1',
    'Lpt9.txt',
    'a:b',
    'a/b',
    'a\\b',
    'end.',
    'end ',
    'a?',
    'a\u0001',
    '',
  ];
  for (const name of refused) assert.equal(files.isUsableName(name), false, name);
  const fine = ['console', 'nul-1', 'trigger.json', '20261121T030405.678Z-app-exit-01234567.agentdump', 'ä'];
  for (const name of fine) assert.equal(files.isUsableName(name), true, name);
  assert.equal(choosePlatform('darwin').files.isUsableName('a:b'), true);
  assert.equal(choosePlatform('darwin').files.isUsableName('a/b'), false);
});

test('what ps says of processes', () => {
  const text = `    1     0 Ss   /sbin/launchd
  412     1 S+   /Applications/My App.app/Contents/MacOS/node
  413   412 Z    <defunct>\n`;
  assert.deepEqual(parsePs(text), [
    { pid: 1, parentPid: 0, program: 'launchd' },
    { pid: 412, parentPid: 1, program: 'node' },
  ]);
});

test('what PowerShell says of processes', () => {
  const text = '0 0 System Idle Process\r\n4 0 System\r\n4212 880 Node.exe\r\n';
  assert.deepEqual(parsePowerShell(text), [
    { pid: 0, parentPid: 0, program: 'system idle process' },
    { pid: 4, parentPid: 0, program: 'system' },
    { pid: 4212, parentPid: 880, program: 'node' },
  ]);
});

for (const name of names)
  test(`${name}: this process, a dead one, and memory`, () => {
    const platform = choosePlatform(name);
    assert.equal(platform.isThere(process.pid), true);
    assert.equal(platform.isThere(2 ** 22 + 1), false);
    assert.ok(platform.memoryUsage().rss > 1e6);
    assert.ok(platform.availableBytes() > 0);
    const began = platform.startedAtMs(process.pid) ?? 0;
    // ps reports whole seconds.
    assert.ok(Math.abs(began - (Date.now() - process.uptime() * 1000)) < 3_000, String(began));
  });

test('a file of /proc that is longer than 64 KiB is read up to the limit', {
  skip: process.platform !== 'linux' && 'no /proc',
}, async () => {
  // A single variable may have 128 KiB.
  const env = { FIRST: 'a'.repeat(100_000), SECOND: 'b'.repeat(100_000) };
  const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], { env });
  try {
    await once(child.stdout, 'data');
    const path = `/proc/${child.pid}/environ`;
    const whole = readSmallFile(path, 2 * 1024 * 1024) ?? '';
    assert.equal(whole, `FIRST=${env.FIRST}\0SECOND=${env.SECOND}\0`);
    assert.equal(readSmallFile(path, 150_000), whole.slice(0, 150_000));
    assert.equal(readSmallFile(path)?.length, 64 * 1024);
  } finally {
    child.kill('SIGKILL');
  }
});
