/**
 * Writes the bundle of a process that died without writing one: from its session, what its parent observed, and what the
 * kernel shows. The bundle has the session's id.
 */
import {
  bundleSchemaVersion,
  type ManifestGap,
  type ProcessPart,
  partNames,
  type TriggerPart,
} from '../../bundle/layout/bundle.ts';
import type { CoreEvidence, EvidencePart } from '../../bundle/layout/evidence.ts';
import { type BundleWriter, startBundle } from '../../bundle/write/writer.ts';
import {
  journalBeginsAfterMs,
  type SessionFacts,
  type SessionFinding,
} from '../../journal/layout/session.ts';
import { lastWriteMs } from '../../journal/read/session.ts';
import { publicName } from '../../redaction/public-name.ts';
import { version } from '../../version.ts';
import { classifyDeath } from '../evidence/classify-death.ts';
import { readFatalReport } from '../evidence/diagnostics.ts';
import { gatherEvidence, type Witness } from '../evidence/evidence.ts';
import { digestJournal, type JournalDigest } from '../evidence/journal-digest.ts';
import { type CorePart, writeCorePart } from '../native/core-part.ts';
import { splitCommand } from '../run/command-name.ts';
import { sealProven } from '../scrub/proven-scrubber.ts';
import type { ScrubbedReport } from '../scrub/scrub-report.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import { writeHeapPart } from './dead-heap.ts';
import { describeEnvironment } from './environment-part.ts';
import type { FinishOptions } from './finish-options.ts';
import { writeJournalPart } from './journal-part.ts';
import { findUnfinished, lastBundleMs } from './own-bundles.ts';

export interface DeadSession {
  facts: SessionFacts;
  finding: SessionFinding;
}

export interface SealedBundle {
  path: string;
  verdictKind: string;
  id: string;
}

/** Throws `unwritable`; the incomplete bundle is then discarded. */
export function writeDeadBundle(options: FinishOptions, session: DeadSession): SealedBundle {
  const { dir, lock, more = {} } = options;
  const counted = takeCounts(options.scrubber);
  const parts = gatherParts(options, session);
  const { facts, verdictKind, at } = parts;
  const { program, id } = facts;
  const bundle = startBundle({ dir, program, verdictKind, id, at, writer: version, ...(lock && { lock }) });
  try {
    bundle.countRedactions(partNames.process, counted);
    bundle.countRedactions(partNames.report, takeCounts(options.scrubber));
    addGaps(bundle, options, parts);
    writeParts(bundle, parts);
    writeEnvironment(bundle, options.scrubber, parts.part);
    if (options.heap) writeHeapPart(bundle, options.heap);
    for (const [name, value] of Object.entries(more)) bundle.writePart(name, JSON.stringify(value));
    return { path: sealProven(bundle, options.scrubber), verdictKind, id };
  } catch (error) {
    bundle.discard();
    throw error;
  }
}

function gatherParts(options: FinishOptions, { facts, finding }: DeadSession): Parts {
  const { dir, folder, witness, scrubber } = options;
  const journal = digestJournal(folder);
  const diagnosticsOf = options.diagnosticsOf ?? facts.id;
  const report = readFatalReport(diagnosticsOf, facts.process.pid, (text) => scrubber.text(text));
  const unfinishedBundle = findUnfinished(dir, facts);
  const seen = { folder, facts, finding, journal, report, unfinishedBundle };
  const core = witness.core && redactCore(witness.core, scrubber);
  const { part, gaps } = gatherEvidence({ ...witness, ...(core && { core }) }, seen);
  if (witness.exit && report?.atMs !== undefined)
    part.endedAt = endOf(witness, report, Date.now()).toISOString();
  const lastSeenMs = [lastWriteMs(folder), Date.parse(facts.startedAt) || 0, lastBundleMs(dir, facts)];
  return {
    facts,
    part,
    verdictKind: kindOf(part, options.core),
    at: endOf(witness, report, Math.max(...lastSeenMs)),
    folder,
    journal,
    report,
    gaps,
    ...(options.core && { core: { part: options.core, scrubber } }),
  };
}

/** Its paths contain the program's folder. */
function redactCore(core: CoreEvidence, scrubber: Scrubber): CoreEvidence {
  const { path, reason } = core;
  return {
    ...core,
    ...(path !== undefined && { path: scrubber.text(path) }),
    ...(reason !== undefined && { reason: scrubber.text(reason) }),
  };
}

/**
 * The time of death. If the exit was observed it is that time, or the earlier one of the fatal report, because dumping a core
 * delays the exit. Otherwise it is the last sign of life.
 */
function endOf({ exit, endedAt }: Witness, report: ScrubbedReport | undefined, lastSeenMs: number): Date {
  if (!exit) return new Date(lastSeenMs);
  const seenMs = endedAt === undefined ? Date.now() : Date.parse(endedAt);
  return new Date(Math.min(seenMs, report?.atMs ?? seenMs));
}

function addGaps(
  bundle: BundleWriter,
  { lock, coreGap, scrubber }: FinishOptions,
  { part, journal }: Parts,
): void {
  if (lock) addClearGaps(bundle, part, journal?.hasClearContent === true);
  if (coreGap !== undefined) bundle.addGap({ part: partNames.miniCore, reason: scrubber.text(coreGap) });
}

/** Records what was, or still is, unencrypted on the disk although the bundle is encrypted. */
function addClearGaps(bundle: BundleWriter, { core }: EvidencePart, hasJournal: boolean): void {
  if (hasJournal)
    bundle.addGap({
      part: partNames.journal,
      reason: 'until this bundle was sealed it lay in the session’s folder, redacted but not encrypted',
    });
  if (core?.path !== undefined)
    bundle.addGap({
      part: partNames.evidence,
      reason: 'the core file that it names is neither redacted nor encrypted',
      lookedFor: core.path,
    });
}

/** A signal can have many causes, and the core may show a more precise one, for example that another process sent it. */
function kindOf(evidence: EvidencePart, core: CorePart | undefined): string {
  const kind = classifyDeath(evidence);
  const known = core?.verdictKind;
  return (kind === 'abort' || kind === 'native-crash') && known !== undefined && known !== 'snapshot'
    ? known
    : kind;
}

function takeCounts(scrubber: Scrubber): Map<string, number> {
  const counts = scrubber.counts();
  scrubber.resetCounts();
  return counts;
}

interface Parts {
  facts: SessionFacts;
  part: EvidencePart;
  verdictKind: string;
  at: Date;
  folder: string;
  journal: JournalDigest | undefined;
  report: ScrubbedReport | undefined;
  gaps: ManifestGap[];
  core?: { part: CorePart; scrubber: Scrubber };
}

function writeParts(bundle: BundleWriter, parts: Parts): void {
  const { journal, report } = parts;
  bundle.writePart(partNames.trigger, JSON.stringify(describeTrigger(bundle.id, parts)));
  bundle.writePart(partNames.evidence, JSON.stringify(parts.part));
  if (journal) writeJournalPart(bundle, parts.folder, journal);
  else if ((uptimeOf(parts).uptimeMs ?? Number.POSITIVE_INFINITY) >= journalBeginsAfterMs)
    bundle.addGap({
      part: partNames.journal,
      reason:
        'the process kept no journal: the preload begins one at the first sign of an agent, or after two seconds',
      lookedFor: publicName(parts.folder),
    });
  bundle.writePart(partNames.process, JSON.stringify(describeProcessPart(parts)));
  if (journal?.heapProfile) bundle.writePart(partNames.heapProfile, JSON.stringify(journal.heapProfile));
  if (report) bundle.writePart(partNames.report, report.text);
  if (parts.core) writeCorePart(bundle, parts.core.part, parts.core.scrubber);
  for (const gap of parts.gaps) bundle.addGap(gap);
}

function writeEnvironment(bundle: BundleWriter, scrubber: Scrubber, evidence: EvidencePart): void {
  const environment = describeEnvironment(evidence, scrubber);
  if (environment) bundle.writePart(partNames.environment, JSON.stringify(environment));
  bundle.countRedactions(partNames.environment, takeCounts(scrubber));
}

function describeTrigger(id: string, parts: Parts): TriggerPart {
  const { facts, part, verdictKind, at } = parts;
  const { exit } = part;
  return {
    id,
    schemaVersion: bundleSchemaVersion,
    kind: part.foundBy === 'supervisor' ? 'supervised-exit' : 'found-dead',
    verdictKind,
    at: at.toISOString(),
    program: facts.program,
    pid: facts.process.pid,
    threadId: 0,
    isMainThread: true,
    nodeVersion: nodeVersionOf(parts),
    ...(exit?.code !== undefined && { exitCode: exit.code }),
    handledByHost: false,
  };
}

/** What the process recorded at its start; otherwise what the session file contains. */
function describeProcessPart(parts: Parts): Omit<ProcessPart, 'uptimeMs'> & Partial<ProcessPart> {
  const { facts, journal } = parts;
  const own = journal?.processFacts as Partial<ProcessPart> | undefined;
  return {
    pid: facts.process.pid,
    parentPid: facts.process.parentPid,
    title: facts.program,
    ...splitCommand(facts.command, facts.cwd),
    execPath: facts.command[0] ?? '',
    cwd: facts.cwd,
    versions: { node: nodeVersionOf(parts).replace(/^v/, '') },
    platform: process.platform,
    arch: process.arch,
    startedAt: facts.startedAt,
    threadId: 0,
    resourceUsage: {},
    limits: {},
    cgroup: {},
    ...own,
    ...uptimeOf(parts),
  };
}

/** Unknown for a program that was found dead and kept no journal: it may have lived for hours. */
function uptimeOf({ facts, part, journal, at }: Parts): { uptimeMs?: number } {
  if (part.exit === undefined && !journal) return {};
  return { uptimeMs: Math.max(0, at.getTime() - Date.parse(facts.startedAt)) };
}

/** The program's own record has priority over the session, which a supervisor may have created for any command. */
function nodeVersionOf({ facts, journal, report, core }: Parts): string {
  const own = (journal?.processFacts as Partial<ProcessPart> | undefined)?.versions?.['node'];
  return typeof own === 'string'
    ? `v${own}`
    : (report?.nodeVersion ?? core?.part.nodeVersion ?? facts.nodeVersion);
}
