/**
 * Untrusted files that are not bundles, through the command that reads them: never exit code 4, nothing on the streams that
 * controls a terminal or a CI runner, and no influence on what code a program loads.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { hostileInputs } from '../../support/hostile/synth-bundle-hostile.ts';
import { sampleOf } from '../../support/run/test-nodes.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const agentdump = join(root, 'bin', 'agentdump.js');

for (const input of sampleOf(
  hostileInputs().filter(({ command }) => command),
  5,
))
  if (input.command)
    test(`${input.path}: ${input.exit === 3 ? 'refused' : 'read'}`, () => {
      const result = spawnSync(process.execPath, [agentdump, ...(input.command ?? [])], {
        cwd: join(root, 'fixtures', 'hostile', input.path),
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], NO_COLOR: '1', HOME: '/nowhere' },
        timeout: 60_000,
      });
      const said = result.stdout + result.stderr;
      assert.equal(result.status, input.exit, said);
      if (input.says) assert.match(said, input.says);
      if (input.exit === 3) assert.match(result.stderr, /^agentdump: .+\n/);
      assert.doesNotMatch(said, /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
      assert.doesNotMatch(said, /^\s*::|##\[|##vso\[/m);
      assert.doesNotMatch(
        said,
        /LD_PRELOAD|LD_LIBRARY|NODE_PATH|EXTRA_CA|BASH_ENV|OPENSSL_CONF|EXTERNAL_MODULE/,
      );
    });
