/**
 * Records, while the program runs, what happens around the agent: the ends of its logs, warnings, handled errors, children,
 * requests in flight, memory, and the number of descriptors. Ticks once a second, mostly without doing anything: memory is
 * sampled less often while it is constant, and the timer does not keep the process alive.
 */
import { startOwnInterval } from '../../agent/taps/own-timer.ts';
import { type RecordKindName, recordKinds } from '../../journal/layout/records.ts';
import { platform } from '../../platform/index.ts';
import type { ChildWatch } from './child-watch.ts';
import type { FlightRecorder } from './flight-recorder.ts';
import { type LogStream, type LogTap, logStreams } from './log-tap.ts';
import { renderLogTail } from './log-text.ts';
import { OpenRequests } from './open-requests.ts';
import type { Child, ProcessEvent, ProcessEvents } from './process-events.ts';
import type { RequestWatch } from './request-watch.ts';

export interface EventRecorderOptions {
  flight: FlightRecorder;
  policy: {
    text(text: string): string;
    value(value: unknown): unknown;
  };
  processEvents: ProcessEvents;
  logs: LogTap | undefined;
  children: ChildWatch;
  requests: RequestWatch | undefined;
}

const tickMs = 1000;
const longestPauseTicks = 8;
const logChars = 4096;
/** Smaller differences, of memory and of descriptors, are not a change. */
const noticeableShare = 0.05;
const peakShare = 1.25;
const leastDescriptors = 64;
const { now } = Date;

export interface RunningRecorder {
  /** Writes the requests in flight now, if they have changed: there may be no later tick. */
  noteRequests(): void;
  stop(): void;
}

export function startEventRecorder(options: EventRecorderOptions): RunningRecorder {
  const eventRecorder = new EventRecorder(options);
  const timer = startOwnInterval(() => eventRecorder.tick(), tickMs);
  return {
    noteRequests: () => eventRecorder.noteRequests(),
    stop() {
      timer.stop();
      options.processEvents.onEvent = undefined;
      if (options.logs) options.logs.onWrite = undefined;
    },
  };
}

class EventRecorder {
  readonly #options: EventRecorderOptions;
  /** The total output of each stream when its end was last written. */
  readonly #writtenOf: Record<LogStream, number> = { stdout: 0, stderr: 0, pino: 0 };
  #pauseTicks = 1;
  #ticksToSample = 0;
  #rss = 0;
  #descriptorPeak = leastDescriptors;
  readonly #openRequests: OpenRequests | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    const { processEvents, logs, requests, flight } = options;
    const openRequests = requests && new OpenRequests(requests);
    this.#openRequests = openRequests;
    flight.carryOver(() => openRequests?.forget());
    for (const child of processEvents.children)
      this.#write({ at: child.startedAt, kind: 'childStart', payload: child });
    for (const event of processEvents.kept) this.#write(event);
    processEvents.onEvent = (event) => this.#write(event);
    if (!logs) return;
    this.#writeLogs();
    // The first line after a pause is written at once, what follows with the next tick.
    logs.onWrite = () => this.#writeLogs();
  }

  tick(): void {
    this.#options.children.look();
    this.#writeLogs();
    if (this.#options.logs) this.#options.logs.undated = 0;
    this.noteRequests();
    if (--this.#ticksToSample > 0) return;
    const rss = this.#options.flight.sample()?.rss ?? 0;
    const moved = Math.abs(rss - this.#rss) > this.#rss * noticeableShare;
    this.#rss = rss;
    this.#pauseTicks = moved ? 1 : Math.min(longestPauseTicks, this.#pauseTicks * 2);
    this.#ticksToSample = this.#pauseTicks;
    this.#countDescriptors();
  }

  /** Writes the whole end each time: a reader only needs the newest record of a stream, and no secret is split. */
  #writeLogs(): void {
    const { flight, policy, logs } = this.#options;
    if (!logs) return;
    for (const stream of logStreams) {
      const tail = logs.tails[stream];
      if (tail.written === this.#writtenOf[stream]) continue;
      this.#writtenOf[stream] = tail.written;
      logs.quietUntil = now() + tickMs;
      const text = renderLogTail(tail, logChars, (raw) => policy.text(raw));
      flight.append(recordKinds.logTail, JSON.stringify({ stream, text }));
    }
  }

  noteRequests(): void {
    const { flight, policy } = this.#options;
    const payload = this.#openRequests?.look();
    if (payload) flight.append(recordKinds.openRequests, JSON.stringify(policy.value(payload)));
  }

  #write({ kind, payload, at }: ProcessEvent): void {
    const isChild = kind === 'childStart' || kind === 'childEnd';
    const content = isChild ? describeChild(payload as Child) : payload;
    const clean = this.#options.policy.value(content) as object;
    this.#options.flight.append(
      recordKinds[kind satisfies RecordKindName],
      JSON.stringify({ at: isoTime(at), ...clean }),
    );
  }

  #countDescriptors(): void {
    const value = platform.processFolder('self', 'fd').length;
    if (value < this.#descriptorPeak * peakShare) return;
    this.#descriptorPeak = value;
    const limit = platform.limits('self')['Max open files']?.soft;
    const payload = {
      resource: 'descriptors',
      value,
      ...(Number.isFinite(Number(limit)) && { limit: Number(limit) }),
    };
    this.#options.processEvents.add({ kind: 'resourcePeak', payload });
  }
}

function describeChild({ startedAt, endedAt, ...child }: Child): object {
  return {
    ...child,
    startedAt: isoTime(startedAt),
    ...(endedAt !== undefined && { endedAt: isoTime(endedAt) }),
  };
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
