/** The two decoders of mappings, compared with each other and with known segments. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MalformedInput } from '../../../src/errors.ts';
import { MappingsScan } from '../../../src/formats/source-map/mappings-scan.ts';
import { openPackageLookup } from '../../../src/formats/source-map/package-lookup.ts';
import type { Segment } from '../../../src/formats/source-map/segment.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { encodeMappings, largeMappings, type SynthSegment } from '../../support/synth/synth-source-map.ts';

const decoders = {
  package: (text: string) => openPackageLookup(text, 100, 100),
  scan: async (text: string) => new MappingsScan(text),
};

for (const [name, open] of Object.entries(decoders)) {
  test(`${name}: an empty text maps nothing`, async () => {
    const lookup = await open('');
    assert.equal(lookup.find(0, 0), undefined);
    lookup.close();
  });

  test(`${name}: a position belongs to the last mapping at or before it, on its own line only`, async () => {
    const text = encodeMappings([
      { line: 0, column: 4, source: 0, sourceLine: 10, sourceColumn: 2, name: 0 },
      { line: 0, column: 8 },
      { line: 2, column: 0, source: 3, sourceLine: 1, sourceColumn: 0 },
    ]);
    const lookup = await open(text);
    assert.equal(lookup.find(0, 3), undefined);
    assert.deepEqual(lookup.find(0, 4), { source: 0, line: 10, column: 2, name: 0 });
    assert.deepEqual(lookup.find(0, 7), { source: 0, line: 10, column: 2, name: 0 });
    assert.equal(lookup.find(0, 8), undefined);
    assert.equal(lookup.find(1, 0), undefined);
    assert.deepEqual(lookup.find(2, 1_000_000), { source: 3, line: 1, column: 0 });
    assert.equal(lookup.find(3, 0), undefined);
    assert.equal(lookup.find(1e9, 0), undefined);
    lookup.close();
  });

  test(`${name}: columns may go back on a line`, async () => {
    const lookup = await open(
      encodeMappings([
        { line: 0, column: 20, source: 0, sourceLine: 2, sourceColumn: 0 },
        { line: 0, column: 10, source: 0, sourceLine: 1, sourceColumn: 0 },
        { line: 0, column: 30, source: 0, sourceLine: 3, sourceColumn: 0 },
      ]),
    );
    assert.equal(lookup.find(0, 5), undefined);
    assert.deepEqual(
      [10, 19, 20, 35].map((column) => lookup.find(0, column)?.line),
      [1, 1, 2, 3],
    );
    lookup.close();
  });

  const refused: Record<string, string> = {
    'a character that is no digit': 'AAAA,A!AA',
    'a character beyond ASCII': 'AAAA,\u{1F600}',
    'a number without end': 'AAAg',
    'a number cut by a comma': 'AAAg,AAAA',
    'two fields': 'AA',
    'three fields': 'AAA;AAAA',
    'a negative column': 'D',
    'a negative source': 'ADAA',
    'a negative line': 'AADA',
    'a negative source column': 'AAAD',
    'a negative name': 'AAAAD',
  };
  for (const [what, text] of Object.entries(refused))
    test(`${name}: ${what} is malformed`, async () => {
      await assert.rejects(open(text), MalformedInput);
    });

  test(`${name}: a mapping of a large text is found wherever it stands`, async () => {
    const segments: SynthSegment[] = [];
    for (let n = 0; n < 30_000; n++)
      segments.push({
        line: Math.floor(n / 3000),
        column: (n % 3000) * 3,
        source: n % 50,
        sourceLine: n,
        sourceColumn: 1,
      });
    const lookup = await open(encodeMappings(segments));
    for (let n = 0; n < 30_000; n += 7)
      for (const over of [0, 2]) {
        const at = segments[n] as SynthSegment;
        assert.deepEqual(lookup.find(at.line, at.column + over), { source: n % 50, line: n, column: 1 });
      }
    lookup.close();
  });
}

for (const [what, text] of Object.entries({
  'a number of 40 bits': 'gggggggA',
  'a number of 33 bits': '+/////H',
  'six fields': 'AAAAAA',
}))
  test(`scan: ${what} is malformed, which the package overlooks`, async () => {
    await assert.rejects(decoders.scan(text), MalformedInput);
    (await decoders.package(text)).close();
  });

test('both decoders agree on any segments', async () => {
  const segment = fc.record({
    line: fc.nat(4),
    column: fc.nat(40),
    fields: fc.constantFrom(1, 4, 5),
    numbers: fc.tuple(fc.nat(99), fc.nat(2 ** 20), fc.nat(500), fc.nat(99)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(segment, { maxLength: 40 }), fc.boolean(), async (drawn, sorted) => {
      // Two mappings of one column have no defined order, so each column is used once.
      const unique = [...new Map(drawn.map((s) => [`${s.line}:${s.column}`, s])).values()];
      unique.sort((a, b) => a.line - b.line || (sorted ? a.column - b.column : 0));
      const text = encodeMappings(
        unique.map(({ line, column, fields, numbers: [source, sourceLine, sourceColumn, name] }) => ({
          line,
          column,
          ...(fields > 1 ? { source, sourceLine, sourceColumn } : {}),
          ...(fields > 4 ? { name } : {}),
        })),
      );
      const [one, other] = [await decoders.package(text), await decoders.scan(text)];
      for (let line = 0; line < 6; line++)
        for (let column = 0; column < 42; column++)
          assert.deepEqual(other.find(line, column), one.find(line, column), `${text} at ${line}:${column}`);
      one.close();
    }),
    { numRuns: fuzzRuns(300) },
  );
});

test('what the package refuses, the scan refuses too', { skip: onlyWide }, async () => {
  const text = fc.string({ unit: fc.constantFrom(...'AACCCDEgh9,,;;!'), maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(text, async (mappings) => {
      const opened = await Promise.allSettled([decoders.package(mappings), decoders.scan(mappings)]);
      if (opened[0].status === 'rejected') assert.equal(opened[1].status, 'rejected', mappings);
      for (const result of opened) {
        if (result.status === 'rejected') assert.ok(result.reason instanceof MalformedInput);
        else result.value.close();
      }
    }),
    { numRuns: fuzzRuns(1500) },
  );
});

test('both decoders agree on a large map, on one line and on many', async () => {
  for (const oneLine of [true, false]) {
    const text = largeMappings(400_000, oneLine, 100, 100);
    const [one, other] = [await decoders.package(text), await decoders.scan(text)];
    const answers: (Segment | undefined)[] = [];
    for (let n = 0; n < 4000; n++) {
      const [line, column] = oneLine ? [0, n * 200] : [n, (n * 7) % 150];
      const found = other.find(line, column);
      assert.deepEqual(found, one.find(line, column), `${line}:${column}`);
      answers.push(found);
    }
    assert.ok(new Set(answers.map((found) => JSON.stringify(found))).size > 1000);
    one.close();
  }
});
