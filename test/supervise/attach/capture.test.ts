/** `agentdump capture` on the Nodes of the run: a program that spins, one that sleeps, and what can't be captured. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import type { TriggerPart, WorkerStacksPart } from '../../../src/bundle/layout/bundle.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { captureLive } from '../../../src/supervise/attach/capture-live.ts';
import { listeningPorts } from '../../../src/supervise/attach/inspector-port.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { nodeOf, onlyWide, testMajors, usualNode } from '../../support/run/test-nodes.ts';
import { assertOfSchema } from '../../support/system/of-schema.ts';

const dir = mkdtempSync(join(tmpdir(), 'agentdump-capture-'));
after(() => rmSync(dir, { recursive: true }));
const here = fileURLToPath(new URL('../programs/', import.meta.url));

const victims: ChildProcess[] = [];
after(() => {
  for (const child of victims) child.kill('SIGKILL');
});

async function startVictim(node: string, ...words: string[]): Promise<ChildProcess> {
  const child = spawn(node, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  victims.push(child);
  await once(child.stdout, 'data');
  await pause(150);
  return child;
}
/** Children of its main thread. */
const childrenOf = (pid: number): string => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
async function endVictim(child: ChildProcess): Promise<void> {
  assert.deepEqual([child.exitCode, child.signalCode], [null, null], 'it went on');
  child.kill('SIGKILL');
  await once(child, 'exit');
}
async function capture(pid: number | undefined) {
  const found = await captureLive({ pid: pid ?? 0, dir, scrubber: makeScrubber({}), reason: 'a test' });
  const bundle = openBundle(found.path);
  const account = await analyzeBundle(bundle);
  assertOfSchema(account);
  for (const part of bundle.parts)
    assert.ok(!bundle.readPart(part.name)?.includes('abcdefghijklmnopqrstuvwxyz0123456789'), part.name);
  bundle.close();
  return { ...found, account };
}

for (const major of testMajors) {
  test(`Node ${major}, in a busy loop: stack with variables, and it goes on`, async () => {
    const child = await startVictim(nodeOf(major), join(here, 'victim-spin.mjs'), 'spin');
    const { account, answered } = await capture(child.pid);
    assert.deepEqual(listeningPorts(child.pid!), [], 'the inspector is closed again');
    await endVictim(child);
    assert.equal(answered, true);
    const [top] = account.threads?.[0]?.frames ?? [];
    assert.deepEqual([top?.function, top?.line, top?.inApp], ['spinInside', 10, true]);
    const step = top?.locals?.find((local) => local.name === 'step');
    assert.deepEqual(step, { name: 'step', scope: 'local', value: '7' });
    assert.ok(top?.source?.some(({ text }) => text.includes('turns++')));
    assert.deepEqual([account.verdict?.kind, account.threads?.[0]?.crashed], ['snapshot', false]);
    assert.match(account.process?.nodeVersion ?? '', new RegExp(`^v${major}\\.`));
    assert.ok(account.memory?.heapLimitBytes);
  });

  test(`Node ${major}, asleep: no stack, and it says so`, async () => {
    const child = await startVictim(nodeOf(major), join(here, 'victim-spin.mjs'), 'idle');
    const { account } = await capture(child.pid);
    await endVictim(child);
    assert.ok(account.process?.argv?.some((word) => word.endsWith('victim-spin.mjs')));
    const idle = account.gaps.some((gap) => /was idle|ran no code of the program/.test(gap.reason));
    assert.ok(idle || account.threads?.[0]?.frames.length, 'idle, or caught in its timer');
  });

  test(`Node ${major}, waiting for what never comes: who awaits whom, with the code`, async () => {
    const child = await startVictim(nodeOf(major), join(here, 'victim-spin.mjs'), 'waits');
    const { account } = await capture(child.pid);
    await endVictim(child);
    const [stack] = account.suspended ?? [];
    assert.deepEqual(
      stack?.frames.map((frame) => frame.function),
      ['fetchOrder', 'serve', undefined],
    );
    assert.ok(stack?.frames[0]?.source?.some(({ text }) => text.includes('order-7')));
    assert.ok(
      account.verdict?.evidence.some(({ fact }) => /^Suspended: fetchOrder .*awaited by serve/.test(fact)),
    );
  });
}

test('while it writes its own bundle, nothing of the program runs', async () => {
  // A folder as that of the installed package, with what the recorder could be doing, called by the event loop.
  const dist = join(dir, 'agentdump', 'dist');
  mkdirSync(dist, { recursive: true });
  // Long, so that it is hardly ever seen between two of them.
  const busy = 'module.exports = () => { for (const end = Date.now() + 5_000; Date.now() < end; ); };';
  writeFileSync(join(dist, 'busy.cjs'), busy);
  const program = join(dir, 'answers.cjs');
  writeFileSync(program, "setInterval(require('./agentdump/dist/busy.cjs'), 1); console.log('ready');");
  const child = await startVictim(process.execPath, program);
  const { path } = await capture(child.pid);
  await endVictim(child);
  const bundle = openBundle(path);
  assert.equal(bundle.readJson<TriggerPart>('trigger.json')?.exitStack, undefined);
  assert.match(bundle.readPart('locals.json')?.toString() ?? '', /busy\.cjs/);
  bundle.close();
});

test('in a system call it can’t answer: the bundle says so, with what the kernel sees', {
  skip: onlyWide,
}, async () => {
  const child = await startVictim(process.execPath, join(here, 'victim-spin.mjs'), 'blocked');
  while (childrenOf(child.pid!) === '') await pause(20);
  const { account, answered } = await capture(child.pid);
  await endVictim(child);
  assert.equal(answered, false);
  assert.ok(account.gaps.some((gap) => /did not open its inspector/.test(gap.reason)));
  assert.ok((account.threads?.length ?? 0) > 3);
});

const noSigusr1 = '--disable-sigusr1';
const knowsOption = spawnSync(usualNode.path, [noSigusr1, '-e', '1']).status === 0;
const strangers: [what: string, node: string, words: string[], reason: RegExp][] = [
  ['a program that is no Node', 'sh', ['-c', 'echo; exec sleep 60'], /not Node/],
];
if (knowsOption) {
  const words = [noSigusr1, join(here, 'victim-spin.mjs'), 'idle'];
  strangers.push(['a Node that does not take SIGUSR1', usualNode.path, words, /SIGUSR1/]);
}
for (const [what, node, words, reason] of strangers)
  test(`${what} is left alone`, async () => {
    const child = await startVictim(node, ...words);
    await assert.rejects(
      captureLive({ pid: child.pid ?? 0, dir, scrubber: makeScrubber({}) }),
      (error) => error instanceof AgentdumpError && error.code === 'not-found' && reason.test(error.message),
    );
    await endVictim(child);
  });

test('no such process: exit code 3, and the reason', () => {
  const result = spawnSync(
    process.execPath,
    [join(here, '../../../bin/agentdump.js'), 'capture', '4194303'],
    {
      encoding: 'utf8',
    },
  );
  assert.equal(result.status, 3);
  assert.match(result.stderr, /there is no such process/);
});

test('a worker that runs compiled code under the address of its source: the line of the source', async () => {
  const source = [
    'export function crunch(word: string) {',
    '  for (let n = 0; ; n++) if (n < 0) return word;',
    '}',
  ];
  // As vite and tsx load a module: the text is another one, and its map stands in its last line.
  const map = {
    version: 3,
    sources: ['crunch.ts'],
    sourcesContent: [source.join('\n')],
    names: [],
    mappings: ';;;AAAA;AACA;AACA',
  };
  const comment = `//# sourceMappingURL=data:application/json;base64,${btoa(JSON.stringify(map))}`;
  const compiled = `\n\n\nfunction crunch(word) {\n  for (let n = 0; ; n++) if (n < 0) return word;\n}\nready(); crunch("telling")\n${comment}`;
  const worker = `globalThis.ready = () => require('node:worker_threads').parentPort.postMessage(0);
    require('node:vm').runInThisContext(${JSON.stringify(compiled)}, { filename: ${JSON.stringify(pathToFileURL(join(dir, 'crunch.ts')).href)} });`;
  const code = `const { Worker } = require('node:worker_threads');
    const worker = new Worker(${JSON.stringify(worker)}, { eval: true, name: 'cruncher' });
    worker.once('message', () => setTimeout(() => console.log('ready'), 300)); const wait = () => setTimeout(wait, 10); wait();`;
  const child = await startVictim(usualNode.path, '-e', code);
  const { account } = await capture(child.pid);
  await endVictim(child);
  const [top] = account.threads?.find(({ kind }) => kind === 'worker')?.frames ?? [];
  assert.deepEqual(
    [top?.function, top?.file, top?.line, top?.generated?.line],
    ['crunch', join(dir, 'crunch.ts'), 2, 5],
  );
  assert.ok(top?.locals?.some(({ name, value }) => name === 'word' && value.includes('telling')));
  assert.ok(top?.source?.some(({ text }) => text.includes('if (n < 0) return word')));
});

test('workers, the heap and the memory on request; left stopped for a debugger', {
  skip: onlyWide || process.arch !== 'x64',
}, async () => {
  const code = `const { Worker } = require('node:worker_threads');
    const worker = new Worker('function crunch(word) { for (let n = 0; ; n++) if (n < 0) return word; } require("node:worker_threads").parentPort.postMessage(0); crunch("telling")', { eval: true, name: 'cruncher' });
    worker.once('message', () => setTimeout(() => console.log('ready'), 300)); const wait = () => setTimeout(wait, 10); wait();`;
  const child = await startVictim(usualNode.path, '-e', code);
  const cli = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
  const out = join(dir, 'asked');
  const words = ['capture', String(child.pid), '--dir', out, '--heap', '--core', '--stop', '--json'];
  const result = spawnSync(process.execPath, [cli, ...words], { encoding: 'utf8' });
  assert.equal(result.status, 0, result.stderr);
  const { path, corePath } = JSON.parse(result.stdout) as { path: string; corePath: string };
  assert.match(readFileSync(`/proc/${child.pid}/stat`, 'utf8'), /\) T /);
  assert.equal(statSync(corePath).mode & 0o777, 0o600);
  const bundle = openBundle(path);
  const { workers } = bundle.readJson('worker-stacks.json') as WorkerStacksPart;
  const [frame] = workers[0]?.frames ?? [];
  assert.equal(frame?.functionName, 'crunch');
  assert.deepEqual(frame?.scopes[0]?.variables[0], { name: 'word', value: '"telling"' });
  const names = bundle.parts.map(({ name }) => name);
  assert.ok(names.includes('heap.heapsnapshot.gz') && names.includes('mini-core.gz'), names.join());
  assert.ok((await analyzeBundle(bundle)).memory?.classes?.length);
  bundle.close();
  child.kill('SIGCONT');
  await endVictim(child);
});
