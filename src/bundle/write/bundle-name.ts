/**
 * The name of a bundle's folder: `<UTC time>-<program>-<verdict kind>-<short id>`, followed by `-2` and so on to make it
 * unique. Sorting by name sorts by time. Says nothing about the contents of the folder.
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

/** The name without a suffix. */
export function bundleStem(fields: BundleNameFields, attempt = 1): string {
  const time = isoTime(fields.atMs).replace(/[-:]/g, '');
  const again = attempt > 1 ? `-${attempt}` : '';
  return `${time}-${programWord(fields.program)}-${safeWord(fields.verdictKind, 'unknown')}-${fields.id.slice(0, 8)}${again}`;
}

/** The form of a program's name within a bundle's name. */
export function programWord(program: string): string {
  return safeWord(program, 'node');
}

/** Leaves only characters that are allowed in file names on every system, and need no quotes in any shell. */
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

/** What can be read from a name; undefined for a name that no bundle has. */
export interface NamedBundle {
  /** ISO 8601 UTC. */
  at: string;
  /** Program and verdict kind, which can't be separated by the name alone: both may contain hyphens. */
  words: string;
  shortId: string;
  /** What follows the stem, starting with `.agentdump`. */
  suffix: string;
}

export function readBundleName(name: string): NamedBundle | undefined {
  const found = stem.exec(name);
  if (!found) return undefined;
  const [, year, month, day, hour, minute, second, words = '', shortId = '', rest = ''] = found;
  const at = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  return { at, words, shortId, suffix: bundleSuffix + rest };
}
