/**
 * Compares a program's run with the preload to its runs without it. Differences among the runs without the preload are
 * excluded by rule: each text is compared at the first of six levels at which those runs agree.
 */

/** The result of a run. */
export interface Run {
  code: number | null;
  signal: string | null;
  stdout: string;
  /** Without the lines that we print. */
  stderr: string;
  /** By path: `kind mode` and the content, as text with one character per byte. */
  files: ReadonlyMap<string, string>;
}

/** How closely a text could be compared, from exactly to not at all. */
export const levels = ['exact', 'numbers', 'names', 'order', 'lines', 'common', 'nothing'] as const;
export type Level = (typeof levels)[number];

export interface Difference {
  /** `exit`, `stdout`, `stderr`, `files` or `file <path>` */
  what: string;
  level: Level;
  bare: string;
  loaded: string;
}

export interface Comparison {
  differences: Difference[];
  /** Of stdout, stderr and the names of files. */
  levels: Record<'stdout' | 'stderr' | 'files', Level>;
}

type Canon = (text: string) => string;

/** Durations. Many runners only print them if they were long, so they are removed without a placeholder. */
const duration = /[ \t]*\(?\b\d+(?:\.\d+)? ?(?:[µnm]?s|min|ms)\b\)?/g;

/** Sizes, process ids, ports, addresses, versions: each number is one token. */
const maskNumbers: Canon = (text) =>
  text.replace(duration, '').replace(/0x[0-9a-f]+|\d[\d.,:_]*(?:e-?\d+)?/gi, 'N');

/** Random identifiers: a word of letters and digits, or of hexadecimal digits. */
const maskNames: Canon = (text) =>
  maskNumbers(text.replace(/(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{5,}(?![\w-])/gi, 'ID'));

const sortLines: Canon = (text) => maskNames(text).split('\n').sort().join('\n');

const differentLines: Canon = (text) => [...new Set(sortLines(text).split('\n'))].join('\n');

const canons: readonly [Level, Canon][] = [
  ['exact', (text) => text],
  ['numbers', maskNumbers],
  ['names', maskNames],
  ['order', sortLines],
  ['lines', differentLines],
];

/** If no level makes the texts agree: the lines that all of them contain must be present. */
function compareCommon(
  bare: readonly string[],
  loaded: string,
): Pick<Difference, 'bare' | 'loaded'> | undefined {
  const sets = bare.map((text) => new Set(differentLines(text).split('\n')));
  const now = new Set(differentLines(loaded).split('\n'));
  const missing = [...(sets[0] ?? [])].filter((line) => sets.every((set) => set.has(line)) && !now.has(line));
  return missing.length ? { bare: missing.join('\n'), loaded } : undefined;
}

/** Compares at the first level at which the runs without the preload agree. */
export function compareText(
  what: string,
  bare: readonly string[],
  loaded: string,
): { level: Level; difference?: Difference } {
  if (bare.includes(loaded)) {
    const level = canons.find(([, canon]) => new Set(bare.map(canon)).size === 1)?.[0] ?? 'common';
    return { level };
  }
  for (const [level, canon] of canons) {
    const [first = '', ...others] = new Set(bare.map(canon));
    if (others.length) continue;
    const now = canon(loaded);
    return now === first ? { level } : { level, difference: { what, level, ...firstDifference(first, now) } };
  }
  const difference = compareCommon(bare, loaded);
  return { level: 'common', ...(difference && { difference: { what, level: 'common', ...difference } }) };
}

/** The lines around the first difference. */
function firstDifference(bare: string, loaded: string): Pick<Difference, 'bare' | 'loaded'> {
  const [a, b] = [bare.split('\n'), loaded.split('\n')];
  const at = a.findIndex((line, i) => line !== b[i]);
  const around = (lines: string[]) =>
    lines
      .slice(Math.max(0, at), at + 6)
      .join('\n')
      .slice(0, 2000);
  return at < 0
    ? { bare: '', loaded: b.slice(a.length).join('\n').slice(0, 2000) }
    : { bare: around(a), loaded: around(b) };
}

const exitOf = ({ code, signal }: Run): string => signal ?? String(code);

/** `bare` has at least two runs. */
export function compareRuns(bare: readonly Run[], loaded: Run): Comparison {
  const differences: Difference[] = [];
  const note = (found: { difference?: Difference }): void => {
    if (found.difference) differences.push(found.difference);
  };
  if (!bare.some((run) => exitOf(run) === exitOf(loaded)))
    differences.push({ what: 'exit', level: 'exact', bare: exitOf(bare[0]!), loaded: exitOf(loaded) });
  const stdout = compareText(
    'stdout',
    bare.map((run) => run.stdout),
    loaded.stdout,
  );
  const stderr = compareText(
    'stderr',
    bare.map((run) => run.stderr),
    loaded.stderr,
  );
  const names = (run: Run): string => [...run.files.keys()].sort().join('\n');
  const files = compareText('files', bare.map(names), names(loaded));
  for (const found of [stdout, stderr, files]) note(found);
  for (const [path, content] of loaded.files) {
    const before = bare.flatMap((run) => run.files.get(path) ?? []);
    if (before.length === bare.length) note(compareText(`file ${path}`, before, content));
  }
  return { differences, levels: { stdout: stdout.level, stderr: stderr.level, files: files.level } };
}
