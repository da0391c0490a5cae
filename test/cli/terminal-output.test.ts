/** What a person at a terminal sees: in colour, at several widths, with script(1). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { widthOf } from '../../src/report/text/fit.ts';
import { synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';

const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'agentdump.js');
const root = mkdtempSync(join(tmpdir(), 'agentdump-terminal-'));
after(() => rmSync(root, { recursive: true, force: true }));
const long = { client: { source: `class Client {\n${'  ask() {}\n'.repeat(400)}}`, url: 'u'.repeat(900) } };
const bundle = join(root, '20261121T030405.678Z-agent-uncaught-exception-00112233.agentdump');
writeBundle(bundle, synthParts({ 'agent.json': { state: long, providers: {} } }));
const noScript = spawnSync('script', ['--version']).status !== 0 && 'no script(1)';

for (const columns of [60, 80, 200])
  test(`analyze in a terminal of ${columns} columns`, { skip: noScript }, () => {
    const line = `stty cols ${columns} rows 40; exec "${process.execPath}" "${bin}" analyze "${bundle}"`;
    const { stdout } = spawnSync('script', ['-qec', line, '/dev/null'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], SHELL: '/bin/sh', TERM: 'xterm' },
    });
    const lines = stdout.split(/\r?\n/);
    assert.match(stdout, /\x1b\[31m/, 'in colour');
    assert.deepEqual(
      lines.filter((one) => widthOf(one) > columns),
      [],
    );
    const bare = stdout.replace(/\x1b\[[0-9;]*m/g, '').replace(/\s+/g, ' ');
    assert.equal(bare.split('Refuted by:').length, 2, 'each sentence once');
    assert.match(bare, /Refuted by: An exit code other than 1, in the log of [^.]*\. What to do/);
    assert.ok(lines.length < 150, `${lines.length} lines`);
    const at = (text: string) => bare.indexOf(text);
    assert.ok(at('src/plan.js:4:27') < at('❯ 4 │') && at('❯ 4 │') < at('Evidence'), 'the place comes first');
    assert.ok(at('Evidence') < at('What to do next') && at('What to do next') < at(' Error TypeError'));
  });
