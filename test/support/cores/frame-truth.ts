/** V8's own stack text parsed into positions, to compare a core reader with it. */

export interface TruePlace {
  /** As printed by V8, e.g. `new K3`, `Object.get g [as g]`; empty for anonymous functions. */
  name: string;
  file: string;
  line: number;
  column: number;
}

/** Frames with a position; those of V8's own functions (`<anonymous>`) are omitted. */
export function parseTruth(stack: string): TruePlace[] {
  const places: TruePlace[] = [];
  for (const text of stack.split('\n')) {
    const match = /^ {4}at (?:(.*) \()?([^()]*?):(\d+):(\d+)\)?$/.exec(text);
    if (!match) continue;
    const [, name = '', file = '', line = '', column = ''] = match;
    places.push({ name, file, line: Number(line), column: Number(column) });
  }
  return places;
}

/** `new C.m [as n]` and `Object.m` → `m`: V8 and the account name receivers by rules of their own. */
export const bareName = (name: string) =>
  name
    .replace(/ \[as .*\]$/, '')
    .replace(/^(?:async |new )+/, '')
    .replace(/^.*\.(?!\.)(?=[^.]*$)/, '')
    .replace(/^<anonymous>$/, '');
