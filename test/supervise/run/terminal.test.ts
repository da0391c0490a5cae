/**
 * `agentdump run` at a terminal: keys, sizes, job control and the closing of the window reach the program as they do without
 * it.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stateOf } from '../../support/victims/proc-state.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'agentdump-terminal-'));
const open: ChildProcess[] = [];
after(() => {
  for (const child of open) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, maxRetries: 3 });
});
// We choose the shell that script(1) starts, and its prompt.
const env = {
  ...process.env,
  NODE_OPTIONS: '',
  NO_COLOR: '1',
  AGENTDUMP: 'off',
  SHELL: '/bin/sh',
  PS1: '$ ',
};
const node = process.execPath;
const program = join(dir, 'program.cjs');

/** Reports every event; executes the commands that it reads. */
const source = `const { stdin, stdout } = process;
  const say = (...words) => stdout.write('<' + words.join(' ') + '>\\n');
  const [, , ...traits] = process.argv;
  let hangUps = 0;
  process.on('SIGCONT', () => say('again'));
  if (traits[0] === 'hangs-up')
    process.on('SIGHUP', () => {
      if (++hangUps === 1) setTimeout(() => { require('node:fs').writeFileSync(traits[1], 'hung up ' + hangUps); process.exit(0); }, 300);
    });
  if (traits[0] === 'takes-ctrl-c') process.on('SIGINT', () => { say('no'); });
  stdout.on('resize', () => say('size', stdout.columns, stdout.rows)).on('error', () => {});
  stdin.on('error', () => {}).on('data', (data) => {
    const line = String(data).trim();
    if (line === 'stop') process.kill(process.pid, 'SIGTSTP');
    if (line === 'raw') { stdin.setRawMode(true); say('raw'); }
    if (line === 'leave' || data[0] === 3) process.exit(7);
  });
  setInterval(() => {}, 1000);
  say('up', process.pid, require('node:fs').readlinkSync('/proc/self/fd/0'), stdin.isTTY, stdout.columns, stdout.rows);`;

const run = (...traits: string[]): string => {
  const words = [node, agentdump, 'run', '--dir', join(dir, 'dumps'), '--no-core', '--', node, program];
  return [...words, ...traits].map((word) => `'${word}'`).join(' ');
};

/** A terminal with a command in it: its output so far, and its keys. */
class Terminal {
  readonly script: ChildProcess;
  #output = '';

  constructor(line: string) {
    this.script = spawn('script', ['-qec', `stty rows 33 cols 77; exec ${line}`, '/dev/null'], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    open.push(this.script);
    this.script.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
  }

  type(keys: string): void {
    this.script.stdin?.write(keys);
  }

  /** Waits for the next output that matches. */
  async until(wanted: RegExp): Promise<RegExpExecArray> {
    for (let look = 0; look < 1500; look++) {
      const found = wanted.exec(this.#output);
      if (found) {
        this.#output = this.#output.slice(found.index + found[0].length);
        return found;
      }
      await pause(20);
    }
    throw new Error(`${wanted} is not in: ${this.#output}`);
  }

  async end(): Promise<unknown> {
    if (this.script.exitCode === null) await once(this.script, 'exit');
    return this.script.exitCode;
  }
}

/** Process id and terminal of the program. */
async function untilUp(terminal: Terminal): Promise<{ pid: number; parent: number; device: string }> {
  const [, pid = '', device = ''] = await terminal.until(/<up (\d+) (\S+) true 77 33>/);
  const [, parent = ''] = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return { pid: Number(pid), parent: Number(parent), device };
}
async function untilState(pid: number, wanted: RegExp): Promise<void> {
  for (let look = 0; look < 1500 && !wanted.test(stateOf(pid)); look++) await pause(20);
  assert.match(stateOf(pid), wanted);
}

const [major = 0, minor = 0] = release().split('.').map(Number);
/** Older kernels do not report what stopped a process. */
const noCause = major < 5 || (major === 5 && minor < 18) ? 'before Linux 5.18' : false;
const noScript = spawnSync('script', ['--version']).status !== 0 && 'no script(1)';

describe('at a terminal', { skip: noScript }, () => {
  before(() => writeFileSync(program, source));

  test('it is one: size, raw mode, single keys', async () => {
    const terminal = new Terminal(run());
    await untilUp(terminal);
    terminal.type('raw\n');
    await terminal.until(/<raw>/);
    terminal.type('\x03');
    assert.equal(await terminal.end(), 7);
  });

  test('Ctrl-C, which the program takes: it has it once, and goes on', async () => {
    const terminal = new Terminal(run('takes-ctrl-c'));
    await untilUp(terminal);
    terminal.type('\x03');
    await terminal.until(/<no>/);
    await pause(100);
    terminal.type('leave\n');
    const [text] = await terminal.until(/(?:.|\s)*leave/);
    assert.ok(!text.includes('<no>'), text);
    assert.equal(await terminal.end(), 7);
  });

  test('a new size', async () => {
    const terminal = new Terminal(run());
    const { device } = await untilUp(terminal);
    spawnSync('stty', ['-F', device, 'rows', '40', 'cols', '90']);
    // stty makes two calls, and each of them may cause an event of its own.
    await terminal.until(/<size 90 40>/);
    terminal.type('leave\n');
    assert.equal(await terminal.end(), 7);
  });

  for (const [how, keys, skip] of [
    ['Ctrl-Z', '\x1a', false],
    ['it stops itself', 'stop\n', noCause],
  ] as const)
    test(`${how}: both stand, the shell has its terminal again; fg: both go on`, { skip }, async () => {
      const terminal = new Terminal('/bin/sh -i');
      terminal.type(`${run()}\n`);
      const { pid, parent } = await untilUp(terminal);
      terminal.type(keys);
      await untilState(pid, /T/);
      await untilState(parent, /T/);
      terminal.type('echo shell=$((6 * 7))\n');
      await terminal.until(/shell=42/);
      terminal.type('fg\n');
      await terminal.until(/<again>/);
      terminal.type('leave\n');
      await untilState(pid, /gone|Z/);
      terminal.type('echo code=$?\n');
      await terminal.until(/code=7/);
      terminal.type('exit 0\n');
      assert.equal(await terminal.end(), 0);
    });

  test('someone else’s SIGSTOP to the program alone: we stay awake, and it goes on by SIGCONT', async () => {
    const terminal = new Terminal('/bin/sh -i');
    terminal.type(`${run()}\n`);
    const { pid, parent } = await untilUp(terminal);
    process.kill(pid, 'SIGSTOP');
    await untilState(pid, /T/);
    await pause(200);
    assert.doesNotMatch(stateOf(parent), /T/);
    process.kill(pid, 'SIGCONT');
    await terminal.until(/<again>/);
    terminal.type('leave\n');
    await untilState(pid, /gone|Z/);
    terminal.type('exit 0\n');
    assert.equal(await terminal.end(), 0);
  });

  for (const [where, line] of [
    ['of its own', run],
    ['of a shell', (...traits: string[]) => `/bin/sh -c "${run(...traits)}; true"`],
  ] as const)
    test(`the window is closed, ${where}: SIGHUP once, and both are gone`, async () => {
      const told = join(dir, `told ${where}`);
      const terminal = new Terminal(line('hangs-up', told));
      const { pid, parent } = await untilUp(terminal);
      terminal.script.kill('SIGKILL');
      await untilState(pid, /gone|Z/);
      await untilState(parent, /gone|Z/);
      assert.equal(readFileSync(told, 'utf8'), 'hung up 1');
    });
});

test('nobody reads what we say on stderr: the program’s end is ours all the same', async () => {
  const words = [agentdump, 'run', '--dir', join(dir, 'unread'), '--no-core', '--', '/bin/sh', '-c'];
  const child = spawn(node, [...words, 'sleep 0.3; kill -KILL $$'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr.destroy();
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
});
