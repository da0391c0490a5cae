/**
 * Derives the row of the layout table for a Node whose V8 has none. Starts from the nearest row, makes that Node die in
 * every tier, and tries for each number which values make the position of every frame equal to V8's own, and the values
 * and object counts equal to those that the program prints. A number is confirmed when only one value does.
 *   npm run v8:row -- <path of a node executable>
 */
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type CoreDump, openCoreDump } from '../../../src/analysis/core/core-dump.ts';
import { surveyHeap } from '../../../src/analysis/core/javascript/heap-survey.ts';
import { openV8 } from '../../../src/analysis/core/javascript/v8-runtime.ts';
import { describeThread } from '../../../src/analysis/core/thread-stack.ts';
import { type LayoutRow, layoutRows } from '../../../src/formats/v8/heap/layout-rows.ts';
import { resolveLayout } from '../../../src/formats/v8/heap/object-layout.ts';
import { type Death, makeCore, victims } from '../cores/core-victims.ts';
import { parseTruth, type TruePlace } from '../cores/frame-truth.ts';

interface Probe {
  death: Death;
  dump: CoreDump;
  /** The number of frames, values or counts that are right with this row. */
  score(row: LayoutRow): number;
}

const generated = '/generated/frames.js';

function open(dump: CoreDump, row: LayoutRow) {
  try {
    return openV8(dump, [], (m, { major, minor }) => resolveLayout(m, row, major * 100 + minor));
  } catch {
    return undefined;
  }
}

/** The number of frames with the true position. */
function scoreFrames(dump: CoreDump, row: LayoutRow, truth: TruePlace[]): number {
  const [thread] = dump.core.threads;
  const v8 = open(dump, row);
  if (!v8 || !thread) return 0;
  const { frames } = describeThread(dump, thread, { v8, crashed: true, values: false, gaps: [] });
  const mine = frames.filter((f) => f.file === generated);
  return truth.filter((t, i) => mine[i]?.line === t.line && mine[i]?.column === t.column).length;
}

/** The number of classes with the exact count. */
function scoreCounts(dump: CoreDump, row: LayoutRow, made: Record<string, number>): number {
  const v8 = open(dump, row);
  if (!v8) return 0;
  const counted = new Map(surveyHeap(dump, v8, []).classes.map((c) => [c.name, c.count]));
  return Object.entries(made).filter(([name, count]) => counted.get(name) === count).length;
}

interface Told {
  this?: string;
  locals: Record<string, string>;
}

/** The number of receivers and arguments that equal what the program printed about itself. */
function scoreValues(dump: CoreDump, row: LayoutRow, told: Told[]): number {
  const [thread] = dump.core.threads;
  const v8 = open(dump, row);
  if (!v8 || !thread) return 0;
  const { frames } = describeThread(dump, thread, { v8, crashed: true, values: true, gaps: [] });
  const mine = frames.filter((f) => f.file === '/generated/optimised.js').slice(1);
  const right = told.map(({ this: self, locals }, i) => {
    const found = new Map(mine[i]?.locals?.map((l) => [l.name.replace('...', ''), l.value]));
    const expected = Object.entries({ ...locals, ...(self === undefined ? {} : { this: self }) });
    return expected.filter(([name, value]) => found.get(name) === value).length;
  });
  return right.reduce((sum, count) => sum + count, 0);
}

function probe(
  node: string,
  args: string[],
  score: (dump: CoreDump, row: LayoutRow, out: string) => number,
): Probe {
  const death = makeCore(node, args);
  const dump = openCoreDump(death.core);
  return { death, dump, score: (row) => score(dump, row, death.stdout) };
}

const node = resolve(process.argv[2] ?? process.execPath);
const frames = (flags: string[], rounds: number) =>
  probe(node, [...flags, join(victims, 'frames.cjs'), '5', '60', `${rounds}`], (dump, row, out) =>
    scoreFrames(
      dump,
      row,
      parseTruth(out).filter((p) => p.file === generated),
    ),
  );
const probes = {
  interpreted: frames([], 0),
  baseline: frames(['--always-sparkplug'], 3),
  warm: frames([], 2000),
  hot: frames([], 20_000),
  values: probe(node, [join(victims, 'optimised.cjs'), '3', '14', '20000'], (dump, row, out) =>
    scoreValues(dump, row, JSON.parse(out)),
  ),
  heap: probe(node, [join(victims, 'heap.cjs'), '3', '3000'], (dump, row, out) =>
    scoreCounts(dump, row, JSON.parse(out)),
  ),
};
type ProbeName = keyof typeof probes;

/** The candidate values of each number, and the probes that determine it. */
const small = [0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80];
const fields: [name: keyof LayoutRow, values: unknown[], shownBy: ProbeName[]][] = [
  ['functionData', [[8], [16], [24], [8, 16], [16, 24]], ['interpreted', 'baseline']],
  ['bytecodePositions', small, ['interpreted']],
  ['unsignedPositionDeltas', [false, true], ['interpreted']],
  ['codeFlags', [...small, 44, 52, 60, 68], ['baseline']],
  ['codePositions', small, ['baseline']],
  ['codeInstructionSize', [...small, 44, 52, 60, 68], ['baseline']],
  ['codeDeoptimizationData', small, ['warm', 'hot']],
  ['safepointHeader', [4, 8, 12, 16, 20, 24], ['warm', 'hot']],
  ['signedHeights', [false, true], ['values']],
  [
    'translation',
    layoutRows
      .map((row) => row.translation)
      .filter((list, i, all) => all.findIndex((l) => isDeepStrictEqual(l, list)) === i),
    ['hot', 'values'],
  ],
  [
    'page',
    layoutRows
      .map((row) => row.page)
      .filter((page, i, all) => all.findIndex((p) => isDeepStrictEqual(p, page)) === i),
    ['heap'],
  ],
];

const total = (row: LayoutRow, names: ProbeName[]) =>
  names.reduce((sum, name) => sum + probes[name].score(row), 0);

const { dump } = probes.interpreted;
let line = 0;
let digest = '';
openV8(dump, [], (m, { major, minor }) => {
  line = major * 100 + minor;
  digest = m.digest();
  return resolveLayout(m, layoutRows.at(-1) as LayoutRow, line);
});
let row: LayoutRow = {
  ...(layoutRows.findLast((r) => r.from <= line) ?? (layoutRows[0] as LayoutRow)),
  from: line,
};
console.log(
  `V8 ${Math.floor(line / 100)}.${line % 100}, from the row of ${layoutRows.findLast((r) => r.from <= line)?.from}`,
);
for (const [name, values, shownBy] of fields) {
  const scored = values.map((value) => ({ value, score: total({ ...row, [name]: value }, shownBy) }));
  const best = Math.max(...scored.map((s) => s.score));
  const winners = scored.filter((s) => s.score === best);
  const kept = winners.find((s) => isDeepStrictEqual(s.value, row[name])) ?? winners[0];
  const how =
    best === 0
      ? 'NOT CONFIRMED: nothing could be read'
      : winners.length === 1
        ? 'confirmed'
        : winners.length === values.length
          ? 'makes no difference here: V8 describes it itself, or no probe shows it'
          : `${winners.length} values do as well`;
  const text = JSON.stringify(kept?.value) ?? '';
  const shown = text.length > 60 ? `${text.slice(0, 56)} …]` : text;
  console.log(`${name.padEnd(24)} ${shown.padEnd(60)} ${how} (${best} right)`);
  row = { ...row, [name]: kept?.value };
}
for (const [name, each] of Object.entries(probes)) {
  console.log(`${name}: ${each.score(row)} right`);
  each.dump.close();
  each.death.remove();
}
const { translation: _, ...numbers } = row;
console.log(`\n${JSON.stringify(numbers, undefined, 2)}\nprovenLines: [${line}, ['${digest}']]`);
