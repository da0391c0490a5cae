/** Names of scripts and folders in the names of bundles and sessions: without the tokens in them, and the same everywhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { programName } from '../../../src/capture/install/program-name.ts';
import { publicName } from '../../../src/redaction/public-name.ts';
import { nameOfCommand } from '../../../src/supervise/run/command-name.ts';

const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;

test('a token in the name of a script, of its folder, of a command', () => {
  const wanted = /^ghp_redacted-github-/;
  assert.match(programName(['node', `/srv/${token}.mjs`]), wanted);
  assert.match(programName(['node', `/srv/${token}/dist/index.js`]), wanted);
  assert.match(nameOfCommand([`/opt/${token}`, 'start']), wanted);
  assert.equal(programName(['node', `/srv/${token}.mjs`]), nameOfCommand(['node', `/srv/${token}.mjs`]));
});

test('a token in the path of a working directory', () => {
  assert.match(publicName(`/srv/${token}/app`), /^\/srv\/ghp_redacted-github-[\w-]*\/app$/);
});

test('names as programs have them stay', () => {
  for (const name of [
    'agent',
    'checkout-service-2',
    'worker-7f3a9c1e2d4b',
    'build_2026-11-25T10-00-00',
    'main.3f4e5d6c.js',
  ])
    assert.equal(publicName(name), name);
});
