/**
 * A program whose installed packages differ from its lock file: the death is reported as drift, not as a bug of the program.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Account } from '../../../src/model/account.ts';
import { accountOf } from '../../support/victims/run-account.ts';
import { bundlesIn, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const files = {
  'package.json': { name: 'drifty', version: '1.0.0', dependencies: { left: '^1.0.0', gone: '^3.0.0' } },
  'package-lock.json': {
    name: 'drifty',
    lockfileVersion: 3,
    packages: {
      '': {},
      'node_modules/left': { version: '1.2.0' },
      'node_modules/gone': { version: '3.1.0' },
    },
  },
  'node_modules/left/package.json': { name: 'left', version: '1.9.9', main: 'left.js' },
};
const left = 'module.exports = () => { throw new TypeError("parser._parse is not a function"); };';

async function dieIn(t: TestContext, program: string): Promise<Account> {
  const dir = temporaryFolder(t);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), JSON.stringify(content));
  }
  writeFileSync(join(dir, 'node_modules/left/left.js'), left);
  writeFileSync(join(dir, 'app.js'), program);
  const env = { PATH: process.env['PATH'] ?? '', HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps') };
  spawnSync(process.execPath, ['--require', preload, join(dir, 'app.js')], { cwd: dir, env });
  const [name = assert.fail('no bundle')] = bundlesIn(dir);
  return await accountOf(join(dir, 'dumps', name));
}

test('another version than the locked one fails where it is used', async (t) => {
  const account = await dieIn(t, 'require("left")();');
  assert.equal(account.verdict?.kind, 'dependency-drift');
  assert.match(account.verdict?.title ?? '', /left.*1\.2\.0.*1\.9\.9/);
  const found = account.modules?.packages.find((one) => one.name === 'left');
  assert.equal(found?.version, '1.9.9');
  assert.match(found?.drift ?? '', /1\.2\.0/);
});

test('a locked package is not installed', async (t) => {
  const account = await dieIn(t, 'require("gone/sub");');
  assert.equal(account.verdict?.kind, 'dependency-drift');
  assert.match(account.verdict?.title ?? '', /gone 3\.1\.0/);
});
