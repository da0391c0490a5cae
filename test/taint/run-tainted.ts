/** Runs the tainted program to one kind of end, runs every command on what it left, and collects all of it as files. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { constants, gunzipSync } from 'node:zlib';
import { sampleOf } from '../support/run/test-nodes.ts';
import type { WrittenFile } from '../support/secrets/written-files.ts';
import { preload } from '../support/victims/run-victim.ts';
import type { Taint } from './places.ts';
import { unzipped } from './readings.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const agentdump = join(root, 'bin', 'agentdump.js');
/** For a program that unexpectedly keeps running. */
const lifeLimitMs = 120_000;

export interface Death {
  /** Its file in this folder; default: `program.cjs`. */
  program?: string;
  /** The program's first argument. */
  how: string;
  /** Options of `agentdump run`; if absent, only the preload is used. */
  run?: readonly string[];
  /** Options of `agentdump ci` instead. */
  ci?: readonly string[];
  /** Options of Node. */
  flags?: readonly string[];
  /** Prevents a core file. */
  noCore?: boolean;
  /**
   * The program is killed as soon as a file whose name matches is written. The files that exist then, and during its life,
   * are searched too.
   */
  killAt?: RegExp;
  env?: Readonly<Record<string, string>>;
}

export interface Tainted {
  bundles: string[];
  files: WrittenFile[];
  /** Output for the message of a failed test. */
  told: string;
}

/** The name of a command in a report of a leak, and its arguments; `{}` is replaced by the newest bundle. */
const commands: Readonly<Record<string, readonly string[]>> = {
  list: ['list'],
  'list --json': ['list', '--json'],
  status: ['status', '--json'],
  analyze: ['analyze', '{}'],
  'analyze --json': ['analyze', '{}', '--json'],
  'analyze --markdown': ['analyze', '{}', '--markdown'],
  'analyze --html': ['analyze', '{}', '--html', '-'],
  agent: ['agent', '{}', '--whole'],
  'agent --json': ['agent', '{}', '--json'],
  verify: ['verify', '{}', '--json'],
  'verify --secrets': ['verify', '{}', '--secrets'],
};
const ofHeap: typeof commands = {
  'heap paths': ['heap', 'paths', '{}', 'type = string'],
  'heap strings': ['heap', 'strings', '{}'],
  'heap fill': ['heap', 'fill', '{}'],
  'heap summary': ['heap', 'summary', '{}', '--json'],
  'heap suspects': ['heap', 'suspects', '{}'],
};

/** Works in its own folder, which has been removed when the files are returned. */
export async function runTainted(node: string, death: Death, taint: Taint): Promise<Tainted> {
  const work = mkdtempSync(join(tmpdir(), 'agentdump-taint-'));
  try {
    const dumps = join(work, 'dumps');
    const temporary = join(work, 'tmp');
    for (const folder of [dumps, temporary]) mkdirSync(folder, { mode: 0o700 });
    const ended = await die(node, death, taint, work);
    const folder = death.ci ? join(dumps, 'bundles') : dumps;
    const bundles = readdirSync(folder).filter((name) => /\.agentdump(?:\.partial|\.zip)?$/.test(name));
    const answers = askCommands(folder, bundles, work);
    const written = [dumps, temporary, ...ofOurs('/dev/shm')].flatMap(readNow);
    const files = [...written, ...written.filter(({ path }) => path.endsWith('.zip')).flatMap(unzipped)];
    const paths = { path: 'names of files', text: files.map(({ path }) => path).join('\n') };
    return {
      bundles,
      files: [...files, ...answers, ...ended.output, paths].map((file) => below(file, work)),
      told: ended.told,
    };
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 3 });
  }
}

const below = ({ path, text }: WrittenFile, work: string): WrittenFile => ({
  path: path.startsWith('/') ? relative(work, path) : path,
  text,
});

/** Writes the program with its names and lines, and runs it to its end. */
function die(
  node: string,
  death: Death,
  taint: Taint,
  work: string,
): Promise<{ output: WrittenFile[]; told: string }> {
  const { folder = '', script = '', package: plugin = '', file = '' } = taint.names;
  const home = join(work, 'program', folder);
  const packageFolder = join(home, 'node_modules', plugin);
  mkdirSync(packageFolder, { recursive: true });
  writeFileSync(join(packageFolder, 'package.json'), JSON.stringify({ name: plugin, version: '1.0.0' }));
  writeFileSync(join(packageFolder, file), 'exports.pause = async () => { await null; };\n');
  const lines = Object.values(taint.source).join('\n');
  writeFileSync(
    join(home, script),
    readFileSync(join(root, 'test', 'taint', death.program ?? 'program.cjs'), 'utf8').replace(
      '/* SOURCE */',
      () => lines,
    ),
  );
  const store = join(work, 'taint.json');
  writeFileSync(
    store,
    JSON.stringify({ ...taint.inside, providers: taint.providers, plugin: `${plugin}/${file}` }),
  );
  const words = Object.values(taint.words).flatMap((text) => text.split('\0'));
  const supervised = supervisorOf(death, work);
  const [command = '', ...rest] = [
    ...(death.noCore ? ['sh', '-c', 'ulimit -H -c 0; exec "$@"', 'sh'] : []),
    ...(supervised ?? []),
    node,
    ...(death.flags ?? []),
    script,
    death.how,
    ...words,
  ];
  const child = spawn(command, rest, {
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: join(work, 'program'),
      TMPDIR: join(work, 'tmp'),
      AGENTDUMP_DIR: join(work, 'dumps'),
      AGENTDUMP_EXITS: 'all',
      TAINT: store,
      TAINT_FAULT: join(root, 'fixtures', 'programs', 'native', 'fault.cjs'),
      TAINT_AGENT: pathToFileURL(join(root, 'dist', 'index.js')).href,
      ...(supervised ? {} : { NODE_OPTIONS: `--require ${preload}` }),
      ...taint.variables,
      ...death.env,
    },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const seen = watch(child, death, work);
  const limit = setTimeout(() => child.kill('SIGKILL'), lifeLimitMs);
  return new Promise((resolve, reject) =>
    child.on('error', reject).on('close', (code, signal) => {
      clearTimeout(limit);
      clearInterval(seen.timer);
      const own = stderr.split('\n').filter((line) => line.startsWith('agentdump:'));
      const output = [{ path: 'our lines on stderr', text: own.join('\n') }, ...seen.files.values()];
      resolve({ output, told: `code ${code}, signal ${signal}\n${stdout}${stderr}` });
    }),
  );
}

function supervisorOf(death: Death, work: string): string[] | undefined {
  const dumps = join(work, 'dumps');
  if (death.run) return [process.execPath, agentdump, 'run', '--dir', dumps, ...death.run, '--'];
  return death.ci && [process.execPath, agentdump, 'ci', '--report', dumps, ...death.ci, '--'];
}

const lookEveryMs = 25;

/** Collects what is on disk and in shared memory while the program runs, each file once for each size. */
function watch(child: ChildProcess, { killAt }: Death, work: string) {
  const files = new Map<string, WrittenFile>();
  if (!killAt) return { files, timer: undefined };
  const folders = [join(work, 'dumps'), join(work, 'tmp'), ...ofOurs('/dev/shm')];
  const look = () => {
    for (const file of folders.flatMap(readNow))
      files.set(`${file.path} ${file.text.length}`, { ...file, path: `${file.path} (while it lived)` });
    if ([...files.keys()].some((path) => killAt.test(path))) child.kill('SIGKILL');
  };
  return { files, timer: setInterval(look, lookEveryMs) };
}

/** A file may be removed while it is read, and a compressed one may be incomplete. */
function readNow(folder: string): WrittenFile[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return readNow(path);
      return entry.isFile() ? [{ path, text: readStarted(path) }] : [];
    });
  } catch {
    return [];
  }
}

function readStarted(path: string): string {
  const bytes = readFileSync(path);
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isPacked ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }) : bytes).toString('latin1');
}

/** Files that our programs create there have our name. */
function ofOurs(place: string): string[] {
  const names = existsSync(place) ? readdirSync(place) : [];
  return names.filter((name) => name.includes('agentdump')).map((name) => join(place, name));
}

function askCommands(dumps: string, bundles: readonly string[], work: string): WrittenFile[] {
  const newest = bundles.at(-1);
  const path = join(dumps, newest ?? '');
  const hasHeap = newest !== undefined && existsSync(join(path, 'heap.heapsnapshot.gz'));
  const all = newest === undefined ? {} : { ...commands, ...(hasHeap ? ofHeap : {}) };
  const answers = sampleOf(Object.entries(all), 2).map(([name, words]) => ({
    path: `output of ${name}`,
    text: ask(
      words.map((word) => (word === '{}' ? path : word)),
      dumps,
      work,
    ),
  }));
  if (newest !== undefined)
    answers.push({ path: 'answers of mcp', text: ask(['mcp'], dumps, work, mcpQuestions(newest)) });
  if (newest !== undefined && !newest.endsWith('.zip'))
    ask(['pack', path, '--out', join(work, 'tmp', 'packed.zip')], dumps, work);
  return answers;
}

/** Questions of the MCP protocol over stdio, one per line. */
function mcpQuestions(bundle: string): string {
  const tools: Record<string, object> = {
    list_bundles: {},
    analyze: { bundle, detail: 'full' },
    stack: { bundle },
    source: { bundle },
    environment: { bundle },
    gaps: { bundle },
    agent_timeline: { bundle },
    conversation: { bundle },
    agent_where: { bundle, expression: 'state != null || run != null' },
    heap_suspects: { bundle },
    heap_query: { bundle, query: 'type = string', limit: 100 },
    heap_retainers: { bundle, id: '@1', path: true },
    heap_objects: { bundle },
    heap_inspect: { bundle, id: '@1' },
    heap_paths: { bundle, of: 'type = string' },
    heap_strings: { bundle },
  };
  const calls = Object.entries(tools).map(([name, words], id) => ({
    jsonrpc: '2.0',
    id: id + 2,
    method: 'tools/call',
    params: { name, arguments: words },
  }));
  const clientInfo = { name: 'taint', version: '1' };
  const start = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
  const opening = [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params: start },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
  ];
  return [...opening, ...calls].map((message) => `${JSON.stringify(message)}\n`).join('');
}

function ask(words: readonly string[], dumps: string, work: string, input = ''): string {
  const asked = spawnSync(process.execPath, [agentdump, ...words], {
    encoding: 'latin1',
    cwd: work,
    input,
    maxBuffer: 1 << 28,
    env: { PATH: process.env['PATH'], AGENTDUMP_DIR: dumps, NO_COLOR: '1' },
  });
  return asked.stdout + asked.stderr;
}
