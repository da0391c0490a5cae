/** `agentdump heap suspects --watch PID`: what grows in a living process, and what the option refuses. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { requireSame, watch } from '../../src/cli/commands/heap/process-input.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { onlyWide, usualNode } from '../support/run/test-nodes.ts';

const program = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
const heap = (...words: string[]): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(process.execPath, [program, 'heap', ...words], { encoding: 'utf8' });

/** Goes on adding for as long as it is looked at, however slowly that is. */
const leak = `
  class Visit { constructor(id) { this.name = 'visit-' + id; this.notes = [{ id }]; } }
  globalThis.shop = { visits: new Map(), table: Array.from({ length: 5000 }, (_, id) => ({ id: 'row ' + id })) };
  let id = 0;
  const add = () => { for (let at = 0; at < 300; at++) shop.visits.set('v' + ++id, new Visit(id)); };
  for (let at = 0; at < 10; at++) add();
  setInterval(() => { if (id < 500_000) add(); }, 50);
  console.log('ready');`;

test('three looks at a living process name the container that grows, by how much a step, and of what', {
  skip: onlyWide || process.platform !== 'linux' || process.arch !== 'x64',
}, async () => {
  const victim = spawn(usualNode.path, ['-e', leak], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(victim.stdout, 'data');
    const { stdout, stderr } = heap('suspects', '--watch', String(victim.pid), '--every', '0.5', '--json');
    assert.equal(stderr.match(/stood still for \d+ ms/g)?.length, 3);
    const { suspects, gaps } = JSON.parse(stdout);
    const [first] = suspects;
    assert.match(first.path, /shop\.visits$/);
    assert.match(first.sentence, /^Map at .* a step: [\d,]+ new objects of class Visit /);
    assert.match(first.evidence.join('\n'), /held in each snapshot: .*, .*, /);
    assert.match(first.evidence.join('\n'), /read from memory, where objects have no ids/);
    assert.equal(victim.exitCode, null);
    const reasons = gaps.map(({ reason }: { reason: string }) => reason);
    assert.equal(new Set(reasons).size, reasons.length, 'a gap of all three looks is told once');
  } finally {
    victim.kill('SIGKILL');
  }
});

test('a process that ends between two looks, or whose number another one has: the command ends and says so', {
  skip: onlyWide || process.platform !== 'linux' || process.arch !== 'x64',
}, async () => {
  const victim = spawn(usualNode.path, ['-e', leak], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(victim.stdout, 'data');
  const words = [program, 'heap', 'suspects', '--watch', String(victim.pid), '--every', '3'];
  const watching = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  let told = '';
  watching.stderr.on('data', (chunk) => {
    told += chunk;
    if (told.includes('stood still')) victim.kill('SIGKILL');
  });
  const [status] = await once(watching, 'close');
  victim.kill('SIGKILL');
  assert.equal(status, exitCodes.unreadableInput, told);
  assert.match(told, new RegExp(`process ${victim.pid} has ended: it cannot be looked at again`));
  const other = { ...watch(process.pid), start: '1' };
  assert.throws(() => requireSame(other), /has ended, and another one has its number/);
  assert.doesNotThrow(() => requireSame(watch(process.pid)));
});

test('--watch without a process, for another question, and --every without it are refused', () => {
  const ended = spawnSync(process.execPath, ['-e', '']).pid;
  const refusals: [string[], RegExp][] = [
    [['suspects', '--watch', 'app.heapsnapshot'], /--watch takes the id of a living process/],
    [['suspects', '--watch', String(ended)], /--watch takes the id of a living process/],
    [['classes', '--watch', String(process.pid)], /--watch is for suspects and diff/],
    [['suspects', 'a.heapsnapshot', '--watch', String(process.pid)], /--watch is for suspects and diff/],
    [['suspects', '--watch', String(process.pid), '--every', '0'], /--every takes a number of seconds/],
    [['suspects', '--watch', String(process.pid), '--every', '2147484'], /above 0, up to 2,147,483/],
    [['suspects', 'a.heapsnapshot', '--every', '5'], /--every is the time between the looks/],
  ];
  for (const [words, message] of refusals) {
    const { status, stderr } = heap(...words);
    assert.equal(status, 2, words.join(' '));
    assert.match(stderr, message);
  }
});
