/**
 * The writing half of the session file: who this process is, in words that a stranger can check after its death, and
 * whether it said goodbye. Each writing replaces the file whole. Costs some ten small reads of /proc, once.
 */
import fs from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { findMemoryCgroup, readCgroupMemory, readHostOomKills } from '../../platform/cgroup.ts';
import { platform } from '../../platform/index.ts';
import {
  type MemoryLimits,
  type ProcessIdentity,
  type SessionFacts,
  sessionName,
  sessionSchema,
  sessionsFolder,
  sessionVersion,
} from '../layout/session.ts';
import { nowMs } from './frame.ts';

const { mkdirSync, writeFileSync } = fs;

/** What the caller knows; the rest is looked up. Program, command and working directory must be redacted. */
export type SessionStart = Pick<SessionFacts, 'id' | 'program' | 'command' | 'cwd' | 'heartbeatMs'> &
  Partial<Pick<SessionFacts, 'heapLimitBytes' | 'parentSession' | 'supervisor' | 'nodeVersion'>> & {
    /** The process that the session is about; this one by default. */
    pid?: number;
  };

/** A session's folder below the dump folder. */
export function sessionFolder(dir: string, id: string): string {
  return join(dir, sessionsFolder, id);
}

export function describeSession(start: SessionStart): SessionFacts {
  const { pid = process.pid, ...facts } = start;
  return {
    schema: sessionSchema,
    version: sessionVersion,
    state: 'alive',
    process: describeProcess(pid),
    memory: describeMemoryLimits(pid),
    nodeVersion: process.version,
    // A program opens its own session late; one that a parent opens for it begins just now.
    startedAt: new Date(nowMs() - (pid === process.pid ? process.uptime() * 1000 : 0)).toISOString(),
    ...facts,
  };
}

/** Writes the session file of this folder, which is made when absent. Throws what the system throws. */
export function writeSession(folder: string, facts: SessionFacts): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, sessionName);
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, JSON.stringify(facts), { mode: 0o600 });
  platform.files.rename(unfinished, path);
}

/** Says goodbye: nobody will look for the cause of this end. */
export function endSession(
  folder: string,
  facts: SessionFacts,
  end: { exitCode?: number; bundle?: string },
): void {
  writeSession(folder, { ...facts, state: 'ended', endedAt: new Date(nowMs()).toISOString(), ...end });
}

/** `startTicks` and `pidNamespace` are absent for a process that is gone. */
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
