/**
 * The name of a bundle's folder: `<UTC time>-<program>-<verdict kind>-<short id>`, then `-2` and so on where two would
 * be the same. Sorted by name is sorted by time. Says nothing about what the folder holds.
 */
import { bundleSuffix } from '../layout/bundle.ts';
import { isoTime } from './system.ts';

const longestProgram = 40;

export interface BundleNameFields {
  atMs: number;
  program: string;
  verdictKind: string;
  id: string;
}

/** The name without any suffix. */
export function bundleStem(fields: BundleNameFields, attempt = 1): string {
  const time = isoTime(fields.atMs).replace(/[-:]/g, '');
  const again = attempt > 1 ? `-${attempt}` : '';
  return `${time}-${programWord(fields.program)}-${safeWord(fields.verdictKind, 'unknown')}-${fields.id.slice(0, 8)}${again}`;
}

/** How a program's name stands in a bundle's. */
export function programWord(program: string): string {
  return safeWord(program, 'node');
}

/** What may stand in a file's name on every system and in every shell without quotes. */
function safeWord(text: string, otherwise: string): string {
  const word = text
    .slice(0, 4 * longestProgram)
    .replace(/[^A-Za-z0-9._]+/g, '-')
    .replace(/^[-.]+/, '')
    .slice(0, longestProgram)
    .replace(/[-.]+$/, '');
  return word || otherwise;
}

const stem =
  /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d\.\d{3})Z-([A-Za-z0-9._-]+)-([0-9a-f]{8})(?:-\d+)?\.agentdump((?:\.[a-z]+)*)$/;

/** What a name tells by itself; undefined for a name that no bundle has. */
export interface NamedBundle {
  /** ISO 8601 UTC. */
  at: string;
  /** Program and verdict kind, which only the bundle itself can tell apart: both may have hyphens. */
  words: string;
  shortId: string;
  /** What follows the stem, from `.agentdump` on. */
  suffix: string;
}

export function readBundleName(name: string): NamedBundle | undefined {
  const found = stem.exec(name);
  if (!found) return undefined;
  const [, year, month, day, hour, minute, second, words = '', shortId = '', rest = ''] = found;
  const at = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  return { at, words, shortId, suffix: bundleSuffix + rest };
}
