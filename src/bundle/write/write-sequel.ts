/** Records what became of a process beside its bundle (layout/sequel.ts). */
import { type Sequel, sequelSchema, sequelSuffix, sequelVersion } from '../layout/sequel.ts';
import { closeSync, existsSync, isoTime, nowMs, openSync, unlinkSync, writeSync } from './system.ts';

/** For errors that the program handled: the process ends now. */
export function writeEnds(bundles: readonly string[], exitCode: number): void {
  const at = isoTime(nowMs());
  for (const bundle of bundles) writeSequel(bundle, { event: 'ended', at, exitCode });
}

/** The program's own handler of this uncaught exception is called next. */
export function writeHandling(bundle: string): void {
  writeSequel(bundle, { event: 'handling', at: isoTime(nowMs()) });
}

/** Node's exit code if a listener for uncaught exceptions throws. */
export const handlerThrew = 7;

/** The handler threw, and Node ends the process. `next`: the bundle of what it threw. */
export function writeThrew(
  bundle: string,
  { rethrown, next }: { rethrown?: true; next?: string | undefined },
): void {
  writeSequel(bundle, {
    event: 'died',
    at: isoTime(nowMs()),
    exitCode: handlerThrew,
    ...(rethrown && { rethrown }),
    ...(next !== undefined && { next }),
  });
}

/** It returned, or ended the process itself. */
export function withdrawHandling(bundle: string): void {
  try {
    unlinkSync(bundle + sequelSuffix);
  } catch {
    // It was not written, or retention has removed it.
  }
}

/** The first record is kept. Never throws: without a record nothing is known, which is reported too. */
export function writeSequel(bundle: string, sequel: Omit<Sequel, 'schema' | 'version'>): void {
  const whole: Sequel = { schema: sequelSchema, version: sequelVersion, ...sequel };
  try {
    // Retention may have removed the bundle.
    if (!existsSync(bundle)) return;
    const fd = openSync(bundle + sequelSuffix, 'wx', 0o600);
    writeSync(fd, `${JSON.stringify(whole)}\n`);
    closeSync(fd);
  } catch {
    // A full or read-only disk, or it has been written already.
  }
}
