/** `agentdump run` between a program and its parent: neither can detect it. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { nodesInTurn, sampleOf } from '../../support/run/test-nodes.ts';
import { stateOf } from '../../support/victims/proc-state.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'agentdump-transparent-'));
after(() => rmSync(dir, { recursive: true, maxRetries: 3 }));
const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', AGENTDUMP: 'off' };
const supervised = (...words: string[]) => [
  agentdump,
  'run',
  '--dir',
  join(dir, 'dumps'),
  '--no-core',
  '--',
  ...words,
];
const node = process.execPath;

const open: ChildProcess[] = [];
after(() => {
  for (const child of open) child.kill('SIGKILL');
});
function start(stdio: StdioOptions, ...words: string[]): ChildProcess {
  const child = spawn(node, supervised(...words), { env, stdio });
  open.push(child);
  return child;
}
async function outputOf(child: ChildProcess): Promise<string> {
  let out = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  await once(child, 'close');
  return out;
}
/** Yields the output so far, each time there is more of it. */
async function until(child: ChildProcess, wanted: RegExp): Promise<string> {
  let out = '';
  for await (const [text] of on(child)) {
    out += text;
    if (wanted.test(out)) return out;
  }
  throw new Error(`${wanted} is not in: ${out}`);
}
async function* on(child: ChildProcess): AsyncGenerator<[string]> {
  while (child.exitCode === null && child.signalCode === null) {
    const text = child.stdout?.read() as Buffer | null | undefined;
    if (text) yield [String(text)];
    else await Promise.race([once(child.stdout!, 'readable'), once(child, 'exit'), pause(5000)]);
  }
  const rest = child.stdout?.read() as Buffer | null | undefined;
  if (rest) yield [String(rest)];
}

test('exit codes', async () => {
  // All 256 were tried once; these are the limits, and the codes that have a meaning in shells.
  const codes = [
    ...sampleOf([0, 1, 2, 13, 64, 78, 79, 124, 126, 127, 128, 129, 130, 137, 139, 143, 254, 255], 6),
  ];
  const wanted = [...codes];
  const inParallel = 4;
  const seen: (number | null)[] = [];
  await Promise.all(
    Array.from({ length: inParallel }, async () => {
      for (let code = codes.pop(); code !== undefined; code = codes.pop()) {
        const child = start('ignore', '/bin/sh', '-c', `exit ${code}`);
        const [exit] = (await once(child, 'exit')) as [number | null];
        seen[code] = exit;
      }
    }),
  );
  assert.deepEqual(Object.keys(seen).map(Number), wanted);
  for (const code of wanted) assert.equal(seen[code], code);
});

describe('each signal that can end a process ends both', { concurrency: 2 }, () => {
  const stopsOrGoesUnnoticed = /^SIG(?:STOP|TSTP|TTIN|TTOU|CONT|CHLD|URG|WINCH|STKFLT|POLL|IOT|UNUSED)$/;
  const ending = Object.keys(constants.signals).filter((signal) => !stopsOrGoesUnnoticed.test(signal));
  for (const name of sampleOf(ending, 7))
    test(name, async () => {
      const child = start('ignore', '/bin/sh', '-c', `kill -${name.slice(3)} $$; sleep 5`);
      const [code, signal] = await once(child, 'exit');
      assert.deepEqual([code, signal], [null, name === 'SIGIO' ? 'SIGIO' : name]);
    });
});

test('the end of its input is its own', async () => {
  const child = start(
    ['pipe', 'pipe', 'inherit'],
    node,
    '-e',
    'process.stdin.on("data", () => {}).on("end", () => console.log("ended"))',
  );
  child.stdin?.write('some words');
  await pause(100);
  child.stdin?.end();
  assert.equal(await outputOf(child), 'ended\n');
});

test('a long output through a slow pipe is whole', async () => {
  const child = start(['ignore', 'pipe', 'inherit'], '/bin/sh', '-c', 'head -c 20000000 /dev/zero');
  let bytes = 0;
  for await (const chunk of child.stdout!) {
    bytes += (chunk as Buffer).length;
    if (bytes % 7 === 0) await pause(1);
  }
  assert.equal(bytes, 20_000_000);
});

test('a reader that goes away: the program dies of SIGPIPE, and so do we', () => {
  const line = '{ "$@"; echo $? > "$0"; } | head -c 10';
  const { stdout } = spawnSync('/bin/sh', ['-c', line, join(dir, 'status'), node, ...supervised('yes')], {
    env,
  });
  assert.equal(stdout.toString(), 'y\n'.repeat(5));
  assert.equal(Number(readFileSync(join(dir, 'status'), 'utf8')), 128 + constants.signals.SIGPIPE);
});

for (const { name, path } of nodesInTurn) {
  test(`${name}: descriptors beyond the standard ones`, async () => {
    const file = openSync(join(dir, 'fourth'), 'w');
    const code = 'fs.writeSync(3, "to three"); fs.writeSync(4, "to four"); console.log("written")';
    const child = spawn(path, supervised(path, '-e', code), {
      env,
      stdio: ['ignore', 'pipe', 'inherit', 'pipe', file],
    });
    open.push(child);
    let three = '';
    child.stdio[3]?.on('data', (text: Buffer) => {
      three += text;
    });
    assert.equal(await outputOf(child), 'written\n');
    closeSync(file);
    assert.deepEqual([three, readFileSync(join(dir, 'fourth'), 'utf8')], ['to three', 'to four']);
  });

  for (const serialization of ['json', 'advanced'] as const)
    test(`${name}: messages of a Node parent, ${serialization}`, async () => {
      const program = join(dir, `talks-${serialization}.cjs`);
      writeFileSync(
        program,
        'process.on("message", (m) => process.send({ got: m, isMap: m.map instanceof Map }, () => process.disconnect())); process.send("ready")',
      );
      const child = fork(agentdump, supervised(path, program).slice(1), {
        env,
        execPath: path,
        serialization,
        stdio: 'inherit',
      });
      open.push(child as ChildProcess);
      const messages: unknown[] = [];
      child.on('message', (message) => {
        messages.push(message);
        if (message === 'ready') child.send({ map: new Map([[1, 2]]) });
      });
      await once(child, 'exit');
      const isAdvanced = serialization === 'advanced';
      assert.equal(messages[0], 'ready');
      assert.equal((messages[1] as { isMap: boolean }).isMap, isAdvanced);
      assert.equal(messages.length, 2);
    });
}

test('stopped and gone on with, the whole group', async () => {
  const code =
    'process.on("SIGCONT", () => { console.log("again"); process.exit(3); }); setInterval(() => {}, 1000); console.log("pid " + process.pid + ".")';
  const child = spawn(node, supervised(node, '-e', code), {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  open.push(child);
  const out = await until(child, /pid \d+\./);
  const pid = Number(/pid (\d+)/.exec(out)?.[1]);
  // SIGTSTP has no effect on a group without a shell.
  process.kill(-child.pid!, 'SIGSTOP');
  for (let look = 0; look < 100 && [pid, child.pid!].some((of) => stateOf(of) !== 'T'); look++)
    await pause(20);
  assert.deepEqual([stateOf(pid), stateOf(child.pid!)], ['T', 'T']);
  process.kill(-child.pid!, 'SIGCONT');
  assert.equal((await once(child, 'exit'))[0], 3);
});
