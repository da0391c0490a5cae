/**
 * Turns the session of a process that died without a word into a sealed bundle: the coroner. The bundle bears the
 * session's id, so that a finisher that was itself killed half-way leaves nothing twice. What the session left is
 * removed only when the bundle is sealed.
 */
import { renameSync, rmSync } from 'node:fs';
import type { Lock } from '../bundle/age-key.ts';
import {
  bundleSchemaVersion,
  type ManifestGap,
  type ProcessPart,
  partNames,
  type TriggerPart,
} from '../bundle/layout.ts';
import type { EvidencePart } from '../bundle/layout-evidence.ts';
import { listBundles } from '../bundle/list.ts';
import { openBundle } from '../bundle/reader.ts';
import { writeSequel } from '../bundle/write-sequel.ts';
import { type BundleWriter, startBundle } from '../bundle/writer.ts';
import { AgentdumpError } from '../errors.ts';
import type { SessionFacts, SessionFinding } from '../journal/layout-session.ts';
import { classifySession, lastWriteMs, readSession } from '../journal/reader-session.ts';
import { version } from '../version.ts';
import { classifyDeath } from './classify-death.ts';
import { type CorePart, writeCorePart } from './core-part.ts';
import { readFatalReport, removeDiagnosticsFolder } from './diagnostics.ts';
import { gatherEvidence, type Witness } from './evidence.ts';
import { removeExpectedCore } from './expected-core.ts';
import { tryLockSession, unlockSession } from './finisher-lock.ts';
import { digestJournal, type JournalDigest } from './journal-digest.ts';
import { writeJournalPart } from './journal-part.ts';
import { sealProven } from './proven-scrubber.ts';
import type { ScrubbedReport } from './scrub-report.ts';
import type { Scrubber } from './scrubber.ts';

export interface FinishOptions {
  /** The dump folder. */
  dir: string;
  /** The session's folder below it. */
  folder: string;
  witness: Witness;
  scrubber: Scrubber;
  /** The command as a parent knows it, redacted; instead of the session's. */
  command?: string[];
  /** With it the bundle is an age file. */
  lock?: Lock;
  /** The kernel's core, cut down. */
  core?: CorePart;
  /** Why there is none, although the kernel left one. */
  coreGap?: string;
  /** Whose private folder holds Node's fatal report, when it is not this session's own. */
  diagnosticsOf?: string;
  /** Further parts that the caller knows, by name, redacted. */
  more?: Record<string, unknown>;
}

export type FinishResult =
  | { outcome: 'sealed'; path: string; verdictKind: string; id: string }
  /** There was nothing to explain, or it is explained already: the session is gone. */
  | { outcome: 'cleared'; bundle?: string }
  /** It lives, lives elsewhere perhaps, or somebody else is at it. */
  | { outcome: 'left'; because: string };

/** Throws `unwritable` when the bundle can't be written, and MalformedInput for a session file that is none. */
export function finishSession(options: FinishOptions): FinishResult {
  const { folder } = options;
  if (!tryLockSession(folder)) return { outcome: 'left', because: 'another finisher is at it' };
  try {
    const facts = { ...readSession(folder), ...(options.command && { command: options.command }) };
    const finding = classifySession(folder, facts);
    if (finding.fate === 'alive' || finding.fate === 'elsewhere')
      return { outcome: 'left', because: finding.because };
    const written = facts.bundle ?? findSealed(options.dir, facts.id);
    // A parent knows better than the goodbye: a native crash may come after it, in the tear-down.
    const hasEnded = finding.fate === 'ended' && !options.witness.exit;
    const result: FinishResult =
      hasEnded || written !== undefined
        ? { outcome: 'cleared', ...(written !== undefined && { bundle: written }) }
        : writeBundle(options, facts, finding);
    removeExpectedCore(folder);
    noteDeaths(options.dir, facts);
    removeSession(folder, facts.id);
    return result;
  } finally {
    unlockSession(folder);
  }
}

function writeBundle(options: FinishOptions, facts: SessionFacts, finding: SessionFinding): FinishResult {
  const { dir, folder, witness, scrubber } = options;
  const ofCommand = takeCounts(scrubber);
  const journal = digestJournal(folder);
  const report = readFatalReport(options.diagnosticsOf ?? facts.id, facts.process.pid, (text) =>
    scrubber.text(text),
  );
  const unfinishedBundle = findUnfinished(dir, facts);
  const { part, gaps } = gatherEvidence(witness, {
    folder,
    facts,
    finding,
    journal,
    report,
    unfinishedBundle,
  });
  const verdictKind = kindOf(part, options.core);
  const lastSeenMs = Math.max(
    lastWriteMs(folder),
    Date.parse(facts.startedAt) || 0,
    lastBundleMs(dir, facts),
  );
  // Who saw the exit knows the time; else the program was alive when it last wrote.
  const at = witness.exit ? new Date() : new Date(lastSeenMs);
  const bundle = startBundle({
    dir,
    program: facts.program,
    verdictKind,
    id: facts.id,
    at,
    writer: version,
    ...(options.lock && { lock: options.lock }),
  });
  try {
    if (options.lock) addClearGaps(bundle, part, journal?.hasClearContent === true);
    bundle.countRedactions(partNames.process, ofCommand);
    bundle.countRedactions(partNames.report, takeCounts(scrubber));
    if (options.coreGap !== undefined) bundle.addGap({ part: partNames.miniCore, reason: options.coreGap });
    const core = options.core && { part: options.core, scrubber };
    writeParts(bundle, {
      ...(core && { core }),
      facts,
      part,
      verdictKind,
      at,
      folder,
      journal,
      report,
      gaps,
    });
    for (const [name, value] of Object.entries(options.more ?? {}))
      bundle.writePart(name, JSON.stringify(value));
    return { outcome: 'sealed', path: sealProven(bundle), verdictKind, id: facts.id };
  } catch (error) {
    bundle.discard();
    throw error;
  }
}

/** What lay, or still lies, on the disk in the clear although the bundle is encrypted. */
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

/** An abort is a word for many things, and the core may know the better one. */
function kindOf(evidence: EvidencePart, core: CorePart | undefined): string {
  const kind = classifyDeath(evidence);
  const known = core?.verdictKind;
  return kind === 'abort' && known !== undefined && known !== 'snapshot' ? known : kind;
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
  else
    bundle.addGap({
      part: partNames.journal,
      reason:
        'the process kept no journal: the preload begins one at the first sign of an agent, or after two seconds',
      lookedFor: parts.folder,
    });
  bundle.writePart(partNames.process, JSON.stringify(describeProcessPart(parts)));
  if (journal?.heapProfile) bundle.writePart(partNames.heapProfile, JSON.stringify(journal.heapProfile));
  if (report) bundle.writePart(partNames.report, report.text);
  if (parts.core) writeCorePart(bundle, parts.core.part, parts.core.scrubber);
  for (const gap of parts.gaps) bundle.addGap(gap);
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

/** What the process said of itself at its start, where it did; else what the session file knows. */
function describeProcessPart(parts: Parts): Omit<ProcessPart, 'uptimeMs'> & Partial<ProcessPart> {
  const { facts, journal } = parts;
  const own = journal?.processFacts as Partial<ProcessPart> | undefined;
  return {
    pid: facts.process.pid,
    parentPid: facts.process.parentPid,
    title: facts.program,
    argv: facts.command,
    execArgv: [],
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

/** Nobody knows it of a program that was found dead and had kept no journal: it may have lived on for hours. */
function uptimeOf({ facts, part, journal, at }: Parts): { uptimeMs?: number } {
  if (part.exit === undefined && !journal) return {};
  return { uptimeMs: Math.max(0, at.getTime() - Date.parse(facts.startedAt)) };
}

/** The program's own word before that of the session, which a supervisor may have opened for any command. */
function nodeVersionOf({ facts, journal, report, core }: Parts): string {
  const own = (journal?.processFacts as Partial<ProcessPart> | undefined)?.versions?.['node'];
  return typeof own === 'string'
    ? `v${own}`
    : (report?.nodeVersion ?? core?.part.nodeVersion ?? facts.nodeVersion);
}

/**
 * Name of a finished bundle that bears the session's id: a finisher before us died after sealing it. An encrypted one
 * shows the id's first half only, and may lack its last parts; it is not written over.
 */
function findSealed(dir: string, id: string): string | undefined {
  const finished = new Set(['sealed', 'packed', 'encrypted']);
  const similar = listBundles(dir).filter((one) => one.shortId === id.slice(0, 8) && finished.has(one.state));
  return similar.find((one) => one.state === 'encrypted' || idOf(one.path) === id)?.name;
}

function idOf(path: string): string {
  const bundle = openBundle(path);
  bundle.close();
  return bundle.id;
}

/** A bundle that the process itself began in its lifetime, and did not seal. */
function findUnfinished(dir: string, facts: SessionFacts): string | undefined {
  return listBundles(dir).find(
    (bundle) =>
      bundle.state === 'partial' &&
      bundle.program === facts.program &&
      bundle.at >= facts.startedAt &&
      bundle.shortId !== facts.id.slice(0, 8),
  )?.name;
}

/** Bundles of its lifetime that it wrote in a stall or as a snapshot: it was alive a moment later, and the death is newer. */
function lastBundleMs(dir: string, facts: SessionFacts): number {
  const own = listBundles(dir).find(
    ({ state, program, at, path }) =>
      state === 'sealed' &&
      program === facts.program &&
      at >= facts.startedAt &&
      triggerOf(path)?.pid === facts.process.pid,
  );
  return own ? Date.parse(own.at) + 1 : 0;
}

function triggerOf(path: string): TriggerPart | undefined {
  const bundle = openBundle(path);
  const trigger = bundle.readJson<TriggerPart>(partNames.trigger);
  bundle.close();
  return trigger;
}

/** Of its stalls that nobody saw end. */
function noteDeaths(dir: string, facts: SessionFacts): void {
  for (const { state, at, path, sequel } of listBundles(dir)) {
    if (at < facts.startedAt) return;
    if (state !== 'sealed' || sequel) continue;
    const trigger = triggerOf(path);
    if (trigger?.pid === facts.process.pid && trigger.kind === 'stall')
      writeSequel(path, { event: 'died', at: new Date().toISOString() });
  }
}

/** It loses its name first, so that nobody finds half of it. */
function removeSession(folder: string, id: string): void {
  const doomed = `${folder}.removed`;
  try {
    renameSync(folder, doomed);
    rmSync(doomed, { recursive: true, force: true });
    removeDiagnosticsFolder(id);
  } catch (cause) {
    throw new AgentdumpError(
      'unwritable',
      `the session can't be removed from ${folder}`,
      { path: folder },
      cause,
    );
  }
}
