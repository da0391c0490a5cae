// Brings a clone to where tests and the example can run: dependencies by the lock file, and dist/. With --all also what the
// wide run needs: the lock files below test/, some beside each other; with --corpus what `npm run fidelity -- --rooms tools` would
// install. What is installed already by the same lock file is left alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
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
  { folder: 'store/s3', what: 'an S3 server' },
  { folder: 'store/deploy', what: 'the forms of compose files and Kubernetes objects' },
  { folder: 'runners/older', what: 'their versions that most projects have' },
];
/** By far the largest. test/fidelity/run.ts installs it otherwise. */
const corpus = {
  folder: 'fidelity/tools',
  what: 'programs that nobody here wrote',
  flags: ['--legacy-peer-deps', '--loglevel=error'],
};

/** npm waits for the network half of the time. */
const installsBeside = 4;

/** What it prints comes whole when it has ended. Ends this process where it fails. */
async function run(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  const [status] = await once(child, 'close').catch((error) => [`${error.message}`]);
  process.stdout.write(printed);
  if (status === 0) return;
  console.error(`${command} ${args.join(' ')}: ${status}`);
  process.exit(1);
}

/** The text of the lock file by which a folder was installed stays beside the packages. */
async function install(folder, flags) {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const stamp = join(folder, 'node_modules', '.installed-by-lock.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  await run('npm', ['ci', '--no-fund', '--no-audit', '--prefix', folder, ...flags]);
  if (existsSync(dirname(stamp))) writeFileSync(stamp, lock);
}

await install(root, []);
if (process.argv.includes('--all')) {
  const all = process.argv.includes('--corpus') ? [corpus, ...wide] : wide;
  const waiting = [...all.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, { folder, what, flags = [] }] = next;
      console.log(`set-up ${at + 1} of ${all.length}: ${what} (test/${folder})`);
      await install(join(root, 'test', folder), ['--ignore-scripts', ...flags]);
    }
  };
  await Promise.all(Array.from({ length: installsBeside }, work));
}
await run(process.execPath, [join(root, 'test', 'support', 'build', 'build.mjs')]);
