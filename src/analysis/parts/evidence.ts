/** `evidence.json`, field by field: what others observed of the death of a process that couldn't write. */
import {
  type CoreObstacle,
  type CounterEvidence,
  coreObstacles,
  type EvidencePart,
  type MemoryEvidence,
  type MemoryPoint,
  type SentSignal,
} from '../../bundle/layout/evidence.ts';
import { asNumber, defined, type Fields } from './fields.ts';

export interface EvidenceFacts {
  foundBy?: EvidencePart['foundBy'];
  foundAt?: string;
  endedAt?: string;
  fate?: { because?: string; rebooted?: boolean; pidReused?: boolean };
  lastSeenAt?: string;
  startedAt?: string;
  exit?: NonNullable<EvidencePart['exit']>;
  lastGcs?: string[];
  signalsSent?: SentSignal[];
  memory?: MemoryEvidenceFacts;
  kernelLog?: string[];
  fatal?: { event?: string; trigger?: string };
  core?: { pattern?: string; path?: string; bytes?: number; reason?: string; obstacle?: CoreObstacle };
  journal?: { records?: number; lastAt?: string; torn?: boolean; heldSignals?: string[] };
  unfinishedBundle?: string;
}

export type MemoryEvidenceFacts = Partial<Omit<MemoryEvidence, 'cgroup' | 'system'>> & {
  cgroup?: Partial<NonNullable<MemoryEvidence['cgroup']>>;
  system?: Partial<MemoryEvidence['system']>;
};

export function readEvidence(part: Fields): EvidenceFacts {
  const fate = part.object('fate');
  const process = part.object('process');
  const fatal = part.object('fatal');
  const core = part.object('core');
  const journal = part.object('journal');
  return defined({
    foundBy: part.oneOf('foundBy', ['supervisor', 'next-start', 'sweep']),
    foundAt: part.text('foundAt'),
    endedAt: part.text('endedAt'),
    fate:
      fate &&
      defined({
        because: fate.text('because'),
        rebooted: fate.flag('rebooted'),
        pidReused: fate.flag('pidReused'),
      }),
    lastSeenAt: process?.text('lastSeenAt'),
    startedAt: process?.text('startedAt'),
    exit: readExit(part.object('exit')),
    lastGcs: part.texts('lastGcs'),
    signalsSent: part.list('signalsSent', readSentSignal),
    memory: readMemoryEvidence(part.object('memory')),
    kernelLog: part.texts('kernelLog'),
    fatal: fatal && defined({ event: fatal.text('event'), trigger: fatal.text('trigger') }),
    core:
      core &&
      defined({
        pattern: core.text('pattern'),
        path: core.text('path'),
        bytes: core.number('bytes'),
        reason: core.text('reason'),
        obstacle: core.oneOf('obstacle', coreObstacles),
      }),
    journal:
      journal &&
      defined({
        records: journal.number('records'),
        lastAt: journal.text('lastAt'),
        torn: journal.flag('torn'),
        heldSignals: journal.texts('heldSignals'),
      }),
    unfinishedBundle: part.text('unfinishedBundle'),
  });
}

function readExit(exit: Fields | undefined): EvidenceFacts['exit'] {
  return (
    exit &&
    defined({
      code: exit.number('code'),
      signal: exit.text('signal'),
      inferred: exit.flag('inferred'),
      byParent: exit.flag('byParent'),
    })
  );
}

function readSentSignal(sent: Fields): SentSignal | undefined {
  const name = sent.text('name');
  const by = sent.oneOf('by', ['passed-on', 'supervisor']);
  if (name === undefined || by === undefined) return undefined;
  return { name, by, at: sent.text('at') ?? '', ...defined({ reason: sent.text('reason') }) };
}

function readMemoryEvidence(memory: Fields | undefined): EvidenceFacts['memory'] {
  if (!memory) return undefined;
  const cgroup = memory.object('cgroup');
  const system = memory.object('system');
  return defined({
    heapLimitBytes: memory.number('heapLimitBytes'),
    cgroup:
      cgroup &&
      defined({
        path: cgroup.text('path'),
        maxBytes: cgroup.number('maxBytes'),
        peakBytes: cgroup.number('peakBytes'),
        currentBytes: cgroup.number('currentBytes'),
        oomKills: readCounter(cgroup.object('oomKills')),
      }),
    hostOomKills: readCounter(memory.object('hostOomKills')),
    system:
      system &&
      defined({ totalBytes: system.number('totalBytes'), availableBytes: system.number('availableBytes') }),
    history: memory.list('history', readPoint),
  });
}

function readCounter(counter: Fields | undefined): CounterEvidence | undefined {
  const before = counter?.number('before');
  const after = counter?.number('after');
  return before === undefined || after === undefined ? undefined : { before, after };
}

function readPoint(point: Fields): MemoryPoint | undefined {
  const at = point.text('at');
  if (at === undefined || Number.isNaN(Date.parse(at))) return undefined;
  const sizes = pointFields.map((name) => [name, asNumber(point.number(name))] as const);
  return { at, ...defined(Object.fromEntries(sizes)) };
}

const pointFields = [
  'rss',
  'heapUsed',
  'heapLimit',
  'external',
  'arrayBuffers',
  'cgroupCurrent',
  'cgroupMax',
  'loopDelayMs',
];
