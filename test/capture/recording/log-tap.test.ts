/** Which output is kept, and with which timestamps. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../../../src/capture/recording/log-tap.ts', import.meta.url));

/** Runs in a process whose standard output is a pipe; it returns its result on standard error. */
function inChild(work: string): Record<string, unknown> {
  const code = `
    const { tapLogs } = await import(${JSON.stringify(source)});
    const tap = tapLogs();
    const { stdout } = tap.tails;
    let heard = 0;
    // While the reader is slow, Node holds lines back, and hands them to the system later and together.
    const flushed = () => new Promise((resolve) => process.stdout.write('', resolve));
    const report = (all) => process.stderr.write(JSON.stringify(all));
    ${work}`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', code];
  const { stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stderr) as Record<string, unknown>;
}

test('of ten thousand lines the last are kept, in order, and not much more', () => {
  const found = inChild(`
    for (let i = 0; i < 10000; i++) console.log('line', i);
    await flushed();
    const text = stdout.pieces.join('');
    report({ end: text.slice(-20), held: stdout.held, chars: text.length, isCut: stdout.isCut, written: stdout.written });`);
  assert.equal(found['end'], 'line 9998\nline 9999\n');
  assert.equal(found['held'], found['chars']);
  assert.ok(Number(found['chars']) >= 10_000 && Number(found['chars']) <= 64 * 1024);
  assert.deepEqual([found['isCut'], found['written']], [true, 98_890]);
});

test('in a burst the clock is read now and then, and at the next line after a tick', () => {
  const found = inChild(`
    tap.onWrite = () => { heard++; };
    for (let i = 0; i < 1000; i++) {
      console.log(i);
      if (i % 50 === 49) await flushed();
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    tap.undated = 0;
    const before = Date.now();
    console.log('after');
    report({ heard, isNew: stdout.at >= before });`);
  assert.ok(Number(found['heard']) >= 1000 / 8 && Number(found['heard']) <= 1021, `${found['heard']}`);
  assert.equal(found['isNew'], true);
});

test('where no recorder ticks each piece is dated', () => {
  const found = inChild(`
    for (let i = 0; i < 1000; i++) console.log(i);
    await flushed();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = Date.now();
    console.log('after');
    report({ isNew: stdout.at >= before });`);
  assert.equal(found['isNew'], true);
});
