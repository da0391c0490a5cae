/**
 * Converts a diagnostic report's sections on the process and its environment to parts of a bundle. It replaces parts that a
 * process couldn't write: after a heap ran out, the report is all there is. Environment variables are not read, since a
 * report contains them unredacted.
 */
import { partNames } from '../bundle/layout/bundle.ts';
import {
  type DiagnosticReport,
  readDiagnosticReport,
} from '../formats/diagnostic-report/diagnostic-report.ts';
import type { Account } from '../model/account.ts';
import type { BundleParts } from './bundle-parts.ts';
import { defined } from './parts/fields.ts';

type Surroundings = Required<Pick<BundleParts, 'process' | 'memory' | 'handles' | 'environment'>>;

export function surroundingsOfReport(report: DiagnosticReport): Surroundings {
  const { header, heap, usage, limits } = report;
  return {
    process: {
      argv: header.commandLine,
      versions: { ...header.componentVersions, ...defined({ node: header.nodeVersion?.replace(/^v/, '') }) },
      limits,
      ...defined({
        pid: header.processId,
        threadId: header.threadId,
        cwd: header.cwd,
        platform: header.platform,
        arch: header.arch,
      }),
    },
    memory: {
      usage: defined({
        rss: usage?.rssBytes,
        heapUsed: heap?.usedBytes,
        external: heap?.externalBytes,
      }) as Record<string, number>,
      heap: defined({
        used_heap_size: heap?.usedBytes,
        heap_size_limit: heap?.limitBytes,
        number_of_detached_contexts: heap?.detachedContexts,
      }) as Record<string, number>,
    },
    handles: { resources: handleCounts(report) },
    environment: {
      os: defined({
        type: header.osName,
        release: header.osRelease,
        version: header.osVersion,
        cpus: header.cpuCount || undefined,
      }),
    },
  };
}

/**
 * `parts`, completed from the report of the same bundle, and the names of the replaced parts. A report that can't be read
 * adds nothing; it is a part of its own, whose reader reports the fault.
 */
export function fillFromReport(
  parts: BundleParts,
  bytes: Uint8Array | undefined,
): { parts: BundleParts; replaced: ReadonlySet<string> } {
  const seen = bytes && parts.process && readSurroundings(bytes);
  if (!seen || !parts.process) return { parts, replaced: new Set() };
  const { process, memory, handles, environment } = seen;
  const absent = defined({
    memory: parts.memory ? undefined : memory,
    handles: parts.handles ? undefined : handles,
    environment: parts.environment ? undefined : environment,
  });
  const known = parts.process.limits ?? {};
  const filled = {
    ...parts,
    ...absent,
    process: {
      ...parts.process,
      versions: { ...process.versions, ...parts.process.versions },
      limits: Object.keys(known).length ? known : process.limits,
    },
  };
  const names = Object.keys(absent) as (keyof typeof absent)[];
  return { parts: filled as BundleParts, replaced: new Set(names.map((name) => partNames[name])) };
}

function readSurroundings(bytes: Uint8Array): Surroundings | undefined {
  try {
    return surroundingsOfReport(readDiagnosticReport(bytes));
  } catch {
    return undefined;
  }
}

/** The account with all facts of replaced parts attributed to the part `by`. */
export function citeInstead(account: Account, isReplaced: (part: string) => boolean, by: string): Account {
  const { verdict, environment } = account;
  const cite = <T extends { part: string }>(facts: readonly T[]) =>
    facts.map((fact) => (isReplaced(fact.part) ? { ...fact, part: by } : fact));
  return {
    ...account,
    ...(verdict && { verdict: { ...verdict, evidence: cite(verdict.evidence) } }),
    ...(environment && {
      environment: { ...environment, ...(environment.unusual && { unusual: cite(environment.unusual) }) },
    }),
  };
}

function handleCounts({ handles }: DiagnosticReport): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { type } of handles) counts.set(type, (counts.get(type) ?? 0) + 1);
  return Object.fromEntries(counts);
}
