// Runs the test files (all, or those whose path contains one of the arguments) with Node's own runner.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..');
const wanted = process.argv.slice(2);

/** Test files below `dir`, in the order of their names. Node 20's runner knows no globs. */
function findTests(dir) {
  return readdirSync(dir, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      if (entry.name === 'node_modules') return [];
      const path = join(dir, entry.name);
      if (entry.isDirectory()) return findTests(path);
      return entry.name.endsWith('.test.ts') ? [relative(root, path)] : [];
    });
}

const files = findTests(join(root, 'test')).filter(
  (f) => !wanted.length || wanted.some((w) => f.includes(w)),
);
if (!files.length) {
  console.error(`no test file matches ${wanted.join(', ')}`);
  process.exit(2);
}
const result = spawnSync(process.execPath, ['--import', 'tsx', '--test', '--test-concurrency=2', ...files], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, LC_ALL: 'C', TZ: 'UTC', NODE_OPTIONS: '', NO_COLOR: '' },
});
process.exit(result.status ?? 1);
