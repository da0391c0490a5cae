/**
 * The account of a bundle: reads its parts, joins them into the model, and computes verdict and signature. Whatever can't be
 * read becomes a gap; the bundle has already been opened, so nothing is thrown.
 */
import { partNames } from '../bundle/layout/bundle.ts';
import type { Sequel } from '../bundle/layout/sequel.ts';
import { openBundle } from '../bundle/read/reader.ts';
import { readSequel } from '../bundle/read/sequel.ts';
import { type Account, accountSchema } from '../model/account.ts';
import { culpritTest } from '../model/tests.ts';
import type { Frame } from '../model/thread.ts';
import type { Gap, Verdict } from '../model/verdict.ts';
import { settleToolCalls } from './agent/calls/tool-outcomes.ts';
import { findFailures } from './agent/failures/failures.ts';
import { readAgentState } from './agent/read.ts';
import { withoutOthersCalls } from './agent/whose-work.ts';
import { allocationSuspects } from './allocations.ts';
import { findBeforeEnd } from './before-end/before-end.ts';
import { type AnalyzableBundle, type BundleParts, isFromOutside, readBundleParts } from './bundle-parts.ts';
import { censusClasses, censusSuspects } from './census.ts';
import { readCalls } from './joins/calls.ts';
import { continuedStack } from './joins/continued-stack.ts';
import { joinCoreMemory, joinCoreThreads, readCoreFacts } from './joins/core-facts.ts';
import { type FrameReader, joinAbortReasons, joinErrorFacts } from './joins/error-facts.ts';
import { type HeapFacts, readHeapFacts } from './joins/heap-facts.ts';
import { readPrintedError } from './joins/printed-error.ts';
import {
  joinEnvironmentFacts,
  joinMemoryFacts,
  joinProcessFacts,
  joinSignalFacts,
} from './joins/process-facts.ts';
import { readStartedCalls } from './joins/started-calls.ts';
import { readPassedAwaits, readSuspended } from './joins/suspended.ts';
import { addLocals, joinThreads, mapWorkers } from './joins/threads.ts';
import { readThrownPlaces } from './joins/thrown-value.ts';
import { unreadPlace } from './joins/unread-place.ts';
import { joinModules } from './modules/join-modules.ts';
import {
  addChildVerdicts,
  besides,
  findBundlesBefore,
  joinGiven,
  joinHang,
  joinRequest,
  joinUnfinished,
} from './other-bundles.ts';
import { defined } from './parts/fields.ts';
import { citeInstead, fillFromReport } from './report-surroundings.ts';
import { computeSignature } from './signature.ts';
import { type StackInput, StackReconstructor } from './stacks/reconstruct.ts';
import { explainByAgent } from './verdict/additions/agent-failure.ts';
import { explainByChild } from './verdict/additions/by-child.ts';
import { explainByOrigin } from './verdict/additions/by-origin.ts';
import { sayWhereCoreIs } from './verdict/additions/core-place.ts';
import { markFiller } from './verdict/additions/filled-by.ts';
import { sayUnheardTools } from './verdict/additions/unheard-tools.ts';
import type { VerdictFacts } from './verdict/facts.ts';
import { findRequestedOnStack } from './verdict/in-flight.ts';
import { reachVerdict } from './verdict/reach-verdict.ts';

export interface AnalyzeOptions {
  /** Lines of code on each side of a frame's position. Default: 2. */
  contextLines?: number;
  /** Read only the bundle's own parts. Set for bundles of children, so that no chain of them is followed. */
  alone?: boolean;
}

/** Reads all required parts; the caller opens and closes the bundle. */
export async function analyzeBundle(
  bundle: AnalyzableBundle,
  options: AnalyzeOptions = {},
): Promise<Account> {
  const read = readBundleParts(bundle);
  const { gaps } = read;
  const { parts, replaced } = isFromOutside(read.parts)
    ? fillFromReport(read.parts, bundle.readPart(partNames.report))
    : { ...read, replaced: new Set<string>() };
  const about = joinBundle(bundle, parts);
  if (!options.alone) await addChildVerdicts(bundle.path, parts.processEvents, verdictOfChild);
  const account = await makeAccount(
    { parts, gaps, knownGaps: bundle.gaps, about, bundle, readPart: (name) => bundle.readPart(name) },
    options,
  );
  if (!options.alone) await addUnfinished(bundle.path, parts, account);
  if (!options.alone) await addHangs(bundle.path, parts, account);
  if (!options.alone) await addGivenError(bundle.path, parts, account);
  return replaced.size ? citeInstead(account, (part) => replaced.has(part), partNames.report) : account;
}

async function verdictOfChild(path: string, id: string): Promise<Verdict | undefined> {
  const child = await readOther(path);
  return child?.bundle?.id === id ? child.verdict : undefined;
}

/** Undefined if it was removed or is locked. */
async function readOther(path: string | undefined): Promise<Account | undefined> {
  if (path === undefined) return undefined;
  try {
    const bundle = openBundle(path);
    try {
      return await analyzeBundle(bundle, { alone: true });
    } finally {
      bundle.close();
    }
  } catch {
    return undefined;
  }
}

/** A handler threw: the error that it had been given is in a bundle of its own. */
async function addGivenError(path: string, { trigger }: BundleParts, account: Account): Promise<void> {
  const name = trigger?.thrownBy?.bundle;
  const given = name === undefined ? undefined : (await readOther(besides(path, name)))?.verdict;
  if (name !== undefined && given && account.verdict)
    account.verdict = joinGiven(account.verdict, given, name);
}

/** Hangs come first in `beforeEnd`, since they describe the state of the process. */
async function addHangs(path: string, { evidence }: BundleParts, account: Account): Promise<void> {
  const { verdict } = account;
  if (!verdict) return;
  const isEndSeen = !evidence || evidence.exit !== undefined;
  const { facts, ongoing, asked } = await findBundlesBefore(path, account, isEndSeen, readOther);
  if (facts.length > 0) account.verdict = { ...verdict, beforeEnd: [...facts, ...(verdict.beforeEnd ?? [])] };
  if (asked) joinRequest(account, asked);
  if (ongoing) joinHang(account, ongoing);
}

/**
 * Kinds of a process that was interrupted while writing its bundle: the verdict that it had begun to write is the real one.
 */
const cutShort = new Set(['killed', 'terminated', 'unknown']);

async function addUnfinished(path: string, { evidence }: BundleParts, account: Account): Promise<void> {
  const { verdict } = account;
  if (!evidence?.unfinishedBundle || !verdict || !cutShort.has(verdict.kind)) return;
  const begun = await readOther(besides(path, evidence.unfinishedBundle));
  if (!begun?.verdict || begun.verdict.kind === 'unknown' || begun.verdict.kind === 'snapshot') return;
  account.verdict = joinUnfinished(verdict, begun.verdict);
  account.error ??= begun.error as NonNullable<Account['error']>;
  account.threads ??= begun.threads as NonNullable<Account['threads']>;
  if (account.error === undefined) delete account.error;
  if (account.threads === undefined) delete account.threads;
  const signature = computeSignature(account);
  if (signature) account.signature = signature;
}

export interface AccountSources {
  parts: BundleParts;
  /** Gaps found so far; more are added. */
  gaps: Gap[];
  /** Gaps of the bundle's reader, which may grow while parts are read. */
  knownGaps: readonly Gap[];
  about?: Account['bundle'];
  /** The bundle, for the agent's records, the heap and the core. */
  bundle?: AnalyzableBundle;
  readPart(name: string): Uint8Array | undefined;
  /** The event named by a diagnostic report. */
  reportEvent?: string | undefined;
}

/** Joins parts from any source into an account with its verdict. */
export async function makeAccount(sources: AccountSources, options: AnalyzeOptions = {}): Promise<Account> {
  const { parts, gaps } = sources;
  const heap = sources.bundle && (await readHeapFacts(sources.bundle, gaps));
  const agent = joinAgent(sources, heap?.candidates);
  const stacks = await readStacks(sources, options, agent);
  const process = joinProcessFacts(parts);
  const { modules, unusual } = joinModules(parts);
  const core = sources.bundle && (await readCoreFacts(sources.bundle, gaps));
  const native = modules.native.length ? modules.native : (core?.modules?.native ?? []);
  const account: VerdictFacts['account'] = {
    schema: accountSchema,
    ...defined({
      bundle: sources.about,
      process,
      error: stacks.error,
      signal: core?.signal ?? joinSignalFacts(parts),
      threads: joinCoreThreads(
        joinThreads(parts, stacks.error?.frames ?? stacks.unsettled ?? stacks.exit, stacks.workers),
        core,
      ),
      suspended: core?.suspended ?? stacks.suspended,
      modules: modules.packages.length || native.length ? { ...modules, native } : undefined,
      agent,
      memory: joinCoreMemory(joinMemory(sources, heap), core),
      environment: joinEnvironmentFacts(parts, process, unusual),
      happenings: parts.processEvents,
      ...joinOrigin(parts),
    }),
    gaps: uniqueGaps([...sources.knownGaps, ...gaps]),
  };
  addFailures(account);
  findRequestedOnStack(account);
  const { error, origin: _origin, ...facts } = parts;
  const considered: VerdictFacts = {
    ...facts,
    account,
    promiseFrames: stacks.promise,
    timeLimits: stacks.timeLimits,
    workerStarts: stacks.workerStarts,
    ...defined({
      topLevelAwaits: stacks.awaits,
      failedStdio: error?.failedStdio,
      emitter: stacks.emitter,
      thrownAt: stacks.thrownAt,
      passedAt: stacks.passedAt,
      passedThrough: stacks.passedThrough,
      passedBy: stacks.passedBy,
      startedCalls: stacks.startedCalls,
      printed: stacks.printed,
      listenFrames: stacks.listenFrames,
      handlerFrames: stacks.handlerFrames,
      abortReasons: stacks.abortReasons,
      syntaxPlace: error?.place,
      thrownType: error?.error?.isError === false ? error.error.type : undefined,
      reportEvent: sources.reportEvent,
      core: core?.verdict,
    }),
  };
  const cause = reachVerdict(considered);
  markFiller(cause, considered);
  const reached = explainByOrigin(cause, considered);
  const byAgent = explainByChild(explainByAgent(reached, account.agent), considered);
  const explained = sayUnheardTools(byAgent, considered, parts.packages);
  const beforeEnd = findBeforeEnd(account, parts.trigger);
  const told = sayWhereCoreIs(explained, parts.evidence?.core?.path);
  const verdict = beforeEnd.length ? { ...told, beforeEnd } : told;
  const signature = computeSignature({ ...account, verdict });
  return { ...account, verdict, ...defined({ signature }) };
}

/** Reads all stacks with one reconstructor, so that each map is opened once. */
async function readStacks(
  { parts, gaps, readPart }: AccountSources,
  options: AnalyzeOptions,
  agent: Account['agent'],
) {
  const appRoot = parts.packages.find((p) => p.isProgram)?.path ?? parts.process?.cwd;
  const stacks = new StackReconstructor({
    scripts: parts.scripts,
    readPart,
    ...defined({ appRoot, contextLines: options.contextLines }),
  });
  const read: FrameReader = async (input) => {
    try {
      return await stacks.reconstruct(input);
    } catch (error) {
      gaps.push({ part: 'error.json', reason: `a stack could not be read: ${(error as Error).message}` });
      return [];
    }
  };
  try {
    const textFrames = async (stackText: string | undefined): Promise<Frame[]> =>
      stackText === undefined ? [] : read({ stackText });
    const error = await joinErrorFacts(parts, read, gaps);
    const thrownAt = await readThrownPlaces(parts, error, readPart, read);
    const frames = error?.frames && addLocals(error.frames, parts.locals);
    const emitter = parts.error?.emitter;
    for (const abort of agent?.aborts ?? []) abort.frames = await textFrames(abort.stackText);
    const begun = continuedStack(parts.error?.error) ?? parts.error?.begun;
    const { timeLimits, workerStarts } = await readCalls(error, parts, readPart, read, agent?.aborts);
    const unread = await textFrames(unreadPlace(parts.error?.error));
    const startedCalls = await readStartedCalls(parts, error, readPart, read);
    const passed = await readPassedAwaits(parts, error, readPart, read);
    const [likelyThrown = []] = [
      thrownAt?.giving ?? [],
      timeLimits,
      workerStarts,
      passed.passedThrough.slice(-1),
      passed.passedAt,
      startedCalls?.frames ?? [],
      unread,
    ].filter(({ length }) => length);
    return {
      error: error && {
        ...error,
        ...(frames && { frames }),
        ...(likelyThrown.length && { likelyThrown }),
        ...(begun && { begun: { what: begun.what, frames: await textFrames(begun.stack) } }),
      },
      exit: addLocals(await read(exitStackOf(parts)), parts.locals),
      ...(await readSuspended(parts, readPart, read)),
      workers: await mapWorkers(parts, read),
      thrownAt,
      ...passed,
      printed: await readPrintedError(parts, read),
      listenFrames: await textFrames(parts.trigger?.failedListen?.stack),
      abortReasons: await joinAbortReasons(parts, read, gaps),
      handlerFrames: parts.handlers && (await read({ frames: parts.handlers })),
      timeLimits,
      workerStarts,
      startedCalls,
      promise: await textFrames(parts.error?.promiseStack),
      emitter: emitter && { ...emitter, frames: await textFrames(emitter.stack) },
    };
  } finally {
    gaps.push(...stacks.gaps);
    stacks.close();
  }
}

/** The program itself printed the stack of process.exit and process.kill; stacks of other deaths come from a debugger. */
function exitStackOf({ trigger }: BundleParts): StackInput {
  const { exitStack: stackText, kind, signal } = trigger ?? {};
  if (stackText === undefined) return {};
  return { stackText, isOfDebugger: !signal?.fromItself && kind !== 'exit' && kind !== 'worker-death' };
}

/** Joins the recorded agent state with the state that the host provided. */
function joinAgent(
  { bundle, parts, gaps }: AccountSources,
  candidates: HeapFacts['candidates'],
): Account['agent'] {
  const request = parts.origin?.requests.find(({ culprit }) => culprit)?.id;
  const recorded = bundle
    ? readAgentState(bundle, defined({ request, test: culpritTest(parts.tests) }))
    : { gaps: [] };
  gaps.push(...recorded.gaps);
  // Inferred conversations are only used if none were recorded.
  const inferred = recorded.state?.runs.some((run) => run.messages.length) ? undefined : candidates;
  if (!recorded.state && !parts.agent && !inferred) return undefined;
  return {
    runs: [],
    ...recorded.state,
    ...(parts.agent && { state: parts.agent.state }),
    ...(inferred && { candidates: inferred }),
  };
}

function joinOrigin({ origin, evidence }: BundleParts): Pick<Account, 'requests' | 'origin'> {
  if (!origin) return {};
  const { requests, ...facts } = origin;
  const { lastSeen } = facts;
  const endedAt =
    evidence?.foundBy === 'supervisor' && evidence.exit
      ? Date.parse(evidence.endedAt ?? evidence.foundAt ?? '')
      : Number.NaN;
  const beforeEndMs = endedAt - Date.parse(lastSeen?.at ?? '');
  return {
    ...(requests.length && { requests }),
    origin: lastSeen && beforeEndMs >= 0 ? { ...facts, lastSeen: { ...lastSeen, beforeEndMs } } : facts,
  };
}

function addFailures(account: VerdictFacts['account']): void {
  const { agent, error, process, happenings } = account;
  if (!agent) return;
  settleToolCalls(agent, error);
  const failures = findFailures({
    agent: withoutOthersCalls(agent, account),
    error,
    cwd: process?.cwd,
    children: happenings?.children,
  });
  if (failures.length) agent.failures = failures;
}

function joinMemory({ parts }: AccountSources, heap: HeapFacts | undefined): Account['memory'] {
  const figures = joinMemoryFacts(parts);
  const allocators = allocationSuspects(parts.heapProfile, parts.process?.cwd);
  const suspects = [...(heap?.suspects ?? []), ...allocators, ...censusSuspects(parts.heapCensus)];
  const classes = heap ? undefined : censusClasses(parts.heapCensus);
  if (!heap && !classes && !suspects.length) return figures;
  const sample = classes && parts.heapCensus?.sample;
  const { candidates: _, ...facts } = heap ?? {};
  return {
    ...figures,
    ...(classes && { classes }),
    ...(sample && { sample }),
    ...facts,
    ...(suspects.length && { suspects }),
  };
}

function joinBundle(bundle: AnalyzableBundle, { trigger }: BundleParts): Account['bundle'] {
  const { event, at, silentMs, exitCode, rethrown, next }: Partial<Sequel> = readSequel(bundle.path) ?? {};
  return {
    id: bundle.id,
    path: bundle.path,
    capturedAt: trigger?.at ?? bundle.head?.createdAt ?? '',
    sealed: bundle.sealed,
    parts: bundle.parts.map(({ name, bytes, sha256, complete }) => ({
      name,
      bytes,
      complete,
      ...defined({ sha256 }),
    })),
    ...(bundle.redactions?.length && { redactions: [...bundle.redactions] }),
    ...(event &&
      at !== undefined && { sequel: { event, at, ...defined({ silentMs, exitCode, rethrown, next }) } }),
  };
}

function uniqueGaps(gaps: readonly Gap[]): Gap[] {
  const seen = new Map(gaps.map((gap) => [`${gap.part}\n${gap.reason}\n${gap.lookedFor ?? ''}`, gap]));
  return [...seen.values()];
}
