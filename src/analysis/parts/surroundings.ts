/** `memory.json`, `handles.json` and `environment.json`, field by field: the environment of the program. */
import type {
  EnvironmentEntry,
  EnvironmentPart,
  HandlesPart,
  HeapCensusPart,
  HeapProfilePart,
  MemoryPart,
} from '../../bundle/layout/bundle.ts';
import type { RequestAccount } from '../../model/origin.ts';
import { asNumber, defined, type Fields } from './fields.ts';
import { readRequest } from './origin.ts';

export interface MemoryPartFacts {
  usage?: Record<string, number>;
  heap?: Record<string, number>;
  system?: Partial<MemoryPart['system']>;
  mapped?: Partial<NonNullable<MemoryPart['mapped']>>;
  heapTier?: Partial<MemoryPart['heapTier']>;
}

export function readMemory(part: Fields): MemoryPartFacts {
  const system = part.object('system');
  const mapped = part.object('mapped');
  const tier = part.object('heapTier');
  return defined({
    usage: part.record('usage', asNumber),
    heap: part.record('heap', asNumber),
    system:
      system &&
      defined({ totalBytes: system.number('totalBytes'), availableBytes: system.number('availableBytes') }),
    mapped:
      mapped &&
      defined({
        mallocBytes: mapped.number('mallocBytes'),
        mallocArenas: mapped.number('mallocArenas'),
        stackBytes: mapped.number('stackBytes'),
        fileBytes: mapped.number('fileBytes'),
        otherBytes: mapped.number('otherBytes'),
      }),
    heapTier:
      tier &&
      defined({
        wanted: tier.text('wanted'),
        taken: tier.text('taken'),
        reason: tier.text('reason'),
        estimatedBytes: tier.number('estimatedBytes'),
        estimatedMs: tier.number('estimatedMs'),
      }),
  });
}

export type HeapProfileFacts = Partial<Omit<HeapProfilePart, 'growth'>> &
  Pick<HeapProfilePart, 'rows'> & {
    growth?: { fromBytes: number; toBytes: number; request: RequestAccount };
  };

export function readHeapProfile(part: Fields): HeapProfileFacts {
  const rows = part.list('rows', (row) => {
    const bytes = row.number('bytes');
    return bytes === undefined ? undefined : { bytes, stack: row.texts('stack') ?? [] };
  });
  const growth = part.object('growth');
  return {
    rows: rows ?? [],
    ...defined({
      growth: growth && readGrowth(growth),
      at: part.text('at'),
      usedBytes: part.number('usedBytes'),
      limitBytes: part.number('limitBytes'),
      sampledBytes: part.number('sampledBytes'),
    }),
  };
}

function readGrowth(part: Fields): HeapProfileFacts['growth'] {
  const [fromBytes, toBytes] = [part.number('fromBytes'), part.number('toBytes')];
  const request = part.object('request');
  if (fromBytes === undefined || toBytes === undefined || !request) return undefined;
  return { fromBytes, toBytes, request: readRequest(request) };
}

export type HeapCensusFacts = Omit<HeapCensusPart, 'ms'>;

/** Undefined without the total number of objects, which is needed for shares. */
export function readHeapCensus(part: Fields): HeapCensusFacts | undefined {
  const objects = part.number('objects');
  if (objects === undefined || objects <= 0) return undefined;
  const named = (row: Fields) => {
    const name = row.text('name');
    const count = row.number('count');
    return name === undefined || count === undefined ? undefined : { name, count };
  };
  const collections = part.list('collections', (row) => {
    const name = row.text('name');
    const entries = row.number('entries');
    return name === undefined || entries === undefined
      ? undefined
      : { name, entries, ...defined({ of: row.text('of'), at: row.text('at') }) };
  });
  const sample = part.object('sample');
  const lookedAt = sample?.number('lookedAt');
  return {
    objects,
    ...(sample && lookedAt !== undefined && { sample: { lookedAt, reason: sample.text('reason') ?? '' } }),
    classes: part.list('classes', named) ?? [],
    shapes: part.list('shapes', named) ?? [],
    collections: collections ?? [],
  };
}

export type HandlesPartFacts = Partial<HandlesPart>;

export function readHandles(part: Fields): HandlesPartFacts {
  return defined({
    busyWorkers: part.list('busyWorkers', (worker) => {
      const [threadId, lookedMs] = [worker.number('threadId'), worker.number('lookedMs')];
      const [activeMs, inAllMs] = [worker.number('activeMs'), worker.number('inAllMs')];
      if (threadId === undefined || lookedMs === undefined) return undefined;
      if (activeMs === undefined || inAllMs === undefined) return undefined;
      return { threadId, lookedMs, activeMs, inAllMs, ...defined({ name: worker.text('name') }) };
    }),
    resources: part.record('resources', asNumber),
    descriptors: part.list('descriptors', (one) => {
      const fd = one.number('fd');
      const kind = one.text('kind');
      return fd === undefined || kind === undefined
        ? undefined
        : { fd, kind, target: one.text('target') ?? '' };
    }),
    descriptorCount: part.number('descriptorCount'),
    sockets: part.list('sockets', (socket) => {
      const protocol = socket.text('protocol');
      return protocol === undefined
        ? undefined
        : {
            protocol,
            ...defined({
              fd: socket.number('fd'),
              local: socket.text('local'),
              remote: socket.text('remote'),
              state: socket.text('state'),
            }),
          };
    }),
    timers: part.list('timers', (timer) => {
      const kind = timer.text('kind');
      const count = timer.number('count');
      return kind === undefined || count === undefined ? undefined : { kind, count };
    }),
    children: part.list('children', (child) => {
      const pid = child.number('pid');
      return pid === undefined ? undefined : { pid, command: child.text('command') ?? '' };
    }),
    creators: part.list('creators', (creator) => {
      const kind = creator.text('kind');
      const count = creator.number('count');
      return kind === undefined || count === undefined
        ? undefined
        : { kind, count, stack: creator.text('stack') ?? '' };
    }),
  });
}

export interface EnvironmentPartFacts {
  variables?: Record<string, EnvironmentEntry>;
  os?: Partial<EnvironmentPart['os']>;
}

export function readEnvironment(part: Fields): EnvironmentPartFacts {
  const os = part.object('os');
  return defined({
    variables: part.objects('variables', (variable): EnvironmentEntry | undefined => {
      const value = variable.text('value');
      if (value !== undefined) return { value };
      const withheld = variable.text('withheld');
      return withheld === undefined ? undefined : { withheld };
    }),
    os:
      os &&
      defined({
        type: os.text('type'),
        release: os.text('release'),
        version: os.text('version'),
        hostname: os.text('hostname'),
        uptimeSeconds: os.number('uptimeSeconds'),
        loadAverage: os.numbers('loadAverage'),
        cpus: os.number('cpus'),
      }),
  });
}
