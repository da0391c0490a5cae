/**
 * From a trigger to a sealed bundle, in one synchronous pass: take the latch, note the deadline, write the parts in the
 * order of their value, seal, say one line. Nothing here may throw into the host: its death must be the one it would
 * have died. Does not know which event led here, nor what the process does next.
 */
import { bundleSchemaVersion, partNames, type TriggerPart } from '../bundle/layout.ts';
import { applyRetention } from '../bundle/retention.ts';
import { noteSignature } from '../bundle/signature-log.ts';
import { type BundleWriter, startBundle } from '../bundle/writer.ts';
import { version } from '../version.ts';
import type { Config } from './config.ts';
import { DeadlineExceeded, runWithDeadline } from './deadline.ts';
import { makeRoomForFiles } from './free-descriptors.ts';
import { isFromModuleEvaluation } from './module-evaluation.ts';
import { partProducers } from './parts/index.ts';
import type { CaptureContext, PartProducer } from './parts/part.ts';
import { configurePolicy, currentPolicy } from './policy.ts';
import { programName } from './program-name.ts';
import { type CaptureRequest, type InsideKind, isMainThread, type Surroundings } from './request.ts';
import { writeStderrLine } from './stderr-line.ts';
import { hintVerdictKind } from './verdict-hint.ts';

/** All parts but the heap, which has a limit of its own. */
const captureLimitMs = 5_000;
/** No part may take more: a host's getter may loop for ever. */
const partLimitMs = 2_000;
/** The same death so often within this time is stored; after that it is counted. */
const repeatWindowMs = 60_000;

let isCapturing = false;

/** Writes a bundle; its path, or undefined when none was written, in which case a line on stderr has said why. */
export function captureBundle(surroundings: Surroundings, request: CaptureRequest): string | undefined {
  if (isCapturing) return undefined;
  isCapturing = true;
  let giveBack = (): void => {};
  try {
    if (isTheEnd(request)) giveBack = makeRoomForFiles();
    return writeBundle(surroundings, request);
  } catch (error) {
    writeStderrLine(`no bundle: ${describeFailure(error)}`);
    return undefined;
  } finally {
    giveBack();
    isCapturing = false;
  }
}

/** Whether the whole process ends when we return. */
function isTheEnd({ kind, handledByHost }: CaptureRequest): boolean {
  return isMainThread && !handledByHost && !kind.startsWith('snapshot');
}

function writeBundle(surroundings: Surroundings, request: CaptureRequest): string | undefined {
  const { config } = surroundings;
  configurePolicy(surroundings);
  const startedAt = performance.now();
  const trigger = describeTrigger(request);
  const repeats = countRepeats(config, trigger, request);
  if (repeats === undefined) return undefined;
  if (repeats > 0) trigger.repeats = repeats;
  const writer = startBundle({
    dir: config.dir,
    program: trigger.program,
    verdictKind: trigger.verdictKind,
    at: new Date(trigger.at),
    writer: version,
  });
  trigger.id = writer.id;
  const context = createContext(surroundings, request, trigger, writer, startedAt);
  writeJsonPart(writer, partNames.trigger, () => trigger, partLimitMs);
  for (const producer of partProducers) produceOne(producer, context, writer);
  const path = writer.seal();
  applyRetention({ dir: config.dir, maxBundles: config.maxBundles, maxBytes: config.maxBytes, keep: path });
  writeStderrLine(summaryLine(trigger, path, performance.now() - startedAt));
  return path;
}

function describeTrigger(request: CaptureRequest): TriggerPart {
  const { threadId } = process.getBuiltinModule('node:worker_threads');
  const kind = refineKind(request);
  return {
    id: '',
    schemaVersion: bundleSchemaVersion,
    kind,
    verdictKind: hintVerdictKind(kind, isMainThread, request.thrown?.value),
    at: new Date().toISOString(),
    program: programName(process.argv),
    pid: process.pid,
    threadId,
    isMainThread,
    nodeVersion: process.version,
    handledByHost: request.handledByHost,
    ...request.details,
  };
}

/** A module that threw while it was evaluated is no rejection to whoever wrote it, though Node reports one. */
function refineKind({ kind, handledByHost, thrown }: CaptureRequest): InsideKind {
  const isEvaluation =
    kind === 'unhandled-rejection' && !handledByHost && isFromModuleEvaluation(thrown?.value);
  return isEvaluation ? 'uncaught-exception' : kind;
}

/** How often the same was left out since the last stored one; undefined when this one is to be left out too. */
function countRepeats(config: Config, trigger: TriggerPart, request: CaptureRequest): number | undefined {
  if (trigger.verdictKind === 'snapshot') return 0;
  const signature = [trigger.kind, trigger.program, trigger.threadId === 0, ...repeatKey(request)].join('|');
  const { store, repeats } = noteSignature({ dir: config.dir, signature, windowMs: repeatWindowMs });
  if (store) return repeats;
  writeStderrLine(
    `the same ${trigger.verdictKind} again (${repeats} not stored in the last minute); counted only`,
  );
  return undefined;
}

/** The first lines of the stack, without what differs between two runs. */
function repeatKey({ thrown, stackText, details }: CaptureRequest): string[] {
  try {
    const stack =
      (thrown?.value as { stack?: unknown } | undefined)?.stack ?? stackText ?? String(thrown?.value);
    const key = String(stack).split('\n', 4).join('\n').replace(/\d+/g, '#').slice(0, 600);
    return [key, details?.signal?.name ?? '', String(details?.exitCode)];
  } catch {
    return [];
  }
}

function createContext(
  { config, workers }: Surroundings,
  request: CaptureRequest,
  trigger: TriggerPart,
  writer: BundleWriter,
  startedAt: number,
): CaptureContext {
  const context: CaptureContext = {
    config,
    workers,
    trigger,
    stackTexts: request.stackText === undefined ? [] : [request.stackText],
    frameUrls: new Set(),
    scriptUrls: [],
    addGap(part, reason, lookedFor) {
      writer.addGap(lookedFor === undefined ? { part, reason } : { part, reason, lookedFor });
    },
    writeText(name, text) {
      const clean = currentPolicy().text(text);
      countWithheld(writer, name);
      return writer.writePart(name, clean);
    },
    openPart: (name) => writer.openPart(name),
    timeLeftMs: () => captureLimitMs - (performance.now() - startedAt),
  };
  if (request.thrown) context.thrown = request.thrown;
  return context;
}

function produceOne(producer: PartProducer, context: CaptureContext, writer: BundleWriter): void {
  const limitMs = Math.min(producer.limitMs?.(context) ?? partLimitMs, Math.max(0, context.timeLeftMs()));
  if (limitMs === 0 && producer.limitMs === undefined)
    writer.addGap({ part: producer.name, reason: 'no time was left for it' });
  else
    writeJsonPart(
      writer,
      producer.name,
      () => producer.produce(context),
      producer.limitMs?.(context) ?? limitMs,
    );
}

/** Values are copied and redacted under the same deadline: a host's getter may hang in either. */
function writeJsonPart(writer: BundleWriter, name: string, produce: () => unknown, limitMs: number): void {
  try {
    const text = runWithDeadline(limitMs, () => {
      const data = produce();
      return data === undefined ? undefined : JSON.stringify(currentPolicy().value(data, partLimits));
    });
    countWithheld(writer, name);
    if (text !== undefined) writer.writePart(name, text);
  } catch (error) {
    const reason =
      error instanceof DeadlineExceeded ? error.message : `collecting it failed: ${describeFailure(error)}`;
    writer.addGap({ part: name, reason });
  }
}

const partLimits = { maxDepth: 24, maxEntries: 50_000, maxStringChars: 256 * 1024 };

function countWithheld(writer: BundleWriter, part: string): void {
  const policy = currentPolicy();
  writer.countRedactions(part, policy.counts());
  policy.resetCounts();
}

function summaryLine(trigger: TriggerPart, path: string, tookMs: number): string {
  const what =
    trigger.verdictKind === 'snapshot'
      ? 'snapshot'
      : `${trigger.verdictKind}${trigger.handledByHost ? ' (handled by the program)' : ''}`;
  return `${what}: ${currentPolicy().text(path)} (${Math.round(tookMs)} ms); read it with: agentdump analyze latest`;
}

function describeFailure(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
