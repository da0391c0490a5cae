/**
 * The log of one thread's tests in the run's private folder: one write a line, so that it is whole up to the moment of
 * any death. It lies in memory (/dev/shm) and in the clear, like Node's own report; who reads it redacts it.
 */
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { TestLogLine } from '../bundle/layout-tests.ts';

const longestLog = 16 * 1024 * 1024;

export interface TestLog {
  /** Never throws; after a failure it does nothing more. */
  write(line: TestLogLine): void;
  close(): void;
}

/** `restate` says again, when the log begins anew, what must not be lost. */
export function openTestLog(folder: string, threadId: number, restate: () => TestLogLine[]): TestLog {
  let fd = openSync(join(folder, `tests-${process.pid}-${threadId}.jsonl`), 'a', 0o600);
  let bytes = 0;
  const put = (line: TestLogLine): void => {
    bytes += writeSync(fd, `${JSON.stringify(line)}\n`);
  };
  return {
    write(line) {
      if (fd < 0) return;
      try {
        if (bytes > longestLog) {
          ftruncateSync(fd, 0);
          bytes = 0;
          for (const kept of restate()) put(kept);
        }
        put(line);
      } catch {
        // A full disk must not cost the tests a failing system call each.
        fd = -1;
      }
    },
    close() {
      if (fd >= 0) closeSync(fd);
      fd = -1;
    },
  };
}
