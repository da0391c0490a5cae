/** Starts a program and waits for the first bundle with a matching name while the program keeps running. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const waitMs = 30_000;

export interface Running {
  child: ChildProcess;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>;
  /** Path of the sealed bundle; rejects if there is none within 30 seconds. */
  bundle: Promise<string>;
}

export function spawnUntil(
  node: string,
  words: string[],
  dir: string,
  env: Record<string, string>,
  wanted: RegExp,
): Running {
  const child = spawn(node, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], AGENTDUMP_DIR: dir, ...env },
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Awaited<Running['ended']>>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal, stderr }));
  });
  return { child, ended, bundle: waitForBundle(child, dir, wanted, () => stderr) };
}

async function waitForBundle(
  child: ChildProcess,
  dir: string,
  wanted: RegExp,
  stderr: () => string,
): Promise<string> {
  for (const until = Date.now() + waitMs; Date.now() < until; ) {
    const found = list(dir).find((name) => name.endsWith('.agentdump') && wanted.test(name));
    if (found) return join(dir, found);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  child.kill('SIGKILL');
  throw new Error(`no bundle ${wanted} among ${list(dir).join(', ') || 'none'}: ${stderr()}`);
}

function list(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
