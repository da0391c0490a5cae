/**
 * Names of steps within a run: `plan/search#2/tool:fetch=oslo`. A word is the escaped name, prefixed with its kind unless it
 * is a plain step. Only implements the syntax.
 */
import type { StepKind } from '../records/layout.ts';

const special = /[%/#=:]/;
const eachSpecial = /[%/#=:]/g;

function escapeName(name: string): string {
  if (!special.test(name)) return name;
  return name.replace(eachSpecial, (one) => `%${one.charCodeAt(0).toString(16)}`);
}

export function wordOf(kind: StepKind | 'signal' | 'sleep' | 'child', name: string): string {
  return kind === 'step' ? escapeName(name) : `${kind}:${escapeName(name)}`;
}

/** `ordinal` counts from 1 the steps of this word in their scope; the first has no suffix, nor does one with a key. */
export function labelOf(word: string, ordinal: number, key: string | undefined): string {
  if (key !== undefined) return `${word}=${escapeName(key)}`;
  return ordinal === 1 ? word : `${word}#${ordinal}`;
}

export function joinPath(scope: string, label: string): string {
  return scope === '' ? label : `${scope}/${label}`;
}

export function scopeOf(path: string): string {
  const cut = path.lastIndexOf('/');
  return cut < 0 ? '' : path.slice(0, cut);
}

export function lastLabel(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The word of a path's last label, and its key if it has one, escaped. */
export function readLabel(path: string): { word: string; key: string | undefined } {
  const label = lastLabel(path);
  const mark = label.search(/[#=]/);
  if (mark < 0) return { word: label, key: undefined };
  return { word: label.slice(0, mark), key: label[mark] === '=' ? label.slice(mark + 1) : undefined };
}

/** For a path without a key. */
export function ordinalOf(path: string): number {
  const label = lastLabel(path);
  const mark = label.indexOf('#');
  return mark < 0 ? 1 : Number(label.slice(mark + 1));
}
