// Brings a clone to where tests and the example can run: dependencies by the lock file, and dist/. With --all also what the
// wide run needs: the lock files below test/. What is installed already by the same lock file is left alone.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** For tests only. Their install scripts would build or download what no test needs. */
const wide = [
  { folder: 'nodes', what: 'the other Nodes, for the matrix of deaths' },
  // npm installs what is for another machine by force alone.
  { folder: 'emulated', what: 'Nodes of arm64, which qemu runs', flags: ['--force'] },
  { folder: 'oracles', what: 'programs whose answers ours are held against' },
  { folder: 'kernel', what: 'the compiler of the WebAssembly that is kept in src' },
  { folder: 'schema', what: 'what makes the JSON Schema of the types' },
  { folder: 'langgraph', what: 'LangGraph’s suite for checkpointers' },
  { folder: 'agents', what: 'real clients and frameworks', flags: ['--legacy-peer-deps'] },
  { folder: 'browser', what: 'what drives a browser for the page' },
  { folder: 'runners', what: 'real test runners' },
  { folder: 'servers', what: 'real server frameworks' },
  { folder: 'bundlers', what: 'bundlers that make install() part of a program' },
  { folder: 'runners/older', what: 'their versions that most projects have' },
];

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) console.error(`${command}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

/** The text of the lock file by which a folder was installed stays beside the packages. */
function install(folder, flags) {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const stamp = join(folder, 'node_modules', '.installed-by-lock.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  run('npm', ['ci', '--no-fund', '--no-audit', '--prefix', folder, ...flags]);
  if (existsSync(dirname(stamp))) writeFileSync(stamp, lock);
}

install(root, []);
if (process.argv.includes('--all'))
  for (const [at, { folder, what, flags = [] }] of wide.entries()) {
    console.log(`set-up ${at + 1} of ${wide.length}: ${what} (test/${folder})`);
    install(join(root, 'test', folder), ['--ignore-scripts', ...flags]);
  }
run(process.execPath, [join(root, 'test', 'support', 'build.mjs')]);
