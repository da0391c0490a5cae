/**
 * Whether a program with the preload did what it does without. What differs between its runs without the preload is
 * left out by rule: each text is compared at the first of six levels at which those runs agree among themselves.
 */

/** What a run left behind. */
export interface Run {
  code: number | null;
  signal: string | null;
  stdout: string;
  /** Without our own lines. */
  stderr: string;
  /** By path: `kind mode` and the content, as text of one byte a character. */
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

/** How long something took; many runners print it only where it was slow, so that nothing takes its place. */
const duration = /[ \t]*\(?\b\d+(?:\.\d+)? ?(?:[µnm]?s|min|ms)\b\)?/g;

/** Sizes, process ids, ports, addresses, versions: a number is one token. */
const maskNumbers: Canon = (text) =>
  text.replace(duration, '').replace(/0x[0-9a-f]+|\d[\d.,:_]*(?:e-?\d+)?/gi, 'N');

/** What is drawn at random: a word of letters and digits, or one of hexadecimal digits. */
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

/** Of texts that agree nowhere, the lines that all have must be there. */
function compareCommon(
  bare: readonly string[],
  loaded: string,
): Pick<Difference, 'bare' | 'loaded'> | undefined {
  const sets = bare.map((text) => new Set(differentLines(text).split('\n')));
  const now = new Set(differentLines(loaded).split('\n'));
  const missing = [...(sets[0] ?? [])].filter((line) => sets.every((set) => set.has(line)) && !now.has(line));
  return missing.length ? { bare: missing.join('\n'), loaded } : undefined;
}

/** The first level at which the runs without the preload agree, and what differs there. */
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

/** The lines around the first that differs. */
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

/** `bare`: at least two. */
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
