/**
 * Gathers what is still known about a process that has ended: its session and journal, the kernel's counters and log, and the
 * exit status if a parent knows it. Records what was not found, and draws no conclusions.
 */
import { totalmem } from 'node:os';
import type { ManifestGap } from '../../bundle/layout/bundle.ts';
import type { CounterEvidence, EvidencePart, MemoryEvidence } from '../../bundle/layout/evidence.ts';
import type { SessionFacts, SessionFinding } from '../../journal/layout/session.ts';
import { lastWriteMs } from '../../journal/read/session.ts';
import { readCgroupMemory, readHostOomKills } from '../../platform/cgroup.ts';
import { platform } from '../../platform/index.ts';
import type { ScrubbedReport } from '../scrub/scrub-report.ts';
import type { JournalDigest } from './journal-digest.ts';
import { findKernelLines } from './kernel-log.ts';

/** What the caller knows. */
export type Witness = Pick<EvidencePart, 'foundBy' | 'exit' | 'endedAt' | 'lastGcs' | 'signalsSent' | 'core'>;

export interface Findings {
  folder: string;
  facts: SessionFacts;
  finding: SessionFinding;
  journal: JournalDigest | undefined;
  report: ScrubbedReport | undefined;
  unfinishedBundle: string | undefined;
}

export function gatherEvidence(
  witness: Witness,
  found: Findings,
): { part: EvidencePart; gaps: ManifestGap[] } {
  const { facts, finding, journal, report } = found;
  const gaps: ManifestGap[] = [];
  const { fate: _, ...fate } = finding;
  const lastWrite = lastWriteMs(found.folder);
  const bootNow = platform.bootId();
  const part: EvidencePart = {
    ...witness,
    foundAt: new Date().toISOString(),
    fate,
    process: {
      pid: facts.process.pid,
      parentPid: facts.process.parentPid,
      startedAt: facts.startedAt,
      ...(lastWrite > 0 && { lastSeenAt: new Date(lastWrite).toISOString() }),
      heartbeatMs: facts.heartbeatMs,
    },
    memory: gatherMemory(facts, finding, journal),
    ...(report && { fatal: { event: report.event, trigger: report.trigger } }),
    ...(journal && { journal: journal.evidence }),
  };
  if (bootNow !== undefined && facts.process.bootId !== undefined)
    part.boot = { atStart: facts.process.bootId, now: bootNow };
  if (found.unfinishedBundle !== undefined) part.unfinishedBundle = found.unfinishedBundle;
  addKernelLog(part, finding, gaps);
  return { part, gaps };
}

/** After a reboot, and for a process of another machine, this kernel's log has nothing about it. */
function addKernelLog(part: EvidencePart, finding: SessionFinding, gaps: ManifestGap[]): void {
  if (finding.rebooted) return;
  const log = findKernelLines(part.process.pid);
  if ('lines' in log) part.kernelLog = log.lines;
  else gaps.push({ part: 'evidence.json', reason: `the kernel's log can't be read: ${log.reason}` });
}

function gatherMemory(
  facts: SessionFacts,
  finding: SessionFinding,
  journal: JournalDigest | undefined,
): MemoryEvidence {
  const { cgroup: path, cgroupOomKillsAtStart, hostOomKillsAtStart } = facts.memory;
  const memory: MemoryEvidence = {
    ...(facts.heapLimitBytes !== undefined && { heapLimitBytes: facts.heapLimitBytes }),
    system: { totalBytes: totalmem(), availableBytes: platform.availableBytes() },
    history: journal?.memory ?? [],
  };
  if (finding.rebooted) return memory;
  if (path !== undefined) {
    const { oomKills, ...sizes } = readCgroupMemory(path);
    const kills = counter(cgroupOomKillsAtStart, oomKills);
    memory.cgroup = { path, ...sizes, ...(kills && { oomKills: kills }) };
  }
  const hostKills = counter(hostOomKillsAtStart, readHostOomKills());
  if (hostKills) memory.hostOomKills = hostKills;
  return memory;
}

function counter(before: number | undefined, after: number | undefined): CounterEvidence | undefined {
  return before === undefined || after === undefined ? undefined : { before, after };
}
