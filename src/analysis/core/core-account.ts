/**
 * The account of a core: the fault, every thread with native and JavaScript frames, suspended functions, the heap's contents,
 * and a verdict. Missing data becomes a gap; only a file that is not a core of a supported machine is an error.
 */
import { whereMapped } from '../../bytes/memory.ts';
import {
  type Account,
  accountSchema,
  type EnvironmentFacts,
  type ProcessFacts,
  type SignalFacts,
} from '../../model/account.ts';
import type { Thread } from '../../model/thread.ts';
import type { Gap, Verdict } from '../../model/verdict.ts';
import { createPolicy } from '../../redaction/index.ts';
import { computeSignature } from '../signature.ts';
import { type CoreDump, openAnyCore, openCoreInMemory } from './core-dump.ts';
import { concludeCore } from './core-verdict.ts';
import { describeFault } from './fault/fault.ts';
import type { Fault } from './fault/fault-facts.ts';
import { surveyHeap } from './javascript/heap-survey.ts';
import { placeThroughMaps } from './javascript/source-places.ts';
import { findSurveyNote, type SurveyRecord } from './javascript/survey-note.ts';
import { openV8, type V8Runtime } from './javascript/v8-runtime.ts';
import { findAbortCause } from './native/abort-cause.ts';
import { findExecutablePath, findRuntimeAddress } from './native/module-map.ts';
import { findOpenHandles } from './process/open-handles.ts';
import { findStartWords, type StartWords, titleGap } from './process/start-words.ts';
import { redactAccount, redactorOf } from './redact-account.ts';
import { describeThread } from './thread-stack.ts';

export interface CoreOptions {
  /** Path of the executable, if it is not at the path that the process recorded. */
  executable?: string;
  /** Walk the heap, for suspended functions and object counts; takes most of the time. Default: true. */
  heap?: boolean;
  /** Receives the readers of JavaScript, if there are any. */
  onRuntime?: (v8: V8Runtime) => void;
}

const maxClasses = 200;

/** Redacted. `path`: a core, compressed or not, an apport report, or `-` for stdin. Throws like `openAnyCore`. */
export async function accountForCore(path: string, options: CoreOptions = {}): Promise<Account> {
  const dump = await openAnyCore(path, options.executable ? { executable: options.executable } : {});
  try {
    const account = await accountForDump(dump, options);
    return redactAccount(account, redactorOf(dump, account));
  } finally {
    dump.close();
  }
}

/** The same for a core in memory, a part of a bundle. Throws `malformed-input`. */
export async function accountForCoreBytes(bytes: Uint8Array): Promise<Account> {
  const dump = await openCoreInMemory(bytes);
  try {
    const account = await accountForDump(dump);
    return redactAccount(account, redactorOf(dump, account));
  } finally {
    dump.close();
  }
}

/** Not redacted: for what must know the secrets in order to withhold them. */
export async function accountForDump(dump: CoreDump, options: CoreOptions = {}): Promise<Account> {
  const { core } = dump;
  const gaps: Gap[] = [...dump.gaps];
  const v8 = openV8(dump, gaps);
  if (v8) options.onRuntime?.(v8);
  const [died] = core.threads;
  if (!died) gaps.push({ part: 'core', reason: 'it names no thread' });
  if (died && core.signal?.number && died.signal && core.signal.number !== died.signal)
    gaps.push({
      part: 'core',
      reason: `its notes disagree on the signal: ${core.signal.number} and ${died.signal}`,
    });
  // The gaps that make the verdict less than certain: those of the file, of V8, and of the frames of the thread that died.
  const doubts = gaps.filter(({ part }) => !part.startsWith('core module '));
  const fault = died && describeFault(core, died, dump.memory, dump.machine);
  const threads = core.threads.map((thread) =>
    describeThread(dump, thread, {
      v8,
      crashed: thread === died && fault !== undefined,
      values: true,
      gaps,
      ...(thread === died ? { doubts } : {}),
    }),
  );
  // Before the heap is walked: the walk caches types whose memory it reads unrecorded, so that a mini core would lack them.
  const cause = died && findAbortCause(dump, v8, died, threads[0]);
  const survey = v8 && options.heap !== false ? findSurvey(dump, v8, threads, gaps) : undefined;
  const words = findStartWords(dump);
  if (words?.isTitle) gaps.push(titleGap);
  const environment = describeEnvironment(v8, words, survey);
  await placeThroughMaps(v8, [...threads, ...(survey?.suspended ?? [])], gaps);
  const account: Omit<Account, 'verdict' | 'signature'> = {
    schema: accountSchema,
    process: describeProcess(dump, v8, words),
    ...(fault ? { signal: describeSignal(fault) } : {}),
    threads,
    modules: { packages: [], native: describeModules(dump) },
    ...(survey ? { suspended: survey.suspended, memory: { classes: survey.classes } } : {}),
    ...(environment ? { environment } : {}),
    gaps,
  };
  const verdict = lessCertain(
    concludeCore(account, fault, cause, { nodes: nodesOf(dump, v8), collected: dump.collected }),
    doubts,
  );
  const signature = computeSignature({ ...account, verdict });
  return { ...account, verdict, ...(signature ? { signature } : {}) };
}

/** Paths of Node itself: the executable, and the library that contains V8 if that is another. */
function nodesOf({ core }: CoreDump, v8: V8Runtime | undefined): Set<string> {
  return new Set([findExecutablePath(core), v8?.module.path].filter((path) => path !== undefined));
}

/** A verdict is only certain if nothing is missing that it is based on. */
function lessCertain(verdict: Verdict, doubts: readonly Gap[]): Verdict {
  return doubts.length > 0 && verdict.confidence === 'certain'
    ? { ...verdict, confidence: 'likely' }
    : verdict;
}

/** From the note of a mini core, which has no heap; otherwise by walking the heap. */
function findSurvey(dump: CoreDump, v8: V8Runtime, threads: Thread[], gaps: Gap[]): SurveyRecord {
  const kept = findSurveyNote(dump);
  if (kept) {
    gaps.push(...(kept.gaps ?? []));
    return kept;
  }
  // A mini core doesn't keep the memory that the walk reads, only its result.
  const { suspended, classes, timers } = dump.memory.unrecorded(() => surveyHeap(dump, v8, gaps, threads));
  return {
    suspended,
    ...(timers.length > 0 && { timers }),
    classes: classes
      .slice(0, maxClasses)
      .map(({ name, count, selfSize }) => ({ name, count, selfSizeBytes: selfSize })),
  };
}

function describeSignal(fault: Fault): SignalFacts {
  return {
    name: fault.signalName,
    number: fault.signal,
    description: fault.description,
    evidence: fault.evidence,
    ...(fault.code ? { code: fault.code } : {}),
    ...(fault.address === undefined ? {} : { faultAddress: `0x${fault.address.toString(16)}` }),
    ...(fault.access ? { access: fault.access } : {}),
    ...(fault.sender ? { sentBy: { ...fault.sender } } : {}),
    ...(fault.instruction ? { instruction: Buffer.from(fault.instruction).toString('hex') } : {}),
  };
}

/** The environment variables, and what the process waited for outside of JavaScript. */
function describeEnvironment(
  v8: V8Runtime | undefined,
  words: StartWords | undefined,
  survey: SurveyRecord | undefined,
): EnvironmentFacts | undefined {
  const handles = [...(survey?.timers ?? []), ...((v8 && findOpenHandles(v8)) ?? [])];
  if (!words && handles.length === 0) return undefined;
  return {
    ...(words && { variables: words.variables }),
    ...(handles.length > 0 && { handles }),
  };
}

function describeProcess(
  { core, memory, collected }: CoreDump,
  v8: V8Runtime | undefined,
  words: StartWords | undefined,
): ProcessFacts {
  const facts: ProcessFacts = { platform: 'linux', arch: core.machine };
  if (core.process) {
    facts.pid = core.process.pid;
    facts.parentPid = core.process.parentPid;
    // The kernel keeps 80 characters of the command line.
    facts.argv = createPolicy().argv(core.process.arguments.split(' ').filter(Boolean));
  }
  if (words) facts.argv = words.arguments;
  else if (collected?.arguments) facts.argv = createPolicy().argv(collected.arguments);
  if (collected?.cwd) facts.cwd = collected.cwd;
  if (!v8) return facts;
  facts.v8Version = `${v8.version.major}.${v8.version.minor}`;
  const node = findNodeVersion(v8, memory);
  if (node) facts.nodeVersion = node;
  return facts;
}

/** The first string in node::per_process::metadata is the version. */
function findNodeVersion(v8: V8Runtime, memory: CoreDump['memory']): string | undefined {
  const symbol = v8.module.code?.findExported('_ZN4node11per_process8metadataE');
  const address = symbol && findRuntimeAddress(v8.module, symbol.address);
  if (address === undefined) return undefined;
  return whereMapped(() => {
    const length = memory.readWord(address + 8);
    if (!(length > 0 && length < 64)) return undefined;
    const text = Buffer.from(memory.readBytes(memory.readWord(address), length)).toString('latin1');
    return /^\d+\.\d+\.\d+/.test(text) ? `v${text}` : undefined;
  });
}

function describeModules({ modules }: CoreDump) {
  return modules.modules.map(({ path, start, end, buildId }) => ({
    path,
    base: `0x${start.toString(16)}`,
    end: `0x${end.toString(16)}`,
    ...(buildId ? { buildId } : {}),
  }));
}
