/** Writes what became of a process beside the bundle of it (layout/sequel.ts). */
import { type Sequel, sequelSchema, sequelSuffix, sequelVersion } from '../layout/sequel.ts';
import { closeSync, existsSync, isoTime, nowMs, openSync, writeSync } from './system.ts';

/** Of errors that the program handled: it ends now. */
export function writeEnds(bundles: readonly string[], exitCode: number): void {
  const at = isoTime(nowMs());
  for (const bundle of bundles) writeSequel(bundle, { event: 'ended', at, exitCode });
}

/** The first word stands. Never throws: without it nobody knows, which is said too. */
export function writeSequel(bundle: string, sequel: Omit<Sequel, 'schema' | 'version'>): void {
  const whole: Sequel = { schema: sequelSchema, version: sequelVersion, ...sequel };
  try {
    // Retention may have taken the bundle away meanwhile.
    if (!existsSync(bundle)) return;
    const fd = openSync(bundle + sequelSuffix, 'wx', 0o600);
    writeSync(fd, `${JSON.stringify(whole)}\n`);
    closeSync(fd);
  } catch {
    // A full or read-only disk, or it is written already.
  }
}
