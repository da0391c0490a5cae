/** Has each part produced, redacted and written, under its deadline; whatever fails is a gap with the reason. */
import type { RawFrame, TriggerPart } from '../bundle/layout.ts';
import type { BundleWriter } from '../bundle/writer.ts';
import { redactText, UnprovenRedaction, uproot, withCanary, withheldWhole, withoutCanary } from './canary.ts';
import { DeadlineExceeded, runWithDeadline } from './deadline.ts';
import type { CaptureContext, PartProducer } from './parts/part.ts';
import { currentPolicy } from './policy.ts';
import { redactSourceMap } from './redact-source-map.ts';
import type { CaptureRequest } from './request.ts';
import type { Surroundings } from './surroundings.ts';

/** All parts but those with a limit of their own. */
const captureLimitMs = 5_000;
/** No part may take more: a host's getter may loop for ever. */
const partLimitMs = 2_000;
const valueLimits = { maxDepth: 24, maxEntries: 50_000, maxStringChars: 256 * 1024 };

export function createContext(
  {
    config,
    ownFile,
    workers,
    recording,
    recordingPolicy,
    tests,
    withheld,
    happenings,
    logs,
    flight,
    heapProfile,
    watch,
  }: Surroundings,
  request: CaptureRequest,
  trigger: TriggerPart,
  writer: BundleWriter,
  startedAt: number,
  frames: RawFrame[],
): CaptureContext {
  return {
    config,
    ownFile,
    workers,
    watchdogThread: watch?.threadId,
    trigger,
    withheldCount: withheld.length,
    happenings,
    logs,
    lookAtChildren: () => flight?.children.look(),
    ...(recording ? { recording } : {}),
    ...(recordingPolicy ? { recordingPolicy } : {}),
    ...(tests ? { tests } : {}),
    ...(request.thrown ? { thrown: { ...request.thrown, frames } } : {}),
    ...(heapProfile ? { heapProfile } : {}),
    ...(request.locals ? { locals: request.locals } : {}),
    mayDebug: request.inPassing !== true,
    stackTexts: request.stackText === undefined ? [] : [request.stackText],
    frameUrls: new Set(),
    scriptUrls: [],
    addGap(part, reason, lookedFor) {
      writer.addGap(lookedFor === undefined ? { part, reason } : { part, reason, lookedFor });
    },
    writeText: (name, text) => writeClean(writer, name, () => proving.text(text)),
    writeCode: (name, text) => writeClean(writer, name, () => proving.code(text)),
    writeSourceMap: (name, text) => writeClean(writer, name, () => redactSourceMap(text, proving)),
    countRedactions: (part, counts) => writer.countRedactions(part, counts),
    openPart: (name) => writer.openPart(name),
    timeLeftMs: () => captureLimitMs - (performance.now() - startedAt),
  };
}

/** Every text goes through the redactor with the canary before it. */
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

/** Values are copied and redacted under the same deadline: a host's getter may hang in either. Never throws. */
export function writeProduced(producer: PartProducer, context: CaptureContext, writer: BundleWriter): void {
  const { name } = producer;
  const limitMs = producer.limitMs?.(context) ?? Math.min(partLimitMs, context.timeLeftMs());
  try {
    if (limitMs <= 0) throw new DeadlineExceeded('no time was left for it');
    const text = runWithDeadline(limitMs, () => produceText(producer, context));
    if (text !== undefined) writer.writePart(name, text);
  } catch (error) {
    writer.addGap({ part: name, reason: reasonOf(error) });
  } finally {
    countWithheld(writer, name);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof DeadlineExceeded) return error.message;
  if (error instanceof UnprovenRedaction) return withheldWhole(error.message);
  return `collecting it failed: ${describeFailure(error)}`;
}

function produceText(producer: PartProducer, context: CaptureContext): string | undefined {
  const data = producer.produce(context) as object | undefined;
  if (data === undefined) return undefined;
  if (producer.isRedacted) return JSON.stringify(data);
  producer.canaryPlace?.plant(data as never);
  const copy = currentPolicy().value(withCanary(data), valueLimits);
  uproot(copy);
  producer.canaryPlace?.uproot(copy as never);
  return JSON.stringify(copy);
}

function countWithheld(writer: BundleWriter, part: string): void {
  const policy = currentPolicy();
  writer.countRedactions(part, withoutCanary(policy.counts()));
  policy.resetCounts();
}

/** Never throws: the redactor itself may be what failed. */
export function describeFailure(error: unknown): string {
  try {
    return currentPolicy().text(error instanceof Error ? error.message : String(error));
  } catch {
    return 'the redactor failed, so the reason is withheld too';
  }
}
