/** Runs a program of the corpus once, in a new working folder that has the same path each time. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Run } from './compare.ts';
import type { Program, Room, Step } from './program.ts';

const here = dirname(fileURLToPath(import.meta.url));
const preload = join(here, '..', '..', 'dist', 'register.cjs');
const longestMs = 120_000;
const mostBytes = 4 << 20;
/** Lines that we print, also if another tool passes them on with the name of its child in front. */
const ownLine = /^(?:\[[^\]\n]*\] )?agentdump: .*\n/gm;
/** Larger files are compared by their digest. */
const longestContent = 256 << 10;

export interface RunOptions {
  /** Path of the Node binary. */
  node: string;
  /** Number of the worker, which has its own folders. */
  slot: number;
  isLoaded: boolean;
}

export interface ProgramRun extends Run {
  wasTooLong: boolean;
  /** The lines that we printed, which are not compared. */
  ownLines: string[];
}

export const roomPath = (room: Room): string => join(here, room);

export async function runProgram(program: Program, options: RunOptions): Promise<ProgramRun> {
  const places = makePlaces(program, options.slot);
  const words = program.words.map((word) => resolveWord(word, program.room));
  const child = spawn(options.node, words, {
    cwd: places.work,
    env: environmentOf(program, options, places),
    stdio: 'pipe',
    detached: true,
  });
  const streams = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      if (streams[name].length < mostBytes) streams[name] += text;
    });
  child.stdin.on('error', () => {});
  if (!program.steps) child.stdin.end(program.stdin ?? '');
  const steps = takeSteps(program.steps ?? [], child, streams, places.work);
  const end = await waitForEnd(child);
  await steps;
  const files = new Map([...snapshot(places.work, program), ...snapshot(places.home, program)]);
  rmSync(places.all, { recursive: true, force: true, maxRetries: 3 });
  const ownLines = streams.stderr.match(ownLine) ?? [];
  const [stdout, stderr] = [streams.stdout, streams.stderr].map((text) => text.replace(ownLine, ''));
  return { ...end, stdout: stdout!, stderr: stderr!, files, ownLines };
}

interface Places {
  all: string;
  work: string;
  home: string;
  temporary: string;
  dumps: string;
}

/** Within the room, so that its packages are found. */
function makePlaces({ copy, package: name, files = {}, room }: Program, slot: number): Places {
  const all = join(roomPath(room), 'runs', String(slot));
  rmSync(all, { recursive: true, force: true, maxRetries: 3 });
  const outside = join(tmpdir(), `agentdump-fidelity-${slot}`);
  rmSync(outside, { recursive: true, force: true, maxRetries: 3 });
  const work = join(all, copy === 'package' ? name : 'work');
  const places = {
    all,
    work,
    home: join(outside, 'home'),
    temporary: join(outside, 'tmp'),
    dumps: join(outside, 'dumps'),
  };
  for (const folder of [places.work, places.home, places.temporary]) mkdirSync(folder, { recursive: true });
  if (copy === 'project') cpSync(join(here, 'project'), work, { recursive: true });
  if (copy === 'package') cpSync(join(roomPath(room), 'node_modules', name), work, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(work, file), text);
  return places;
}

/** Not inherited from ours, which could contain variables of the shell or of a test under `agentdump ci`. */
function environmentOf({ env, room }: Program, { node, isLoaded }: RunOptions, places: Places) {
  return {
    PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: places.home,
    TMPDIR: places.temporary,
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    CI: '1',
    NO_COLOR: '1',
    NO_UPDATE_NOTIFIER: '1',
    npm_config_update_notifier: 'false',
    FIDELITY_BIN: join(roomPath(room), 'node_modules', '.bin'),
    ...env,
    ...(isLoaded && { NODE_OPTIONS: `--require ${preload}`, AGENTDUMP_DIR: places.dumps }),
  };
}

function resolveWord(word: string, room: Room): string {
  const modules = join(roomPath(room), 'node_modules');
  if (word.startsWith('bin:')) return realpathSync(join(modules, '.bin', word.slice(4)));
  if (word.startsWith('package:')) return join(modules, word.slice(8));
  return word;
}

async function waitForEnd(child: ChildProcess): Promise<Pick<ProgramRun, 'code' | 'signal' | 'wasTooLong'>> {
  let wasTooLong = false;
  const kill = (): void => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // It has already ended.
    }
  };
  const limit = setTimeout(() => {
    wasTooLong = true;
    kill();
  }, longestMs);
  const ended = new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve([code, signal])).once('error', reject);
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  const [code, signal] = await ended;
  // A daemon may keep the pipes open forever.
  await Promise.race([closed, pause(3000)]);
  clearTimeout(limit);
  kill();
  return { code, signal, wasTooLong };
}

async function takeSteps(
  steps: readonly Step[],
  child: ChildProcess,
  streams: { stdout: string; stderr: string },
  work: string,
): Promise<void> {
  let seen = 0;
  /** Of the last server whose address was printed. */
  let address = '';
  const said = (): string => (streams.stdout + streams.stderr).slice(seen);
  for (const { when, get, signal, write, end } of steps) {
    let match = when.exec(said());
    for (; !match && child.exitCode === null && child.signalCode === null; match = when.exec(said()))
      await pause(20);
    if (!match) return;
    seen = streams.stdout.length + streams.stderr.length;
    if (match[1]) address = match[1];
    if (get !== undefined) streams.stdout += await ask(address + get);
    // Gives file watchers and signal handlers time to start.
    if (signal || write) await pause(500);
    if (write) appendFileSync(join(work, write.file), write.text);
    if (signal) child.kill(signal);
    if (end) child.stdin?.end();
  }
}

function ask(url: string): Promise<string> {
  return new Promise((resolve) => {
    request(url, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(`GET ${response.statusCode}\n${text}\n`));
    })
      .on('error', (error) => resolve(`GET ${error.message}\n`))
      .end();
  });
}

function snapshot(folder: string, { copy }: Program): Map<string, string> {
  const found = new Map<string, string>();
  const base = join(folder, '..');
  const walk = (dir: string): void => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.name === 'node_modules' && copy === 'package') continue;
      if (entry.isDirectory()) walk(path);
      else found.set(relative(base, path), describeFile(path));
    }
  };
  if (existsSync(folder)) walk(folder);
  return found;
}

function describeFile(path: string): string {
  const { mode, size } = lstatSync(path);
  if ((mode & 0o170000) === 0o120000) return `link ${readlinkSync(path)}`;
  if ((mode & 0o170000) !== 0o100000) return `special ${mode.toString(8)}`;
  const content = readFileSync(path);
  const text =
    size > longestContent ? createHash('sha256').update(content).digest('hex') : content.toString('latin1');
  return `${mode.toString(8)}\n${text}`;
}
