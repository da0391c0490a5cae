/**
 * The tests that run in other threads of this process, from their logs: a worker thread that spins or ran out of memory can't
 * be asked, and the bundle is written by the main thread. Read only when a dump is written.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningTest, type TestLogLine, testLogName } from '../bundle/layout/tests.ts';

const mostLogs = 32;

/** The newest first in each thread. Never throws. */
export function readOtherThreads(folder: string): RunningTest[] {
  try {
    return readdirSync(folder)
      .filter((name) => {
        const [, pid, thread] = testLogName.exec(name) ?? [];
        return Number(pid) === process.pid && thread !== '0';
      })
      .slice(-mostLogs)
      .flatMap((name) => unfinishedIn(readFileSync(join(folder, name), 'utf8')));
  } catch {
    return [];
  }
}

function unfinishedIn(log: string): RunningTest[] {
  const running = new Map<number, RunningTest>();
  for (const text of log.split('\n')) {
    if (text === '') continue;
    const line = JSON.parse(text) as TestLogLine;
    if (line.kind === 'start') {
      const { kind: _, id, startedMs, hook: __, ...test } = line;
      running.set(id, { ...test, startedAt: new Date(startedMs).toISOString() });
    } else if (line.kind === 'end') running.delete(line.id);
    // The thread exited normally; tests that it left unfinished don't count.
    else if (line.kind === 'exit') running.clear();
  }
  return [...running.values()].reverse();
}
