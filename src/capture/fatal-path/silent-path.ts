/**
 * A bundle about a main thread that does not respond, written by the watchdog's thread: what the kernel knows about it, what
 * was recorded before, and, if it could be stopped once, its stack and variables. The gaps list what is missing.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { applyRetention } from '../../bundle/keep/retention.ts';
import {
  type HandlesPart,
  type LocalsPart,
  type ProcessPart,
  partNames,
  type StallFacts,
} from '../../bundle/layout/bundle.ts';
import type { Lock } from '../../bundle/write/age-key.ts';
import { type BundleWriter, startBundle } from '../../bundle/write/writer.ts';
import { segmentSuffix } from '../../journal/layout/journal.ts';
import { platform } from '../../platform/index.ts';
import { listFolder } from '../../platform/small-file.ts';
import { version } from '../../version.ts';
import { ownTime } from '../host/own-time.ts';
import type { Config } from '../install/config.ts';
import { configurePolicy, currentPolicy } from '../install/policy.ts';
import { programName } from '../install/program-name.ts';
import { writeStderrLine } from '../install/stderr-line.ts';
import { handlesPart } from '../parts/handles.ts';
import { nativeModulesPart } from '../parts/native-modules.ts';
import type { PartProducer } from '../parts/part.ts';
import { processPart } from '../parts/process.ts';
import { localsPart } from '../parts/threads/locals.ts';
import { threadsPart } from '../parts/threads/threads.ts';
import { triggerPart } from '../parts/trigger.ts';
import { ProcessEvents } from '../recording/process-events.ts';
import { stackTextOf } from '../stacks/frame-reader.ts';
import { KnownWorkers } from '../triggers/known-workers.ts';
import { dropUnprovenParts } from './canary.ts';
import { describeTrigger } from './describe-trigger.ts';
import { withholdFindings } from './own-findings.ts';
import type { CaptureRequest } from './request.ts';
import { announce } from './summary-line.ts';
import type { Surroundings } from './surroundings.ts';
import { createContext, describeFailure, writeProduced } from './write-parts.ts';

export interface SilentThread {
  config: Config;
  ownFile: string;
  withheld: string[];
  program: { argv: string[]; execArgv: string[]; title: string; cwd: string };
  stall: StallFacts;
  /** Innermost first; present if the thread could be stopped. */
  frames?: LocalsPart['frames'];
  /** If the heap was too full for a debugger. */
  stackText?: string;
  lock: Lock | undefined;
  /** Folder of the journal. */
  journal?: string;
  /** The signal that it did not answer. */
  signal?: NodeJS.Signals;
  isSnapshot?: boolean;
}

/** Path of the bundle; undefined if none was written, and the reason was then printed to stderr. */
export function captureSilent(thread: SilentThread): string | undefined {
  try {
    return write(thread);
  } catch (error) {
    writeStderrLine(`no bundle: ${describeFailure(error)}`);
    return undefined;
  }
}

function write(thread: SilentThread): string {
  const time = ownTime();
  const { config, ownFile, withheld, program, lock } = thread;
  if (config.recipient !== undefined && !lock) throw new Error('the recipient could not be read');
  const surroundings: Surroundings = {
    config,
    ownFile,
    withheld,
    workers: new KnownWorkers(),
    lock,
    processEvents: new ProcessEvents(),
    logs: undefined,
  };
  configurePolicy(surroundings);
  const request = describeRequest(thread);
  const trigger = {
    ...describeTrigger(request),
    program: programName(program.argv, process.env),
    threadId: 0,
    isMainThread: true,
  };
  const { dir, maxBundles, maxBytes } = config;
  const bundle = startBundle({
    dir,
    program: trigger.program,
    verdictKind: trigger.verdictKind,
    at: new Date(trigger.at),
    writer: version,
    ...(lock && { lock }),
  });
  trigger.id = bundle.id;
  const context = {
    ...createContext(surroundings, request, trigger, bundle, time, []),
    watchdogThread: platform.ownThreadId(),
  };
  const parts = [triggerPart, processOf(thread), threadsPart, handlesFromOutside, nativeModulesPart];
  for (const producer of thread.frames ? [...parts, localsPart] : parts)
    writeProduced(producer, context, bundle);
  if (thread.journal !== undefined) copyJournal(bundle, thread.journal);
  const { locals, scripts, memory, environment, packages } = partNames;
  const missing = [scripts, memory, environment, packages];
  const reason = thread.stackText === undefined ? letsNobodyIn : isTooFull;
  for (const part of thread.frames ? missing : [locals, ...missing]) bundle.addGap({ part, reason });
  // Before the search, which would replace the planted secret in a part of a broken redactor.
  dropUnprovenParts(bundle);
  withholdFindings(bundle, currentPolicy());
  const path = bundle.seal();
  applyRetention({ dir, maxBundles, maxBytes, keep: path });
  const tookMs = time.wallMs();
  announce({ trigger, config, path: describeFailure(path), tookMs, lock });
  return path;
}

const letsNobodyIn = 'the main thread lets nobody in, and only it could tell';
const isTooFull =
  'V8’s heap is near its limit: a debugger would raise that, and the main thread has no room to tell';

function describeRequest({ stall, frames, stackText, signal, isSnapshot }: SilentThread): CaptureRequest {
  const exitStack = frames ? stackTextOf(frames) : stackText;
  const number = signal && process.getBuiltinModule('node:os').constants.signals[signal];
  return {
    kind: signal === undefined ? 'stall' : isSnapshot ? 'snapshot-signal' : 'signal',
    handledByHost: false,
    ...(exitStack !== undefined && { stackText: exitStack }),
    ...(frames && { locals: frames }),
    details: {
      stall,
      ...(exitStack !== undefined && { exitStack }),
      ...(signal !== undefined && number !== undefined && { signal: { name: signal, number } }),
    },
  };
}

/** The data that the main thread passed to its watchdog when it started it. */
function processOf({ program }: SilentThread): PartProducer {
  return {
    ...processPart,
    produce(context): ProcessPart {
      const part = processPart.produce(context) as ProcessPart;
      const { argv, execArgv, title, cwd } = program;
      const clean = (words: string[]): string[] => currentPolicy().argv(words);
      return { ...part, argv: clean(argv), execArgv: clean(execArgv), title, cwd };
    },
  };
}

/** Node's own counts would be those of this thread. */
const handlesFromOutside: PartProducer = {
  ...handlesPart,
  produce: (context): HandlesPart => ({
    ...(handlesPart.produce(context) as HandlesPart),
    resources: {},
    timers: [],
  }),
};

/** The segments concatenated as they are: they were redacted when they were written. */
function copyJournal(bundle: BundleWriter, folder: string): void {
  const names = listFolder(folder).filter((name) => name.endsWith(segmentSuffix));
  const part = bundle.openPart(partNames.journal);
  for (const name of names.sort()) part.write(fs.readFileSync(join(folder, name)));
  part.close();
}
