/** Process, memory and environment for the account. Changes units and names, not figures. */
import type { MemoryPoint } from '../../bundle/layout/evidence.ts';
import type {
  EnvironmentFacts,
  HandleFacts,
  MemoryFacts,
  MemorySample,
  ProcessFacts,
  SignalFacts,
  UnusualFact,
} from '../../model/account.ts';
import type { BundleParts } from '../bundle-parts.ts';
import { defined } from '../parts/fields.ts';
import type { HandlesPartFacts } from '../parts/surroundings.ts';
import { findUnusual } from '../unusual.ts';

export function joinProcessFacts({
  process,
  trigger,
  evidence,
  tests,
}: BundleParts): ProcessFacts | undefined {
  if (!process && !trigger) return undefined;
  const seen = evidence?.exit;
  const exit = defined({
    code: trigger?.exitCode ?? seen?.code ?? documentedCode(trigger),
    signal: deadlySignal(trigger) ?? seen?.signal,
  });
  const isEndUnseen = evidence !== undefined && evidence.exit === undefined;
  return defined({
    pid: process?.pid ?? trigger?.pid,
    parentPid: process?.parentPid,
    nodeVersion: [trigger?.nodeVersion, versionOfNode(process?.versions)].find(isVersion),
    v8Version: process?.versions?.['v8'],
    platform: process?.platform,
    arch: process?.arch,
    cwd: process?.cwd,
    argv: process?.argv,
    execArgv: process?.execArgv,
    startedAt: process?.startedAt,
    uptimeMs: process?.uptimeMs,
    uptimeIsMinimum: isEndUnseen && process?.uptimeMs !== undefined ? (true as const) : undefined,
    threadId: process?.threadId ?? trigger?.threadId,
    exit: Object.keys(exit).length ? exit : undefined,
    limits: process?.limits,
    cgroup: process?.cgroup,
    container: process?.container,
    test: tests,
  });
}

/** Node exits with 1 after an uncaught error (doc/api/process.md, exit codes); in a worker only the worker ends. */
function documentedCode(trigger: BundleParts['trigger']): number | undefined {
  const thrown = trigger?.kind === 'uncaught-exception' || trigger?.kind === 'unhandled-rejection';
  return thrown && trigger.handledByHost === false && trigger.isMainThread === true ? 1 : undefined;
}

/** A signal that the program handles, or that requests a snapshot, doesn't end the process by itself. */
function deadlySignal(trigger: BundleParts['trigger']): string | undefined {
  return trigger?.kind === 'signal' && !trigger.handledByHost ? trigger.signal?.name : undefined;
}

function versionOfNode(versions: Record<string, string> | undefined): string | undefined {
  return versions?.['node'] && `v${versions['node']}`;
}

/** A supervisor doesn't know the version if the process died before it reported anything. */
const isVersion = (text: string | undefined): boolean => /^v\d/.test(text ?? '');

export function joinSignalFacts({ trigger, evidence }: BundleParts): SignalFacts | undefined {
  const seen = evidence?.exit?.signal;
  return trigger?.signal ?? (seen === undefined ? undefined : { name: seen });
}

export function joinMemoryFacts({ memory, evidence }: BundleParts): MemoryFacts | undefined {
  const samples = evidence?.memory?.history ?? [];
  if (!memory && !samples.length) return undefined;
  const last = samples.at(-1);
  return defined({
    rssBytes: memory?.usage?.['rss'] ?? last?.rss,
    heapUsedBytes: memory?.usage?.['heapUsed'] ?? last?.heapUsed,
    heapLimitBytes: memory?.heap?.['heap_size_limit'] ?? last?.heapLimit ?? evidence?.memory?.heapLimitBytes,
    history: samples.length ? samples.map(joinSample) : undefined,
  });
}

function joinSample({ at, rss, heapUsed, external, cgroupCurrent }: MemoryPoint): MemorySample {
  return {
    at,
    ...defined({
      rssBytes: rss,
      heapUsedBytes: heapUsed,
      externalBytes: external,
      cgroupBytes: cgroupCurrent,
    }),
  };
}

/** `others`: unusual facts from other joins, appended to those found here. */
export function joinEnvironmentFacts(
  parts: BundleParts,
  process: ProcessFacts | undefined,
  others: readonly UnusualFact[],
): EnvironmentFacts | undefined {
  const { environment, handles, memory, trigger } = parts;
  if (!environment && !handles && !memory && !process) return undefined;
  const facts: EnvironmentFacts = defined({
    os: environment?.os && joinOs(environment.os),
    variables: environment?.variables,
    handles: handles && joinHandles(handles),
    connections: handles?.sockets?.map(({ fd: _, ...connection }) => connection),
  });
  const found = findUnusual({
    environment: facts,
    ...defined({
      process,
      memory,
      handles,
      loadAverage: environment?.os?.loadAverage,
      cpus: environment?.os?.cpus,
      repeats: trigger?.repeats,
    }),
  });
  const unusual = [...found, ...others];
  return unusual.length ? { ...facts, unusual } : facts;
}

function joinOs({ loadAverage, ...rest }: NonNullable<NonNullable<BundleParts['environment']>['os']>) {
  const load = loadAverage?.map((value) => value.toFixed(2)).join(' ');
  return defined({ ...rest, loadAverage: load }) as Record<string, string | number>;
}

/** Open resources by kind, then descriptors by their target; most frequent first in each. */
function joinHandles({
  resources = {},
  descriptors = [],
  descriptorCount,
  timers = [],
  children = [],
}: HandlesPartFacts): HandleFacts[] {
  const timerKinds = new Set(timers.map((timer) => timer.kind));
  const active = Object.entries(resources)
    .filter(([kind]) => !timerKinds.has(kind))
    .map(([kind, count]): HandleFacts => ({ kind, count }));
  const byKind = new Map<string, string[]>();
  for (const { kind, target } of descriptors) {
    const targets = byKind.get(kind);
    if (targets) targets.push(target);
    else byKind.set(kind, [target]);
  }
  const open = [...byKind].map(
    ([kind, targets]): HandleFacts => ({
      kind: `descriptor: ${kind}`,
      count: targets.length,
      detail: mostCommon(targets),
    }),
  );
  const unlisted = (descriptorCount ?? 0) - descriptors.length;
  if (unlisted > 0) open.push({ kind: 'descriptor: not listed', count: unlisted });
  const most = (a: HandleFacts, b: HandleFacts) => b.count - a.count;
  return [
    ...[...active, ...timers].sort(most),
    ...open.sort(most),
    ...children.map(
      (child): HandleFacts => ({
        kind: 'child process',
        count: 1,
        detail: `${child.pid} ${child.command}`.trim(),
      }),
    ),
  ];
}

/** Up to three targets, most frequent first; without the numbers of anonymous ones. */
function mostCommon(targets: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const target of targets) {
    // The bundle itself, which was open while it was written.
    if (/\.agentdump\.(?:partial|starting)(?:\/|$)/.test(target)) continue;
    const name = target.replace(/:?\[\d+\]$/, '');
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const top = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3);
  return top.map(([name, count]) => (count > 1 ? `${name} × ${count}` : name)).join(', ');
}
