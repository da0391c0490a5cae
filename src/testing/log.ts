/**
 * The log of one thread's tests, in the run's private folder. Each line is one write, so the log is complete up to the moment
 * of any death; a line that is implied by the next one may be delayed until then. It is stored in memory (/dev/shm) and
 * unredacted, like Node's own report; its readers redact it.
 */
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { TestLogLine } from '../bundle/layout/tests.ts';

const longestLog = 16 * 1024 * 1024;

export interface TestLog {
  /**
   * Never throws; after a failure it does nothing. With `waits`, the line is written together with the next one, and lost if
   * the process dies in between.
   */
  write(line: TestLogLine, waits?: boolean): void;
  /** Writes what was delayed. */
  flush(): void;
  close(): void;
}

/** `restate` returns the lines that must be repeated when the log is restarted. */
export function openTestLog(folder: string, threadId: number, restate: () => TestLogLine[]): TestLog {
  let fd = openSync(join(folder, `tests-${process.pid}-${threadId}.jsonl`), 'a', 0o600);
  let bytes = 0;
  let waiting = '';
  const putWaiting = (): void => {
    if (waiting !== '') bytes += writeSync(fd, waiting);
    waiting = '';
  };
  const putLine = (line: TestLogLine): void => {
    waiting += `${JSON.stringify(line)}\n`;
    putWaiting();
  };
  /** After a failure nothing more is written: a full disk must not cost the tests a failing system call each. */
  const untilItFails = (put: () => void): void => {
    if (fd < 0) return;
    try {
      put();
    } catch {
      fd = -1;
    }
  };
  return {
    write(line, waits = false) {
      untilItFails(() => {
        if (bytes > longestLog) {
          ftruncateSync(fd, 0);
          bytes = 0;
          // The repeated lines include its effect.
          waiting = '';
          for (const kept of restate()) putLine(kept);
        }
        if (waits) waiting += `${JSON.stringify(line)}\n`;
        else putLine(line);
      });
    },
    flush() {
      untilItFails(putWaiting);
    },
    close() {
      untilItFails(() => {
        putWaiting();
        closeSync(fd);
      });
      fd = -1;
    },
  };
}
