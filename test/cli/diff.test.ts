/** `agentdump diff` as a shell sees it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { onlyWide } from '../support/run/test-nodes.ts';
import { commonParts, synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';
import { assertOfSchema } from '../support/system/of-schema.ts';

const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'agentdump.js');
const root = mkdtempSync(join(tmpdir(), 'agentdump-diff-'));
after(() => rmSync(root, { recursive: true, force: true }));

const agent = { 'agent.json': { state: { goal: 'x' }, providers: {} } };
const older = '20261120T030405.678Z-agent-uncaught-exception-00112233.agentdump';
const newer = '20261121T030405.678Z-agent-uncaught-exception-44556677.agentdump';
for (const folder of ['dumps', 'baseline', 'empty']) mkdirSync(join(root, folder), { mode: 0o700 });
const onNode24 = {
  'process.json': { ...(commonParts()['process.json'] as object), versions: { node: '24.1.0', v8: '13' } },
  'trigger.json': { ...(commonParts()['trigger.json'] as object), nodeVersion: 'v24.1.0' },
};
writeBundle(join(root, 'baseline', older), synthParts(agent));
writeBundle(join(root, 'dumps', newer), synthParts({ ...agent, ...onNode24 }));

function run(...words: string[]) {
  return spawnSync(process.execPath, [bin, 'diff', ...words, '--dir', join(root, 'dumps')], {
    encoding: 'utf8',
    cwd: root,
    env: { PATH: process.env['PATH'], NO_COLOR: '' },
  });
}

test('two bundles, as text, JSON and Markdown', () => {
  const words = [join(root, 'baseline', older), 'latest'];
  const text = run(...words);
  assert.equal(text.status, 0, text.stderr);
  assert.match(text.stdout, /^The same death, 2 differences\n.*Node\n {2}~ version +22\.23\.3 → 24\.1\.0/s);
  assert.match(text.stdout, /What may matter\n {2}• Node is another major version/);
  const document = JSON.parse(run(...words, '--json').stdout);
  assertOfSchema(document);
  assert.equal(document.schema, 'agentdump.diff/1');
  assert.equal(document.changes[0].section, 'node');
  assert.match(run(...words, '--markdown').stdout, /^## The same death, 2 differences\n/);
});

test('a baseline folder: its newest, or all of it', { skip: onlyWide }, () => {
  for (const words of [[], ['--all']]) {
    const { status, stdout, stderr } = run('latest', '--baseline', join(root, 'baseline'), ...words);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /version +22\.23\.3 → 24\.1\.0/);
  }
});

test('wrong words are 2, what is not there is 3', () => {
  assert.equal(run('latest').status, 2);
  assert.equal(run('latest', 'latest', '--baseline', root).status, 2);
  assert.equal(run('latest', '--baseline', join(root, 'empty')).status, 3);
  assert.equal(run('latest', 'nothing').status, 3);
});
