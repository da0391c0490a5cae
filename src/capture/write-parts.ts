/** Has each part produced, redacted and written, under its deadline; whatever fails is a gap with the reason. */
import type { RawFrame, TriggerPart } from '../bundle/layout.ts';
import type { BundleWriter } from '../bundle/writer.ts';
import { DeadlineExceeded, runWithDeadline } from './deadline.ts';
import type { CaptureContext, PartProducer } from './parts/part.ts';
import { currentPolicy } from './policy.ts';
import { redactSourceMap } from './redact-source-map.ts';
import type { CaptureRequest, Surroundings } from './request.ts';

/** All parts but those with a limit of their own. */
const captureLimitMs = 5_000;
/** No part may take more: a host's getter may loop for ever. */
const partLimitMs = 2_000;
const valueLimits = { maxDepth: 24, maxEntries: 50_000, maxStringChars: 256 * 1024 };

export function createContext(
  { config, ownFile, workers, recording }: Surroundings,
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
    trigger,
    ...(recording ? { recording } : {}),
    ...(request.thrown ? { thrown: { ...request.thrown, frames } } : {}),
    stackTexts: request.stackText === undefined ? [] : [request.stackText],
    frameUrls: new Set(),
    scriptUrls: [],
    addGap(part, reason, lookedFor) {
      writer.addGap(lookedFor === undefined ? { part, reason } : { part, reason, lookedFor });
    },
    writeCode: (name, text) => writeClean(writer, name, currentPolicy().code(text)),
    writeSourceMap: (name, text) => writeClean(writer, name, redactSourceMap(text, currentPolicy())),
    openPart: (name) => writer.openPart(name),
    timeLeftMs: () => captureLimitMs - (performance.now() - startedAt),
  };
}

function writeClean(writer: BundleWriter, name: string, clean: string): boolean {
  countWithheld(writer, name);
  return writer.writePart(name, clean);
}

/** Values are copied and redacted under the same deadline: a host's getter may hang in either. Never throws. */
export function writeProduced(producer: PartProducer, context: CaptureContext, writer: BundleWriter): void {
  const { name } = producer;
  const limitMs = producer.limitMs?.(context) ?? Math.min(partLimitMs, context.timeLeftMs());
  try {
    if (limitMs <= 0) throw new DeadlineExceeded('no time was left for it');
    const text = runWithDeadline(limitMs, () => produceText(producer, context));
    countWithheld(writer, name);
    if (text !== undefined) writer.writePart(name, text);
  } catch (error) {
    const isLate = error instanceof DeadlineExceeded;
    writer.addGap({
      part: name,
      reason: isLate ? error.message : `collecting it failed: ${describeFailure(error)}`,
    });
  }
}

function produceText(producer: PartProducer, context: CaptureContext): string | undefined {
  const data = producer.produce(context);
  if (data === undefined) return undefined;
  return JSON.stringify(producer.isRedacted ? data : currentPolicy().value(data, valueLimits));
}

function countWithheld(writer: BundleWriter, part: string): void {
  const policy = currentPolicy();
  writer.countRedactions(part, policy.counts());
  policy.resetCounts();
}

export function describeFailure(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return currentPolicy().text(text);
}
