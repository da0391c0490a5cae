/** Produces, redacts and writes each part within its deadline; a failure becomes a gap with the reason. */
import type { RawFrame, TriggerPart } from '../../bundle/layout/bundle.ts';
import type { BundleWriter } from '../../bundle/write/writer.ts';
import type { ValueLimits } from '../../redaction/policy.ts';
import { DeadlineExceeded, runWithDeadline } from '../host/deadline.ts';
import { type OwnTime, ownTime } from '../host/own-time.ts';
import { currentPolicy } from '../install/policy.ts';
import type { CaptureContext, PartProducer } from '../parts/part.ts';
import { redactSourceMap } from '../stacks/redact-source-map.ts';
import { findRejectedObject } from '../stacks/rejected-object.ts';
import { redactText, UnprovenRedaction, uproot, withCanary, withheldWhole, withoutCanary } from './canary.ts';
import { withFigures, withoutFigures } from './own-figures.ts';
import type { CaptureRequest } from './request.ts';
import type { Surroundings } from './surroundings.ts';

/** Of our own time, for all parts except the vital ones and those with a limit of their own. */
const captureLimitMs = 5_000;
/** The limit per part, since a getter of the host may loop forever. */
const partLimitMs = 2_000;
/** Wall-clock time: the wait for a processor or a disk may exceed a part's limit by at most this. */
const longestWaitMs = 15_000;
const longestCaptureMs = 30_000;

/** A part that is late is cut: the limits of the first attempt, and of the next ones. */
const allowances: readonly ValueLimits[] = [
  { maxDepth: 24, maxEntries: 50_000, maxStringChars: 256 * 1024 },
  { maxDepth: 12, maxEntries: 5_000, maxStringChars: 8 * 1024 },
  { maxDepth: 6, maxEntries: 500, maxStringChars: 1024 },
];

export function createContext(
  {
    config,
    ownFile,
    workers,
    recording,
    recordingPolicy,
    tests,
    origins,
    listens,
    compilers,
    withheld,
    processEvents,
    logs,
    flight,
    heapProfile,
    watch,
  }: Surroundings,
  request: CaptureRequest,
  trigger: TriggerPart,
  writer: BundleWriter,
  time: OwnTime,
  frames: RawFrame[],
): CaptureContext {
  return {
    config,
    ownFile,
    workers,
    watchdogThread: watch?.threadId,
    ...(watch?.seenWorkers && { seenWorkers: watch.seenWorkers }),
    trigger,
    handlers: request.handlers ?? [],
    withheldCount: withheld.length,
    processEvents,
    logs,
    lookAtChildren: () => flight?.children.look(),
    ...(recording ? { recording } : {}),
    ...(recordingPolicy ? { recordingPolicy } : {}),
    ...(tests ? { tests } : {}),
    ...(origins ? { origins } : {}),
    ...(listens ? { listens } : {}),
    ...(compilers ? { compilers } : {}),
    ...(request.thrown ? { thrown: thrownOf(request.thrown.value, frames, request) } : {}),
    ...(heapProfile ? { heapProfile } : {}),
    ...(request.locals ? { locals: request.locals } : {}),
    mayDebug: request.inPassing !== true,
    stackTexts: request.stackText === undefined ? [] : [request.stackText],
    framePlaces: new Map(),
    scriptUrls: [],
    addGap(part, reason, lookedFor) {
      writer.addGap(lookedFor === undefined ? { part, reason } : { part, reason, lookedFor });
    },
    writeText: (name, text) => writeClean(writer, name, () => proving.text(text)),
    writeCode: (name, text) => writeClean(writer, name, () => proving.code(text)),
    writeSourceMap: (name, text) => writeClean(writer, name, () => redactSourceMap(text, proving)),
    countRedactions: (part, counts) => writer.countRedactions(part, counts),
    openPart: (name) => writer.openPart(name),
    time,
    timeLeftMs: () => Math.min(captureLimitMs - time.usedMs(), longestCaptureMs - time.wallMs()),
  };
}

function thrownOf(
  value: unknown,
  frames: RawFrame[],
  { inPassing }: CaptureRequest,
): NonNullable<CaptureContext['thrown']> {
  const rejected = inPassing ? undefined : findRejectedObject(value);
  return rejected ? { value: rejected, frames: [] } : { value, frames };
}

/** Every text is redacted with the canary before it. */
const proving = {
  text: (text: string) => redactText(text, (planted) => currentPolicy().text(planted)),
  code: (text: string) => redactText(text, (planted) => currentPolicy().code(planted)),
};

function writeClean(writer: BundleWriter, name: string, redact: () => string): boolean {
  try {
    return writer.writePart(name, redact());
  } catch (error) {
    writer.addGap({ part: name, reason: reasonOf(error) });
    return false;
  } finally {
    countWithheld(writer, name);
  }
}

/** Values are copied and redacted within the same deadline, because a getter of the host may hang in either. Never throws. */
export function writeProduced(producer: PartProducer, context: CaptureContext, writer: BundleWriter): void {
  const { name } = producer;
  try {
    const { text, cut } = produceInTime(producer, context);
    if (text !== undefined) writer.writePart(name, text, { complete: cut === undefined });
    if (cut !== undefined) writer.addGap({ part: name, reason: cut });
  } catch (error) {
    writer.addGap({ part: name, reason: reasonOf(error) });
  } finally {
    countWithheld(writer, name);
  }
}

/**
 * In our own time: an attempt that did not get the processor is repeated, one that got it and was late is repeated with lower
 * limits. Throws DeadlineExceeded, and what the producer throws.
 */
function produceInTime(producer: PartProducer, context: CaptureContext): { text?: string; cut?: string } {
  const ownLimit = producer.limitMs?.(context);
  const limitMs = ownLimit ?? (producer.isVital ? partLimitMs : Math.min(partLimitMs, context.timeLeftMs()));
  if (limitMs <= 0) throw new DeadlineExceeded('no time was left for it');
  const time = ownTime();
  const produced: { data?: object | undefined } = {};
  if (producer.isUncut) produceData(producer, context, produced);
  let late: DeadlineExceeded | undefined;
  let mayRepeat = ownLimit === undefined;
  for (let at = 0; at < allowances.length && time.wallMs() < limitMs + longestWaitMs; ) {
    const from = time.usedMs();
    // How busy the machine is was measured at the first look and at each part before.
    const clockMs = Math.min(limitMs * context.time.slowness(), limitMs + longestWaitMs);
    try {
      const allowed = allowances[at]!;
      const text = runWithDeadline(clockMs, () => produceText(producer, context, produced, allowed));
      const cut =
        late && `${late.message}; at most ${allowed.maxEntries} entries, texts of ${allowed.maxStringChars}`;
      return { ...(text !== undefined && { text }), ...(at > 0 && cut !== undefined && { cut }) };
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      late = error;
      // What was withheld from the attempt is not in the bundle.
      withoutCanary(new Map());
      currentPolicy().resetCounts();
      const wasStarved = mayRepeat && time.usedMs() - from < limitMs / 2;
      mayRepeat = false;
      // If it hung while reading, it would hang again.
      if (!wasStarved && !('data' in produced)) break;
      if (!wasStarved) at++;
    }
  }
  throw late ?? new DeadlineExceeded('no time was left for it');
}

function reasonOf(error: unknown): string {
  if (error instanceof DeadlineExceeded) return error.message;
  if (error instanceof UnprovenRedaction) return withheldWhole(error.message);
  return `collecting it failed: ${describeFailure(error)}`;
}

/** @param produced the data of an earlier attempt: a provider of the host may answer only once. */
function produceText(
  producer: PartProducer,
  context: CaptureContext,
  produced: { data?: object | undefined },
  allowed: ValueLimits,
): string | undefined {
  if (!('data' in produced)) produceData(producer, context, produced);
  const { data } = produced;
  if (data === undefined) return undefined;
  if (producer.isRedacted) return JSON.stringify(data);
  const sought = (producer.hasOwnFigures ? withoutFigures(data) : data) as object;
  const copy = currentPolicy().value(withCanary(sought), allowed);
  uproot(copy);
  producer.canaryPlace?.uproot(copy as never);
  return JSON.stringify(producer.hasOwnFigures ? withFigures(copy, data) : copy);
}

function produceData(
  producer: PartProducer,
  context: CaptureContext,
  produced: { data?: object | undefined },
): void {
  const data = producer.produce(context) as object | undefined;
  if (data !== undefined && !producer.isRedacted) producer.canaryPlace?.plant(data as never);
  produced.data = data;
}

function countWithheld(writer: BundleWriter, part: string): void {
  const policy = currentPolicy();
  writer.countRedactions(part, withoutCanary(policy.counts()));
  policy.resetCounts();
}

/** Never throws, although the redactor itself may be what failed. */
export function describeFailure(error: unknown): string {
  try {
    return currentPolicy().text(error instanceof Error ? error.message : String(error));
  } catch {
    return 'the redactor failed, so the reason is withheld too';
  }
}
