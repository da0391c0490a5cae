/** Reads the source of a call: was the function called by its name, or through a variable that could hold any? Pure. */
import type { Frame } from '../model/thread.ts';

/** A call may go on in the next lines. */
const mostText = 240;

/** Methods that the language calls without their names being written. */
const calledByLanguage = /^(?:toString|valueOf|toJSON|then|next|return|throw|default)$/;

/**
 * Whether `callee` may be called by name at the frame's position: true as well if its source is not known, or if the call is
 * written in a way that names nothing.
 */
export function callsByName({ source, line, column }: Frame, callee: string): boolean {
  const name = callee.replace(/^[gs]et /, '');
  const isName = /^#?[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name);
  // A key such as `order-paid` is called by a variable, or with its quotes.
  if ((!isName && !/^[\p{L}\p{N}_$-]+$/u.test(name)) || calledByLanguage.test(name)) return true;
  const at = source?.findIndex((one) => one.line === line) ?? -1;
  const here = source?.[at];
  if (!source || !here || column === undefined) return true;
  const from = column - (here.startColumn ?? 1);
  if (from < 0 || from >= here.text.length) return true;
  // A position may lie behind the object of a method call, or within a name.
  const begin = from - (/[\p{L}\p{N}_$.#]*$/u.exec(here.text.slice(0, from))?.[0].length ?? 0);
  const text = [here.text.slice(begin), ...source.slice(at + 1).map((one) => one.text)]
    .join('\n')
    .slice(0, mostText);
  if (/^(?:await\s+)?super\b/.test(text) || /^[^(]*\.default\b/.test(text)) return true;
  return new RegExp(`(?<![\\p{L}\\p{N}_$])${name.replace(/\$/g, '\\$')}(?![\\p{L}\\p{N}_$])`, 'u').test(text);
}
