/** What is kept of a long script and its map: everything near the stack, in its place, and no half of a secret. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildSync } from 'esbuild';
import fc from 'fast-check';
import { SourceMapConsumer } from 'source-map';
import { excerpt, placesOf, type ScriptPlace, thinMap } from '../../../src/capture/stacks/script-excerpt.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { temporaryFolder } from '../../support/victims/run-victim.ts';

const linesOf = (text: string): string[] => text.split('\n');

test('places are read from a stack, by any of its names', () => {
  const stack =
    'Error: no\n    at a (/app/b.js:12:7)\n    at file:///app/b.js:3:1\n    at /app/bb.js:9:9\n    at /app/b.js';
  assert.deepEqual(placesOf(['/app/b.js'], stack), [
    { line: 12, column: 7 },
    { line: 3, column: 1 },
  ]);
  assert.deepEqual(placesOf(['/app/c.js'], stack), []);
});

test('of any text the lines stay in their place, and those around each position are whole', () => {
  const line = fc.oneof(
    { weight: 9, arbitrary: fc.string({ maxLength: 60 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 60_000 }).map((length) => 'a;'.repeat(length)) },
  );
  const text = fc
    .array(line, { minLength: 1, maxLength: 900 })
    .map((lines) => lines.map((one) => one.replace(/[\r\n\u2028\u2029]/g, ' ')).join('\n'));
  const place = fc.tuple(fc.nat(), fc.nat());
  fc.assert(
    fc.property(text, fc.array(place, { minLength: 1, maxLength: 4 }), (whole, asked) => {
      const lines = linesOf(whole);
      const places = asked.map(([row, at]): ScriptPlace => {
        const line = (row % lines.length) + 1;
        return { line, column: (at % ((lines[line - 1] ?? '').length + 1)) + 1 };
      });
      const kept = excerpt(whole, places);
      assert.ok(kept !== undefined);
      const left = linesOf(kept);
      assert.equal(left.length, lines.length);
      for (const [row, text] of left.entries())
        for (let at = 0; at < text.length; at += 97)
          assert.ok(text[at] === lines[row]?.[at] || text[at] === ' ', `line ${row + 1}`);
      for (const { line, column } of places)
        assert.equal(
          left[line - 1]?.slice(Math.max(0, column - 1500), column + 1500),
          lines[line - 1]?.slice(Math.max(0, column - 1500), column + 1500),
        );
    }),
    { numRuns: fuzzRuns(150) },
  );
});

test('lines far away are empty, and the comments at the end stay', () => {
  const lines = Array.from({ length: 5000 }, (_, at) => `const a${at} = ${at};`);
  lines.push('//# debugId=85314830-023f-4cf1-a267-535f4e37bb17', '//# sourceMappingURL=a.js.map', '');
  const kept = linesOf(excerpt(lines.join('\n'), [{ line: 2500, column: 7 }]) ?? '');
  assert.deepEqual(kept.slice(2450, 2550), lines.slice(2450, 2550));
  assert.deepEqual(kept.slice(-3), lines.slice(-3));
  assert.equal(kept.filter((line) => line !== '').length, 203);
});

test('where no position fits, or lines end as few do, there is no excerpt', () => {
  assert.equal(excerpt('a\nb', []), undefined);
  assert.equal(excerpt('a\nb', [{ line: 3, column: 1 }]), undefined);
  assert.equal(excerpt('a\u2028b', [{ line: 1, column: 1 }]), undefined);
});

test('a key that begins outside is not kept by its other half', () => {
  const word = (n: number): string =>
    Buffer.from(`part ${n} of the key, which is long enough`).toString('base64');
  for (const quote of ['', "'", '"'])
    for (let start = 2380; start < 2400; start += 6) {
      const lines = Array.from({ length: 5000 }, (_, at) => `const a${at} = ${at};`);
      for (let at = 0; at < 40; at++) lines[start + at] = `${quote}${word(at)}${quote && `\\n${quote} +`}`;
      for (let at = 0; at < 40; at++) lines[2600 - 20 + at] = `${quote}${word(at)}${quote && `${quote},`}`;
      const kept = excerpt(lines.join('\n'), [{ line: 2500, column: 1 }]) ?? '';
      // A key that begins inside is recognized by its first line.
      const above = kept.slice(0, kept.indexOf('const a2460 '));
      assert.doesNotMatch(above, /[A-Za-z0-9+/=]{40}/, `from line ${start}`);
      assert.match(kept, /const a2460 = 2460;[\s\S]*const a2560 = 2560;/);
    }
});

test('a long line is cut at the end of a statement', () => {
  const token = 'x'.repeat(900);
  const line = `a="${token}";`.repeat(60);
  const kept = excerpt(line, [{ line: 1, column: 30_001 }]) ?? '';
  for (const [found] of kept.matchAll(/x+/g)) assert.equal(found.length, 900);
  assert.ok(kept.trim().length < 40_000 && kept.trim().length > 30_000);
});

test('a map keeps the sources that the places lead to', async (t) => {
  const dir = temporaryFolder(t);
  mkdirSync(join(dir, 'src'));
  const names = Array.from({ length: 12 }, (_, at) => `part${at}`);
  for (const name of names)
    writeFileSync(
      join(dir, 'src', `${name}.ts`),
      `export function ${name}(text: string) {\n  return text + '${name}';\n}\n`,
    );
  writeFileSync(
    join(dir, 'src', 'main.ts'),
    `${names.map((name) => `import { ${name} } from './${name}';`).join('\n')}\nconsole.log(${names.map((name) => `${name}('a')`).join()});\n`,
  );
  for (const minify of [false, true]) {
    const [map, script] = buildSync({
      entryPoints: [join(dir, 'src', 'main.ts')],
      bundle: true,
      minify,
      sourcemap: true,
      write: false,
      outfile: join(dir, 'out.js'),
    }).outputFiles.map(({ text }) => text) as [string, string];
    const lines = linesOf(script);
    await SourceMapConsumer.with(JSON.parse(map), null, (consumer) => {
      for (const wanted of ['part3', 'part11', 'part0']) {
        const line = lines.findIndex((text) => text.includes(`"${wanted}"`)) + 1;
        const column = (lines[line - 1] ?? '').indexOf(`"${wanted}"`) + 1;
        const thin = JSON.parse(thinMap(map, [{ line, column }], ''));
        const { source } = consumer.originalPositionFor({ line, column: column - 1 });
        assert.match(source ?? '', new RegExp(`${wanted}\\.ts$`));
        assert.deepEqual(
          thin.sources.filter((_: string, at: number) => thin.sourcesContent[at] !== null),
          [source],
        );
        assert.equal(thin.mappings, JSON.parse(map).mappings);
      }
    });
    const named = JSON.parse(thinMap(map, [], 'Error\n    at part5 (/app/src/part5.ts:2:3)'));
    assert.equal(named.sourcesContent.filter((text: string | null) => text !== null).length, 1);
  }
});

test('what is no map comes back as it is, and any mappings are read to their end', () => {
  for (const text of ['', '{', 'null', '[]', '{"version":3}', '{"sections":[]}'])
    assert.equal(thinMap(text, [{ line: 1, column: 1 }], ''), text);
  fc.assert(
    fc.property(fc.string(), fc.nat(20), fc.nat(200), (mappings, line, column) => {
      const map = { version: 3, mappings, sources: ['a', 'b'], sourcesContent: ['a', 'b'] };
      const thin = JSON.parse(thinMap(JSON.stringify(map), [{ line, column }], ''));
      assert.equal(thin.mappings, mappings);
    }),
    { numRuns: fuzzRuns(300) },
  );
});

test('hostile lines, maps and stacks come out, and the file ends in its time', () => {
  const pluses = `${`${'+'.repeat(16_000)}!\n`.repeat(300)}${'\\n'.repeat(8000)}`;
  for (const line of [1, 150, 300])
    assert.equal(linesOf(excerpt(pluses, [{ line, column: 1 }]) ?? '').length, 301);
  const ends = '\n'.repeat(2_000_000);
  assert.equal(excerpt(ends, [{ line: 1_000_000, column: 1 }]), ends);
  const blanks = `${' '.repeat(100_000)}//#`.repeat(20);
  assert.equal(excerpt(blanks, [{ line: 1, column: 1_000_000 }])?.trim(), '');
  const sources = Array.from({ length: 20_000 }, (_, at) => `src/part${at}.ts`);
  const map = { version: 3, mappings: 'AAAA;'.repeat(400_000), sources, sourcesContent: sources };
  const stack = `${'/'.repeat(1_000_000)}part7.ts:1:1`;
  const thin = JSON.parse(thinMap(JSON.stringify(map), [{ line: 400_000, column: 1 }], stack));
  assert.deepEqual(
    thin.sourcesContent.filter((text: string | null) => text !== null),
    ['src/part0.ts', 'src/part7.ts'],
  );
});
