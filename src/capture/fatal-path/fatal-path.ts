/**
 * From a trigger to a sealed bundle, in one synchronous pass: takes the latch, writes the parts in order of their value,
 * seals, and prints one line. Nothing here may throw into the host, which must die as it would have without us. Does not know
 * which event led here, or what the process does next.
 */

import { applyRetention } from '../../bundle/keep/retention.ts';
import { forgetStored, noteSignature, type SignatureNote } from '../../bundle/keep/signature-log.ts';
import { partNames, type RawFrame, type TriggerPart } from '../../bundle/layout/bundle.ts';
import { type Lock, readLock } from '../../bundle/write/age-key.ts';
import { failureCode, lstatSync } from '../../bundle/write/system.ts';
import { type BundleWriter, startBundle } from '../../bundle/write/writer.ts';
import { version } from '../../version.ts';
import { decideHeapTier } from '../heap/tier.ts';
import { requireAddressRoom } from '../host/address-room.ts';
import { runWithDeadline } from '../host/deadline.ts';
import { makeRoomForFiles } from '../host/free-descriptors.ts';
import { type OwnTime, ownTime } from '../host/own-time.ts';
import type { Config } from '../install/config.ts';
import { configurePolicy, currentPolicy } from '../install/policy.ts';
import { writeStderrLine } from '../install/stderr-line.ts';
import { heapPart } from '../parts/heap/heap.ts';
import { partProducers } from '../parts/index.ts';
import type { CaptureContext } from '../parts/part.ts';
import { triggerPart } from '../parts/trigger.ts';
import { removeStartMark } from '../recording/start-mark.ts';
import { dropUnprovenParts } from './canary.ts';
import { describeTrigger, repeatKey } from './describe-trigger.ts';
import { withholdFindings } from './own-findings.ts';
import { type CaptureRequest, leavesAlive } from './request.ts';
import { readRawFrames } from './serialize-error.ts';
import { announce, isToldLater } from './summary-line.ts';
import { isMainThread, type Surroundings } from './surroundings.ts';
import { createContext, describeFailure, writeProduced } from './write-parts.ts';

/** The same death within this time is counted and not stored again. */
const repeatWindowMs = 60_000;
/** Wall-clock time, because it is not known yet how busy the machine is. */
const firstLookLimitMs = 3_000;

let isCapturing = false;

/** Writes a bundle. Returns its path, or undefined if none was written; the reason was then printed to stderr. */
export function captureBundle(surroundings: Surroundings, request: CaptureRequest): string | undefined {
  if (isCapturing) return undefined;
  isCapturing = true;
  try {
    requireAddressRoom();
    if (isTheEnd(request)) makeRoomForFiles();
    return writeBundle(surroundings, request);
  } catch (error) {
    writeStderrLine(`no bundle: ${describeFailure(error)}`);
    return undefined;
  } finally {
    isCapturing = false;
  }
}

/** Whether the whole process ends after this returns. */
function isTheEnd({ kind, handledByHost }: CaptureRequest): boolean {
  return isMainThread && !handledByHost && !leavesAlive(kind);
}

function writeBundle(surroundings: Surroundings, request: CaptureRequest): string | undefined {
  const { config } = surroundings;
  const time = ownTime();
  configurePolicy(surroundings);
  const lock = findLock(surroundings);
  const { frames, trigger, key } = lookInTime(request, config, hasWorked(surroundings));
  const noted = noteDeath(surroundings, trigger, key);
  if (!noted) {
    if (request.kind === 'signal' && isTheEnd(request)) leaveNothing(surroundings);
    return undefined;
  }
  if (noted.repeats > 0) trigger.repeats = noted.repeats;
  try {
    return storeBundle(surroundings, request, { frames, trigger, lock, time, id: noted.id });
  } catch (error) {
    if (noted.id !== undefined) forgetStored(config.dir, noted.id);
    throw error;
  }
}

/** A sweep would make a bundle of the session, though the death was counted. After a signal there is no `exit` event that removes it. */
function leaveNothing(surroundings: Surroundings): void {
  surroundings.flight?.recorder.leaveNothing();
  removeStartMark(surroundings);
}

interface Looked {
  frames: RawFrame[];
  trigger: TriggerPart;
  lock: Lock | undefined;
  time: OwnTime;
  id: string | undefined;
}

/** Throws if in the end not even the first part was written. */
function storeBundle(
  surroundings: Surroundings,
  request: CaptureRequest,
  { frames, trigger, lock, time, id }: Looked,
): string {
  const { config } = surroundings;
  const { dir, maxBundles, maxBytes } = config;
  const { program, verdictKind } = trigger;
  const { begun } = surroundings;
  const writer = startBundle({
    dir,
    program,
    verdictKind,
    at: new Date(trigger.at),
    writer: version,
    ...(id !== undefined && { id }),
    ...(lock && { lock }),
    ...(begun !== undefined && { begun }),
  });
  trigger.id = writer.id;
  if (surroundings.flight) trigger.recorderId = surroundings.flight.recorder.sessionId;
  writePlainTrigger(writer, trigger);
  const context = createContext(surroundings, request, trigger, writer, time, frames);
  for (const producer of [triggerPart, ...partProducers]) writeProduced(producer, context, writer);
  // Before the search, which would replace the planted secret in a part of a broken redactor.
  dropUnprovenParts(writer);
  withholdFindings(writer, currentPolicy());
  // The full trigger part was not proven clean: the plain one still states which death it was.
  if (!writer.partNames.includes(partNames.trigger)) writePlainTrigger(writer, trigger);
  attemptHeap(context, writer, surroundings, request);
  if (writer.partNames.length === 0) {
    const [first] = writer.unwritten;
    writer.discard();
    throw new Error(`nothing could be written to ${dir}: ${first?.code ?? 'no part was proven clean'}`);
  }
  const { path, unsealed } = sealOrLeave(writer);
  applyRetention({ dir, maxBundles, maxBytes, keep: path });
  const { unwritten } = writer;
  const tookMs = time.wallMs();
  announce({ trigger, config, path: describeFailure(path), tookMs, lock, unwritten, unsealed });
  return path;
}

/** If the folder can't be sealed but still exists, it is a usable bundle, with the reason in `unsealed`. */
function sealOrLeave(writer: BundleWriter): { path: string; unsealed?: string } {
  try {
    return { path: writer.seal() };
  } catch (error) {
    const { path } = writer;
    if (!lstatSync(path, { throwIfNoEntry: false })) throw error;
    return { path, unsealed: failureCode((error as { cause?: unknown }).cause ?? error) };
  }
}

/**
 * The fields that need no redaction, and so don't have to wait for the redactor to be set up: from here on a SIGKILL leaves a
 * bundle that states which death this was. Later replaced by the full part.
 */
function writePlainTrigger(writer: BundleWriter, trigger: TriggerPart): void {
  writer.writePart(partNames.trigger, JSON.stringify(plainTrigger(trigger)));
}

function plainTrigger(trigger: TriggerPart): Partial<TriggerPart> {
  const { id, schemaVersion, kind, verdictKind, at, program, pid, threadId } = trigger;
  const { isMainThread, nodeVersion, handledByHost, recorderId } = trigger;
  const plain = { id, schemaVersion, kind, verdictKind, at, program, pid, threadId };
  return {
    ...plain,
    isMainThread,
    nodeVersion,
    handledByHost,
    ...(recorderId !== undefined && { recorderId }),
  };
}

/** Reading the thrown value may hang, or the machine may be busy: then the bundle is written without it, with the reason. */
function lookInTime(request: CaptureRequest, config: Config, worked: boolean): ReturnType<typeof lookAt> {
  try {
    return runWithDeadline(firstLookLimitMs, () => lookAt(request, config, worked));
  } catch {
    const { thrown: _, ...unseen } = request;
    return { frames: [], trigger: describeTrigger(unseen), key: [request.kind, String(performance.now())] };
  }
}

/** A server has answered, or an agent has started something. */
const hasWorked = ({ recording, origins }: Surroundings): boolean =>
  recording?.isAgent === true || (origins?.requests.count ?? 0) > 0;

/** The first look at a thrown value may run code of the host. */
function lookAt(
  request: CaptureRequest,
  config: Config,
  worked: boolean,
): { frames: RawFrame[]; trigger: TriggerPart; key: string[] } {
  const frames = readRawFrames(request.thrown?.value);
  return { frames, trigger: describeTrigger(request, worked), key: repeatKey(request, config) };
}

/**
 * Written last, when the bundle is already readable: V8 can't be interrupted while it writes a snapshot. Meanwhile the
 * signals that would have killed the process without us must still be able to end it.
 */
/** The program may have replaced what tells how large the heap is: everything else is written already. */
function attemptHeap(...given: Parameters<typeof writeHeap>): void {
  try {
    writeHeap(...given);
  } catch (error) {
    given[1].addGap({ part: partNames.heapCensus, reason: `collecting it failed: ${failureCode(error)}` });
  }
}

function writeHeap(
  context: CaptureContext,
  writer: BundleWriter,
  { deathSignals }: Surroundings,
  request: CaptureRequest,
): void {
  const { wanted, taken, estimatedMs = 0 } = decideHeapTier(context.config, context.trigger);
  if (taken === 'snapshot') {
    const isLast = isTheEnd(request);
    writer.checkpoint();
    if (isLast) deathSignals?.release();
    if (wanted === 'always' && !isToldLater()) {
      const end = isLast ? '; SIGTERM ends it, and all else is written' : '';
      writeStderrLine(`writing the heap, which may take up to ${Math.ceil(estimatedMs / 1000)} s${end}`);
    }
  }
  writeProduced(heapPart, context, writer);
}

/** Throws if a recipient is configured that can't be read: no bundle is written then, because it would not be encrypted. */
function findLock({ config: { recipient }, lock }: Surroundings): Lock | undefined {
  return lock ?? (recipient === undefined ? undefined : readLock(recipient));
}

/** How often the same death was left out since the last stored one; undefined if this one is to be left out too. */
function noteDeath(
  { config: { dir }, tests }: Surroundings,
  trigger: TriggerPart,
  key: string[],
): SignatureNote | undefined {
  if (trigger.verdictKind === 'snapshot') return { store: true, repeats: 0 };
  const { kind, program, isMainThread } = trigger;
  const signature = [kind, program, isMainThread, ...key, tests?.runFolder].join('|');
  const noted = noteSignature({ dir, signature, windowMs: repeatWindowMs });
  if (noted.store) return noted;
  const { repeats, id } = noted;
  if (id !== undefined) tests?.noteRepeat(id.slice(0, 8), trigger.kind);
  // A program that survives may fail like this at every request: only the 1st, 10th, 100th … repeat is printed.
  if (!isToldLater() && (!trigger.handledByHost || /^10*$/.test(String(repeats))))
    writeStderrLine(
      `the same ${trigger.verdictKind} again, ${repeats} in the last minute; counted, not stored`,
    );
  return undefined;
}
