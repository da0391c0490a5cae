/** What a producer of a bundle part receives and returns. A producer may throw: the part is then a gap with the reason. */
import type { TestPort } from '../../agent/api/test-port.ts';
import type { HeapProfilePart, LocalsPart, RawFrame, TriggerPart } from '../../bundle/layout/bundle.ts';
import type { OpenPart } from '../../bundle/write/writer.ts';
import type { RecordingState } from '../fatal-path/surroundings.ts';
import type { OwnTime } from '../host/own-time.ts';
import type { Config } from '../install/config.ts';
import type { Recording } from '../install/recording-half.ts';
import type { ListenSites } from '../recording/listen-sites.ts';
import type { LogTap } from '../recording/log-tap.ts';
import type { ProcessEvents } from '../recording/process-events.ts';
import type { Origins } from '../recording/request-watch.ts';
import type { FramePlaces } from '../stacks/script-excerpt.ts';
import type { KnownWorkers } from '../triggers/known-workers.ts';
import type { SeenWorkers } from '../watchdog/protocol.ts';

export interface CaptureContext {
  config: Config;
  /** The preload's file, which is not part of the program. */
  ownFile: string;
  /** As they were at the start (file-compilers.ts); absent where that is not known. */
  compilers?: readonly unknown[];
  /** Worker threads of this thread that have not ended. */
  workers: KnownWorkers;
  /** The system's id of our own thread, if one runs. */
  watchdogThread: number | undefined;
  /** Workers that ran code when the signal came by which the process dies. */
  seenWorkers?: SeenWorkers;
  trigger: TriggerPart;
  /** The program's listeners for the event. */
  handlers: readonly object[];
  /** Present if a value was thrown, which may be undefined. Of a rejection it is the object itself, not Node's error for it. */
  thrown?: { value: unknown; frames: RawFrame[] };
  /** Frames of a main thread that was interrupted, with their variables. */
  locals?: LocalsPart['frames'];
  /** Whether this thread may open a debugger on itself. */
  mayDebug: boolean;
  /** Profile of the allocations, if memory came near its limit. */
  heapProfile?: HeapProfilePart;
  /** Texts of all stacks in the bundle so far: they decide whose source is kept. */
  stackTexts: string[];
  /** Positions of V8's own frames, by the URL or path of their script, for the same purpose. */
  framePlaces: FramePlaces;
  /** Filled by the scripts part for those after it: URL or path of every loaded script. */
  scriptUrls: string[];
  recording?: Recording;
  processEvents: ProcessEvents;
  logs: LogTap | undefined;
  /** Detects the ends of children that were not reported yet. */
  lookAtChildren(): void;
  recordingPolicy?: RecordingState;
  tests?: TestPort;
  origins?: Origins;
  listens?: ListenSites;
  /** Number of values that the host has registered. */
  withheldCount: number;
  /** Adds values that were withheld from a part other than while writing it, by rule. */
  countRedactions(part: string, counts: ReadonlyMap<string, number>): void;
  addGap(part: string, reason: string, lookedFor?: string): void;
  /** The time that the capture has taken so far. */
  time: OwnTime;
  /** Writes an additional text part, redacted like every other. False if it could not be written. */
  writeText(name: string, text: string): boolean;
  /** Writes an additional part with source text of the program, redacted in place. False if it could not be written. */
  writeCode(name: string, text: string): boolean;
  /** Like writeCode, for a source map: its sources are redacted, its mappings stay. Throws if it is not a source map. */
  writeSourceMap(name: string, text: string): boolean;
  /** Opens an additional part, to be written in chunks of bytes that are already redacted. */
  openPart(name: string): OpenPart;
  /** Milliseconds of our own time that remain for the whole capture. */
  timeLeftMs(): number;
}

/** Where the part has secrets of its own, and the canary is added too. */
export interface CanaryPlace {
  /** Changes the data, which must belong to the part. */
  plant(data: never): void;
  /** Removes it from the redacted copy. Throws UnprovenRedaction. */
  uproot(copy: never): void;
}

export interface PartProducer {
  /** File name in the bundle. */
  name: string;
  /** The result is already redacted, or consists of Node's own numbers and hashes: it is not redacted again. */
  isRedacted?: true;
  canaryPlace?: CanaryPlace;
  /** All numbers are those of Node, V8 or the system, under names that are theirs or ours: neither is searched for secrets. */
  hasOwnFigures?: true;
  /** Is given its time, however late it is. */
  isVital?: true;
  /** A separate limit in milliseconds of our own time, instead of the common one. */
  limitMs?(context: CaptureContext): number;
  /** It must not be cut, and ends by itself: `produce` runs outside of the deadline (host/deadline.ts). */
  isUncut?: true;
  /** JSON data, or undefined if there is nothing to report and nothing missing. */
  produce(context: CaptureContext): unknown;
}
