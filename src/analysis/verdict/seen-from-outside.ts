/**
 * Shared by verdicts on deaths that only others observed: how it is known that the process is gone, what its end looked like
 * from outside, the kernel's core or why there is none, and the last journal records.
 */
import type { CoreObstacle } from '../../bundle/layout/evidence.ts';
import { clip, formatBytes, formatDuration } from '../../model/quantities.ts';
import type { Evidence } from '../../model/verdict.ts';
import { findGrowth, growthText, isVisible } from '../memory-growth.ts';
import type { EvidenceFacts } from '../parts/evidence.ts';
import type { VerdictFacts } from './facts.ts';

const part = 'evidence.json';

/** The signal that ended the process, if anybody observed it. */
export function fatalSignal({ evidence }: VerdictFacts): string | undefined {
  return evidence?.exit?.signal;
}

/** The exit status, or how the death was detected; then when the process was last seen alive. */
export function endEvidence({ evidence }: VerdictFacts): Evidence[] {
  if (!evidence) return [];
  const facts = [exitFact(evidence), lastSeenFact(evidence)];
  return facts.flatMap((fact) => (fact === undefined ? [] : [{ fact, part }]));
}

function exitFact({ exit, fate }: EvidenceFacts): string | undefined {
  if (exit?.signal !== undefined && exit.inferred)
    return `The shell that ran it ended with exit code ${exit.code}, which stands for ${exit.signal}.`;
  if (exit?.signal !== undefined && exit.byParent) return `Its parent ended it by ${exit.signal}.`;
  if (exit?.signal !== undefined) return `Its parent saw it end by ${exit.signal}.`;
  if (exit?.code !== undefined) return `Its parent saw it end with exit code ${exit.code}.`;
  return fate?.because === undefined ? undefined : `Its end was not seen: ${clip(fate.because, 200)}.`;
}

function lastSeenFact({ lastSeenAt, startedAt, journal }: EvidenceFacts): string | undefined {
  const last = journal?.lastAt ?? lastSeenAt;
  if (last === undefined) return undefined;
  const lived = startedAt === undefined ? Number.NaN : Date.parse(last) - Date.parse(startedAt);
  const after = lived >= 0 ? `, ${formatDuration(lived)} after its start` : '';
  return `Its last ${journal ? 'journal record' : 'heartbeat'} is from ${last}${after}.`;
}

/** The last lines of the kernel log, newest last. */
export function kernelEvidence({ evidence }: VerdictFacts): Evidence[] {
  return (evidence?.kernelLog ?? [])
    .slice(-3)
    .map((line) => ({ fact: `The kernel's log: ${clip(line, 240)}`, part }));
}

/** Where the kernel's core is, or why there is none. Empty if no supervisor looked for one. */
export function coreEvidence({ evidence }: VerdictFacts): Evidence[] {
  const core = evidence?.core;
  if (!core) return [];
  const fact = core.path
    ? `The kernel left a core: ${core.path}.`
    : `There is no core: ${core.reason ?? 'none was asked for'}.`;
  return [{ fact, part: 'evidence.json' }];
}

/** How to get a core next time, or what to do with this one. */
export function coreSteps(facts: VerdictFacts): string[] {
  const core = facts.evidence?.core;
  if (core?.path) return [`\`agentdump core ${clip(core.path, 200)}\` reads the native stack out of it.`];
  if (core?.obstacle) return [wayAround(core.obstacle, fatalSignal(facts))];
  if (core) return ['`agentdump doctor` says where this machine’s cores go.'];
  return ['`agentdump run -- …` has the kernel leave a core, from which the native stack can be read.'];
}

/** A fault repeats until the program has been read; an abort, a trap or a forbidden system call ends it at once. */
const held = new Set(['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL']);

function wayAround(obstacle: CoreObstacle, signal: string | undefined): string {
  const needsNone = held.has(signal ?? '') ? whereNoneIsNeeded[obstacle] : undefined;
  return `${waysAround[obstacle]}${needsNone ? `; ${needsNone}` : ''}.`;
}

const waysAround: Record<CoreObstacle, string> = {
  off: 'Without `--no-core` the kernel leaves a core, from which the native stack can be read',
  'hard-limit':
    'The hard limit on core files has to be raised from outside (`ulimit -H -c`, LimitCORE=, `--ulimit core=-1`)',
  collector: '`agentdump doctor` says where that program keeps cores, `agentdump core` reads them',
  'no-prlimit':
    '`ulimit -c unlimited` before the start, or prlimit of util-linux, lets the kernel leave a core',
  'in-the-way': '`sysctl kernel.core_uses_pid=1` gives each core a name of its own',
};

const whereNoneIsNeeded: Partial<Record<CoreObstacle, string>> = {
  'hard-limit': '`agentdump run --hold` needs no core',
  collector: '`agentdump run --hold` needs none',
};

/** How memory changed before the end, if the journal has samples. */
export function memoryEvidence({ evidence }: VerdictFacts): Evidence[] {
  const history = evidence?.memory?.history ?? [];
  const found: Evidence[] = [];
  for (const [field, name] of [
    ['rss', 'Resident memory'],
    ['heapUsed', 'The JavaScript heap'],
  ] as const) {
    const growth = findGrowth(history, field);
    if (growth && isVisible(growth)) found.push({ fact: `${name} ${growthText(growth)}.`, part });
  }
  const { cgroup } = evidence?.memory ?? {};
  if (cgroup?.peakBytes !== undefined && cgroup.maxBytes !== undefined)
    found.push({
      fact: `The cgroup's memory peaked at ${formatBytes(cgroup.peakBytes)} of ${formatBytes(cgroup.maxBytes)}.`,
      part,
    });
  return found;
}

/** Out-of-memory kills that the kernel counted during the lifetime of the process. */
export function countedKills(counter: { before: number; after: number } | undefined): number {
  return counter ? Math.max(0, counter.after - counter.before) : 0;
}
