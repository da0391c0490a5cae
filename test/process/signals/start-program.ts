/** Starts a program from its text, with the preload, and tells how it ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { preload, temporaryFolder } from '../../support/victims/run-victim.ts';

export interface Started {
  child: ChildProcess;
  dir: string;
  /** Its code or signal, and what it printed. */
  end: Promise<string>;
}

export function startProgram(t: TestContext, node: string, code: string): Started {
  const dir = temporaryFolder(t);
  writeFileSync(join(dir, 'program.cjs'), code);
  const child = spawn(node, ['--require', preload, join(dir, 'program.cjs')], {
    cwd: dir,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps') },
  });
  t.after(() => child.kill('SIGKILL'));
  let stdout = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const end = once(child, 'close').then(([code, signal]) => `${code ?? signal} ${stdout}`.trim());
  return { child, dir, end };
}
