/**
 * The time from a program's fault until it has been restarted and answers: for uncaught throws, and for endless loops. `npm
 * run bench:recovery [-- runs]` (100 of each by default; needs dist). Targets: a median of 1.5 s for a crash, and for a hang
 * 1.5 s more than the time after which a silent program is considered unhealthy.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLedgers } from '../../../src/supervise/run/ledger.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const runs = Number(process.argv[2] ?? 100);
/** Probed every 500 ms; unhealthy after three probes that each time out after 500 ms, with 100 ms in between. */
const everyMs = 500;
const thresholdMs = everyMs + 3 * 500 + 2 * 100;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** It runs for longer than the window of restarts, so that each restart has the first pause. */
const victim = (fault: string, port: number, log: string) => `const { appendFileSync } = require('node:fs');
  require('node:http').createServer((_, response) => response.end()).listen(${port}, '127.0.0.1');
  setTimeout(() => { appendFileSync(${JSON.stringify(log)}, Date.now() + '\\n'); ${fault} }, 1200);`;

async function measure(fault: string): Promise<number[]> {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-recovery-'));
  const log = join(dir, 'faults');
  const port = await freePort();
  writeFileSync(join(dir, 'victim.cjs'), victim(fault, port, log));
  const words = [
    '--dir',
    join(dir, 'dumps'),
    '--restart=on-failure',
    '--restart-delay=1',
    '--restart-limit=1000/1',
  ];
  const health = ['--health-url', `http://127.0.0.1:${port}/`, `--health-every=${everyMs}`, '--no-core'];
  const run = [
    agentdump,
    'run',
    ...words,
    ...health,
    '--no-escalate',
    '--',
    process.execPath,
    join(dir, 'victim.cjs'),
  ];
  const child = spawn(process.execPath, run, { stdio: 'ignore' });
  const wells = () =>
    (readLedgers(join(dir, 'dumps'))[0]?.lines ?? []).filter(({ event }) => event === 'recovered');
  while (wells().length < runs) await new Promise((done) => setTimeout(done, 250));
  child.kill('SIGTERM');
  await once(child, 'exit');
  const faults = readFileSync(log, 'utf8').trim().split('\n').map(Number);
  const times = wells().map(({ at }, i) => Date.parse(at) - (faults[i] ?? Number.NaN));
  rmSync(dir, { recursive: true });
  return times.slice(0, runs).sort((a, b) => a - b);
}

const share = (times: number[], part: number) =>
  times[Math.min(times.length - 1, Math.floor(times.length * part))];
function report(name: string, times: number[], targetMs: number): void {
  const [median, slow] = [share(times, 0.5), share(times, 0.95)];
  console.log(`${name}: median ${median} ms, 95 % ${slow} ms, of ${times.length}; target ${targetMs} ms`);
}

report('crash to healthy', await measure("throw new Error('recovery');"), 1500);
report('hang to healthy', await measure('for (;;);'), thresholdMs + 1500);
