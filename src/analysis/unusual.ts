/**
 * Unusual facts about the environment of a death: limits that were almost reached, resources that pile up, dangerous
 * settings. One small rule each; most alarming first. A rule states what it observed and draws no conclusions.
 */
import type { EnvironmentFacts, UnusualFact } from '../model/account.ts';
import { formatBytes, formatCount, formatNumber, formatShare } from '../model/quantities.ts';
import {
  cgroupHeadroom,
  descriptorHeadroom,
  type Headroom,
  heapHeadroom,
  machineHeadroom,
  processCountHeadroom,
  type Surroundings,
} from './headroom.ts';

export interface UnusualInput extends Surroundings {
  environment?: EnvironmentFacts;
  loadAverage?: number[];
  cpus?: number;
  /** Deaths of the same signature that were counted but not stored. */
  repeats?: number;
}

export const thresholds = {
  descriptorShare: 0.8,
  heapShare: 0.85,
  cgroupShare: 0.9,
  machineShare: 0.95,
  processShare: 0.9,
  handlesOfOneKind: 500,
  socketsToOnePeer: 100,
  closeWaitSockets: 20,
  /** Runnable processes per processor. */
  loadPerCpu: 4,
  /** External memory relative to the used heap, and its minimum size. */
  externalRatio: 3,
  externalBytes: 256 * 1024 * 1024,
  /** Other resident memory relative to the heap, and its minimum size. */
  nativeRatio: 2,
  nativeBytes: 256 * 1024 * 1024,
} as const;

/** Of external memory: what is less needs no mention. */
const minorShare = 0.1;
/** Of what is neither heap nor external: then it is malloc's. */
const mostOfMalloc = 0.7;

type Rule = (input: UnusualInput) => UnusualFact | undefined;

function nearLimit(
  find: (input: UnusualInput) => Headroom | undefined,
  threshold: number,
  say: (h: Headroom) => string,
): Rule {
  return (input) => {
    const room = find(input);
    if (!room || room.share < threshold) return undefined;
    return {
      level: room.share >= (1 + threshold) / 2 ? 'alarm' : 'notice',
      fact: `${say(room)} (${formatShare(room.share)})`,
      part: room.part,
    };
  };
}

const bytesOf = ({ used, limit }: Headroom) => `${formatBytes(used)} of ${formatBytes(limit)}`;
const countsOf = ({ used, limit }: Headroom) => `${formatNumber(used)} of ${formatNumber(limit)}`;

const oomKills: Rule = ({ process }) => {
  const kills = Number(process?.cgroup?.['memory.events.oom_kill'] ?? process?.cgroup?.['oom_kill'] ?? 0);
  return kills > 0
    ? {
        level: 'alarm',
        fact: `${formatCount(kills, 'process', 'processes')} of this container were killed for memory before`,
        part: 'process.json',
      }
    : undefined;
};

const manyHandles: Rule = ({ handles }) => {
  const [kind, count] = Object.entries(handles?.resources ?? {}).sort((a, b) => b[1] - a[1])[0] ?? [];
  return kind !== undefined && count !== undefined && count >= thresholds.handlesOfOneKind
    ? {
        level: 'notice',
        fact: `${formatNumber(count)} open handles of one kind: ${kind}`,
        part: 'handles.json',
      }
    : undefined;
};

const manySocketsToOnePeer: Rule = ({ handles }) => {
  const counts = new Map<string, number>();
  for (const { remote } of handles?.sockets ?? [])
    if (remote) counts.set(remote, (counts.get(remote) ?? 0) + 1);
  const [peer, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  return count !== undefined && count >= thresholds.socketsToOnePeer
    ? {
        level: 'notice',
        fact: `${formatNumber(count)} connections to one peer: ${peer}`,
        part: 'handles.json',
      }
    : undefined;
};

const closeWait: Rule = ({ handles }) => {
  const waiting = handles?.sockets?.filter((s) => /close.?wait/i.test(s.state ?? '')).length ?? 0;
  return waiting >= thresholds.closeWaitSockets
    ? {
        level: 'notice',
        fact: `${formatNumber(waiting)} sockets in CLOSE_WAIT: the other side hung up and the program never closed them`,
        part: 'handles.json',
      }
    : undefined;
};

const highLoad: Rule = ({ loadAverage, cpus }) => {
  const load = loadAverage?.[0];
  if (load === undefined || !cpus || load < thresholds.loadPerCpu * cpus) return undefined;
  return {
    level: 'notice',
    fact: `Load average ${formatNumber(load)} on ${formatCount(cpus, 'processor')}`,
    part: 'environment.json',
  };
};

const external: Rule = ({ memory }) => {
  const { external: bytes = 0, heapUsed = 0, arrayBuffers } = memory?.usage ?? {};
  return bytes >= thresholds.externalBytes && bytes >= thresholds.externalRatio * heapUsed
    ? {
        level: 'notice',
        fact: `${formatBytes(bytes)} outside the JavaScript heap (${externalText(bytes, arrayBuffers)}), against ${formatBytes(heapUsed)} in it`,
        part: 'memory.json',
      }
    : undefined;
};

/** Of Node's two figures `arrayBuffers` is a part of `external`; the rest is counted by V8 without saying for what. */
function externalText(bytes: number, arrayBuffers = bytes): string {
  const other = bytes - arrayBuffers;
  if (other <= bytes * minorShare) return 'Buffers and array buffers';
  const others = `${formatBytes(other)} WebAssembly memory, long strings, or what native code reports`;
  return arrayBuffers <= bytes * minorShare
    ? `${others}; hardly any Buffers`
    : `${formatBytes(arrayBuffers)} Buffers and array buffers, ${others}`;
}

/** Resident memory that neither V8's heap nor Buffers account for, and how the rest is divided. */
const resident: Rule = ({ memory }) => {
  const { rss = 0, heapTotal = 0, external = 0, arrayBuffers = 0 } = memory?.usage ?? {};
  const rest = rss - heapTotal - external;
  if (heapTotal === 0 || rest < thresholds.nativeBytes || rest < thresholds.nativeRatio * heapTotal)
    return undefined;
  const other = external - arrayBuffers;
  const parts = [
    `${formatBytes(heapTotal)} V8's heap`,
    `${formatBytes(arrayBuffers)} Buffers and array buffers`,
    ...(other > 0 ? [`${formatBytes(other)} other external memory`] : []),
  ];
  return {
    level: 'notice',
    fact: `${formatBytes(rest)} of ${formatBytes(rss)} resident memory is neither heap nor Buffers (${parts.join(', ')}): ${restText(rest, memory?.mapped)}${mappedText(memory?.mapped)}`,
    part: 'memory.json',
  };
};

type Mapped = NonNullable<UnusualInput['memory']>['mapped'];

/** Heaps of workers, which V8 maps itself, are none of malloc's. */
function restText(rest: number, mapped: Mapped): string {
  if (mapped?.mallocBytes === undefined)
    return 'native code and addons, heaps and stacks of threads, or what the allocator has not given back';
  if (mapped.mallocBytes >= rest * mostOfMalloc)
    return 'allocated by native code (addons, or Node itself for streams, sockets and the like), or freed by it and not given back by the allocator';
  if ((mapped.otherBytes ?? 0) >= rest * mostOfMalloc)
    return 'mapped, and not by malloc: heaps of workers, WebAssembly memory (which V8 does not count on Node 26), compiled code, or what native code maps by itself';
  return 'native code and addons, heaps and stacks of threads, or what the allocator has not given back';
}

function mappedText(mapped: Mapped): string {
  if (mapped?.mallocBytes === undefined) return '';
  const { mallocBytes, mallocArenas = 0, stackBytes = 0, fileBytes = 0 } = mapped;
  const arenas = mallocArenas ? ` and ${formatCount(mallocArenas, 'arena')} of threads` : '';
  return `. By mapping: ${formatBytes(mallocBytes)} in malloc's main arena${arenas}, ${formatBytes(stackBytes)} in stacks, ${formatBytes(fileBytes)} of files`;
}

const detachedContexts: Rule = ({ memory }) => {
  const count = memory?.heap?.['number_of_detached_contexts'] ?? 0;
  return count > 0
    ? {
        level: 'notice',
        fact: `${formatCount(count, 'detached context')}: something holds a vm context that was given up`,
        part: 'memory.json',
      }
    : undefined;
};

const crashLoop: Rule = ({ repeats = 0 }) =>
  repeats > 0
    ? {
        level: 'alarm',
        fact: `The same death came ${formatCount(repeats, 'more time')} since the last bundle, counted and not stored`,
        part: 'trigger.json',
      }
    : undefined;

const tlsChecksOff: Rule = ({ environment }) => {
  const variable = environment?.variables?.['NODE_TLS_REJECT_UNAUTHORIZED'];
  return variable && 'value' in variable && variable.value === '0'
    ? {
        level: 'notice',
        fact: 'NODE_TLS_REJECT_UNAUTHORIZED=0: certificates were not checked',
        part: 'environment.json',
      }
    : undefined;
};

const rules: readonly Rule[] = [
  crashLoop,
  oomKills,
  nearLimit(heapHeadroom, thresholds.heapShare, (h) => `JavaScript heap near its limit: ${bytesOf(h)}`),
  nearLimit(cgroupHeadroom, thresholds.cgroupShare, (h) => `Container memory near its limit: ${bytesOf(h)}`),
  nearLimit(machineHeadroom, thresholds.machineShare, (h) => `Machine memory nearly used up: ${bytesOf(h)}`),
  nearLimit(
    descriptorHeadroom,
    thresholds.descriptorShare,
    (h) => `File descriptors near their limit: ${countsOf(h)}`,
  ),
  nearLimit(
    processCountHeadroom,
    thresholds.processShare,
    (h) => `Processes of the container near their limit: ${countsOf(h)}`,
  ),
  external,
  resident,
  manyHandles,
  manySocketsToOnePeer,
  closeWait,
  detachedContexts,
  highLoad,
  tlsChecksOff,
];

/** Alarms first, otherwise in the order of the rules. Pure. */
export function findUnusual(input: UnusualInput): UnusualFact[] {
  const found = rules.flatMap((rule) => rule(input) ?? []);
  return [...found.filter((f) => f.level === 'alarm'), ...found.filter((f) => f.level === 'notice')];
}
