/**
 * The cost of a heap snapshot of a live process, from a copy of its memory and written by V8: how long the program is paused,
 * how long the command takes, and the peak of memory on both sides. `npm run bench:heap-copy`; needs dist. SIZES=100,400,1000
 * (approximate MB of heap), NODES=24.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeOf } from '../../support/run/test-nodes.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const sizes = (process.env['SIZES'] ?? '100,400,1000').split(',').map(Number);
const majors = (process.env['NODES'] ?? '24').split(',').map(Number);
/** Approximate bytes of heap per order in the program below. */
const bytesOfOrder = 434;
const program = `
  class Order { constructor(id) { this.id = id; this.name = 'order-' + id; this.lines = [{ id, price: id + 0.5 }]; this.notes = new Map([[id, { id }]]); } }
  globalThis.orders = Array.from({ length: Number(process.argv[1]) }, (_, id) => new Order(id));
  process.stdin.resume();
  console.log(process.memoryUsage().heapUsed);`;
const lookEveryMs = 20;

interface Cost {
  seconds: number;
  /** Of the command and, while it ran, of the program. */
  processorSeconds: number;
  stoodStill: string;
  /** Peak of the command, and the growth of the program's peak, in MB. */
  peakMb: number;
  addedMb: number;
}

/** Processor time of a live process so far (proc(5)), in seconds; 0 if it has ended. */
function processorOf(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

/** The peak of a live process so far in bytes (VmHWM, proc(5)); 0 if it has ended. */
function peakOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

async function capture(victim: ChildProcess, words: readonly string[]): Promise<Cost> {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
  const before = peakOf(victim.pid);
  const processorBefore = processorOf(victim.pid);
  const began = performance.now();
  const command = spawn(
    process.execPath,
    [agentdump, 'capture', String(victim.pid), '--heap', '--dir', dir, ...words],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let peak = 0;
  let ofCommand = 0;
  let text = '';
  for (const stream of [command.stdout, command.stderr]) stream.on('data', (piece) => (text += piece));
  const timer = setInterval(() => {
    peak = Math.max(peak, peakOf(command.pid));
    ofCommand = Math.max(ofCommand, processorOf(command.pid));
  }, lookEveryMs);
  const [code] = await once(command, 'exit');
  clearInterval(timer);
  rmSync(dir, { recursive: true });
  const processorSeconds = ofCommand + processorOf(victim.pid) - processorBefore;
  if (code !== 0) throw new Error(`exit code ${code}: ${text}`);
  return {
    seconds: (performance.now() - began) / 1000,
    stoodStill: /its heap.*?stood still for ([\d.,]+ m?s)\b/s.exec(text)?.[1] ?? text.trim(),
    processorSeconds,
    peakMb: peak / 1e6,
    addedMb: (peakOf(victim.pid) - before) / 1e6,
  };
}

for (const major of majors)
  for (const size of sizes) {
    const orders = String(Math.round((size * 1e6) / bytesOfOrder));
    const victim = spawn(nodeOf(major), ['--max-old-space-size=8000', '-e', program, orders], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      const [told] = await once(victim.stdout, 'data');
      const heapMb = Number(told) / 1e6;
      for (const [name, words] of [
        ['copy', []],
        ["V8's", ['--v8-heap']],
      ] as const) {
        const { seconds, processorSeconds, stoodStill, peakMb, addedMb } = await capture(victim, words);
        console.log(
          `Node ${major}, heap of ${heapMb.toFixed(0)} MB, ${name}: stood still ${stoodStill}, took ${seconds.toFixed(1)} s (${processorSeconds.toFixed(1)} s of processor, with the program's); agentdump's peak ${peakMb.toFixed(0)} MB (${(peakMb / heapMb).toFixed(1)} of the heap), the program's grew by ${addedMb.toFixed(0)} MB; load ${loadavg()[0]?.toFixed(1)}`,
        );
      }
    } finally {
      victim.kill('SIGKILL');
    }
  }
