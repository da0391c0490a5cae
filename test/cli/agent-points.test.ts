/** `agentdump agent --diff` and `--where` as a shell sees them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { onlyWide } from '../support/run/test-nodes.ts';
import { synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';

const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'agentdump.js');
const root = mkdtempSync(join(tmpdir(), 'agentdump-points-'));
after(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, 'dumps'), { mode: 0o700 });

const turn = (n: number) => ({
  seq: n,
  at: 1000 * n,
  kind: 'state',
  operations: [{ op: 'add', path: '/turns', value: n }],
});
const events = { schema: 'agentdump.agent-events/1', at: 9000, evicted: 0, events: [1, 2, 3, 4].map(turn) };
const name = '20261121T030405.678Z-agent-uncaught-exception-00112233.agentdump';
writeBundle(join(root, 'dumps', name), synthParts({ 'agent-events.json': events }));

function run(...words: string[]) {
  return spawnSync(process.execPath, [bin, 'agent', 'latest', '--dir', join(root, 'dumps'), ...words], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], NO_COLOR: '' },
  });
}

test('--where', { skip: onlyWide }, () => {
  const { status, stdout } = run('--where', 'state.turns > 2');
  assert.equal(status, 0);
  assert.match(stdout, /^First after event 3: state\.turns > 2\n/);
  assert.equal(JSON.parse(run('--where', 'state.turns > 2', '--json').stdout).found.seq, 3);
  assert.equal(run('--where', 'state.turns >').status, 2);
});

test('--at says of which moment it tells', { skip: onlyWide }, () => {
  const { status, stdout } = run('--at', '2');
  assert.equal(status, 0);
  assert.match(stdout, /^As it stood after event 2, 7 s before the end\n\n.*turns: 2/s);
  assert.match(run('--at', '0').stdout, /^Before the first event\n$/);
  assert.doesNotMatch(run().stdout, /As it stood/);
});

test('--diff takes two points, also such as begin with a dash', () => {
  assert.match(run('--diff', '1', '3').stdout, /From event 1 to event 3, 2 s\n.*~ \/turns {2}1 → 3/s);
  assert.match(run('--diff', '1', '-6.5s').stdout, /From event 1 to event 2/);
  assert.equal(JSON.parse(run('--diff', '1', '3', '--json').stdout).schema, 'agentdump.agent-diff/1');
  assert.equal(run('--diff', '1').status, 2);
  assert.equal(run('--diff', '1', '3', '--at', '2').status, 2);
});
