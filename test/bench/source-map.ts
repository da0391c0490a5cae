/**
 * Looking up 20 positions in a generated 20 MB source map, compared with JSON.parse of the same map and with the npm package
 * `source-map`. Medians of fresh runs in turns, in one process; the budget for all of it is 1.5 s. `npm run
 * bench:source-map`.
 */
import { SourceMapConsumer } from 'source-map';
import { openSourceMap } from '../../src/formats/source-map/source-map.ts';
import { largeMappings } from '../support/synth/synth-source-map.ts';

const bytes = 20 * 1024 * 1024;
const positions = 20;
const rounds = 7;

/** Maps of one size in three kinds: many lines, one minified line, and one that is mostly the sources' text. */
function makeMap(kind: 'lines' | 'one line' | 'contents'): string {
  const sources = Array.from({ length: 500 }, (_, n) => `../src/module-${n}.ts`);
  const share = kind === 'contents' ? 0.4 : 1;
  const text = '  const answer = await model.ask(question);\n'.repeat(Math.ceil((bytes * 0.6) / 500 / 44));
  return JSON.stringify({
    version: 3,
    sources,
    names: Array.from({ length: 4000 }, (_, n) => `name${n}`),
    ...(kind === 'contents' ? { sourcesContent: sources.map(() => text) } : {}),
    mappings: largeMappings(bytes * share, kind === 'one line', sources.length, 4000),
  });
}

/** Spread over the text, with the last one near its end: a stack may name any place. */
function places(map: string): { line: number; column: number }[] {
  const lines = (JSON.parse(map) as { mappings: string }).mappings.split(';').length;
  return Array.from({ length: positions }, (_, n) => ({
    line: 1 + Math.floor(((n + 1) * (lines - 1)) / positions),
    column: lines === 1 ? 1 + n * 1_500_000 : 40,
  }));
}

async function timed(run: () => Promise<number>): Promise<number> {
  const start = performance.now();
  const found = await run();
  if (found < positions / 2) throw new Error(`only ${found} of ${positions} positions were found`);
  return performance.now() - start;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

for (const kind of ['lines', 'one line', 'contents'] as const) {
  const text = makeMap(kind);
  const map = Buffer.from(text);
  const wanted = places(text);
  const runs = {
    ours: async () => {
      const reader = await openSourceMap(map);
      const found = wanted.filter(({ line, column }) => reader.findOriginal(line, column)).length;
      reader.close();
      return found;
    },
    'JSON.parse': async () => (JSON.parse(map.toString()).mappings.length > 0 ? positions : 0),
    'source-map': async () => {
      const consumer = await new SourceMapConsumer(JSON.parse(map.toString()));
      const found = wanted.filter(
        ({ line, column }) => consumer.originalPositionFor({ line, column: column - 1 }).source !== null,
      ).length;
      consumer.destroy();
      return found;
    },
  };
  const times: Record<keyof typeof runs, number[]> = { ours: [], 'JSON.parse': [], 'source-map': [] };
  for (let round = 0; round < rounds; round++)
    for (const name of Object.keys(runs) as (keyof typeof runs)[]) times[name].push(await timed(runs[name]));
  const [ours, parse, bare] = [median(times.ours), median(times['JSON.parse']), median(times['source-map'])];
  console.log(
    `${kind.padEnd(9)} ${(map.length / 1e6).toFixed(1)} MB: ours ${ours.toFixed(0)} ms, first run ${(times.ours[0] ?? 0).toFixed(0)} ms; ` +
      `${(ours / parse).toFixed(1)} × JSON.parse (${parse.toFixed(0)} ms), ${(ours / bare).toFixed(2)} × source-map (${bare.toFixed(0)} ms)`,
  );
}
