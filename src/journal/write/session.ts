/**
 * What the session file says: the identity of this process, in a form that can be verified after its death, and whether it ended
 * by itself. Costs about ten small reads of /proc, once.
 */
import { hostname } from 'node:os';
import { findMemoryCgroup, readCgroupMemory, readHostOomKills } from '../../platform/cgroup.ts';
import { platform } from '../../platform/index.ts';
import {
  type MemoryLimits,
  type ProcessIdentity,
  type SessionFacts,
  sessionSchema,
  sessionVersion,
} from '../layout/session.ts';
import { nowMs } from './frame.ts';
import { writeSession } from './session-file.ts';

/** Facts that the caller provides; the rest is determined here. Program, command and working directory must be redacted. */
export type SessionStart = Pick<SessionFacts, 'id' | 'program' | 'command' | 'cwd' | 'heartbeatMs'> &
  Partial<Pick<SessionFacts, 'heapLimitBytes' | 'parentSession' | 'supervisor' | 'nodeVersion'>> & {
    /** The process of the session. Default: this one. */
    pid?: number;
  };

export function describeSession(start: SessionStart): SessionFacts {
  const { pid = process.pid, ...facts } = start;
  return {
    schema: sessionSchema,
    version: sessionVersion,
    state: 'alive',
    process: describeProcess(pid),
    memory: describeMemoryLimits(pid),
    nodeVersion: process.version,
    // A program opens its own session some time after its start; a session opened by a parent begins now.
    startedAt: new Date(nowMs() - (pid === process.pid ? process.uptime() * 1000 : 0)).toISOString(),
    ...facts,
  };
}

/** Records that the process ended by itself, so that nobody looks for a cause. */
export function endSession(
  folder: string,
  facts: SessionFacts,
  end: { exitCode?: number; bundle?: string },
): void {
  writeSession(folder, { ...facts, state: 'ended', endedAt: new Date(nowMs()).toISOString(), ...end });
}

/** `startTicks` and `pidNamespace` are absent for a process that no longer exists. */
export function describeProcess(pid: number): ProcessIdentity {
  const startTicks = platform.startToken(pid);
  const bootId = platform.bootId();
  const pidNamespace = platform.pidNamespace(pid);
  return {
    pid,
    parentPid: pid === process.pid ? process.ppid : Number(platform.processStat(pid)?.[1] ?? 0),
    ...(startTicks !== undefined && { startTicks }),
    ...(bootId !== undefined && { bootId }),
    ...(pidNamespace !== undefined && { pidNamespace }),
    hostname: hostname(),
  };
}

function describeMemoryLimits(pid: number): MemoryLimits {
  const cgroup = findMemoryCgroup(pid);
  const { maxBytes, oomKills } = cgroup === undefined ? {} : readCgroupMemory(cgroup);
  const hostOomKillsAtStart = readHostOomKills();
  return {
    ...(cgroup !== undefined && { cgroup }),
    ...(maxBytes !== undefined && { cgroupBytes: maxBytes }),
    ...(oomKills !== undefined && { cgroupOomKillsAtStart: oomKills }),
    ...(hostOomKillsAtStart !== undefined && { hostOomKillsAtStart }),
  };
}
