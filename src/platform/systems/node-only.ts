/** Information that Node itself provides on every system; the basis of each platform's file. */
import { AgentdumpError } from '../../errors.ts';
import type { Platform } from '../interface.ts';
import { memoryUsage, residentBytes } from '../memory-usage.ts';
import { signals } from '../signals.ts';
import { posixFiles } from './posix-files.ts';

export const nodeOnly: Omit<Platform, 'name' | 'title'> = {
  hasProcessFiles: false,
  processFile: () => undefined,
  processFolder: () => [],
  processLink: () => undefined,
  processPath(_, name) {
    throw unavailable(`a process's ${name}, which only Linux shows`);
  },
  processStat: () => undefined,
  kernelFile: () => undefined,
  groupMount: undefined,
  kernelLog: undefined,

  processes: () => [],
  isThere(pid) {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      // The process belongs to another user.
      return (error as NodeJS.ErrnoException).code === 'EPERM';
    }
  },
  startToken: () => undefined,
  startedAtMs: (pid) => (pid === process.pid ? Date.now() - process.uptime() * 1000 : undefined),
  unreapedEnd: () => undefined,
  command: (file, words) => ({ file, words: [...words] }),
  opener: () => undefined,
  askForInspector: (pid) => void process.kill(pid, signals.inspector),
  inspectorMayKill: true,
  bootId: () => undefined,
  hostName: () => process.getBuiltinModule('node:os').hostname(),
  bootedAtMs: () => Date.now() - process.getBuiltinModule('node:os').uptime() * 1000,
  pidNamespace: () => undefined,

  memoryUsage,
  residentBytes,
  availableBytes: () => process.getBuiltinModule('node:os').freemem(),
  limits: () => ({}),
  ownThreadId: () => 0,
  mayStartThread: () => true,
  openDescriptors: () => undefined,
  reopenPath: () => undefined,
  files: posixFiles,
};

/** The message names the system that lacks it, and is suitable for a gap or an error. */
export function unavailable(what: string): AgentdumpError {
  return new AgentdumpError('not-found', notAvailable(what), { lookedFor: what });
}

const titles: Record<string, string> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' };

/** Display name of a system by its `process.platform`. */
export const titleOf = (name: string): string => titles[name] ?? name;

/** `not available on macOS: <what>`. */
export const notAvailable = (what: string): string =>
  process.platform === 'linux'
    ? `not available where /proc is hidden: ${what}`
    : `not available on ${titleOf(process.platform)}: ${what}`;

export function signalNamed(number: number): NodeJS.Signals | null {
  const { signals } = process.getBuiltinModule('node:os').constants;
  return (Object.entries(signals).find(([, value]) => value === number)?.[0] as NodeJS.Signals) ?? null;
}
