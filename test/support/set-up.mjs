// Brings a fresh clone to where tests and the example can run: dependencies by the lock file, and dist/.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(join(root, 'node_modules', '.package-lock.json')))
  run('npm', ['ci', '--no-fund', '--no-audit']);
run(process.execPath, [join(root, 'test', 'support', 'build.mjs')]);
