/**
 * Writes a bundle of every Node process of the run when it hangs or is about to be cancelled. A process that handles our
 * signal writes its own, which includes its agent's state. One that does not (a busy loop, no preload) is read from outside through
 * the inspector. Processes that run tests come first, because there may not be enough time for all.
 */
import { existsSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { partNames } from '../../bundle/layout/bundle.ts';
import {
  launcherScript,
  type TestPart,
  type TestStop,
  type WorkerStacksNote,
} from '../../bundle/layout/tests.ts';
import { workersInCode } from '../../model/frame-text.ts';
import type { Thread } from '../../model/thread.ts';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';
import { captureLive } from '../../supervise/attach/capture-live.ts';
import { lockOf } from '../../supervise/evidence/lock.ts';
import { type CoreDigest, digestLiveCore } from '../../supervise/native/core-part.ts';
import { makeScrubber } from '../../supervise/scrub/scrubber.ts';
import {
  type LoggedThread,
  noteBundleOf,
  readTestLogs,
  runningTests,
  startingTest,
} from '../report/test-logs.ts';
import { processorMs, waitsForProcessor } from './main-thread.ts';
import { isAlive, type RunProcess } from './tree.ts';
import { lookAtWorkers } from './worker-look.ts';

export interface DumpTreeOptions {
  tree: readonly RunProcess[];
  folder: string;
  dir: string;
  stop: TestStop;
  /** No dump is started after this. */
  limitMs: number;
}

/** Number of concurrent dumps: each takes a tenth of a second of one core. */
const lanes = 2;
/** A main thread whose event loop turns answers the signal within this time, even on a busy machine. */
const answerMs = 1_500;
/** Time limit for writing a bundle, on a machine under load. */
const writeMs = 6_000;
const pollMs = 25;
/** Long enough that a thread that works in short intervals is not reported as spinning. */
const watchWorkersMs = 200;

/** Resolves when all processes that fit into the limit have been dumped, with why some were not. Never rejects. */
export async function dumpTree(options: DumpTreeOptions): Promise<string[]> {
  const deadline = performance.now() + options.limitMs;
  const threads = readTestLogs(options.folder);
  const queue = rank(options.tree, threads);
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      if (performance.now() > deadline) return;
      const { pid } = next;
      await dumpOne(options, pid, threads).catch((error) => {
        const reason = error instanceof Error ? error.message : String(error);
        if (isAlive(pid)) failures.push(`process ${pid} left no bundle: ${reason}`);
      });
    }
  };
  const failures: string[] = [];
  await Promise.all(Array.from({ length: lanes }, work));
  return failures;
}

/**
 * Processes with unfinished tests first, then the deepest. Programs that only start others are left out if there are others.
 */
function rank(tree: readonly RunProcess[], threads: readonly LoggedThread[]): RunProcess[] {
  const nodes = tree.filter(({ isNode }) => isNode);
  const weight = ({ pid }: RunProcess): number => runningTests(threads, pid).length;
  const parents = new Set(nodes.map(({ parentPid }) => parentPid));
  const isLauncher = ({ pid }: RunProcess): boolean =>
    threads.some((thread) => thread.pid === pid && launcherScript.test(thread.process?.argv[1] ?? ''));
  // With a shell between npm and the runner, npm has no Node child.
  const telling = nodes.filter((one) => weight(one) > 0 || !(parents.has(one.pid) || isLauncher(one)));
  return (telling.length ? telling : nodes).sort(
    (a, b) => Math.sign(weight(b)) - Math.sign(weight(a)) || nodes.indexOf(b) - nodes.indexOf(a),
  );
}

async function dumpOne(
  { dir, folder, stop }: DumpTreeOptions,
  pid: number,
  threads: readonly LoggedThread[],
): Promise<void> {
  if (takesSignal(threads, pid)) {
    await lookAtWorkers(folder, pid, threads, stop.why, readWorkersOfMemory);
    if (await askForBundle(folder, dir, pid, stop.why !== 'cancelled')) return;
  }
  if (!isAlive(pid)) return;
  const kind = stop.why === 'hang' ? 'silence' : 'capture';
  const { path } = await captureLive({
    pid,
    dir,
    scrubber: makeScrubber(process.env),
    kind,
    reason: `agentdump ci: ${stop.why}`,
    ...lockOf(process.env),
    // The only way to the stack of a thread inside a synchronous call. A cancel leaves no time for it.
    ...(stop.why !== 'cancelled' && { digestCore }),
    watchWorkersMs,
    more: { [partNames.tests]: describeTests(threads, pid, stop) },
  });
  noteBundleOf(folder, pid, path, kind);
}

const digestCore: CoreDigest = async (from, to, scrubber) => {
  const { writeMiniCore } = await import('../../analysis/core/mini/mini-core.ts');
  const { account } = await writeMiniCore(from, to, { redactor: scrubber });
  return { verdictKind: account.verdict?.kind, nodeVersion: account.process?.nodeVersion };
};

async function readWorkersOfMemory(pid: number): Promise<WorkerStacksNote['workers']> {
  let threads: Thread[] = [];
  const digest: CoreDigest = async (from, to, scrubber) => {
    const { writeMiniCore } = await import('../../analysis/core/mini/mini-core.ts');
    const { account } = await writeMiniCore(from, to, { redactor: scrubber });
    threads = account.threads ?? [];
    return {};
  };
  await digestLiveCore(pid, digest, makeScrubber(process.env));
  return workersInCode(threads).map(({ id, frames }) => ({
    workerId: String(id),
    title: '',
    url: '',
    idle: false,
    frames: frames.flatMap(({ function: functionName = '', file, line, column = 1 }) =>
      file === undefined || line === undefined
        ? []
        : [{ functionName, scriptId: '', url: file, line, column, scopes: [] }],
    ),
  }));
}

/** Only if the process has our handler; otherwise the signal would kill it. */
function takesSignal(threads: readonly LoggedThread[], pid: number): boolean {
  const main = threads.find((thread) => thread.pid === pid && thread.threadId === 0);
  const number: number | undefined = constants.signals[askingSignal()];
  return main !== undefined && main.exit === undefined && number !== undefined && catches(pid, number);
}

/** The user's own setting takes precedence in the processes, too (arm.ts). One that names no signal is in no table. */
function askingSignal(): NodeJS.Signals {
  const own = process.env['AGENTDUMP_SNAPSHOT_SIGNAL']?.toUpperCase();
  return own ? (own.replace(/^(?:SIG)?/, 'SIG') as NodeJS.Signals) : signals.askForBundle;
}

/** SigCgt in the status file of proc(5): bit `number` - 1 (signal(7)). */
function catches(pid: number, number: number): boolean {
  const status = platform.processFile(pid, 'status') ?? '';
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
  return (BigInt(`0x${mask}`) & (1n << BigInt(number - 1))) !== 0n;
}

/**
 * The process records in its log when the bundle is complete. One that has begun to write gets more time, and so does one
 * that waits for a processor if `isPatient`: dumping it from outside as well would give a second bundle with less in it.
 */
async function askForBundle(folder: string, dir: string, pid: number, isPatient: boolean): Promise<boolean> {
  const before = countBundles(folder, pid);
  const usedMs = processorMs(pid) ?? 0;
  const isStarved = (): boolean => isPatient && waitsForProcessor(pid, usedMs, answerMs);
  try {
    process.kill(pid, askingSignal());
  } catch {
    return false;
  }
  const askedMs = performance.now();
  for (let waitedMs = 0; waitedMs < writeMs; waitedMs = performance.now() - askedMs) {
    if (waitedMs > answerMs && !isBeingWritten(dir) && !isStarved()) return false;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    if (countBundles(folder, pid) > before) return true;
    // It wrote its bundle and then ended because of the signal.
    if (!isAlive(pid)) return false;
  }
  return false;
}

function isBeingWritten(dir: string): boolean {
  return existsSync(dir) && readdirSync(dir).some((name) => /\.(?:partial|starting)$/.test(name));
}

function countBundles(folder: string, pid: number): number {
  return readTestLogs(folder, pid).reduce((sum, { bundles }) => sum + bundles.length, 0);
}

/** The same description that the process itself would write. */
export function describeTests(threads: readonly LoggedThread[], pid: number, stop?: TestStop): TestPart {
  const own = threads.filter((thread) => thread.pid === pid);
  const main = own.find(({ runner }) => runner !== undefined) ?? own[0];
  const tests = own.flatMap((thread) => thread.tests).filter(({ isHook }) => !isHook);
  const startedBy = startingTest(threads, pid);
  const sum = (pick: (thread: LoggedThread) => number): number =>
    own.reduce((total, thread) => total + pick(thread), 0);
  return {
    ...(main?.runner !== undefined && { runner: main.runner }),
    ...(main?.file !== undefined && { file: main.file }),
    running: runningTests(threads, pid).map(({ file, name, startedAt }) => ({
      ...(file !== undefined && { file }),
      name,
      startedAt,
    })),
    finished: tests.filter(({ status }) => status !== 'unfinished').length + sum((t) => t.dropped.finished),
    failed: tests.filter(({ status }) => status === 'failed').length + sum((t) => t.dropped.failed),
    ...(startedBy && {
      startedBy: {
        ...(startedBy.file !== undefined && { file: startedBy.file }),
        name: startedBy.name,
        startedAt: startedBy.startedAt,
      },
    }),
    ...(stop && { stop }),
  };
}
