/** Bundles the preload of the agent tests and runs programs under it on any Node of the matrix. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { testMajors, testNodes } from '../run/test-nodes.ts';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');
export const programs = join(root, 'test', 'agent', 'programs');

export const nodeMajors = testMajors;
export type NodeMajor = number;

/** The path of a Node of this run; undefined if it has none of that major. */
export function findNode(major: NodeMajor): string | undefined {
  return testNodes.find((node) => node.major === major)?.path;
}

export async function buildPreload(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-agent-'));
  const outfile = join(folder, 'preload.cjs');
  await build({
    entryPoints: [join(root, 'test', 'support', 'agents', 'agent-preload-entry.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    logLevel: 'error',
  });
  return outfile;
}

export interface ProgramRun {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  /** The events that were on disk when the process had exited. */
  // biome-ignore lint/suspicious/noExplicitAny: events of all kinds, looked into by tests
  events: any[];
  // biome-ignore lint/suspicious/noExplicitAny: the part, looked into by tests
  part: any;
}

export interface ProgramOptions {
  node: string;
  preload: string | undefined;
  args?: string[];
  env?: Record<string, string>;
  timeoutMs?: number;
  /** Called with the running process, so that a test can kill it. */
  onStart?: (kill: (signal: NodeJS.Signals) => void, pid: number) => void;
}

let runs = 0;

export async function runProgram(name: string, options: ProgramOptions): Promise<ProgramRun> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-run-'));
  const eventsFile = join(folder, `events-${++runs}.jsonl`);
  const partFile = join(folder, 'part.json');
  const child = spawn(
    options.node,
    [
      ...(options.preload ? ['--require', options.preload] : []),
      resolve(programs, name),
      ...(options.args ?? []),
    ],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        AGENT_EVENTS_FILE: eventsFile,
        AGENT_PART_FILE: partFile,
        NO_COLOR: '1',
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  options.onStart?.((signal) => child.kill(signal), child.pid ?? 0);
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 60_000);
  const [code, signal] = await new Promise<[number | null, string | null]>((settle) => {
    child.on('close', (...end) => settle(end));
  });
  clearTimeout(timer);
  const lines = existsSync(eventsFile) ? readFileSync(eventsFile, 'utf8').split('\n').filter(Boolean) : [];
  const part = existsSync(partFile) ? readFileSync(partFile, 'utf8') : undefined;
  return { code, signal, stdout, stderr, events: lines.map((line) => JSON.parse(line)), part };
}
