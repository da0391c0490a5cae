/**
 * The cost and delay of recording real agents: ten client libraries against the mock model server, with the preload as it is
 * shipped. Wall and CPU time are compared in pairs, with and without the preload in turns, on a model that is as slow as a
 * fast real one. The lag, measured with the openai package, is the time from sending a piece of the reply until the record
 * that contains it. PAIRS: how many of each agent; AGENTS, NODES: which of them, separated by commas. On a busy machine, wall
 * time is only meaningful at a real-time priority: `chrt -r 5 npm run bench:agent-run`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readAgentEvents } from '../../../src/analysis/agent/read.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import type { NodeMajor } from '../../support/agents/agent-preload.ts';
import { type ScriptedReply, startMockModelServer } from '../../support/agents/mock-model-server.ts';
import { runsOn } from '../../support/agents/real-agents.ts';
import { findNodes, preload } from '../../support/victims/run-victim.ts';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'agents');
const ten =
  'openai-chat,openai-responses,anthropic,anthropic-runner,ai-sdk,langgraph,openai-agents,mastra,axios,undici';
const agents = (process.env['AGENTS'] ?? ten).split(',');
const nodes = (process.env['NODES'] ?? '20,24').split(',');
const pairs = Number(process.env['PAIRS'] ?? 9);
const turns = 8;
const framesATurn = 40;
/** 100 events per second, the pace of a fast model. */
const frameDelayMs = 10;

const sorted = (values: number[]) => values.toSorted((a, b) => a - b);
const quantile = (values: number[], share: number) =>
  sorted(values)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
const print = (what: string, figure: string) => console.log(`${what.padEnd(64)} ${figure}`);

const script = (n: number): ScriptedReply => ({
  text: Array.from({ length: framesATurn }, (_, i) => `word-${n}-${i}`).join(' '),
  frames: framesATurn,
  frameDelayMs,
  ...(n < turns - 1 && { toolCalls: [{ name: 'get_weather', arguments: { city: `C${n}` } }] }),
});

interface Run {
  wallMs: number;
  /**
   * The share of the program itself: before its first request, between replies and next requests, and after the last reply.
   */
  own: readonly number[];
  cpuMs: number;
  /** When each word was sent, milliseconds since the epoch. */
  sent: Map<string, number>;
}

async function run(
  node: string,
  agent: string,
  dir: string,
  flags: string[],
  signal?: NodeJS.Signals,
): Promise<Run> {
  const server = await startMockModelServer((_call, n) => script(n));
  const sent = new Map<string, number>();
  let frames = 0;
  const startedAt = performance.now();
  const marks = [startedAt];
  for (const event of ['request', 'end']) server.events.on(event, () => marks.push(performance.now()));
  const env = { PATH: '', HOME: dirname(dir), MODEL_URL: server.url, AGENTDUMP_DIR: dir };
  const words = [...flags, '-e', wrapper, join(folder, `${agent}.mjs`)];
  const child = spawn(node, words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  server.events.on('frame', (call: { sentText: string }) => {
    for (const word of call.sentText.split(' ').slice(-3)) if (!sent.has(word)) sent.set(word, Date.now());
    if (signal && ++frames === framesATurn * 3) child.kill(signal);
  });
  let out = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  const [code] = await once(child, 'close');
  if (!signal && code !== 0) throw new Error(`${agent} ended with ${code}`);
  marks.push(performance.now());
  const wallMs = performance.now() - startedAt;
  await server.close();
  return { wallMs, own: ownParts(marks), cpuMs: Number(/CPU (\d+)/.exec(out)?.[1]) / 1000, sent };
}

/** The marks are the start, the request and the end of each call, and the program's end. */
function ownParts(marks: readonly number[]): readonly number[] {
  const waits = marks.slice(1).map((mark, n) => mark - (marks[n] ?? mark));
  const own = waits.filter((_, n) => n % 2 === 0);
  const between = own.slice(1, -1).reduce((sum, ms) => sum + ms, 0);
  return [own[0] ?? 0, between, own.at(-1) ?? 0];
}

/** Runs the agent in streaming mode and prints its CPU time at the end. */
const wrapper = `
process.argv.splice(2, 0, 'stream');
process.on('exit', () => { const { user, system } = process.cpuUsage(); console.log('CPU', user + system); });
import(require('node:url').pathToFileURL(process.argv[1]).href);`;

/** Percentages and milliseconds that the preload adds, pair by pair. */
async function comparePairs(node: string, agent: string, dir: string) {
  const [walls, cpus, plain]: [number[], number[], number[]] = [[], [], []];
  const owns: number[][] = [[], [], []];
  for (let i = 0; i < pairs; i++) {
    const bare = await run(node, agent, dir, []);
    const watched = await run(node, agent, dir, ['--require', preload]);
    plain.push(bare.wallMs);
    walls.push(watched.wallMs / bare.wallMs - 1);
    cpus.push(watched.cpuMs - bare.cpuMs);
    for (const [n, own] of owns.entries()) own.push((watched.own[n] ?? 0) - (bare.own[n] ?? 0));
  }
  return { walls, cpus, plain, owns };
}

const share = (value: number) => `${value < 0 ? '' : '+'}${(value * 100).toFixed(1)} %`;

for (const { name, path } of findNodes().filter((one) => nodes.some((node) => one.name === `Node ${node}`))) {
  const parent = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
  console.log(
    `${name}, agents of ${turns} turns, ${pairs} pairs each: without the preload; what it adds (medians)`,
  );
  const all: { walls: number[]; cpus: number[]; owns: number[][] } = {
    walls: [],
    cpus: [],
    owns: [[], [], []],
  };
  for (const agent of agents) {
    if (!runsOn(Number(name.slice(5)) as NodeMajor, agent)) continue;
    const { walls, cpus, plain, owns } = await comparePairs(path, agent, join(parent, 'dumps'));
    const figures = `${share(quantile(walls, 0.5))} wall, ${quantile(cpus, 0.5).toFixed(0)} ms CPU`;
    print(`  ${agent}`, `${quantile(plain, 0.5).toFixed(0)} ms; ${figures}`);
    all.walls.push(...walls);
    all.cpus.push(...cpus);
    for (const [n, own] of owns.entries()) all.owns[n]?.push(...own);
  }
  const [low, middle, high] = [0.25, 0.5, 0.75].map((q) => share(quantile(all.walls, q)));
  print('… of all pairs, median (quartiles)', `${middle} wall (${low}, ${high}; aim 1 %)`);
  const owns = all.owns.map((own) => quantile(own, 0.5).toFixed(1));
  print(
    '… before the first request / between the turns / after the last, medians',
    `+${owns.join(' / +')} ms`,
  );
  print('… CPU more, median of all pairs', `${quantile(all.cpus, 0.5).toFixed(0)} ms`);
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

/** Read from the flight recorder of runs that a signal ends in the middle of a stream. */
async function measureLags(node: string, parent: string): Promise<number[]> {
  const lags: number[] = [];
  for (let i = 0; i < 5; i++) {
    const dir = join(parent, `lag-${i}`);
    const { sent } = await run(node, 'openai-chat', dir, ['--require', preload], 'SIGTERM');
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
