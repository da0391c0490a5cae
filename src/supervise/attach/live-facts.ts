/**
 * Facts about a running program, evaluated as one expression through the inspector. This takes a few milliseconds on its main
 * thread, and also works in a busy loop. Read-only, and calls no code of the host except for the state that it passed to the
 * preload.
 */
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentPart, HandlesPart, MemoryPart, ProcessPart } from '../../bundle/layout/bundle.ts';
import { askedLimit, oldSpaceOf } from '../../capture/heap/memory-sampler.ts';
import { roomForDebugger } from '../../capture/watchdog/memory/heap-room.ts';
import type { MainThreadStack } from './main-thread-stack.ts';
import type { RemoteDebugger } from './remote-debugger.ts';

/** The debugger of the main thread or of a worker. */
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
  /** State that the host passed to the preload; absent if the preload is not loaded. */
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

/** Node's report. Host names of peers are not looked up, because that can take minutes. */
const reportQuestion = `(() => {
  const { report } = process;
  const was = report.excludeNetwork;
  try { report.excludeNetwork = true; return JSON.stringify(report.getReport()); }
  finally { report.excludeNetwork = was; }
})()`;

/** The innermost frames, without a debugger and without the frame of this expression. */
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

/** Its frames have no variables. */
export async function askBareStack(remote: Evaluator): Promise<MainThreadStack> {
  const sites = JSON.parse(await evaluateText(remote, stackQuestion)) as BareFrame[];
  const frames = sites
    .filter(({ url }) => url !== '')
    .map((site) => ({ ...site, url: urlOf(site.url), scriptId: '', scopes: [] }));
  return { frames, idle: frames.length === 0, pausedMs: 0, cut: [] };
}

type BareFrame = Record<'functionName' | 'url', string> & Record<'line' | 'column', number>;

/** For a CommonJS module V8 reports the path. */
function urlOf(file: string): string {
  return isAbsolute(file) ? pathToFileURL(file).href : file;
}

/** See capture/watchdog/memory/heap-room.ts. */
export function hasRoomForDebugger({ memory, process }: LiveFacts): boolean {
  const asked = askedLimit(process.execArgv.join(' '));
  const { used, limit } = oldSpaceOf(memory.heap['heap_size_limit'] ?? 0, memory.spaces, asked);
  return roomForDebugger(used, limit) > 0;
}

/** Rejects if there is no answer in time, or an invalid one. */
export async function askLiveFacts(remote: RemoteDebugger): Promise<LiveFacts> {
  return JSON.parse(await evaluateText(remote, question)) as LiveFacts;
}

export function askReport(remote: RemoteDebugger): Promise<string> {
  return evaluateText(remote, reportQuestion);
}

/** The value of an expression in that thread, which must be a string. Rejects with the first line of what it threw. */
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
