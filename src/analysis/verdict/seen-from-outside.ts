/**
 * Shared by verdicts on deaths that only others observed: how it is known that the process is gone, what its end looked like
 * from outside, and the last journal records.
 */
import { clip, formatBytes, formatDuration } from '../../model/quantities.ts';
import type { Evidence } from '../../model/verdict.ts';
import { findGrowth, growthText } from '../memory-growth.ts';
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

/** How memory changed before the end, if the journal has samples. */
export function memoryEvidence({ evidence }: VerdictFacts): Evidence[] {
  const history = evidence?.memory?.history ?? [];
  const found: Evidence[] = [];
  for (const [field, name] of [
    ['rss', 'Resident memory'],
    ['heapUsed', 'The JavaScript heap'],
  ] as const) {
    const growth = findGrowth(history, field);
    if (growth) found.push({ fact: `${name} ${growthText(growth)}.`, part });
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
