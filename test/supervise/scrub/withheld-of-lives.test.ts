/** The values that a program registers as secrets are passed to its supervisor, which alone can read them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { handOverTo } from '../../../src/capture/recording/hand-over.ts';
import { sessionsFolder, withheldName, withheldVariable } from '../../../src/journal/layout/session.ts';
import { sessionFolder } from '../../../src/journal/write/session-file.ts';
import { openWithheld, sealWithheld } from '../../../src/journal/write/withheld-values.ts';
import { startChild } from '../../../src/supervise/run/child.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { makeWithheldKey, readWithheld } from '../../../src/supervise/scrub/withheld-of-lives.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const id = '0123456789abcdef';
const secret = 'gelbe Katze am Zaun';

function inFolder(work: (dir: string, session: string) => void): void {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-withheld-'));
  try {
    const session = sessionFolder(dir, id);
    mkdirSync(session, { recursive: true });
    work(dir, session);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

test('a value goes sealed into the session, and the scrubber of its supervisor withholds it', () =>
  inFolder((dir, session) => {
    const variable = makeWithheldKey(session, id);
    const handOver = handOverTo(dir, { [withheldVariable]: variable });
    assert.match(makeScrubber({}, readWithheld()).text(`so says ${secret}`), /gelbe/);
    handOver(secret);
    handOver(secret);
    const file = join(session, withheldName);
    const lines = readFileSync(file, 'utf8');
    assert.match(lines, /^[\w+/]+=*\n$/);
    assert.ok(!Buffer.from(lines, 'base64').includes('Katze'));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const text = makeScrubber({}, readWithheld()).text(
      `so says ${secret}, ${Buffer.from(secret).toString('base64')}`,
    );
    assert.match(text, /^so says \[redacted:known-value#\w+\], \[redacted:/);
    // The values of a life that has ended remain known.
    rmSync(file);
    assert.ok(readWithheld().includes(secret));
  }));

test('half a line, lines of another key and a folder that is gone say nothing', () => {
  const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const whole = sealWithheld(secret, key);
  assert.deepEqual(openWithheld(whole + sealWithheld('other', other) + whole.slice(0, 20), key), [secret]);
  assert.deepEqual(openWithheld('x\n\n====\n', key), []);
  inFolder((dir) => {
    const gone = handOverTo(dir, { [withheldVariable]: `fedcba9876543210.${'a'.repeat(64)}` });
    gone(secret);
    assert.ok(!existsSync(sessionFolder(dir, 'fedcba9876543210')));
    handOverTo(dir, { [withheldVariable]: 'nonsense' })(secret);
    handOverTo(dir, {})(secret);
  });
});

test('under run: a value of the program and one of its child, in the words of the command that died', () =>
  inFolder((dir) => {
    const child = join(dir, 'child.cjs');
    const program = join(dir, 'program.cjs');
    const register = "globalThis[Symbol.for('agentdump.host')].withhold";
    writeFileSync(child, `${register}('rote Amsel im Korb');`);
    writeFileSync(
      program,
      `${register}(${JSON.stringify(secret)});
       require('node:child_process').spawnSync(process.execPath, [${JSON.stringify(child)}]);
       process.kill(process.pid, 'SIGKILL');`,
    );
    const words = [
      'run',
      '--dir',
      join(dir, 'dumps'),
      '--',
      process.execPath,
      program,
      secret,
      'rote Amsel im Korb',
    ];
    const run = spawnSync(process.execPath, [join(root, 'bin', 'agentdump.js'), ...words], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    const bundle = /(\S+\.agentdump)/.exec(run.stderr)?.[1];
    assert.ok(bundle, run.stderr);
    const process_ = readFileSync(join(bundle, 'process.json'), 'utf8');
    assert.match(process_, /program\.cjs/);
    assert.doesNotMatch(process_, /Katze|Amsel/);
    const left = readdirSync(join(dir, 'dumps'), { recursive: true }).map(String);
    assert.deepEqual(
      left.filter((name) => basename(name) === withheldName),
      [],
    );
  }));

test('the session has its folder before the program runs, which may withhold something at once', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-withheld-'));
  let folders: string[] | undefined;
  const { ended, session } = await startChild({
    ...childOptions(dir, [process.execPath, '-e', '0']),
    // Read right before the spawn.
    get cwd() {
      folders ??= readdirSync(join(dir, sessionsFolder));
      return dir;
    },
  });
  assert.deepEqual(await ended, { code: 0 });
  rmSync(dir, { recursive: true });
  assert.deepEqual(folders, [session?.id]);
});

test('a command that can’t be started leaves no folder', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-withheld-'));
  await assert.rejects(startChild(childOptions(dir, [join(dir, 'absent')])), /command not found/);
  assert.deepEqual(readdirSync(dir), []);
  rmSync(dir, { recursive: true });
});

const childOptions = (dir: string, command: readonly string[]) =>
  ({ dir, command, core: 'off', extra: {}, heartbeat: false, stdio: 'ignore' }) as const;
