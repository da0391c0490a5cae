/**
 * Classifies a death that was observed from outside, for the bundle's name and the supervisor's decisions. Uses only direct
 * evidence; analysis, which can read all parts, may conclude otherwise.
 */

import type { EvidencePart } from '../../bundle/layout/evidence.ts';
import { findFullHeap } from '../../bundle/layout/full-heap.ts';

export type DeathKind =
  | 'heap-out-of-memory'
  | 'system-out-of-memory'
  | 'native-crash'
  | 'abort'
  | 'killed'
  | 'terminated'
  | 'exit'
  | 'unknown';

const faults = new Set(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGSYS']);
/** Signals of an abort by the program itself. Signals other than these and the faults are sent by others. */
const aborts = new Set(['SIGABRT', 'SIGTRAP']);

export function classifyDeath(evidence: EvidencePart): DeathKind {
  const { exit, fatal, lastGcs } = evidence;
  if (lastGcs || (fatal && isHeapExhaustion(fatal))) return 'heap-out-of-memory';
  if (exit?.signal !== undefined) return classifySignal(exit.signal, evidence);
  if (exit?.code !== undefined) return exit.code === 0 ? 'unknown' : 'exit';
  if (fatal) return 'abort';
  if (evidence.core?.path !== undefined) return 'native-crash';
  if (wasKilledForMemory(evidence)) return 'system-out-of-memory';
  return findFullHeap(evidence.memory?.history ?? []) ? 'heap-out-of-memory' : 'killed';
}

function classifySignal(signal: string, evidence: EvidencePart): DeathKind {
  if (faults.has(signal)) return 'native-crash';
  if (aborts.has(signal)) return 'abort';
  if (signal !== 'SIGKILL') return 'terminated';
  const wasOurs = evidence.signalsSent?.some((sent) => sent.name === 'SIGKILL') ?? false;
  return !wasOurs && wasKilledForMemory(evidence) ? 'system-out-of-memory' : 'killed';
}

/** From Node 12 on, the fatal error of a full heap has this trigger or text. */
function isHeapExhaustion({ event, trigger }: { event: string; trigger: string }): boolean {
  return trigger === 'OOMError' || /heap out of memory|heap limit/i.test(event);
}

/** Whether a line of the kernel log names the process, or its cgroup counted a kill. Kills elsewhere don't count. */
function wasKilledForMemory({ kernelLog, memory }: EvidencePart): boolean {
  if (kernelLog?.some((line) => /killed process|oom-kill/i.test(line))) return true;
  const kills = memory?.cgroup?.oomKills;
  return kills !== undefined && kills.after > kills.before;
}
