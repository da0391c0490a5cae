/**
 * Finds the lines of the kernel log about one process: out-of-memory kills and faults. Reads /dev/kmsg (see the kernel's
 * ABI/testing/dev-kmsg). Users often lack the permission; then the reason is returned instead.
 */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { notAvailable, platform } from '../../platform/index.ts';

const mostRecords = 20_000;
const mostLines = 20;

export type KernelLogFinding = { lines: string[] } | { reason: string };

/** Lines that contain the pid, oldest first, with the kernel's seconds since boot. */
export function findKernelLines(pid: number, path = platform.kernelLog): KernelLogFinding {
  if (path === undefined) return { reason: notAvailable('the log of the kernel') };
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return { reason: `${path}: ${(error as NodeJS.ErrnoException).code}` };
  }
  try {
    return { lines: [...kernelRecords(fd)].filter((line) => isAbout(line, pid)).slice(-mostLines) };
  } finally {
    closeSync(fd);
  }
}

/** One record per read, until the end of the log. Overwritten records (EPIPE) are skipped. */
function* kernelRecords(fd: number): Generator<string> {
  const buffer = Buffer.alloc(8192);
  for (let count = 0; count < mostRecords; count++) {
    let length: number;
    try {
      length = readSync(fd, buffer, 0, buffer.length, null);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') continue;
      return;
    }
    if (length === 0) return;
    yield asLine(buffer.toString('utf8', 0, length));
  }
}

/** `priority,sequence,microseconds,flags;text`, followed by detail lines that start with a space. */
function asLine(record: string): string {
  const [head = '', ...text] = (record.split('\n')[0] ?? '').split(';');
  const seconds = Number(head.split(',')[2]) / 1e6;
  return `[${Number.isFinite(seconds) ? seconds.toFixed(6) : '?'}] ${text.join(';').slice(0, 500)}`;
}

/** `Killed process 123 (node)`, `oom-kill:…,pid=123,uid=0`, `node[123]: segfault at …`, `traps: node[123] trap …`. */
export function isAbout(line: string, pid: number): boolean {
  return new RegExp(String.raw`(?:[Kk]illed process |pid=|\[)${pid}(?:[^\d.]|$)`).test(
    line.replace(/^\[[^\]]*\]/, ''),
  );
}
