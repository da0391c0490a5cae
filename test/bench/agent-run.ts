/**
 * What the recording of a real agent costs and how late it is: the openai package against the mock model server, with the
 * preload as it is shipped. Wall and CPU are paired, with and without it in turns, on a model that takes as long as a fast
 * real one; the lag is the time from the sending of a piece of the reply to the record that holds it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readAgentEvents } from '../../src/analysis/agent/read.ts';
import { openBundle } from '../../src/bundle/reader.ts';
import { type ScriptedReply, startMockModelServer } from '../support/mock-model-server.ts';
import { findNodes, preload } from '../support/run-victim.ts';

const program = join(dirname(fileURLToPath(import.meta.url)), '..', 'agents', 'openai-chat.mjs');
const pairs = Number(process.env['PAIRS'] ?? 9);
const turns = 8;
const words = 40;
/** A fast model's pace: 100 events a second. */
const frameDelayMs = 10;

const sorted = (values: number[]) => values.toSorted((a, b) => a - b);
const quantile = (values: number[], share: number) =>
  sorted(values)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
const print = (what: string, figure: string) => console.log(`${what.padEnd(64)} ${figure}`);

const script = (n: number): ScriptedReply => ({
  text: Array.from({ length: words }, (_, i) => `word-${n}-${i}`).join(' '),
  frames: words,
  frameDelayMs,
  ...(n < turns - 1 && { toolCalls: [{ name: 'get_weather', arguments: { city: `C${n}` } }] }),
});

interface Run {
  wallMs: number;
  cpuMs: number;
  /** When each word was sent, milliseconds since the epoch. */
  sent: Map<string, number>;
}

async function run(node: string, dir: string, flags: string[], signal?: NodeJS.Signals): Promise<Run> {
  const server = await startMockModelServer((_call, n) => script(n));
  const sent = new Map<string, number>();
  let frames = 0;
  const startedAt = performance.now();
  const env = { PATH: '', HOME: dirname(dir), MODEL_URL: server.url, AGENTDUMP_DIR: dir };
  const child = spawn(node, [...flags, '-e', wrapper, program], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  server.events.on('frame', (call: { sentText: string }) => {
    for (const word of call.sentText.split(' ').slice(-3)) if (!sent.has(word)) sent.set(word, Date.now());
    if (signal && ++frames === words * 3) child.kill(signal);
  });
  let out = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  await once(child, 'close');
  const wallMs = performance.now() - startedAt;
  await server.close();
  return { wallMs, cpuMs: Number(/CPU (\d+)/.exec(out)?.[1]) / 1000, sent };
}

/** Runs the agent in streaming mode and says its CPU time in the end. */
const wrapper = `
process.argv.splice(2, 0, 'stream');
process.on('exit', () => { const { user, system } = process.cpuUsage(); console.log('CPU', user + system); });
import(require('node:url').pathToFileURL(process.argv[1]).href);`;

for (const { name, path } of findNodes().filter(({ name }) => /2[04]$/.test(name))) {
  const parent = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
  const dir = join(parent, 'dumps');
  const [walls, cpus, plain]: [number[], number[], number[]] = [[], [], []];
  for (let i = 0; i < pairs; i++) {
    const bare = await run(path, dir, []);
    const watched = await run(path, dir, ['--require', preload]);
    plain.push(bare.wallMs);
    walls.push(watched.wallMs / bare.wallMs - 1);
    cpus.push(watched.cpuMs - bare.cpuMs);
  }
  print(`${name}: wall of an agent of ${turns} turns, without`, `${quantile(plain, 0.5).toFixed(0)} ms`);
  print('… with the preload, median of pairs', `+${(quantile(walls, 0.5) * 100).toFixed(1)} %`);
  print('… CPU more, median of pairs', `+${quantile(cpus, 0.5).toFixed(0)} ms`);
  const lags = await measureLags(path, parent);
  print(
    '… lag of a streamed word until its record, median / p99 / max',
    [0.5, 0.99, 1]
      .map((q) => quantile(lags, q).toFixed(0))
      .join(' / ')
      .concat(' ms'),
  );
  rmSync(parent, { recursive: true, force: true });
}

/** From the flight recorder of runs that end by a signal in the middle of a stream. */
async function measureLags(node: string, parent: string): Promise<number[]> {
  const lags: number[] = [];
  for (let i = 0; i < 5; i++) {
    const dir = join(parent, `lag-${i}`);
    const { sent } = await run(node, dir, ['--require', preload], 'SIGTERM');
    const [name = ''] = readdirSync(dir)
      .filter((entry) => entry.endsWith('.agentdump'))
      .sort()
      .reverse();
    const bundle = openBundle(join(dir, name));
    const { events } = readAgentEvents(bundle);
    bundle.close();
    const text = new Map<string, string>();
    const seen = new Set<string>();
    for (const event of events?.events ?? []) {
      if (event.kind !== 'model.delta' || !event.text) continue;
      const whole = (text.get(event.call) ?? '') + event.text;
      text.set(event.call, whole);
      for (const word of whole.split(' ').slice(0, -1))
        if (sent.has(word) && !seen.has(word)) {
          seen.add(word);
          lags.push(event.at - (sent.get(word) ?? 0));
        }
    }
  }
  return lags;
}
