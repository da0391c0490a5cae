/** What a producer of a bundle part gets and gives. A producer may throw: the part is then a gap with the reason. */
import type { Worker } from 'node:worker_threads';
import type { TestPort } from '../../agent/api/test-port.ts';
import type { HeapProfilePart, LocalsPart, RawFrame, TriggerPart } from '../../bundle/layout/bundle.ts';
import type { OpenPart } from '../../bundle/write/writer.ts';
import type { RecordingState } from '../fatal-path/surroundings.ts';
import type { OwnTime } from '../host/own-time.ts';
import type { Config } from '../install/config.ts';
import type { Recording } from '../install/recording-half.ts';
import type { Happenings } from '../recording/happenings.ts';
import type { LogTap } from '../recording/log-tap.ts';
import type { Origins } from '../recording/request-watch.ts';
import type { FramePlaces } from '../stacks/script-excerpt.ts';

export interface CaptureContext {
  config: Config;
  /** The preload's file, which is no part of the program. */
  ownFile: string;
  /** Worker threads of this thread that have not ended. */
  workers: ReadonlySet<Worker>;
  /** The system's number of our own thread, where one runs. */
  watchdogThread: number | undefined;
  trigger: TriggerPart;
  /** Present when a value was thrown; the value itself may be undefined. */
  thrown?: { value: unknown; frames: RawFrame[] };
  /** Frames of a main thread that was interrupted, with their variables. */
  locals?: LocalsPart['frames'];
  /** Whether a debugger of this thread's own may be opened. */
  mayDebug: boolean;
  /** Of the allocations, where memory came near its limit. */
  heapProfile?: HeapProfilePart;
  /** Texts of every stack that the bundle holds so far: they decide whose source is kept. */
  stackTexts: string[];
  /** Where V8's own frames are, by the URL or path of their script, for the same purpose. */
  framePlaces: FramePlaces;
  /** Filled by the scripts part for those after it: URL or path of every loaded script. */
  scriptUrls: string[];
  recording?: Recording;
  happenings: Happenings;
  logs: LogTap | undefined;
  /** Has the ends of children noticed that nobody has told of yet. */
  lookAtChildren(): void;
  recordingPolicy?: RecordingState;
  tests?: TestPort;
  origins?: Origins;
  /** How many values the host has registered. */
  withheldCount: number;
  /** Values withheld from a part elsewhere than in writing it, by rule. */
  countRedactions(part: string, counts: ReadonlyMap<string, number>): void;
  addGap(part: string, reason: string, lookedFor?: string): void;
  /** How long the capture has taken so far. */
  time: OwnTime;
  /** Writes a further part of text, redacted like every other. False when it could not be written. */
  writeText(name: string, text: string): boolean;
  /** Writes a further part with the source of a program, redacted in place. False when it could not be written. */
  writeCode(name: string, text: string): boolean;
  /** As writeCode, for a source map: the texts that it holds are redacted, its mappings stay. Throws when it is none. */
  writeSourceMap(name: string, text: string): boolean;
  /** A further part in chunks, of bytes that are redacted already. */
  openPart(name: string): OpenPart;
  /** Milliseconds of our own time until the whole capture should be over. */
  timeLeftMs(): number;
}

/** Where this part's own secrets are: there the canary is planted too. */
export interface CanaryPlace {
  /** Changes the data, which is the part's own. */
  plant(data: never): void;
  /** Takes it out of the redacted copy. Throws UnprovenRedaction. */
  uproot(copy: never): void;
}

export interface PartProducer {
  /** File name in the bundle. */
  name: string;
  /** What it returns is redacted already, or made of Node's own numbers and hashes: no second pass over it. */
  isRedacted?: true;
  canaryPlace?: CanaryPlace;
  /** It gets its time, however late it is. */
  isVital?: true;
  /** A limit of its own in milliseconds of our own time, instead of the common one. */
  limitMs?(context: CaptureContext): number;
  /** JSON data, or undefined when there is nothing to say and nothing missing. */
  produce(context: CaptureContext): unknown;
}
