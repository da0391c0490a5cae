/**
 * What a running program knows of itself, asked for with one expression through the inspector: some milliseconds of
 * its main thread, also in a busy loop. Reads only; calls nothing of the host's but what it handed to the preload.
 */
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentPart, HandlesPart, MemoryPart, ProcessPart } from '../../bundle/layout/bundle.ts';
import { askedLimit, oldSpaceOf } from '../../capture/heap/memory-sampler.ts';
import { roomForDebugger } from '../../capture/watchdog/heap-room.ts';
import type { MainThreadStack } from './main-thread-stack.ts';
import type { RemoteDebugger } from './remote-debugger.ts';

/** The main thread, or a worker. */
type Evaluator = Pick<RemoteDebugger, 'send'>;

export interface LiveFacts {
  process: Pick<
    ProcessPart,
    | 'pid'
    | 'parentPid'
    | 'title'
    | 'argv'
    | 'execArgv'
    | 'execPath'
    | 'cwd'
    | 'versions'
    | 'platform'
    | 'arch'
  > &
    Pick<ProcessPart, 'uptimeMs' | 'resourceUsage'>;
  memory: Pick<MemoryPart, 'usage' | 'heap' | 'spaces'>;
  resources: HandlesPart['resources'];
  /** What the host gave to the preload, where it is loaded. */
  agent?: AgentPart['state'];
}

/** Runs in the other process: plain JavaScript for Node 20 and later. */
const question = `JSON.stringify((() => {
  const v8 = require('node:v8');
  const count = (names) => names.reduce((all, name) => ({ ...all, [name]: (all[name] ?? 0) + 1 }), {});
  const host = globalThis[Symbol.for('agentdump.host')];
  const state = {};
  for (const [name, value] of host?.state ?? [])
    try { JSON.stringify(value); state[name] = value; } catch { state[name] = '(not JSON)'; }
  return {
    process: {
      pid: process.pid, parentPid: process.ppid, title: process.title, argv: process.argv,
      execArgv: process.execArgv, execPath: process.execPath, cwd: process.cwd(), versions: process.versions,
      platform: process.platform, arch: process.arch, uptimeMs: Math.round(process.uptime() * 1000),
      resourceUsage: process.resourceUsage(),
    },
    memory: { usage: process.memoryUsage(), heap: v8.getHeapStatistics(), spaces: v8.getHeapSpaceStatistics() },
    resources: count(process.getActiveResourcesInfo()),
    agent: host ? state : undefined,
  };
})())`;

/** Node's own report, without looking up the names of its peers, which can take minutes. */
const reportQuestion = `(() => {
  const { report } = process;
  const was = report.excludeNetwork;
  try { report.excludeNetwork = true; return JSON.stringify(report.getReport()); }
  finally { report.excludeNetwork = was; }
})()`;

/** Where it is, without a debugger: the innermost frames, but the one of this question. */
const stackQuestion = `(() => {
  const { defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
  const before = ['stackTraceLimit', 'prepareStackTrace']
    .map((name) => [name, getOwnPropertyDescriptor(Error, name)]);
  const plain = { writable: true, enumerable: false, configurable: true };
  try {
    defineProperty(Error, 'stackTraceLimit', { ...plain, value: 40 });
    defineProperty(Error, 'prepareStackTrace', { ...plain, value: (_, sites) => sites });
    return JSON.stringify(new Error().stack.map((site) => ({
      functionName: site.getFunctionName() ?? '', url: site.getFileName() ?? '',
      line: site.getLineNumber() ?? 0, column: site.getColumnNumber() ?? 0,
    })));
  } finally {
    for (const [name, was] of before)
      if (was) defineProperty(Error, name, was);
      else deleteProperty(Error, name);
  }
})()`;

/** The frames have no variables. */
export async function askBareStack(remote: Evaluator): Promise<MainThreadStack> {
  const sites = JSON.parse(await evaluateText(remote, stackQuestion)) as BareFrame[];
  const frames = sites
    .filter(({ url }) => url !== '')
    .map((site) => ({ ...site, url: urlOf(site.url), scriptId: '', scopes: [] }));
  return { frames, idle: frames.length === 0, pausedMs: 0, cut: [] };
}

type BareFrame = Record<'functionName' | 'url', string> & Record<'line' | 'column', number>;

/** Of a CommonJS module V8 says the path. */
function urlOf(file: string): string {
  return isAbsolute(file) ? pathToFileURL(file).href : file;
}

/** See capture/watchdog/heap-room.ts. */
export function hasRoomForDebugger({ memory, process }: LiveFacts): boolean {
  const asked = askedLimit(process.execArgv.join(' '));
  const { used, limit } = oldSpaceOf(memory.heap['heap_size_limit'] ?? 0, memory.spaces, asked);
  return roomForDebugger(used, limit) > 0;
}

/** Rejects when it does not answer in time, or what it answers is no such thing. */
export async function askLiveFacts(remote: RemoteDebugger): Promise<LiveFacts> {
  return JSON.parse(await evaluateText(remote, question)) as LiveFacts;
}

export function askReport(remote: RemoteDebugger): Promise<string> {
  return evaluateText(remote, reportQuestion);
}

/** What an expression gives there, which must be a text. Rejects with what it threw. */
export async function evaluateText(remote: Evaluator, expression: string): Promise<string> {
  const answer = await remote.send('Runtime.evaluate', {
    expression,
    includeCommandLineAPI: true,
    returnByValue: true,
    silent: true,
  });
  const value = (answer['result'] as { value?: unknown } | undefined)?.value;
  if (typeof value === 'string') return value;
  const thrown = (answer['exceptionDetails'] as { exception?: { description?: string } } | undefined)
    ?.exception;
  throw new Error(thrown?.description?.split('\n')[0] ?? 'no answer');
}
