/**
 * The log of one thread's tests in the run's private folder: one write a line, so that it is whole up to the moment of
 * any death; a line that the next one implies may wait for it. It lies in memory (/dev/shm) and in the clear, like Node's own report; who reads it redacts it.
 */
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { TestLogLine } from '../bundle/layout/tests.ts';

const longestLog = 16 * 1024 * 1024;

export interface TestLog {
  /**
   * Never throws; after a failure it does nothing more. `waits`: for the next line, and goes into the file with it; a
   * death in between loses it.
   */
  write(line: TestLogLine, waits?: boolean): void;
  /** What waits is written now. */
  flush(): void;
  close(): void;
}

/** `restate` says again, when the log begins anew, what must not be lost. */
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
  /** A full disk must not cost the tests a failing system call each. */
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
          // What is said again counts it.
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
