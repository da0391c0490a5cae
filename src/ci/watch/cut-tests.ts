/** Whether a process of the run exited in the middle of a test, by the last line of its log. Asked of each successful run, so it must be cheap. */
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type TestLogLine, testLogName } from '../../bundle/layout/tests.ts';

/** The line of an exit lists the kinds of open handles with their counts. */
const longestLine = 4096;

export function hasCutTest(folder: string): boolean {
  return readdirSync(folder).some((name) => testLogName.test(name) && isCutOff(join(folder, name)));
}

function isCutOff(log: string): boolean {
  try {
    const line = JSON.parse(readLastLine(log)) as TestLogLine;
    return line.kind === 'exit' && line.unfinished !== undefined;
  } catch {
    // The process was killed, or the program has written to the folder.
    return false;
  }
}

function readLastLine(path: string): string {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, longestLine));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8').trimEnd().split('\n').at(-1) ?? '';
  } finally {
    closeSync(fd);
  }
}
