/** Suggestions for a mistyped command or option: the nearest known word, if one is close enough. Pure. */

/** Number of letters added, left out, changed or swapped with their neighbour. */
function distance(a: string, b: string): number {
  const rows: number[][] = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 0; j <= b.length; j++) (rows[0] as number[])[j] = j;
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const change = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const best = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, change);
      (rows[i] as number[])[j] = isSwapped ? Math.min(best, at(i - 2, j - 2) + 1) : best;
    }
  return at(a.length, b.length);
}

export function nearest(word: string, known: Iterable<string>): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 3));
  let best: { name: string; far: number } | undefined;
  for (const name of known) {
    if (name.length < 2) continue;
    const far = name.startsWith(word) && word.length >= 3 ? 1 : distance(word, name);
    if (far <= most && (!best || far < best.far)) best = { name, far };
  }
  return best?.name;
}

/** `; did you mean --json?`, or empty. */
export function meantText(word: string, known: Iterable<string>, mark = ''): string {
  const name = nearest(word, known);
  return name === undefined ? '' : `; did you mean ${mark}${name}?`;
}
