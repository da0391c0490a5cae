/**
 * Follows the processes that the program starts: command, exit, and the end of their standard error, as far as it is
 * read: by the program, or by Node when the child has exited. Adds no listeners and replaces none of their methods: ends are detected by polling, standard error is read as it
 * is emitted. Children of spawnSync, execSync and execFileSync are not seen here; of
 * those that failed, `parts/unseen-children.ts` tells what is known at a death.
 */
import type { ChildProcess } from 'node:child_process';
import { guarded } from '../../agent/taps/guard.ts';
import type { EndedChild } from '../../journal/write/observed-exit.ts';
import { quoteWords } from '../../platform/paths.ts';
import { startOf } from '../../redaction/start-of.ts';
import { tapPresentEvents } from '../triggers/event-tap.ts';
import type { Child, ProcessEvents } from './process-events.ts';
import { childIn } from './process-events.ts';

const stderrChars = 4096;
const longestCommand = 2048;
const { now } = Date;

/** Called for a child that has ended, or that has been sent a signal when this process ends. */
export type NoteExit = (child: EndedChild, startedAtMs: number) => void;

type RedactArgv = (argv: readonly string[]) => string[];

export class ChildWatch {
  readonly #processEvents: ProcessEvents;
  readonly #redactArgv: RedactArgv;
  readonly #noteExit: NoteExit;
  readonly #alive = new Map<ChildProcess, Child>();
  /** Receives a message of the channel, which is published from the constructor: command and pipes are set a moment later. */
  readonly hear = guarded((message: unknown) => {
    const child = childIn(message);
    if (child) queueMicrotask(guarded(() => this.follow(child, now())));
  });

  constructor(processEvents: ProcessEvents, redactArgv: RedactArgv, noteExit: NoteExit) {
    this.#processEvents = processEvents;
    this.#noteExit = noteExit;
    this.#redactArgv = redactArgv;
    process.getBuiltinModule('node:diagnostics_channel').subscribe('child_process', this.hear);
  }

  stop(): void {
    process.getBuiltinModule('node:diagnostics_channel').unsubscribe('child_process', this.hear);
  }

  /** Records which children have ended since the last call. */
  look(): void {
    for (const [child, record] of this.#alive) {
      const { exitCode, signalCode } = child;
      if (exitCode === null && signalCode === null) continue;
      this.#alive.delete(child);
      record.endedAt = now();
      if (exitCode !== null) record.exitCode = exitCode;
      if (signalCode !== null) record.signal = signalCode;
      this.#processEvents.add({ kind: 'childEnd', payload: record });
      this.#noteExit(child, record.startedAt);
    }
  }

  /** This process ends, and will not learn how the others do. */
  lookLast(): void {
    this.look();
    for (const [child, record] of this.#alive) this.#noteExit(child, record.startedAt);
  }

  follow(child: ChildProcess, startedAt: number): void {
    const words = Array.isArray(child.spawnargs) ? child.spawnargs.map(String) : [];
    const record: Child = {
      pid: child.pid ?? 0,
      command: startOf(quoteWords(this.#redactArgv(words)), longestCommand),
      startedAt,
    };
    if (child.pid === undefined) record.error = 'it could not be started';
    else this.#alive.set(child, record);
    this.#processEvents.add({ kind: 'childStart', payload: record });
    if (child.stderr)
      tapPresentEvents(child.stderr, 'data', {
        before: guarded((chunk: unknown) => keepEnd(record, chunk)) as (...args: never[]) => unknown,
        // Also what Node lets pass when the child has exited and nobody has read it.
        joins: () => true,
      });
  }
}

function keepEnd(record: Child, chunk: unknown): void {
  const text = chunk instanceof Uint8Array ? Buffer.from(chunk).toString('utf8') : chunk;
  if (typeof text === 'string') record.stderrTail = ((record.stderrTail ?? '') + text).slice(-stderrChars);
}
