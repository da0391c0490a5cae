/** Reads what became of a process after its bundle was written, if it was recorded (layout/sequel.ts). */
import { lstatSync, readFileSync } from 'node:fs';
import { type Sequel, sequelSchema, sequelSuffix, sequelVersion } from '../layout/sequel.ts';

const sequelEvents: readonly Sequel['event'][] = ['recovered', 'ended', 'died', 'handling'];
const mostBytes = 4096;

/** Undefined if there is none, or none that this version understands. Never throws. */
export function readSequel(bundle: string): Sequel | undefined {
  try {
    const path = bundle.replace(/\/+$/, '') + sequelSuffix;
    const stat = lstatSync(path);
    if (!stat.isFile() || stat.size > mostBytes) return undefined;
    const found = JSON.parse(readFileSync(path, 'utf8')) as Partial<Sequel> | null;
    return isSequel(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

function isSequel(found: Partial<Sequel> | null): found is Sequel {
  if (found?.schema !== sequelSchema || found.version !== sequelVersion) return false;
  const { event, at, silentMs, exitCode, rethrown, next } = found;
  const isDuration = silentMs === undefined || (Number.isFinite(silentMs) && silentMs >= 0);
  const isCode = exitCode === undefined || Number.isInteger(exitCode);
  return (
    sequelEvents.includes(event as Sequel['event']) &&
    Number.isFinite(Date.parse(String(at))) &&
    isDuration &&
    isCode &&
    (rethrown === undefined || rethrown === true) &&
    (next === undefined || typeof next === 'string')
  );
}
