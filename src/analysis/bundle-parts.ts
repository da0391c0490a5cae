/**
 * Reads all JSON parts of a bundle that the analysis uses, each with its own reader. Absent and malformed parts become gaps;
 * never throws. Knows which parts every bundle should have, so that missing ones are noticed.
 */
import { partNames, type RawFrame } from '../bundle/layout/bundle.ts';
import type { ProcessEvents } from '../model/account.ts';
import type { TestFacts } from '../model/tests.ts';
import type { Gap } from '../model/verdict.ts';
import { type AgentPartFacts, readAgent } from './parts/agent.ts';
import {
  type DriftFacts,
  readDrift,
  readHandlers,
  readLocals,
  readNativeModules,
  readPackages,
  readScripts,
  readSuspendedPart,
  readWorkerStacks,
} from './parts/code.ts';
import { type ErrorPartFacts, readError } from './parts/error.ts';
import { type EvidenceFacts, readEvidence } from './parts/evidence.ts';
import { Fields, PartFaults } from './parts/fields.ts';
import { type JournalFacts, readJournalFacts } from './parts/journal-events.ts';
import { type OriginPartFacts, readOrigin } from './parts/origin.ts';
import { type ProcessPartFacts, readProcess, readThreads } from './parts/process.ts';
import { readProcessEvents } from './parts/process-events.ts';
import {
  type EnvironmentPartFacts,
  type HandlesPartFacts,
  type HeapCensusFacts,
  type HeapProfileFacts,
  type MemoryPartFacts,
  readEnvironment,
  readHandles,
  readHeapCensus,
  readHeapProfile,
  readMemory,
} from './parts/surroundings.ts';
import { readTests } from './parts/tests.ts';
import { readTrigger, type TriggerFacts } from './parts/trigger.ts';

/** What the analysis needs of a bundle, implemented by the reader in src/bundle. The reading functions never throw. */
export interface AnalyzableBundle {
  readonly id: string;
  readonly path: string;
  readonly sealed: boolean;
  readonly head?: { createdAt?: string };
  readonly parts: readonly { name: string; bytes: number; sha256?: string; complete: boolean }[];
  readonly redactions?: readonly { rule: string; part: string; count: number }[];
  /** May grow while parts are read. */
  readonly gaps: readonly Gap[];
  readPart(name: string): Uint8Array | undefined;
  readJson(name: string): unknown;
  /** Decrypts the key of a sealed part; undefined without a matching identity. */
  unseal?(ageFile: Uint8Array): Uint8Array | undefined;
}

export interface BundleParts {
  trigger?: TriggerFacts;
  error?: ErrorPartFacts;
  tests?: TestFacts;
  origin?: OriginPartFacts;
  evidence?: EvidenceFacts;
  process?: ProcessPartFacts;
  memory?: MemoryPartFacts;
  heapProfile?: HeapProfileFacts;
  heapCensus?: HeapCensusFacts;
  handles?: HandlesPartFacts;
  environment?: EnvironmentPartFacts;
  agent?: AgentPartFacts;
  drift?: DriftFacts;
  processEvents?: ProcessEvents;
  /** Stack texts. */
  suspended?: string[];
  packages: ReturnType<typeof readPackages>;
  nativeModules: ReturnType<typeof readNativeModules>;
  threads: ReturnType<typeof readThreads>;
  scripts: ReturnType<typeof readScripts>;
  /** Where the program's listeners for the event are defined. */
  handlers?: RawFrame[];
  locals: ReturnType<typeof readLocals>;
  workerStacks: ReturnType<typeof readWorkerStacks>;
}

/** Parts that every bundle should contain; after an error, error.json too. */
const expected = [
  partNames.trigger,
  partNames.process,
  partNames.memory,
  partNames.handles,
  partNames.environment,
  partNames.packages,
];

export function readBundleParts(bundle: AnalyzableBundle): { parts: BundleParts; gaps: Gap[] } {
  const gaps: Gap[] = [];
  const read = <T>(name: string, reader: (part: Fields) => T): T | undefined => {
    const value = bundle.readJson(name);
    if (value === undefined) return undefined;
    const faults = new PartFaults(name);
    const fields = Fields.of(value, '', faults);
    const result = fields && reader(fields);
    gaps.push(...faults.gaps());
    return result;
  };
  const processEvents = read(partNames.processEvents, readProcessEvents);
  const recorded = processEvents ? {} : readRecorded(bundle, gaps);
  const process = read(partNames.process, readProcess);
  const optional = {
    trigger: read(partNames.trigger, readTrigger),
    error: read(partNames.error, readError),
    tests: read(partNames.tests, readTests),
    origin: read(partNames.origin, readOrigin) ?? recorded.origin,
    evidence: read(partNames.evidence, readEvidence),
    process: process && { ...process, ...recorded.commandLine },
    memory: read(partNames.memory, readMemory),
    heapProfile: read(partNames.heapProfile, readHeapProfile) ?? recorded.heapProfile,
    heapCensus: read(partNames.heapCensus, readHeapCensus),
    handles: read(partNames.handles, readHandles),
    environment: read(partNames.environment, readEnvironment),
    agent: read(partNames.agent, (part) => readAgent(part, partNames.agent)),
    drift: read(partNames.drift, readDrift),
    handlers: read(partNames.scripts, readHandlers),
    suspended: read(partNames.suspended, readSuspendedPart),
    processEvents: processEvents ?? recorded.processEvents,
  };
  const parts: BundleParts = {
    ...(Object.fromEntries(Object.entries(optional).filter(([, part]) => part)) as Partial<BundleParts>),
    packages: read(partNames.packages, readPackages) ?? [],
    nativeModules: read(partNames.nativeModules, readNativeModules) ?? [],
    threads: read(partNames.threads, readThreads) ?? [],
    scripts: read(partNames.scripts, readScripts) ?? [],
    locals: read(partNames.locals, readLocals) ?? [],
    workerStacks: read(partNames.workerStacks, readWorkerStacks) ?? [],
  };
  gaps.push(...(parts.agent?.gaps ?? []), ...missingParts(bundle, parts, gaps));
  return { parts, gaps };
}

/** Reads from the flight recorder what the process couldn't write as parts. */
function readRecorded(bundle: AnalyzableBundle, gaps: Gap[]): JournalFacts {
  const bytes = bundle.readPart(partNames.journal);
  const faults = new PartFaults(partNames.journal);
  const found = bytes ? readJournalFacts(bytes, faults, (ageFile) => bundle.unseal?.(ageFile)) : {};
  gaps.push(...faults.gaps());
  return found;
}

/** For bundles written by others after the death, or from outside, which observe less. */
const expectedFromOutside = [partNames.trigger, partNames.process];

export function isFromOutside({ trigger }: BundleParts): boolean {
  const kind = trigger?.kind;
  return kind === 'found-dead' || kind === 'supervised-exit' || kind === 'capture' || kind === 'silence';
}

/** Gaps for missing parts that no other gap explains. */
function missingParts(bundle: AnalyzableBundle, parts: BundleParts, found: readonly Gap[]): Gap[] {
  const { trigger } = parts;
  const thrown = trigger?.kind === 'uncaught-exception' || trigger?.kind === 'unhandled-rejection';
  const wanted: string[] = isFromOutside(parts)
    ? expectedFromOutside
    : thrown
      ? [...expected, partNames.error]
      : expected;
  const known = new Set([
    ...bundle.parts.map((part) => part.name),
    ...[...bundle.gaps, ...found].map((gap) => gap.part),
  ]);
  return wanted
    .filter((name) => !known.has(name))
    .map((part) => ({ part, reason: 'the bundle does not hold it, and does not say why' }));
}
